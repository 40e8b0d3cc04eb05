"""Setting the offsets of a consumer group that nobody is in: where to, and what it takes.

Source: `ConsumerGroupCommand.resetOffsets` (3.9), KIP-122 (0.11).
"""

from collections.abc import Iterable, Mapping

import msgspec

from model.actions.basis import Basis
from model.actions.found import Found, create, put
from model.actions.groups import group_root, idle_group
from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step
from model.actions.reset import Reset
from model.cluster.group_image import SHARE, ZOOKEEPER, GroupImage
from model.cluster.ids import TopicPartition
from model.znodes.consumers import ConsumerOffset
from model.znodes.paths import offset_path


class LogOffsets(msgspec.Struct, frozen=True):
    """A log's first offset and the one behind its last; `at_time` is the first record's not before the time asked."""

    start: int
    end: int
    at_time: int | None = None


class Landing(msgspec.Struct, frozen=True):
    """Where each partition is to be read from, and what has to be said of it."""

    offsets: Mapping[TopicPartition, int]
    remarks: tuple[str, ...] = ()


def landing(
    reset: Reset, committed: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, LogOffsets]
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
        _steps(basis, group, changed),
        changes=tuple(f"{read}: {'none' if was is None else was} → {now}" for read, was, now in lines),
        warnings=tuple(warnings),
        type_to_confirm=group.name if skipped else "",
        rollback="reset each partition --to-offset what stands on the left",
    )


def _wanted(reset: Reset, partition: TopicPartition, committed: int | None, log: LogOffsets) -> int:
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


def _steps(basis: Basis, group: GroupImage, offsets: Mapping[TopicPartition, int]) -> tuple[Step, ...]:
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
