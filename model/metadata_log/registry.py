"""What records of the metadata log say beside topics: brokers, controllers, features, settings, users, rules, tokens.

Quotas and the names of SCRAM mechanisms stand among settings, in the entities that ZooKeeper has for them
(`users/alice/clients/<default>`). Credentials are gone before anything comes here. Source:
`org.apache.kafka.image.ClusterDelta`, `ConfigurationsDelta`, `ClientQuotasDelta`, `ScramDelta`, `AclsDelta` (4.3).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from model.cluster import records as r
from model.cluster.cluster_image import BrokerImage, fenced, registered
from model.cluster.ids import METADATA_VERSION
from model.cluster.image_parts import Acl, ControllerNode, KraftMetadata
from model.cluster.texts import HIDDEN
from model.metadata_log.topics import RecordPlace, UnusableError
from model.znodes.configs import DEFAULT_ENTITY, sanitise

Fields = dict[str, Any]

_CONFIGURED: Final = {2: "topics", 4: "brokers", 16: "client-metrics", 32: "groups"}
"""`ConfigResource.Type` → the entity's kind."""
_QUOTAS_OF: Final = ("user", "client-id", "ip")
_QUOTA_KINDS: Final = {"user": "users", "client-id": "clients", "ip": "ips"}
_MECHANISMS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_RESOURCES: Final = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
_PATTERNS: Final = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
_OPERATIONS: Final = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
_PERMISSIONS: Final = ("UNKNOWN", "ANY", "DENY", "ALLOW")
"""`ResourceType`, `PatternType`, `AclOperation`, `AclPermissionType` (4.4), by code."""


