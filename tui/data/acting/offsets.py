"""Where the offsets of a group are set to: which partitions are meant, and where their logs begin and end."""

from collections.abc import Mapping, Sequence

from model.actions.offsets import Landing, LogOffsets, landing
from model.actions.proposal import ActionRefused
from model.actions.reset import Reset
from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import GroupImage
from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.list_offsets import EARLIEST, LATEST
from tui.data.acting.brokers import asking, brokers_of, brokers_seen
from tui.data.acting.requests import ResetOffsets
from tui.data.opening import Opening

UNKNOWN = LogOffsets(0, 2**63 - 1)
"""Of a log that nobody can be asked about."""


def landing_of(request: ResetOffsets, image: ClusterImage, opening: Opening) -> Landing:
    """What each partition's offset becomes. Raises ActionRefused, UnansweredError, ValueError for a login."""
    group = image.group(request.group)
    if group is None:
        raise ActionRefused(f"group {request.group!r} does not exist")
    listed = None if request.listed is None else dict(request.listed)
    partitions = list(listed) if listed is not None else _chosen(image, group, request.topics)
    logs = _logs(opening, image, partitions, request.reset)
    return landing(request.reset, group.offsets, logs) if listed is None else _each(listed, group, logs)


def _chosen(image: ClusterImage, group: GroupImage, topics: Sequence[str]) -> list[TopicPartition]:
    """Those named; without names all that the group has committed."""
    if not topics:
        return sorted(group.offsets)
    chosen: list[TopicPartition] = []
    for each in topics:
        name, _, numbers = each.partition(":")
        topic = image.topics.get(name)
        if topic is None:
            raise ActionRefused(f"topic {name!r} does not exist")
        try:
            wanted = [int(number) for number in numbers.split(",")] if numbers else topic.partitions.tolist()
        except ValueError:
            raise ActionRefused(f"--topic {each!r}: write it as orders:0,1") from None
        missing = [number for number in wanted if number not in topic.row_of]
        if missing:
            raise ActionRefused(f"partition {name}-{missing[0]} does not exist")
        chosen += [TopicPartition(name, number) for number in wanted]
    return list(dict.fromkeys(chosen))


def _logs(
    opening: Opening, image: ClusterImage, partitions: Sequence[TopicPartition], reset: Reset
) -> dict[TopicPartition, LogOffsets]:
    if not partitions:
        raise ActionRefused("there is no partition to reset: the group has committed nothing")
    if image.generation == "0.8":
        if reset.target not in ("to-offset", "shift-by"):
            raise ActionRefused("brokers of 0.8 cannot be asked where logs begin and end: take --to-offset N")
        return dict.fromkeys(partitions, UNKNOWN)
    with asking(opening, brokers_of(opening) or brokers_seen(image)) as reads:
        starts, ends = reads.log_offsets(partitions, EARLIEST), reads.log_offsets(partitions, LATEST)
        found = reads.log_offsets(partitions, reset.number) if reset.target == "to-time" else {}
    return {each: LogOffsets(starts[each], ends[each], found.get(each)) for each in partitions}


def _each(
    listed: Mapping[TopicPartition, int], group: GroupImage, logs: Mapping[TopicPartition, LogOffsets]
) -> Landing:
    """An offset of its own each."""
    landings = [
        landing(Reset("to-offset", offset), group.offsets, {each: logs[each]}) for each, offset in listed.items()
    ]
    remarks = tuple(remark for each in landings for remark in each.remarks)
    return Landing({each: offset for one in landings for each, offset in one.offsets.items()}, remarks)
