"""What is asked of a coordinator, and its answers as records. Nothing is sent here, and nothing changes a group.

Source: ListGroups, DescribeGroups and OffsetFetch as `kafka-consumer-groups --describe` (3.9) sends them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from kio.schema.errors import ErrorCode

from model.cluster.group_image import REBALANCING, Member
from model.cluster.ids import TopicPartition
from model.cluster.records import GroupDescribed
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.consumer_protocol import assigned_partitions, subscribed_topics
from model.hosts.wire.api_keys import DESCRIBE_GROUPS, LIST_GROUPS, OFFSET_FETCH
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

NEWEST_LIST, NEWEST_DESCRIBE, NEWEST_OFFSET_FETCH = 4, 5, 7
FIRST_OFFSET_FETCH_OF_ALL = 2
"""Before this version (0.10.2) partitions must be named."""
CONSUMER = "consumer"
"""Protocol type of consumers: only what they tell each other is understood."""


def list_groups(connection: Connection) -> Entity:
    """The groups that a broker coordinates."""
    return shaped(shapes(LIST_GROUPS, connection.newest(LIST_GROUPS, NEWEST_LIST), "request").ListGroupsRequest)


def describe_groups(connection: Connection, groups: Sequence[str]) -> Entity:
    """State and members."""
    module = shapes(DESCRIBE_GROUPS, connection.newest(DESCRIBE_GROUPS, NEWEST_DESCRIBE), "request")
    return shaped(module.DescribeGroupsRequest, groups=tuple(groups), include_authorized_operations=False)


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


def described_groups(response: Entity, coordinator: int) -> Iterator[tuple[str, GroupDescribed | None]]:
    """Group and description; None for one that this broker does not know. One it cannot tell of now is left out."""
    for each in response.groups:
        error, name = error_name(each.error_code), str(each.group_id)
        if error == "GROUP_ID_NOT_FOUND" or (error == "NONE" and each.group_state == "Dead"):
            yield name, None
        elif error == "NONE":
            yield name, _described(each, name, coordinator)


def _described(each: Entity, name: str, coordinator: int) -> GroupDescribed:
    speaks = each.protocol_type == CONSUMER
    owners: dict[TopicPartition, str] = {}
    members: dict[str, Member] = {}
    for member in each.members:
        topics, owned = _read(member) if speaks else ((), ())
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


def _read(member: Entity) -> tuple[Iterable[str], Iterable[TopicPartition]]:
    """What a member subscribes to and owns; nothing where it speaks another language than consumers do."""
    try:
        topics = sorted(subscribed_topics(bytes(member.member_metadata))) if member.member_metadata else []
        return topics, assigned_partitions(bytes(member.member_assignment))
    except UnreadableError:
        return (), ()