class Registry:
    """All of it. Raises UnusableError for what does not fit; then nothing was changed."""

    def __init__(self) -> None:
        self.features: dict[str, int] = {}
        self._brokers: dict[int, BrokerImage] = {}
        self._log_dirs: dict[int, tuple[str, ...]] = {}
        self._cordoned: dict[int, tuple[str, ...]] = {}
        self._controllers: dict[int, ControllerNode] = {}
        self._supported: dict[int, dict[str, tuple[int, int]]] = {}
        self._configs: dict[str, dict[str, str]] = {}
        self._acls: dict[str, Acl] = {}
        self._tokens: dict[str, str] = {}
        self._next_producer_id = -1
        self._touched_brokers: dict[int, None] = {}
        self._touched_entities: dict[str, None] = {}
        self._is_touched = False

    def register_broker(self, fields: Fields, at: RecordPlace) -> None:
        """RegisterBrokerRecord: replaces all that was registered."""
        broker = fields["brokerId"]
        self._brokers[broker] = BrokerImage(
            broker,
            endpoints_text(fields["endPoints"]),
            fields["rack"],
            fields["brokerEpoch"],
            at.time_ms,
            fields["fenced"],
            fields.get("inControlledShutdown", False),
        )
        self._touched_brokers[broker] = None
        self._tell(self._log_dirs, broker, fields.get("logDirs", []))
        self._tell(self._cordoned, broker, fields.get("cordonedLogDirs") or [])
        self._tell_supported(broker, fields["features"])

    def unregister_broker(self, fields: Fields) -> None:
        """UnregisterBrokerRecord; the epoch is not looked at, as by Kafka."""
        self._broker(fields)
        self._brokers.pop(fields["brokerId"])
        self._tell(self._log_dirs, fields["brokerId"], [])
        self._tell(self._cordoned, fields["brokerId"], [])
        self._forget_node(fields["brokerId"])

    def change_broker(self, fields: Fields) -> None:
        """BrokerRegistrationChangeRecord: 1 fences, -1 unfences, 1 enters the controlled shutdown."""
        before = self._broker(fields)
        self._with_epoch(before, fields["brokerEpoch"])
        fence = fields.get("fenced", 0)
        self._brokers[before.id] = msgspec.structs.replace(
            before,
            fenced=fence > 0 if fence else before.fenced,
            in_controlled_shutdown=before.in_controlled_shutdown or fields.get("inControlledShutdown", 0) > 0,
        )
        if fields.get("logDirs"):
            self._tell(self._log_dirs, before.id, fields["logDirs"])
        if fields.get("cordonedLogDirs") is not None:
            self._tell(self._cordoned, before.id, fields["cordonedLogDirs"])

    def fence(self, fields: Fields, is_fenced: bool) -> None:
        """FenceBrokerRecord and UnfenceBrokerRecord, before metadata.version 3.3-IV2."""
        before = self._broker({"brokerId": fields["id"]})
        self._with_epoch(before, fields["epoch"])
        self._brokers[before.id] = msgspec.structs.replace(before, fenced=is_fenced)

    def _broker(self, fields: Fields) -> BrokerImage:
        found = self._brokers.get(fields["brokerId"])
        if found is None:
            raise UnusableError(f"broker {fields['brokerId']} is not registered, and is changed")
        self._touched_brokers[found.id] = None
        return found

    @staticmethod
    def _with_epoch(broker: BrokerImage, epoch: int) -> None:
        if broker.epoch != epoch:
            raise UnusableError(f"broker {broker.id} is changed at epoch {epoch}, it registered with {broker.epoch}")

    def _tell(self, dirs: dict[int, tuple[str, ...]], broker: int, ids: list[str]) -> None:
        """Of a broker, its log directories, or those that are cordoned."""
        if tuple(ids) != dirs.get(broker, ()):
            dirs[broker] = tuple(ids)
            self._is_touched = True

    def register_controller(self, fields: Fields) -> None:
        """RegisterControllerRecord."""
        controller = fields["controllerId"]
        self._controllers[controller] = ControllerNode(controller, endpoints_text(fields["endPoints"]))
        self._is_touched = True
        self._tell_supported(controller, fields["features"])

    def unregister_controller(self, fields: Fields) -> None:
        """UnregisterControllerRecord (4.4)."""
        self._take(self._controllers, fields["controllerId"], "controller")
        self._forget_node(fields["controllerId"])

    def _tell_supported(self, node: int, features: list[Fields]) -> None:
        """A node with both roles says the same in both registrations."""
        found = {each["name"]: (each["minSupportedVersion"], each["maxSupportedVersion"]) for each in features}
        if found != self._supported.get(node):
            self._supported[node] = dict(sorted(found.items()))
            self._is_touched = True

    def _forget_node(self, node: int) -> None:
        if node not in self._brokers and node not in self._controllers and self._supported.pop(node, None):
            self._is_touched = True

    def set_feature(self, fields: Fields) -> None:
        """FeatureLevelRecord: level 0 removes it, but for metadata.version."""
        name, level = fields["name"], fields["featureLevel"]
        if level or name == METADATA_VERSION:
            self.features[name] = level
        else:
            self.features.pop(name, None)
        self._is_touched = True

    def configure(self, fields: Fields) -> None:
        """ConfigRecord: a value of null takes the setting away."""
        self._set(config_entity(fields), fields["name"], fields["value"])

    def set_quota(self, fields: Fields) -> None:
        """ClientQuotaRecord."""
        self._set(quota_entity(fields), fields["key"], None if fields["remove"] else _number(fields["value"]))

    def add_credential(self, fields: Fields) -> None:
        """UserScramCredentialRecord: that there is one, and no more."""
        self._set(scram_entity(fields), _mechanism(fields), HIDDEN)

    def remove_credential(self, fields: Fields) -> None:
        """RemoveUserScramCredentialRecord."""
        self._set(scram_entity(fields), _mechanism(fields), None)

    def _set(self, entity: str, name: str, value: str | None) -> None:
        config = self._configs.setdefault(entity, {})
        if value is None:
            config.pop(name, None)
        else:
            config[name] = value
        self._touched_entities[entity] = None

    def forget_topic(self, name: str) -> None:
        """No record says that a removed topic's settings are gone: they are."""
        if self._configs.pop(f"topics/{name}", None) is not None:
            self._touched_entities[f"topics/{name}"] = None

    def add_acl(self, fields: Fields) -> None:
        """AccessControlEntryRecord."""
        self._acls[fields["id"]] = Acl(
            _coded(_RESOURCES, fields["resourceType"]),
            fields["resourceName"],
            _coded(_PATTERNS, fields["patternType"]),
            fields["principal"],
            fields["host"],
            _coded(_OPERATIONS, fields["operation"]),
            _coded(_PERMISSIONS, fields["permissionType"]),
        )
        self._is_touched = True

    def remove_acl(self, fields: Fields) -> None:
        """RemoveAccessControlEntryRecord."""
        self._take(self._acls, fields["id"], "access control entry")

    def add_token(self, fields: Fields) -> None:
        """DelegationTokenRecord: its id and its owner. The HMAC is not in the log."""
        self._tokens[fields["tokenId"]] = fields["owner"]
        self._is_touched = True

    def remove_token(self, fields: Fields) -> None:
        """RemoveDelegationTokenRecord."""
        self._take(self._tokens, fields["tokenId"], "delegation token")

    def _take(self, kept: dict[Any, Any], key: object, what: str) -> None:
        if kept.pop(key, None) is None:
            raise UnusableError(f"{what} {key} is not there, and is removed")
        self._is_touched = True

    def hand_out_producer_ids(self, fields: Fields) -> None:
        """ProducerIdsRecord."""
        self._next_producer_id = fields["nextProducerId"]
        self._is_touched = True

    def facts(self, at: RecordPlace) -> Iterator[r.ClusterRecord]:
        """Of everything that was touched since this was asked last."""
        when = {"zxid": at.offset, "time_ms": at.time_ms}
        for broker in self._touched_brokers:
            known = self._brokers.get(broker)
            if known is None:
                yield r.BrokerLost(broker=broker, **when)
            else:
                yield msgspec.structs.replace(fenced(known) if known.fenced else registered(known), **when)
        for entity in self._touched_entities:
            config = self._configs.get(entity)
            if config:
                yield r.ConfigChanged(entity=entity, config=dict(config), **when)
            else:
                yield r.ConfigRemoved(entity=entity, **when)
        if self._is_touched:
            yield r.MetadataDescribed(metadata=self._metadata(), **when)
        self._touched_brokers, self._touched_entities, self._is_touched = {}, {}, False

    def _metadata(self) -> KraftMetadata:
        return KraftMetadata(
            features=dict(sorted(self.features.items())),
            controllers=tuple(sorted(self._controllers.values())),
            acls=tuple(sorted(self._acls.values())),
            tokens=dict(sorted(self._tokens.items())),
            next_producer_id=self._next_producer_id,
            log_dirs={broker: ids for broker, ids in sorted(self._log_dirs.items()) if ids},
            cordoned={broker: ids for broker, ids in sorted(self._cordoned.items()) if ids},
            supported=dict(sorted(self._supported.items())),
        )


