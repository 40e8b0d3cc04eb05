"""Groups from the records of their partition of `__consumer_offsets`, read from its start to its end.

Source: `kafka.coordinator.group.GroupMetadataManager.doLoadGroupsAndOffsets` (3.9). Offsets that a transaction has
written count when its marker says that it was committed; those of a transaction that is still open are left out.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.committed_offset import CommittedOffset
from model.consumers.group_coordinator.consumer_protocol import owners_of, subscribed_topics
from model.consumers.group_coordinator.group import CONSUMER_PROTOCOL_TYPE, EMPTY, STABLE, Group
from model.consumers.group_coordinator.member import Member, SupportedProtocol
from model.consumers.group_coordinator.records import (
    GroupRecord,
    OffsetRecord,
    OffsetsTopicRecord,
    StoredGroup,
    StoredMember,
)

_Offsets = dict[tuple[str, TopicPartition], CommittedOffset | None]


class LoadedRecords:
    """Takes records in the order of the log, and makes groups of the last of each key. A builder, not a value."""

    def __init__(self) -> None:
        self._groups: dict[str, StoredGroup] = {}
        self._offsets: _Offsets = {}
        self._open: dict[int, _Offsets] = {}

    def take(self, record: OffsetsTopicRecord, batch_offset: int, producer: int | None = None) -> None:
        """The next record, of the batch that begins at this offset; `producer`: of the transaction it belongs to."""
        match record:
            case GroupRecord(group_id, value):
                self._groups.pop(group_id, None)
                if value is not None:
                    self._groups[group_id] = value
            case OffsetRecord(group_id, partition, value):
                logged = None if value is None else replace(value, logged_at=batch_offset)
                offsets = self._offsets if producer is None else self._open.setdefault(producer, {})
                offsets[group_id, partition] = logged

    def end_transaction(self, producer: int, *, committed: bool) -> None:
        """A marker: what the transaction wrote counts, or never was. What is newer stays."""
        ended = self._open.pop(producer, {})
        for name, offset in ended.items() if committed else ():
            known = self._offsets.get(name)
            if known is None or offset is None or known.logged_at < offset.logged_at:
                self._offsets[name] = offset

    def groups(self, at_ms: int) -> tuple[Group, ...]:
        """All groups as they are after the last record. Who has offsets only is a group without members."""
        offsets: dict[str, dict[TopicPartition, CommittedOffset]] = {}
        for (group_id, partition), offset in self._offsets.items():
            if offset is not None:
                offsets.setdefault(group_id, {})[partition] = offset
        known = [_group(group_id, value, offsets.pop(group_id, {})) for group_id, value in self._groups.items()]
        return (*known, *(Group(name, state_since_ms=at_ms, offsets=each) for name, each in offsets.items()))


def _group(group_id: str, stored: StoredGroup, offsets: dict[TopicPartition, CommittedOffset]) -> Group:
    members = {each.member_id: _member(stored, each) for each in stored.members}
    is_consumer_group = stored.protocol_type == CONSUMER_PROTOCOL_TYPE
    leads = stored.leader if stored.leader in members else next(iter(members), None)
    return Group(
        group_id,
        STABLE if members else EMPTY,
        state_since_ms=stored.state_since_ms,
        generation=stored.generation,
        protocol_type=stored.protocol_type or None,
        protocol=stored.protocol,
        leader=leads,
        members=members,
        subscribed_topics=_subscribed(stored.members) if is_consumer_group else None,
        offsets=offsets,
        owners=owners_of(members.values() if is_consumer_group else ()),
    )


def _member(group: StoredGroup, member: StoredMember) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=(SupportedProtocol(group.protocol or "", member.subscription),),
        assignment=member.assignment,
    )


def _subscribed(members: Iterable[StoredMember]) -> frozenset[str] | None:
    try:
        return frozenset[str]().union(*(subscribed_topics(each.subscription) for each in members))
    except UnreadableError:
        return None
