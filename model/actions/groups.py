"""Consumer groups that nobody is in: removing one, and setting its offsets.

Source: `AdminUtils.deleteConsumerGroupInZK` (0.8.2 to 1.1), DeleteGroups (KIP-229, 1.1);
`ConsumerGroupCommand.resetOffsets` (3.9), KIP-122 (0.11).
"""

from collections.abc import Iterable, Mapping

import msgspec

from model.actions import Reset
from model.actions.proposal import ActionRefused, ApiCall, Basis, Found, Proposal, Step, create, delete, put
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, ZOOKEEPER, GroupImage
from model.cluster.texts import counted, listed
from model.znodes.consumers import ConsumerOffset
from model.znodes.paths import offset_path

MOST_ZNODES = 5_000
"""So many deletions go into one transaction of ZooKeeper for sure."""


def group_root(name: str) -> str:
    """Below it all of a ZooKeeper group is."""
    return f"/consumers/{name}"


def idle_group(basis: Basis, key: str) -> GroupImage:
    """A group, by its key in the image, in which nobody lives. Raises ActionRefused."""
    group = basis.image.group(key)
    if group is None:
        raise ActionRefused(f"group {key!r} does not exist")
    if not group.is_described:
        tool = f"kafka-{group.kind}-groups.sh"
        raise ActionRefused(f"group {group.name} is a {group.kind} group: who is in it is not known here, use {tool}")
    if group.members:
        members = f"{counted(len(group.members), 'member')} ({listed(group.members, 3)})"
        raise ActionRefused(f"group {group.name} has {members}: stop its consumers first")
    if group.kind == ZOOKEEPER and basis.found is None:
        raise ActionRefused(f"group {group.name} is in ZooKeeper: name that as SOURCE")
    return group


def delete_group(basis: Basis, key: str) -> Proposal:
    """The group with its offsets. By ZooKeeper, all below `group_root` has to have been found."""
    group = idle_group(basis, key)
    return Proposal(
        f"delete group {group.name}",
        _deletion_steps(basis, group),
        changes=(
            *(f"{group.name}: offset of {read} {offset} → none" for read, offset in sorted(group.offsets.items())),
            *(f"{group.name}: {owned} owned by {owner} → by nobody" for owned, owner in sorted(group.owners.items())),
        ),
        warnings=(f"consumers of {group.name} begin where auto.offset.reset says: at the end, or anew",),
        type_to_confirm=group.name,
        rollback=f"kdrill act SOURCE reset-offsets --group {group.name} with the offsets above",
    )


def _deletion_steps(basis: Basis, group: GroupImage) -> tuple[Step, ...]:
    if group.kind != ZOOKEEPER:
        return (ApiCall("DeleteGroups", {"groups": [group.name]}, {f"members {group.name}": 0}),)
    found, root = basis.found or {}, group_root(group.name)
    paths = sorted((path for path in found if path == root or path.startswith(f"{root}/")), reverse=True)
    if not paths:
        raise ActionRefused(f"group {group.name} is gone")
    if any(path.startswith(f"{root}/ids/") for path in paths):
        raise ActionRefused(f"a member of group {group.name} has come back: stop its consumers first")
    if len(paths) > MOST_ZNODES:
        raise ActionRefused(f"group {group.name} has {len(paths):,} znodes: more than ZooKeeper deletes at once")
    return tuple(delete(found, path) for path in paths)


class OffsetRange(msgspec.Struct, frozen=True):
    """A log's first offset and the one behind its last; `at_time` is the first record's not before the time asked."""

    start: int
    end: int
    at_time: int | None = None


class Landing(msgspec.Struct, frozen=True):
    """Where each partition is to be read from, and what has to be said of it."""

    offsets: Mapping[TopicPartition, int]
    remarks: tuple[str, ...] = ()


