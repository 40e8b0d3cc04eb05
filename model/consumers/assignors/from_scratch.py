"""Range and round-robin: the assignors that look at nothing that was owned.

Range cuts each topic's partitions into runs, one for each subscriber, whatever the other topics get. Sources:
`RangeAssignor` of kafka-clients and of the group coordinator (3.9), `kafka.consumer.RangeAssignor` (0.8.2). The three
cut in the same way; they differ in how members are lined up, and in racks (KIP-881): before the runs are cut, members
take partitions that have a replica on their rack. Topics with the same subscribers and sizes stay co-partitioned. A
member without a rack matches every partition.

Round-robin assigns partitions in a row to members in a ring that passes over those who do not subscribe. Sources:
`RoundRobinAssignor` of kafka-clients (3.9), where the ring goes on from topic to topic and a member that was
passed over is owed nothing; `kafka.consumer.RoundRobinAssignor` (0.8.2 and 1.1), which orders partitions by a hash and
assigns them to the group's threads. Until 0.10.1 the latter wanted every topic consumed by the same threads. Until 0.11
the text that is hashed was `[topic,partition]`, from 1.0 on `topic-partition` (`kafka.common.TopicAndPartition`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.case import racks_matter
from model.consumers.assignors.group import NOBODY, AssignorError, Flags, GroupToAssign, Ints, Racks, spans
from model.consumers.assignors.java_hashing import Hashes, string_hashes

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


def assign_ranges(group: GroupToAssign, cut: Cut = even_cut) -> Ints:
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


def assign_rack_ranges(group: GroupToAssign) -> Ints:
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
    def of(cls, group: GroupToAssign, racks: Racks, topic: int) -> "_Topic":
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


def _copartitioned(group: GroupToAssign, topics: Sequence[_Topic]) -> Iterator[list[_Topic]]:
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


def assign_round_robin(group: GroupToAssign) -> Ints:
    """int32[P]: owners by round-robin; neighbouring topics with equal subscribers are dealt together."""
    return assign_in_ring(group, group.subscriber_sets.of_topic, group.partition_counts)


def assign_in_ring(group: GroupToAssign, sets: Ints, counts: Ints) -> Ints:
    """int32[sum of counts]: owners of runs of partitions, dealt one run after the other.

    `sets` says for each run which of the group's sets of subscribers it is for, `counts` how long it is.
    """
    owner = np.full(int(counts.sum()), NOBODY, dtype=np.int32)
    if not len(sets):
        return owner
    place = np.empty(group.members, dtype=np.intp)
    place[group.ring] = np.arange(group.members)
    rings = [np.sort(place[members]) for members in group.subscriber_sets.members]
    pointer = position = 0
    starts = np.concatenate(([0], np.flatnonzero(np.diff(sets)) + 1))
    for of, count in zip(sets[starts].tolist(), np.add.reduceat(counts, starts).tolist(), strict=True):
        ring = rings[int(of)]
        if count and len(ring):
            start = int(np.searchsorted(ring, pointer)) % len(ring)
            owner[position : position + count] = np.resize(np.roll(group.ring[ring], -start), count)
            pointer = int(ring[(start + count - 1) % len(ring)]) + 1
        position += count
    return owner


class ReleaseDifference(NamedTuple):
    """What changed: whether every topic needs the same threads, and the text before, between and after the two."""

    same_threads: bool
    text: tuple[str, str, str] = ("[", ",", "]")


ZOOKEEPER_RELEASES: Mapping[str, ReleaseDifference] = {
    "zk-roundrobin": ReleaseDifference(same_threads=True),
    "zk-roundrobin-0.10.2": ReleaseDifference(same_threads=False),
    "zk-roundrobin-1.0": ReleaseDifference(same_threads=False, text=("", "-", "")),
}
"""How round-robin of ZooKeeper consumers changed."""


def assign_zookeeper_round_robin(group: GroupToAssign, topics: Sequence[str], release: ReleaseDifference) -> Ints:
    """int32[P]: owners by round-robin as `release` does it. Raises AssignorError where it refuses."""
    sets = group.subscriber_sets
    used = [of for of in set(sets.of_topic.tolist()) if len(sets.at(of))]
    if release.same_threads and len(used) > 1:
        raise AssignorError(_mismatch(group, topics))
    owner = np.full(group.partitions, NOBODY, dtype=np.int32)
    hashes = partition_hashes(topics, group.partition_counts, release.text)
    order = np.argsort(hashes.view(np.int32), kind="stable")
    owner[order] = assign_in_ring(group, sets.of_topic[group.topic_of[order]], np.ones(len(order), dtype=np.int64))
    return owner


def _mismatch(group: GroupToAssign, topics: Sequence[str]) -> str:
    sets = group.subscriber_sets.of_topic
    subscribed = [topic for topic in range(group.topics) if len(group.subscriber_sets.at(int(sets[topic])))]
    one = subscribed[0]
    other = next(topic for topic in subscribed if sets[topic] != sets[one])
    return (
        f"topics {topics[one]} and {topics[other]} are not consumed by the same threads, and until 0.10.1 round-robin "
        "balances no such group: use the same topics and streams everywhere, or zk-range"
    )


def partition_hashes(topics: Sequence[str], counts: Ints, text: tuple[str, str, str]) -> Hashes:
    """uint32[P]: Java's hash of every partition's name, written with `text` before, between and after."""
    before, between, after = text
    codes = string_hashes([f"{before}{topic}{between}" for topic in topics])
    return numbered_hashes(np.repeat(codes, counts), spans(np.zeros(len(topics), dtype=np.int64), counts), after)


def numbered_hashes(codes: Hashes, numbers: Ints, after: str) -> Hashes:
    """uint32[N]: Java's hashes of texts with these hashes, each with the number beside it and `after` behind it."""
    numbers = numbers.astype(np.uint32)
    for power in reversed(range(len(str(numbers.max(initial=0))))):
        digits = numbers // np.uint32(10**power)
        longer = codes * np.uint32(31) + (digits % np.uint32(10) + np.uint32(ord("0")))
        codes = np.where((digits > 0) | (power == 0), longer, codes)
    for sign in after:
        codes = codes * np.uint32(31) + np.uint32(ord(sign))
    return codes
