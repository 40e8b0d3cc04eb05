"""kdrill.snapshot/1: the document a snapshot file holds, which field makes one unusable, and unknown fields kept.

The document is for other programs too, so its names are Kafka's. A reader accepts and keeps unknown fields: newer
programs and planners add some, and sizes (`size_bytes`) that nobody asked brokers for; rewriting loses none. Beyond
the fields that the format promises, it keeps what an image knows: times, transactions, settings of other entities than
topics, znodes that could not be read. `snapshot_image` makes images of it and back.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from model.cluster.ids import NO_LEADER, KafkaGeneration
from model.cluster.image_parts import KraftMetadata, Quorum

FORMAT = "kdrill.snapshot/1"

Int = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Id = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""A broker's or a partition's number."""


class ControllerDocument(msgspec.Struct, frozen=True):
    """`broker` null: nobody controls; `epoch` null: nobody ever did."""

    broker: Int | None = None
    epoch: Int | None = None
    since_ms: Long = 0


class BrokerDocument(msgspec.Struct, frozen=True):
    """A live broker, or one of `fenced_brokers`. The last two (KRaft) are absent where nobody told them."""

    id: Id
    rack: str | None = None
    epoch: Long | None = None
    endpoints: tuple[str, ...] = ()
    registered_ms: Long = 0
    fenced: bool | UnsetType = UNSET
    in_controlled_shutdown: bool | UnsetType = UNSET


class PartitionDocument(msgspec.Struct, frozen=True):
    """`version` is the state znode's data version, -1 where there is none. No replicas: the assignment lacks it.

    `elr` and `last_known_elr` (KIP-966) are absent where nobody told them, as is `directories` (KIP-858): of each
    replica, the CRC-32 of its log directory's id, without the uppermost bit; 0 to 2 stand for ids that are none.
    """

    replicas: tuple[Id, ...]
    adding: tuple[Id, ...] = ()
    removing: tuple[Id, ...] = ()
    leader: Int = NO_LEADER
    leader_epoch: Int = -1
    isr: tuple[Id, ...] = ()
    controller_epoch: Int = -1
    version: Int = 0
    size_bytes: Long | UnsetType | None = UNSET
    recovering: bool | UnsetType = UNSET
    zxid: Long | UnsetType = UNSET
    time_ms: Long | UnsetType = UNSET
    elr: tuple[Id, ...] | UnsetType = UNSET
    last_known_elr: tuple[Id, ...] | UnsetType = UNSET
    directories: tuple[Id, ...] | UnsetType = UNSET


class TopicDocument(msgspec.Struct, frozen=True):
    """`has_config` false: the topic has no config znode, which is not the same as an empty one."""

    topic_id: str | None = None
    config: dict[str, str] = {}
    partitions: dict[Id, PartitionDocument] = {}
    has_config: bool | UnsetType = UNSET


class MemberDocument(msgspec.Struct, frozen=True):
    """A consumer: topic or pattern → threads. The last five are of members of classic groups only.

    Of share groups, `reads`: topic → partitions that the member reads, others beside it; `epoch`: since which one.
    """

    subscription: dict[str, Int]
    pattern: str = "static"
    joined_ms: Long | UnsetType = UNSET
    client_id: str | UnsetType = UNSET
    client_host: str | UnsetType = UNSET
    instance_id: str | UnsetType = UNSET
    reads: dict[str, tuple[Id, ...]] | UnsetType = UNSET
    epoch: Int | UnsetType = UNSET


class RebalanceDocument(msgspec.Struct, frozen=True):
    """`took_ms` null: it is under way. Gained and lost: owner → topic → partitions."""

    at_ms: Long
    why: tuple[str, ...] = ()
    took_ms: Long | None = None
    generation: Int | None = None
    gained: dict[str, dict[str, tuple[Id, ...]]] = {}
    lost: dict[str, dict[str, tuple[Id, ...]]] = {}
    generations: Int = 1


class GroupDocument(msgspec.Struct, frozen=True):
    """Owners and offsets by topic and partition. `name` is there where the group's key is not its name.

    State, protocol, coordinator and generation are of classic groups only.
    """

    kind: str = "zookeeper"
    members: dict[str, MemberDocument] = {}
    owners: dict[str, dict[Id, str]] = {}
    offsets: dict[str, dict[Id, Long]] = {}
    name: str | UnsetType = UNSET
    state: str | UnsetType = UNSET
    protocol_type: str | UnsetType = UNSET
    protocol: str | UnsetType = UNSET
    coordinator: Int | UnsetType | None = UNSET
    generation: Int | UnsetType | None = UNSET
    rebalances: tuple[RebalanceDocument, ...] | UnsetType = UNSET


class PartitionName(msgspec.Struct, frozen=True):
    """As in Kafka's preferred replica election JSON."""

    topic: str
    partition: Id


