"""Changing what is set on topics, brokers and all brokers: the znode, and the notification that tells brokers.

What values mean is the caller's to know.

Source: `kafka.admin.ConfigCommand.alterConfig` (0.9 to 3.9), IncrementalAlterConfigs (KIP-339);
`kafka.admin.AdminUtils.changeTopicConfig` (0.8.2), `AdminZkClient.changeEntityConfig` (1.1 to 3.9).
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from model.actions.kraft import settings_warnings
from model.actions.proposal import ActionRefused, ApiCall, Basis, Found, Proposal, Step, ZnodeWrite, create, put
from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ClusterRecord, ConfigChanged
from model.cluster.texts import HIDDEN, is_sensitive
from model.znodes.catalogue import ZnodeKind
from model.znodes.configs import BARE_TOPIC, DEFAULT_ENTITY, ConfigChange, EntityConfig, decode_config
from model.znodes.paths import config_path, sequential_path
from model.znodes.payload import UnusablePayloadError


def config_in(found: Found, entity: str) -> EntityConfig:
    """What is set on an entity such as `topics/orders`; nothing where there is no znode.

    Raises ActionRefused where its payload cannot be read.
    """
    path = config_path(entity)
    znode = found.get(path)
    if znode is None or not znode.data:
        return EntityConfig()
    try:
        return decode_config(znode.data)
    except UnusablePayloadError as error:
        raise ActionRefused(f"{path} {error}: mend it before it is written over") from None


def config_steps(
    image: ClusterImage, found: Found, entity: str, after: Mapping[str, str]
) -> tuple[ZnodeWrite, ZnodeWrite]:
    """What it takes to set an entity to `after`; `found` has to know of `/config/ENTITY`."""
    kept = config_in(found, entity)
    payload = EntityConfig(version=kept.version, config=after, extra=kept.extra).to_bytes()
    notice = create(sequential_path(ZnodeKind.CONFIG_CHANGE), _notice(image, entity).to_bytes(), sequential=True)
    return put(found, config_path(entity), payload), notice


def _notice(image: ClusterImage, entity: str) -> ConfigChange:
    """In the form of the release: 0.8.1 names a topic, 0.9 type and name, 0.10.1, which brought the cluster's id, a
    path."""
    kind, _, name = entity.partition("/")
    if image.generation == "0.8":
        if kind != "topics":
            raise ActionRefused(f"{entity}: Kafka 0.8 has settings of topics only")
        return ConfigChange(version=BARE_TOPIC, entity_type=kind, entity_name=name)
    if image.cluster_id is None and image.generation == "0.9-1.x":
        return ConfigChange(version=1, entity_type=kind, entity_name=name)
    return ConfigChange(version=2, entity_path=entity)


KINDS = ("topics", "brokers")
"""Entity types, as Kafka's tools name them, whose settings can be changed here."""

_OF_SAFETY = frozenset({"min.insync.replicas", "unclean.leader.election.enable"})
"""Topic settings that say what the death of a broker does."""


class ConfigRequest(msgspec.Struct, frozen=True):
    """`entity` is `topics/orders`, `brokers/1`, or `brokers/<default>` for all brokers."""

    entity: str
    add: Mapping[str, str] = {}
    remove: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """`topics` or `brokers`."""
        return self.entity.partition("/")[0]

    @property
    def name(self) -> str:
        """The topic, the broker's id, or `<default>`."""
        return self.entity.partition("/")[2]


def wish_paths(wish: ConfigRequest) -> tuple[str, ...]:
    """What has to be read before it is granted through ZooKeeper."""
    return (config_path(wish.entity),)