def landing(
    reset: Reset, committed: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, OffsetRange]
) -> Landing:
    """The new offset of each partition in `logs`, within its log. Raises ActionRefused as Kafka's tool fails."""
    offsets: dict[TopicPartition, int] = {}
    remarks: list[str] = []
    for partition, log in sorted(logs.items()):
        wanted = _wanted(reset, partition, committed.get(partition), log)
        offsets[partition] = min(max(wanted, log.start), log.end)
        if wanted < log.start:
            remarks.append(f"{partition}: {wanted} is before the log's start, {log.start} is taken")
        elif wanted > log.end:
            remarks.append(f"{partition}: {wanted} is behind the log's end, {log.end} is taken")
    return Landing(offsets, tuple(remarks))


def reset_paths(group: str, partitions: Iterable[TopicPartition]) -> tuple[str, ...]:
    """What has to be read before offsets of a ZooKeeper group are set."""
    root = group_root(group)
    named = list(partitions)
    topics = sorted({partition.topic for partition in named})
    return (
        root,
        f"{root}/offsets",
        *(f"{root}/offsets/{topic}" for topic in topics),
        *(offset_path(group, partition.topic, partition.partition) for partition in named),
    )


def reset_offsets(basis: Basis, key: str, where: Landing) -> Proposal:
    """The group continues from these offsets. Raises ActionRefused while a member lives."""
    group = idle_group(basis, key)
    if group.kind == SHARE:
        said = "a share group commits no offsets: kafka-share-groups.sh --reset-offsets sets where it starts"
        raise ActionRefused(f"group {group.name}: {said}")
    changed = {read: offset for read, offset in where.offsets.items() if group.offsets.get(read) != offset}
    if not changed:
        raise ActionRefused(f"group {group.name} stands at these offsets already")
    lines = [(read, group.offsets.get(read), offset) for read, offset in changed.items()]
    skipped = sum(offset - before for _, before, offset in lines if before is not None and offset > before)
    again = sum(before - offset for _, before, offset in lines if before is not None and offset < before)
    warnings = list(where.remarks)
    if skipped:
        warnings.append(f"{skipped:,} offsets are skipped: the group never reads the records there")
    if again:
        warnings.append(f"{again:,} offsets are read again: consumers see those records twice")
    return Proposal(
        f"reset the offsets of group {group.name}",
        _offset_steps(basis, group, changed),
        changes=tuple(f"{read}: {'none' if was is None else was} → {now}" for read, was, now in lines),
        warnings=tuple(warnings),
        type_to_confirm=group.name if skipped else "",
        rollback="reset each partition --to-offset what stands on the left",
    )


def _wanted(reset: Reset, partition: TopicPartition, committed: int | None, log: OffsetRange) -> int:
    match reset.target:
        case "to-earliest":
            return log.start
        case "to-latest":
            return log.end
        case "to-offset":
            return reset.number
        case "to-time":
            return log.end if log.at_time is None else log.at_time
        case "shift-by" | "to-current":
            if committed is None and reset.target == "shift-by":
                raise ActionRefused(f"cannot shift {partition}: the group has committed no offset there")
            return log.end if committed is None else committed + reset.number


def _offset_steps(basis: Basis, group: GroupImage, offsets: Mapping[TopicPartition, int]) -> tuple[Step, ...]:
    if group.kind == ZOOKEEPER:
        return tuple(_writes(basis.found or {}, group.name, offsets))
    by_topic: dict[str, dict[str, int]] = {}
    expected: dict[str, object] = {f"members {group.name}": 0}
    for read, offset in offsets.items():
        by_topic.setdefault(read.topic, {})[str(read.partition)] = offset
        expected[f"offset {group.name} {read}"] = group.offsets.get(read)
    return (ApiCall("OffsetCommit", {"group": group.name, "offsets": by_topic}, expected),)


def _writes(found: Found, group: str, offsets: Mapping[TopicPartition, int]) -> Iterable[Step]:
    """Folders that are missing come first: a group may have no offsets yet."""
    payloads = {offset_path(group, *read): ConsumerOffset(offset).to_bytes() for read, offset in offsets.items()}
    needed = reset_paths(group, offsets)
    yield from (create(path) for path in needed if path not in payloads and path not in found)
    yield from (put(found, path, payload) for path, payload in payloads.items())
