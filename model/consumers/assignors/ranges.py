"""Range: each topic's partitions cut into runs, one for each subscriber, whatever the other topics get.

Sources: `RangeAssignor` of kafka-clients and of the group coordinator (3.9), `kafka.consumer.RangeAssignor` (0.8.2).
The three cut in the same way; they differ in how members are lined up, and in racks (KIP-881): before the runs are cut,
members take partitions that have a replica on their rack. Topics with the same subscribers and sizes stay
co-partitioned. A member without a rack matches every partition.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model.consumers.assignors.case import racks_matter
from model.consumers.assignors.group import NOBODY, Flags, Group, Ints, Racks

Cut = Callable[[int, int], Ints]
"""Of how many partitions, among how many members: int[members], the length of each run."""


def even_cut(partitions: int, members: int) -> Ints:
    """Runs that differ by one at most; the first members have the longer ones."""
    runs = np.full(members, partitions // members, dtype=np.int64)
    runs[: partitions % members] += 1
    return runs


def rounded_up_cut(partitions: int, members: int) -> Ints:
    """Runs of partitions / members, rounded up, until none are left: the last members may get nothing.

    A formula often told of Kafka 0.8's consumers; no release cuts like this.
    """
    length = -(-partitions // members)
    return np.clip(partitions - np.arange(members, dtype=np.int64) * length, 0, length)


def assign_ranges(group: Group, cut: Cut = even_cut) -> Ints:
    """int32[P]: owners by range; topics with equal subscribers and sizes are cut once."""
    owner = np.full(group.partitions, NOBODY, dtype=np.int32)
    place = np.empty(group.members, dtype=np.intp)
    place[group.ring] = np.arange(group.members)
    sets = group.subscriber_sets
    lined_up = [members[np.argsort(place[members])] for members in sets.members]
    known: dict[tuple[int, int], Ints] = {}
    for topic, (count, of) in enumerate(zip(group.partition_counts.tolist(), sets.of_topic.tolist(), strict=True)):
        members = lined_up[int(of)]
        if len(members):
            row = known.get((of, count))
            if row is None:
                row = known[of, count] = np.repeat(members, cut(count, len(members)))
            owner[group.first[topic] : group.first[topic + 1]] = row
    return owner


def assign_rack_ranges(group: Group) -> Ints:
    """int32[P]: owners by range, with racks where they differ between partitions."""
    racks = group.racks
    topics = None if racks is None else [_Topic.of(group, racks, topic) for topic in range(group.topics)]
    if topics is None or not any(topic.needs_racks for topic in topics):
        return assign_ranges(group)
    owner = np.full(group.partitions, NOBODY, dtype=np.int32)
    for alike in _copartitioned(group, topics):
        if len(alike) > 1:
            _assign_together(alike, owner)
        elif alike[0].needs_racks:
            _assign_matching(alike[0], owner)
    for topic in topics:
        _assign_rest(topic, owner)
    return owner


@dataclass
class _Topic:
    """A topic while its partitions are handed out. Members are in the ring's order."""

    first: int
    matches: Flags  # [partitions, members]
    racked: bool
    needs_racks: bool
    members: list[int]
    least: int
    longer: int  # members that may still get one more than the least
    assigned: dict[int, int]

    @classmethod
    def of(cls, group: Group, racks: Racks, topic: int) -> "_Topic":
        subscribers = group.subscriber_sets.at(int(group.subscriber_sets.of_topic[topic]))
        place = np.empty(group.members, dtype=np.intp)
        place[group.ring] = np.arange(group.members)
        members = subscribers[np.argsort(place[subscribers])]
        rows = racks.row_of_partition[group.first[topic] : group.first[topic + 1]]
        least, longer = divmod(len(rows), len(members)) if len(members) else (0, 0)
        return cls(
            first=int(group.first[topic]),
            matches=racks.matches[rows][:, members],
            racked=bool((racks.of_member[members] >= 0).any()),
            needs_racks=racks_matter(racks.of_member[members], racks.rows[np.unique(rows)], prefer=group.prefer_racks),
            members=members.tolist(),
            least=least,
            longer=longer,
            assigned=dict.fromkeys(members.tolist(), 0),
        )

    def room(self, member: int) -> int:
        return max(0, self.least + (self.longer > 0) - self.assigned[member])

    def give(self, member: int, numbers: Sequence[int], owner: Ints) -> None:
        if numbers:
            owner[self.first + np.array(numbers)] = member
            self.assigned[member] += len(numbers)
            self.longer -= self.assigned[member] > self.least


def _copartitioned(group: Group, topics: Sequence[_Topic]) -> Iterator[list[_Topic]]:
    """Topics with the same subscribers and number of partitions; where subscribers have no racks it does not count."""
    alike: dict[tuple[int, int], list[_Topic]] = {}
    for of, topic in zip(group.subscriber_sets.of_topic.tolist(), topics, strict=True):
        alike.setdefault((of, len(topic.matches) if topic.racked else 0), []).append(topic)
    return iter(alike.values())


def _assign_together(topics: Sequence[_Topic], owner: Ints) -> None:
    if not topics[0].racked:
        return
    matches = np.logical_and.reduce([topic.matches for topic in topics])
    left = dict.fromkeys(range(len(topics[0].members)))
    for number in range(len(matches)):
        for place in left:
            member = topics[0].members[place]
            if matches[number, place] and all(topic.room(member) for topic in topics):
                for topic in topics:
                    topic.give(member, [number], owner)
                if not any(topic.room(member) for topic in topics):
                    del left[place]
                break


def _assign_matching(topic: _Topic, owner: Ints) -> None:
    for place, member in enumerate(topic.members):
        free = owner[topic.first : topic.first + len(topic.matches)] == NOBODY
        topic.give(member, np.flatnonzero(free & topic.matches[:, place])[: topic.room(member)].tolist(), owner)


def _assign_rest(topic: _Topic, owner: Ints) -> None:
    for member in topic.members:
        free = np.flatnonzero(owner[topic.first : topic.first + len(topic.matches)] == NOBODY)
        topic.give(member, free[: topic.room(member)].tolist(), owner)
