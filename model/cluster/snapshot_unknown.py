"""Carries over what a snapshot document holds beyond the format, for things that still exist.

Newer programs and planners add fields, and sizes (`size_bytes`) that nobody asked brokers for; rewriting loses none.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from model.cluster import snapshot_format as f

_CARRIED = frozenset({"size_bytes"})
_Document = Mapping[str, Any]


def with_unknown(new: dict[str, Any], old: _Document) -> dict[str, Any]:
    """`new` with the fields of `old` that the format does not know, at every level."""
    _carry(new, old, f.SnapshotDocument)
    _carry(new["controller"], old.get("controller", {}), f.ControllerDocument)
    _carry(new["admin"], old.get("admin", {}), f.AdminDocument)
    was = {broker["id"]: broker for broker in old.get("brokers", ())}
    for broker in new["brokers"]:
        _carry(broker, was.get(broker["id"], {}), f.BrokerDocument)
    for topic, former in _both(new, old, "topics"):
        _carry(topic, former, f.TopicDocument)
        for partition, earlier in _both(topic, former, "partitions"):
            _carry(partition, earlier, f.PartitionDocument)
    for group, former in _both(new, old, "groups"):
        _carry(group, former, f.GroupDocument)
        for member, earlier in _both(group, former, "members"):
            _carry(member, earlier, f.MemberDocument)
    return new


def _both(new: _Document, old: _Document, field: str) -> list[tuple[dict[str, Any], _Document]]:
    former: Mapping[str, _Document] = old.get(field, {})
    return [(value, former[key]) for key, value in new[field].items() if key in former]


def _carry(new: dict[str, Any], old: _Document, kind: type[msgspec.Struct]) -> None:
    known = set(kind.__struct_fields__) - _CARRIED
    for key, value in old.items():
        if key not in known:
            new.setdefault(key, value)
