"""Consumer groups in a kdrill.snapshot/1 document, of both kinds: as documents, and back."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import UNSET, UnsetType

from model.cluster.group_image import ZOOKEEPER, GroupImage, Member, Rebalance
from model.cluster.ids import TopicPartition
from model.cluster.snapshot_format import GroupDocument, MemberDocument, RebalanceDocument

V = TypeVar("V")


def group_document(key: str, group: GroupImage) -> GroupDocument:
    """One group; `key` is what the document calls it."""
    is_classic = group.kind != ZOOKEEPER
    return GroupDocument(
        kind=group.kind,
        members={name: _member(member) for name, member in group.members.items()},
        owners=by_topic(group.owners),
        offsets=by_topic(group.offsets),
        name=group.name if key != group.name else UNSET,
        state=group.state if is_classic else UNSET,
        protocol_type=group.protocol_type if is_classic else UNSET,
        protocol=group.protocol if is_classic else UNSET,
        coordinator=group.coordinator if is_classic else UNSET,
        generation=group.generation if is_classic else UNSET,
        rebalances=tuple(map(_rebalance, group.rebalances)) or UNSET,
    )


def _member(member: Member) -> MemberDocument:
    return MemberDocument(
        dict(member.subscription),
        member.pattern,
        member.joined_ms or UNSET,
        member.client_id or UNSET,
        member.host or UNSET,
        UNSET if member.instance_id is None else member.instance_id,
        _numbers({"": member.reads}).get("") or UNSET,
        UNSET if member.epoch is None else member.epoch,
    )


def _rebalance(past: Rebalance) -> RebalanceDocument:
    return RebalanceDocument(
        past.at_ms,
        past.why,
        past.took_ms,
        past.generation,
        _numbers(past.gained),
        _numbers(past.lost),
        past.generations,
    )


def _numbers(owned: Mapping[str, Iterable[TopicPartition]]) -> dict[str, dict[str, tuple[int, ...]]]:
    topics: dict[str, dict[str, tuple[int, ...]]] = {}
    for owner, partitions in owned.items():
        for topic, number in sorted(partitions):
            mine = topics.setdefault(owner, {})
            mine[topic] = (*mine.get(topic, ()), number)
    return topics


def group_of(key: str, group: GroupDocument) -> GroupImage:
    """The group of a document. Whatever is not of ZooKeeper is taken for a classic group."""
    return GroupImage(
        _known(group.name, key),
        {member: _member_of(facts) for member, facts in group.members.items()},
        by_partition(group.owners),
        by_partition(group.offsets),
        group.kind,
        _known(group.state, ""),
        _known(group.protocol_type, ""),
        _known(group.protocol, ""),
        _known(group.coordinator, None),
        _known(group.generation, None),
        tuple(_rebalance_of(past) for past in _known(group.rebalances, ())),
    )


def _member_of(facts: MemberDocument) -> Member:
    return Member(
        facts.subscription,
        facts.pattern,
        _known(facts.joined_ms, 0),
        _known(facts.client_id, ""),
        _known(facts.client_host, ""),
        _known(facts.instance_id, None),
        _partitions({"": _known(facts.reads, {})})[""],
        _known(facts.epoch, None),
    )


def _rebalance_of(past: RebalanceDocument) -> Rebalance:
    return Rebalance(
        past.at_ms,
        past.why,
        past.took_ms,
        past.generation,
        _partitions(past.gained),
        _partitions(past.lost),
        past.generations,
    )


def _partitions(owned: Mapping[str, Mapping[str, tuple[int, ...]]]) -> dict[str, tuple[TopicPartition, ...]]:
    return {
        owner: tuple(TopicPartition(topic, number) for topic, numbers in topics.items() for number in numbers)
        for owner, topics in owned.items()
    }


def _known(value: V | UnsetType, default: V) -> V:
    return default if value is UNSET else value


def by_topic(values: Mapping[TopicPartition, V]) -> dict[str, dict[int, V]]:
    """By topic and partition number, in order."""
    topics: dict[str, dict[int, V]] = {}
    for named, value in sorted(values.items(), key=lambda pair: pair[0]):
        topics.setdefault(named.topic, {})[named.partition] = value
    return topics


def by_partition(values: Mapping[str, Mapping[int, V]]) -> dict[TopicPartition, V]:
    """The other way round."""
    return {
        TopicPartition(topic, partition): value
        for topic, partitions in values.items()
        for partition, value in partitions.items()
    }
