"""Which generation each group is in: DescribeGroups does not tell, the record that a coordinator writes of it does.

Of a group's partition of `__consumer_offsets` only what is new since the last look is read, and only while a group in
it has changed; of a group that was there before us, the last records. Asks nobody itself. A generation counts where its
record tells of the members and owners that the coordinator described; where none is found, it stays unknown.

Source: `kafka.coordinator.group.GroupCoordinator.doSyncGroup` (3.9): a group is Stable once its record is written.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from model.cluster.group_image import REBALANCING
from model.cluster.ids import TopicPartition
from model.cluster.records import GroupDescribed
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.record_codec import read_record
from model.consumers.group_coordinator.records import GroupRecord, StoredGroup
from model.log.records import Damage, Record, RecordBatch, records_of, scan
from model.sources.coordinator_groups.requests import CONSUMER_TYPE, understood

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
        """What was read of a partition."""
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
        """They are no more."""
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
            except UnreadableError:
                continue
            if isinstance(said, GroupRecord) and said.group_id in self._groups:
                value = said.value
                self._groups[said.group_id].written = None if value is None else (_shares(value), value.generation)


def _shares(stored: StoredGroup) -> _Shares:
    owners: dict[TopicPartition, str] = {}
    for member in stored.members if stored.protocol_type == CONSUMER_TYPE else ():
        owners.update(dict.fromkeys(understood(member.subscription, member.assignment)[1], member.member_id))
    return frozenset(member.member_id for member in stored.members), frozenset(owners.items())
