"""The fields of a record that have no column of their own, as JSON, and back.

Defaults are left out, so that most facts have no payload at all. Partitions are written `{"orders": {"0": …}}`.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.cluster.snapshot_groups import by_partition, by_topic

_COLUMNS: Final = frozenset({"zxid", "time_ms", "topic", "partition", "broker", "group"})
_BY_PARTITION: Final[Mapping[str, str]] = {
    "GroupDescribed": "owners",
    "GroupOffsetsFetched": "offsets",
    "LogEndsRead": "ends",
    "ReassignmentsRequested": "targets",
    "ReplicasWentOffline": "replicas",
}
"""Record → its field that is keyed by partition."""


def encode_payload(record: r.Record, without: frozenset[str] = frozenset()) -> str | None:
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
