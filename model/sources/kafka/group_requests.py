"""What is asked of a group's coordinator, its answers as records, and each group's generation. Nothing is sent here.

Source: ListGroups, DescribeGroups and OffsetFetch as `kafka-consumer-groups --describe` (3.9) sends them. They do not
say which generation a group is in; the record that a coordinator writes of it does
(`kafka.coordinator.group.GroupCoordinator.doSyncGroup`: a group is Stable once its record is written). Of a group's
partition of `__consumer_offsets` only what is new since the last look is read, and only while a group in it has
changed; of a group that was there before us, the last records. A generation counts where its record tells of the
members and owners that the coordinator described; where none is found, it stays unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, islice

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, CONSUMER, REBALANCING, SHARE, Member
from model.cluster.records import GroupDescribed
from model.consumers.group_coordinator.stored_formats import (
    GroupRecord,
    StoredGroup,
    UnreadableRecordError,
    assigned_partitions,
    read_record,
    subscribed_topics,
)
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Encoded, Entity, encode, later_version, shaped, shapes
from model.hosts.wire.names import ApiKey, UnsupportedVersionError, error_name
from model.log.records import Damage, Record, RecordBatch, records_of, scan

NEWEST_LIST, NEWEST_DESCRIBE, NEWEST_OFFSET_FETCH = 5, 5, 7
FIRST_OFFSET_FETCH_OF_ALL = 2
"""Before this version (0.10.2) partitions must be named."""
CONSUMER_TYPE = "consumer"
"""Protocol type of consumers: only what they tell each other is understood."""


def list_groups(connection: Connection) -> Entity:
    """The groups that a broker coordinates."""
    module = connection.request_shapes(ApiKey.LIST_GROUPS, NEWEST_LIST)
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
    CLASSIC: (ApiKey.DESCRIBE_GROUPS, "DescribeGroups", NEWEST_DESCRIBE),
    CONSUMER: (ApiKey.CONSUMER_GROUP_DESCRIBE, "ConsumerGroupDescribe", 0),
    SHARE: (ApiKey.SHARE_GROUP_DESCRIBE, "ShareGroupDescribe", 0),
}
"""Kind of group → the API that describes it, its name, the newest version that is understood here."""


def fetch_all_offsets(connection: Connection, group: str, owned: Iterable[TopicPartition]) -> Entity:
    """Every offset the group has committed; to an old broker, those of the partitions it owns."""
    version = connection.newest(ApiKey.OFFSET_FETCH, NEWEST_OFFSET_FETCH)
    module = shapes(ApiKey.OFFSET_FETCH, version, "request")
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
    except UnreadableRecordError:
        return (), ()


TAIL = 10_000
"""Offsets before a log's end that are read for groups that were there before us."""
PARTITIONS_A_LOOK = 16
TRIES = 3
"""How often a log is read to its end for one change: the record of an empty group may come after we saw it empty."""

_Shares = tuple[frozenset[str], frozenset[tuple[TopicPartition, str]]]
"""Members, and who owns what."""


class _Group:
    """What is known of one group."""

    def __init__(self) -> None:
        self.described: _Shares | None = None
        self.written: tuple[_Shares, int] | None = None
        """Its last record, with the generation."""
        self.tries = 0

    @property
    def generation(self) -> int | None:
        return self.written[1] if self.written is not None and self.written[0] == self.described else None


class Generations:
    """Remembers groups and how far their partitions were read, from look to look."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._places: Mapping[str, TopicPartition] = {}
        self._ends: Mapping[TopicPartition, int] = {}
        self._next: dict[TopicPartition, int] = {}
        """Where to read on, longest unread first."""

    def see(
        self,
        groups: Sequence[GroupDescribed],
        places: Mapping[str, TopicPartition],
        ends: Mapping[TopicPartition, int],
    ) -> Mapping[TopicPartition, int]:
        """Partition → the offset to read from, for what has to be read now.

        `places` is group → its partition, `ends` the ends that those had before the groups were described: a record
        that was not described yet is behind them.
        """
        self._places, self._ends = places, ends
        described = {one.group for one in groups}
        for one in groups:
            self._describe(one)
        sought = {places[name] for name, group in self._groups.items() if group.tries and name in places}
        kept = sought.union(place for name, place in places.items() if name not in described)
        for partition, end in ends.items():
            first = max(end - TAIL, 0)
            at = self._next.get(partition, first) if partition in kept else end
            self._next[partition] = min(max(at, first), end)
        offsets = ((partition, at) for partition, at in self._next.items() if partition in sought & ends.keys())
        return dict(islice(offsets, PARTITIONS_A_LOOK))

    def _describe(self, one: GroupDescribed) -> None:
        group = self._groups.setdefault(one.group, _Group())
        if one.state in REBALANCING:
            group.described = group.written = None  # the next record counts, even if it tells of the same shares
            return
        shares = frozenset(one.members), frozenset((one.owners or {}).items())
        if shares != group.described:
            group.described, group.tries = shares, TRIES if one.protocol_type else 0
        if group.generation is not None:
            group.tries = 0

    def take(self, partition: TopicPartition, data: bytes) -> None:
        start = at = self._next.pop(partition)
        for batch in scan(data):
            if isinstance(batch, RecordBatch) and batch.next_offset > at:
                self._hear(() if batch.is_control else records_of(data, batch), at)
                at = batch.next_offset
        end = self._ends.get(partition, at)
        self._next[partition] = at if at > start or not data else end  # what cannot be read is passed over
        if not data or self._next[partition] >= end:
            self.miss(partition)

    def miss(self, partition: TopicPartition, error: str = "NONE") -> None:
        """The partition was read to its end, or cannot be read: what was not found counts as one try."""
        if error == "OFFSET_OUT_OF_RANGE":
            self._next[partition] = self._ends.get(partition, 0)
        for name, group in self._groups.items():
            if self._places.get(name) == partition and group.tries:
                group.tries = 0 if group.generation is not None else group.tries - 1

    def forget(self, groups: Iterable[str]) -> None:
        for name in groups:
            self._groups.pop(name, None)

    def of(self, name: str) -> int | None:
        """The generation of a group as it was described last; None where it is not known."""
        group = self._groups.get(name)
        return None if group is None else group.generation

    def _hear(self, records: Iterable[Record | Damage], start: int) -> None:
        for record in records:
            if isinstance(record, Damage) or record.offset < start:
                continue
            try:
                said = read_record(record.key, record.value)
            except UnreadableRecordError:
                continue
            if isinstance(said, GroupRecord) and said.group_id in self._groups:
                value = said.value
                self._groups[said.group_id].written = None if value is None else (_shares(value), value.generation)


def _shares(stored: StoredGroup) -> _Shares:
    owners: dict[TopicPartition, str] = {}
    for member in stored.members if stored.protocol_type == CONSUMER_TYPE else ():
        owners.update(dict.fromkeys(understood(member.subscription, member.assignment)[1], member.member_id))
    return frozenset(member.member_id for member in stored.members), frozenset(owners.items())
