"""kdrill.recording/1: the columns of a recording's files, what each file says of itself, and payloads. Touches no file.

A recording is a folder: `cluster=NAME/day=YYYY-MM-DD/*.parquet`, days in UTC. Its files form sets within a day; a set's
first file begins with a whole image, and what follows in the set is what changed. One row is one fact, or one
partition's part of a fact; rows of one fact stand together and share `record`. Each moment begins with a row of kind
`Moment`.

Fields of a record that have no column are JSON in its payload; defaults are left out, so that most facts have none.
Partitions are written `{"orders": {"0": …}}`. Rebalances are written by what is new: with each of them, the twenty
before it would be written again.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pyarrow as pa

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Rebalance
from model.cluster.records import GroupRebalancesSeen
from model.cluster.snapshot_image import by_partition, by_topic

FORMAT: Final = "kdrill.recording/1"
FAMILY: Final = "kdrill.recording/"
METADATA: Final = b"kdrill"
"""Key of a file's own description in its Parquet metadata, which is JSON."""

MOMENT: Final = "Moment"
REBALANCED: Final = "GroupRebalanced"
"""What is new of a group's rebalances; the record that it stands for, GroupRebalancesSeen, has them all."""

_INTS = pa.list_(pa.int32())

SCHEMA: Final = pa.schema([
    ("record", pa.int64()),  # numbers facts within the file
    ("at_ms", pa.int64()),  # when the recorder saw it: the time that moments and days go by, never going back
    ("kind", pa.dictionary(pa.int32(), pa.string())),  # Moment, or the name of a record
    ("zxid", pa.int64()),  # of the fact, -1 unknown; of a Moment: the highest that was known
    ("time_ms", pa.int64()),  # of the fact by the server's clock, 0 unknown
    ("topic", pa.dictionary(pa.int32(), pa.string())),
    ("partition", pa.int32()),
    ("leader", pa.int32()),  # -1 none
    ("leader_epoch", pa.int32()),
    ("controller_epoch", pa.int32()),
    ("version", pa.int32()),  # of the state znode
    ("recovering", pa.bool_()),
    ("isr", _INTS),
    ("replicas", _INTS),
    ("adding", _INTS),
    ("removing", _INTS),
    ("broker", pa.int32()),
    ("group", pa.dictionary(pa.int32(), pa.string())),
    ("payload", pa.string()),  # whatever else there is, as JSON
])  # fmt: skip


class PartHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself. It holds from `from_ms` to `until_ms`, whether anything happened or not."""

    format: str
    cluster: str
    source: str
    session: str
    """The recorder's run."""
    image_set: int
    """Numbers sets within the session."""
    part: int
    """Numbers files within the set; number 0 begins with a whole image."""
    from_ms: int
    until_ms: int


_COLUMNS: Final = frozenset({"zxid", "time_ms", "topic", "partition", "broker", "group"})
_BY_PARTITION: Final[Mapping[str, str]] = {
    "GroupDescribed": "owners",
    "GroupOffsetsFetched": "offsets",
    "LogEndsRead": "ends",
    "ReassignmentsRequested": "targets",
    "ReplicasWentOffline": "replicas",
}
"""Record → its field that is keyed by partition."""


def encode_payload(record: r.ClusterRecord, without: frozenset[str] = frozenset()) -> str | None:
    """JSON of the fields that are neither columns nor `without` nor at their defaults; None where nothing is left."""
    left = {
        field.name: value
        for field in msgspec.structs.fields(record)
        if field.name not in _COLUMNS and field.name not in without
        if (value := getattr(record, field.name)) != _default(field)
    }
    keyed = _BY_PARTITION.get(type(record).__name__, "")
    if left.get(keyed) is not None:
        left[keyed] = by_topic(left[keyed])
    if isinstance(record, r.LogDirsDescribed):
        left["folders"] = [msgspec.structs.asdict(each) | {"sizes": by_topic(each.sizes)} for each in record.folders]
    return msgspec.json.encode(left).decode() if left else None


def decode_payload(kind: str, payload: str | None) -> dict[str, Any]:
    """The fields again, as JSON has them but for partitions. Raises msgspec.MsgspecError for what is no JSON object."""
    if payload is None:
        return {}
    fields = msgspec.json.decode(payload, type=dict[str, Any])
    keyed = _BY_PARTITION.get(kind, "")
    if fields.get(keyed) is not None:
        fields[keyed] = _named(fields[keyed])
    if kind == r.LogDirsDescribed.__name__:
        fields["folders"] = [each | {"sizes": _named(each["sizes"])} for each in fields["folders"]]
    return fields


def _named(values: Mapping[str, Mapping[str, Any]]) -> Mapping[TopicPartition, Any]:
    return by_partition({topic: {int(number): value for number, value in of.items()} for topic, of in values.items()})


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


_Past = tuple[Rebalance, ...]


class NewRebalances(msgspec.Struct, frozen=True):
    """What follows on the rebalances told before: without the first `dropped`, the next `kept`, then `added`."""

    kind: str
    dropped: int
    kept: int
    added: _Past


class RebalanceMemory:
    """What was told last of each group of a set, by writer and reader alike."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], _Past] = {}

    def shortened(self, record: GroupRebalancesSeen) -> NewRebalances:
        before = self._told.get((record.kind, record.group), ())
        dropped = max(range(len(before) + 1), key=lambda start: _common(before[start:], record.rebalances))
        kept = _common(before[dropped:], record.rebalances)
        self._told[record.kind, record.group] = record.rebalances
        return NewRebalances(record.kind, dropped, kept, record.rebalances[kept:])

    def whole(self, group: str, new: NewRebalances, when: Mapping[str, Any]) -> GroupRebalancesSeen:
        """The record again; `when` is its zxid and time_ms. Remembers it."""
        before = self._told.get((new.kind, group), ())
        after = (*before[new.dropped : new.dropped + new.kept], *new.added)
        self._told[new.kind, group] = after
        return GroupRebalancesSeen(group=group, kind=new.kind, rebalances=after, **when)


def _common(one: _Past, other: _Past) -> int:
    """How many they begin with alike."""
    return next(
        (n for n, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other))
    )
