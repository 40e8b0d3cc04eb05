"""What each record changed of the entry that it wrote: the records of a place in the tree, one compared with the next.

A record may be whole (Partition, RegisterBroker) or name only what is different (PartitionChange); of that which was
written before the first record that is known, nothing is known.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from model.metadata_log.journal import Logged
from model.znodes.history import ABSENT, ValueDifference

GONE: Final = frozenset(
    {"RemoveTopic", "UnregisterBroker", "UnregisterController", "RemoveDelegationToken", "RemoveAccessControlEntry"}
)
"""Kinds that take away what is at their place, and below it."""
_CHANGES: Final = frozenset(
    {"PartitionChange", "BrokerRegistrationChange", "FenceBroker", "UnfenceBroker", "Config", "ClientQuota", "ClearElr",
     "RemoveAccessControlEntry", "AccessControlEntry", "UserScramCredential", "RemoveUserScramCredential"}
)  # fmt: skip
"""Kinds that say of their place only what is different."""
_PLACE: Final = frozenset({"topicId", "partitionId", "brokerId", "controllerId", "tokenId", "Version", "version"})
"""Fields that say which entry it is."""


class EntryChange(msgspec.Struct, frozen=True):
    """What a record did to its entry. `is_first`: nothing of that is known from before."""

    record: Logged
    differences: tuple[ValueDifference, ...] = ()
    is_first: bool = False
    is_gone: bool = False


def is_about(record: Logged, path: str) -> bool:
    """Whether it wrote this place, or one below it."""
    return bool(record.path) and (path in (record.path, "/") or record.path.startswith(f"{path}/"))


def entry_changes(records: Iterable[Logged], path: str) -> list[EntryChange]:
    """Of a place and what is below it, oldest first."""
    known: dict[str, dict[str, Any]] = {}
    found: list[EntryChange] = []
    for record in records:
        # What takes a topic away is about its partitions, too.
        takes = record.kind in GONE and path.startswith(f"{record.path}/")
        if takes or is_about(record, path):
            found.append(_changed(known, record))
    return found


def _changed(known: dict[str, dict[str, Any]], record: Logged) -> EntryChange:
    before = known.get(record.path)
    if record.kind in GONE:
        if record.kind != "RemoveAccessControlEntry":
            for path in [each for each in known if each == record.path or each.startswith(f"{record.path}/")]:
                del known[path]
        return EntryChange(record, is_gone=True)
    stated, is_change = stated_by(record), record.kind in _CHANGES
    after = {**(before or {}), **stated, **_counted(record, before or {})} if is_change else stated
    known[record.path] = after = {name: value for name, value in after.items() if value is not None}
    return EntryChange(record, is_first=True) if before is None else EntryChange(record, _differences(before, after))


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ValueDifference, ...]:
    names = (*after, *(name for name in before if name not in after))
    pairs = ((name, before.get(name, ABSENT), after.get(name, ABSENT)) for name in names)
    return tuple(ValueDifference((name,), old, new) for name, old, new in pairs if old != new)


def stated_by(record: Logged) -> dict[str, Any]:
    """What it says of its entry, by name; of a setting or quota, its value by its name, None where that is gone."""
    fields = record.fields
    match record.kind:
        case "Config":
            return {fields["name"]: fields["value"]}
        case "ClientQuota":
            return {fields["key"]: None if fields["remove"] else fields["value"]}
        case "UserScramCredential" | "RemoveUserScramCredential":
            is_there = record.kind == "UserScramCredential"
            return {f"mechanism {fields['mechanism']}": fields.get("iterations") if is_there else None}
        case "FenceBroker" | "UnfenceBroker":
            return {"fenced": record.kind == "FenceBroker"}
        case "BrokerRegistrationChange":
            # 1: it is, -1: it is not any more.
            flags = {name: fields[name] > 0 for name in ("fenced", "inControlledShutdown") if fields.get(name)}
            return flags | ({"logDirs": fields["logDirs"]} if fields.get("logDirs") else {})
        case _:
            rest = {name: value for name, value in fields.items() if name not in _PLACE}
            directories = {"directories": rest.pop("directories")} if "directories" in rest else {}
            return rest | directories  # long, and seldom what is looked for


def _counted(record: Logged, before: Mapping[str, Any]) -> dict[str, Any]:
    """What rises with each change and is in none of them (`PartitionRegistration.merge`, 4.3)."""
    if record.kind != "PartitionChange" or "partitionEpoch" not in before:
        return {}
    return {
        "leaderEpoch": before["leaderEpoch"] + ("leader" in record.fields),
        "partitionEpoch": before["partitionEpoch"] + 1,
    }