def config_entity(fields: Mapping[str, Any]) -> str:
    """Whose setting a ConfigRecord is: `topics/orders`. Raises UnusableError."""
    kind = _CONFIGURED.get(fields["resourceType"])
    if kind is None:
        raise UnusableError(f"a setting of a resource of type {fields['resourceType']}, which is not known")
    return f"{kind}/{fields['resourceName'] or DEFAULT_ENTITY}"


def quota_entity(fields: Mapping[str, Any]) -> str:
    """Whose a ClientQuotaRecord is: `users/alice/clients/app`. Raises UnusableError."""
    named = {each["entityType"]: each["entityName"] for each in fields["entity"]}
    if not named or not named.keys() <= _QUOTA_KINDS.keys():
        raise UnusableError(f"a quota of {', '.join(named) or 'nothing'}, which is not known")
    names = ((_QUOTA_KINDS[kind], named[kind]) for kind in _QUOTAS_OF if kind in named)
    return "/".join(f"{kind}/{DEFAULT_ENTITY if name is None else sanitise(name)}" for kind, name in names)


def scram_entity(fields: Mapping[str, Any]) -> str:
    """Whose credentials a UserScramCredentialRecord has."""
    return f"users/{sanitise(fields['name'])}"


def endpoints_text(endpoints: Iterable[Fields]) -> tuple[str, ...]:
    """`LISTENER://host:port` each."""
    return tuple(f"{each['name']}://{each['host']}:{each['port']}" for each in endpoints)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _mechanism(fields: Fields) -> str:
    return _MECHANISMS.get(fields["mechanism"], f"SCRAM-{fields['mechanism']}")


def _coded(names: tuple[str, ...], code: int) -> str:
    return names[code] if 0 <= code < len(names) else f"UNKNOWN({code})"
