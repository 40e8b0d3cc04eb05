"""What is asked of a coordinator, and its answers as records. Nothing is sent here, and nothing changes a group.

Source: ListGroups, DescribeGroups and OffsetFetch as `kafka-consumer-groups --describe` (3.9) sends them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from kio.schema.errors import ErrorCode

from model.cluster.group_image import CLASSIC, CONSUMER, REBALANCING, SHARE, Member
from model.cluster.ids import TopicPartition
from model.cluster.records import GroupDescribed
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.consumer_protocol import assigned_partitions, subscribed_topics
from model.hosts.wire.api_keys import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    LIST_GROUPS,
    OFFSET_FETCH,
    SHARE_GROUP_DESCRIBE,
)
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnsupportedVersionError
from model.hosts.wire.messages import Encoded, Entity, encode, later_version, shaped, shapes
from model.hosts.wire.names import error_name

NEWEST_LIST, NEWEST_DESCRIBE, NEWEST_OFFSET_FETCH = 5, 5, 7
FIRST_OFFSET_FETCH_OF_ALL = 2
"""Before this version (0.10.2) partitions must be named."""
CONSUMER_TYPE = "consumer"
"""Protocol type of consumers: only what they tell each other is understood."""


def list_groups(connection: Connection) -> Entity:
    """The groups that a broker coordinates."""
    module = shapes(LIST_GROUPS, connection.newest(LIST_GROUPS, NEWEST_LIST), "request")
    return shaped(module.ListGroupsRequest, states_filter=(), types_filter=())


def listed_groups(response: Entity, coordinator: int) -> Iterator[GroupDescribed]:
    """What a list tells of groups: kind and state where the broker is new enough, nothing of members."""
    for each in response.groups:
        yield GroupDescribed(
            group=str(each.group_id),
            kind=str(getattr(each, "group_type", "")).lower() or CLASSIC,
            state=str(getattr(each, "group_state", "")),
            protocol_type=str(each.protocol_type),
            coordinator=coordinator,
        )


def describe_groups(connection: Connection, kind: str, groups: Sequence[str]) -> Entity | Encoded:
    """State and members. Raises UnsupportedVersionError for a kind that cannot be described here."""
    if kind not in _DESCRIBE:
        raise UnsupportedVersionError(f"groups of the kind {kind} are only listed")
    key, name, newest = _DESCRIBE[kind]
    later = later_version(key, connection.versions.get(key))
    version = connection.newest(key, newest) if later is None else newest
    request = getattr(shapes(key, version, "request"), f"{name}Request")
    named = {"groups": tuple(groups), "group_ids": tuple(groups)}
    asked = shaped(request, **named, include_authorized_operations=False)
    return asked if later is None else Encoded(key, later, encode(asked))


_DESCRIBE = {
    CLASSIC: (DESCRIBE_GROUPS, "DescribeGroups", NEWEST_DESCRIBE),
    CONSUMER: (CONSUMER_GROUP_DESCRIBE, "ConsumerGroupDescribe", 0),
    SHARE: (SHARE_GROUP_DESCRIBE, "ShareGroupDescribe", 0),
}
"""Kind of group → the API that describes it, its name, the newest version that is understood here."""


def fetch_all_offsets(connection: Connection, group: str, owned: Iterable[TopicPartition]) -> Entity:
    """Every offset the group has committed; to an old broker, those of the partitions it owns."""
    version = connection.newest(OFFSET_FETCH, NEWEST_OFFSET_FETCH)
    module = shapes(OFFSET_FETCH, version, "request")
    topics = tuple(
        module.OffsetFetchRequestTopic(name=topic, partition_indexes=tuple(each.partition for each in those))
        for topic, those in groupby(sorted(owned), key=lambda each: each.topic)
    )
    named = None if version >= FIRST_OFFSET_FETCH_OF_ALL else topics
    return shaped(module.OffsetFetchRequest, group_id=group, topics=named, require_stable=False)


def fetched_offsets(response: Entity) -> Mapping[TopicPartition, int] | None:
    """Committed offsets; None where the answer is no whole one."""
    whole = getattr(response, "error_code", ErrorCode.none)
    parts = [(str(topic.name), each) for topic in response.topics for each in topic.partitions]
    if any(error_name(code) != "NONE" for code in (whole, *(each.error_code for _, each in parts))):
        return None
    return {
        TopicPartition(topic, int(each.partition_index)): int(each.committed_offset)
        for topic, each in parts
        if each.committed_offset >= 0
    }


def described_groups(
    response: Entity, coordinator: int, kind: str = CLASSIC
) -> Iterator[tuple[str, GroupDescribed | None]]:
    """Group and description; None for one that this broker does not know. One it cannot tell of now is left out."""
    for each in response.groups:
        error, name = error_name(each.error_code), str(each.group_id)
        if error == "GROUP_ID_NOT_FOUND" or (error == "NONE" and each.group_state == "Dead"):
            yield name, None
        elif error == "NONE":
            describe = _described if kind == CLASSIC else partial(_heartbeating, kind)
            yield name, describe(each, name, coordinator)


def _described(each: Entity, name: str, coordinator: int) -> GroupDescribed:
    speaks = each.protocol_type == CONSUMER_TYPE
    owners: dict[TopicPartition, str] = {}
    members: dict[str, Member] = {}
    for member in each.members:
        said = bytes(member.member_metadata), bytes(member.member_assignment)
        topics, owned = understood(*said) if speaks else ((), ())
        owners.update(dict.fromkeys(owned, str(member.member_id)))
        members[str(member.member_id)] = Member(
            dict.fromkeys(topics, 1),
            client_id=str(member.client_id),
            host=str(member.client_host).removeprefix("/"),
            instance_id=getattr(member, "group_instance_id", None),
        )
    return GroupDescribed(
        group=name,
        state=str(each.group_state),
        protocol_type=str(each.protocol_type),
        protocol=str(each.protocol_data),
        coordinator=coordinator,
        members=members,
        owners=None if each.group_state in REBALANCING else owners,
    )


def _heartbeating(kind: str, each: Entity, name: str, coordinator: int) -> GroupDescribed:
    """A group whose members only send heartbeats (KIP-848, KIP-932): owners as they are, not as they are to be."""
    owners: dict[TopicPartition, str] = {}
    members: dict[str, Member] = {}
    for member in each.members:
        key = str(member.member_id)
        owned = [
            TopicPartition(str(topic.topic_name), int(number))
            for topic in member.assignment.topic_partitions
            for number in topic.partitions
        ]
        owners.update(dict.fromkeys(owned, key))
        pattern = getattr(member, "subscribed_topic_regex", None)
        topics = map(str, member.subscribed_topic_names)
        members[key] = Member(
            dict.fromkeys((pattern,) if pattern else topics, 1),
            pattern="white_list" if pattern else "static",
            client_id=str(member.client_id),
            host=str(member.client_host).removeprefix("/"),
            instance_id=getattr(member, "instance_id", None),
            reads=tuple(sorted(owned)) if kind == SHARE else (),
            epoch=int(member.member_epoch) if kind == SHARE else None,
        )
    return GroupDescribed(
        group=name,
        kind=kind,
        state=str(each.group_state),
        protocol_type=CONSUMER_TYPE if kind == CONSUMER else kind,
        protocol=str(each.assignor_name),
        coordinator=coordinator,
        generation=int(each.group_epoch),
        members=members,
        owners=owners if kind == CONSUMER else {},  # a partition of a share group has many readers
    )


def understood(metadata: bytes, assignment: bytes) -> tuple[Iterable[str], Iterable[TopicPartition]]:
    """What a member subscribes to and owns; nothing where it speaks another language than consumers do."""
    try:
        return sorted(subscribed_topics(metadata)) if metadata else (), assigned_partitions(assignment)
    except UnreadableError:
        return (), ()