class AdminDocument(msgspec.Struct, frozen=True):
    """Reassignments by topic and partition."""

    reassignments: dict[str, dict[Id, tuple[Id, ...]]] = {}
    preferred_election: tuple[PartitionName, ...] = ()
    delete_topics: tuple[str, ...] = ()


class LogDirDocument(msgspec.Struct, frozen=True):
    """A broker's log folder. `sizes` are bytes by topic and partition; -1: not known."""

    path: str
    error: str = ""
    total_bytes: Long = -1
    usable_bytes: Long = -1
    sizes: dict[str, dict[Id, Long]] = {}


class SnapshotDocument(msgspec.Struct, frozen=True):
    """A whole file. `configs` are the settings of entities that are no topic of this snapshot."""

    format: str
    taken_at_ms: Long = 0
    source: str = ""
    cluster_id: str | None = None
    kafka_generation: KafkaGeneration = "unknown"
    controller: ControllerDocument = ControllerDocument()
    brokers: tuple[BrokerDocument, ...] = ()
    topics: dict[str, TopicDocument] = {}
    groups: dict[str, GroupDocument] = {}
    log_ends: dict[str, dict[Id, Long]] | UnsetType = UNSET
    admin: AdminDocument = AdminDocument()
    findings: tuple[Any, ...] = ()
    zxid: Long = -1
    complete: bool = True
    configs: dict[str, dict[str, str]] = {}
    unreadable: dict[str, str] = {}
    quorum: Quorum | UnsetType | None = UNSET
    metadata: KraftMetadata | UnsetType = UNSET
    log_dirs: dict[Id, tuple[LogDirDocument, ...]] | UnsetType = UNSET
    offline_replicas: dict[str, dict[Id, tuple[Id, ...]]] | UnsetType = UNSET
    """On brokers that live."""
    fenced_brokers: tuple[BrokerDocument, ...] | UnsetType = UNSET
    """Registered, and fenced by the controllers of KRaft: none of `brokers`."""
    differences: dict[str, str] | UnsetType = UNSET
    """Subject → what brokers tell and ZooKeeper does not."""


def refusal(value: object, kind: Any) -> str:
    """`topics.orders.partitions.0.leader: expected int, got str`."""
    return next(_refusals(value, kind, ""), "a field has the wrong type")


def _refusals(value: object, kind: Any, path: str) -> Iterator[str]:
    try:
        msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError as error:
        for name, part, part_kind in _parts(value, kind):
            yield from _refusals(part, part_kind, f"{path}.{name}" if path else name)
        reason = str(error).partition(" - at ")[0].replace("`", "")
        yield f"{path or 'the document'}: {reason[:1].lower()}{reason[1:]}"


def _parts(value: object, kind: Any) -> Iterator[tuple[str, object, Any]]:
    if isinstance(value, list) and get_origin(kind) is tuple:
        for number, item in enumerate(cast(list[object], value)):
            yield str(number), item, get_args(kind)[0]
    if not isinstance(value, dict):
        return
    fields = cast(dict[str, object], value)
    if get_origin(kind) is dict:
        for name, item in fields.items():
            yield name, item, get_args(kind)[1]
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        kinds = get_type_hints(kind, include_extras=True)
        for name in fields.keys() & kinds.keys():
            yield name, fields[name], kinds[name]


_CARRIED = frozenset({"size_bytes"})
_Document = Mapping[str, Any]


def with_unknown(new: dict[str, Any], old: _Document) -> dict[str, Any]:
    """`new` with the fields of `old` that the format does not know, at every level."""
    _carry(new, old, SnapshotDocument)
    _carry(new["controller"], old.get("controller", {}), ControllerDocument)
    _carry(new["admin"], old.get("admin", {}), AdminDocument)
    was = {broker["id"]: broker for broker in old.get("brokers", ())}
    for broker in new["brokers"]:
        _carry(broker, was.get(broker["id"], {}), BrokerDocument)
    for topic, former in _both(new, old, "topics"):
        _carry(topic, former, TopicDocument)
        for partition, earlier in _both(topic, former, "partitions"):
            _carry(partition, earlier, PartitionDocument)
    for group, former in _both(new, old, "groups"):
        _carry(group, former, GroupDocument)
        for member, earlier in _both(group, former, "members"):
            _carry(member, earlier, MemberDocument)
    return new


def _both(new: _Document, old: _Document, field: str) -> list[tuple[dict[str, Any], _Document]]:
    former: Mapping[str, _Document] = old.get(field, {})
    return [(value, former[key]) for key, value in new[field].items() if key in former]


def _carry(new: dict[str, Any], old: _Document, kind: type[msgspec.Struct]) -> None:
    known = set(kind.__struct_fields__) - _CARRIED
    for key, value in old.items():
        if key not in known:
            new.setdefault(key, value)