def alter_configs(basis: Basis, wish: ConfigRequest, remarks: Sequence[str] = ()) -> Proposal:
    """These settings set and those taken away; `remarks` are what the caller knows of them.

    Raises ActionRefused for an entity that does not exist, and for settings to be taken away that are not set.
    """
    _check_entity(basis, wish)
    before = _before(basis, wish)
    unset = [name for name in wish.remove if name not in before]
    if unset:
        raise ActionRefused(f"{wish.entity} does not set {', '.join(unset)}: there is nothing to delete")
    after = {name: value for name, value in before.items() if name not in wish.remove} | dict(wish.add)
    changed = {name: value for name, value in wish.add.items() if before.get(name) != value}
    if not changed and not wish.remove:
        raise ActionRefused(f"{wish.entity} is set so already")
    cluster = basis.kraft()
    more = () if cluster is None else tuple(settings_warnings(cluster, wish.entity, changed, wish.remove))
    return Proposal(
        f"alter the configuration of {_subject(wish)}",
        _steps(basis, wish, before, after),
        changes=tuple(_changes(wish, before, changed)),
        warnings=(*remarks, *more, *_of_old_brokers(basis, wish)),
        rollback=_rollback(wish, before),
        leads_to=_leads_to(wish, after),
    )


def _leads_to(wish: ConfigRequest, after: Mapping[str, str]) -> tuple[ClusterRecord, ...]:
    matters = wish.kind == "topics" and not _OF_SAFETY.isdisjoint((*wish.add, *wish.remove))
    return (ConfigChanged(entity=wish.entity, config=after),) if matters else ()


def _check_entity(basis: Basis, wish: ConfigRequest) -> None:
    if wish.kind not in KINDS:
        raise ActionRefused(f"settings of {wish.kind} cannot be changed here: take one of {', '.join(KINDS)}")
    if wish.kind == "topics":
        basis.topic(wish.name)
        return
    if wish.name != DEFAULT_ENTITY and not wish.name.isdecimal():
        raise ActionRefused(f"{wish.name!r} is no broker's id")
    if basis.image.generation == "0.8":
        raise ActionRefused("brokers of 0.8 take no settings while they run: they came with 1.1")


def _before(basis: Basis, wish: ConfigRequest) -> Mapping[str, str]:
    if basis.found is not None:
        return config_in(basis.found, wish.entity).config
    return basis.image.configs.get(wish.entity, {})


def _steps(basis: Basis, wish: ConfigRequest, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Step, ...]:
    if basis.found is not None:
        return config_steps(basis.image, basis.found, wish.entity, after)
    kind, name = wish.kind.removesuffix("s"), "" if wish.name == DEFAULT_ENTITY else wish.name
    resource = {"type": kind, "name": name, "set": dict(wish.add), "delete": list(wish.remove)}
    expected = {
        f"config {kind} {name} {key}": before.get(key)
        for key in (*wish.add, *wish.remove)
        if not is_sensitive(wish.entity, key)
    }
    return (ApiCall("IncrementalAlterConfigs", {"resources": [resource]}, expected),)


def _changes(wish: ConfigRequest, before: Mapping[str, str], changed: Mapping[str, str]) -> Iterator[str]:
    for name, value in changed.items():
        yield f"{name}: {_shown(wish, name, before.get(name))} → {_shown(wish, name, value)}"
    for name in wish.remove:
        yield f"{name}: {_shown(wish, name, before.get(name))} → default"


def _shown(wish: ConfigRequest, name: str, value: str | None) -> str:
    if value is None:
        return "default"
    return HIDDEN if is_sensitive(wish.entity, name) else value


def _subject(wish: ConfigRequest) -> str:
    if wish.name == DEFAULT_ENTITY:
        return "all brokers"
    return f"{wish.kind.removesuffix('s')} {wish.name}"


def _of_old_brokers(basis: Basis, wish: ConfigRequest) -> Iterator[str]:
    if wish.kind == "brokers" and basis.image.generation == "0.9-1.x":
        yield "brokers before 1.1 take nothing but replication throttles while they run"


def _rollback(wish: ConfigRequest, before: Mapping[str, str]) -> str:
    names = (*wish.add, *wish.remove)
    if any(is_sensitive(wish.entity, name) for name in names):
        return ""
    back = [f"{name}=[{before[name]}]" for name in names if name in before]
    gone = [name for name in wish.add if name not in before]
    which = "--entity-default" if wish.name == DEFAULT_ENTITY else f"--entity-name {wish.name}"
    added = f" --add-config '{','.join(back)}'" if back else ""
    deleted = f" --delete-config {','.join(gone)}" if gone else ""
    return f"kdrill configs SOURCE alter --entity-type {wish.kind} {which}{added}{deleted}"
