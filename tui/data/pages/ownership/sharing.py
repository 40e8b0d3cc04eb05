"""Who has which partitions of a group, as arrays, so that groups of 100,000 partitions are no burden. Draws nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import GroupImage, Rebalance
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import Longs
from model.consumers.ownership import subscribed_topics, threads_of
from tui.data.pages.ownership.owner import NOBODY, RANKS, Owner

NO_OWNER = -1
_STRANGER = -2
_TOPIC = 1 << 32
"""A partition's code is its topic's place times this, and its number."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """P partitions, topic after topic, and C owners: dead ones, idle ones, the rest, each by name.

    `topic` is a place in `topics`; `owner` and `before` are places in `owners` or NO_OWNER; lag is -1 where not known.
    All are int64[P].
    """

    owners: tuple[Owner, ...]
    topics: tuple[str, ...]
    topic: Longs
    number: Longs
    owner: Longs
    before: Longs
    lag: Longs

    @property
    def moved(self) -> Longs:
        """Places of the partitions that changed hands."""
        return np.flatnonzero(self.owner != self.before)

    @cached_property
    def nobody(self) -> Owner | None:
        """Whoever owns what nobody owns, as a row of a table."""
        orphans = np.flatnonzero(self.owner == NO_OWNER)
        return Owner(NOBODY, NOBODY, len(orphans), self.lag_of(orphans)) if len(orphans) else None

    def of(self, owner: int) -> Longs:
        """Places of the partitions that this one owns; NO_OWNER: nobody."""
        return np.flatnonzero(self.owner == owner)

    def by_topic(self, places: Longs) -> Mapping[str, list[int]]:
        """Topic → partition numbers, both ascending."""
        topics: dict[str, list[int]] = {}
        for topic, number in zip(self.topic[places].tolist(), self.number[places].tolist(), strict=True):
            topics.setdefault(self.topics[topic], []).append(number)
        return topics

    def lag_of(self, places: Longs) -> int | None:
        """Records behind over these; None where that is known of none."""
        known = self.lag[places]
        known = known[known >= 0]
        return int(known.sum()) if len(known) else None

    def place(self, topic: str, number: int) -> int:
        """Where a partition is; -1 if it is not there."""
        if topic not in self.topics:
            return -1
        found = np.flatnonzero((self.topic == self.topics.index(topic)) & (self.number == number))
        return int(found[0]) if len(found) else -1

    def name(self, place: int) -> str:
        """`orders-3`."""
        return f"{self.topics[int(self.topic[place])]}-{int(self.number[place])}"


def sharing_of(group: GroupImage, image: ClusterImage) -> Sharing:
    """Of a group as it is: nothing has moved."""
    there = {topic.name: topic.partitions[~topic.orphaned] for topic in subscribed_topics(group, image)}
    held = group.held
    topics = tuple(sorted({*there, *(read.topic for read, _ in held)}))
    places = {name: place * _TOPIC for place, name in enumerate(topics)}
    names = sorted({*group.owners.values(), *(each for name in group.members for each in threads_of(group, name))})
    claimed = _codes([read for read, _ in held], places)
    assigned = [numbers.astype(np.int64) + places[name] for name, numbers in there.items()]
    free = np.setdiff1d(np.concatenate([claimed[:0], *assigned]), claimed)
    by_name = {name: place for place, name in enumerate(names)}
    owners = np.array([by_name[owner] for _, owner in held], np.int64)
    codes = np.concatenate([claimed, free])
    owner = np.concatenate([owners, np.full(len(free), NO_OWNER, np.int64)])
    order = np.argsort(codes, kind="stable")  # a partition of a share group is there once for each that reads it
    codes, owner = codes[order], owner[order]
    lag = _lag(group, image, places, codes)
    counts = np.bincount(owner[owner >= 0], minlength=len(names))
    states = [_state(group, name, count) for name, count in zip(names, counts.tolist(), strict=True)]
    return shared(topics, codes // _TOPIC, codes % _TOPIC, owner, owner, lag, names, states)


def shared(
    topics: tuple[str, ...],
    topic: Longs,
    number: Longs,
    owner: Longs,
    before: Longs,
    lag: Longs,
    names: Iterable[str],
    states: Iterable[str],
) -> Sharing:
    """Owners by name and state, in the order of RANKS; `owner` and `before` are places among the names as given."""
    pairs = list(zip(names, states, strict=True))
    order = sorted(range(len(pairs)), key=lambda place: RANKS.index(pairs[place][1]))
    to = np.full(len(pairs) + 1, NO_OWNER, np.int64)  # the last one is nobody's
    to[order] = np.arange(len(pairs))
    owner, before = to[owner], to[before]
    owned = owner != NO_OWNER
    counts = np.bincount(owner[owned], minlength=len(pairs)).tolist()
    known = owned & (lag >= 0)
    sums = np.bincount(owner[known], weights=lag[known], minlength=len(pairs)).tolist()
    told = np.bincount(owner[known], minlength=len(pairs)).tolist()
    owners = tuple(
        Owner(*pairs[place], counts[at], int(sums[at]) if told[at] else None) for at, place in enumerate(order)
    )
    return Sharing(owners, topics, topic, number, owner, before, lag)


def with_before(one: Sharing, past: Rebalance) -> Sharing:
    """The same, with what a rebalance moved and nobody moved since; who owned it then and is gone is an owner again."""
    places = {name: place * _TOPIC for place, name in enumerate(one.topics)}
    codes = one.topic * _TOPIC + one.number
    there = {owner.name for owner in one.owners}
    gone = sorted(past.lost.keys() - there)
    owners = (*one.owners, *(Owner(name, "gone", 0, None) for name in gone))
    by_name = {owner.name: place for place, owner in enumerate(owners)}
    before, unmoved = one.owner.copy(), np.ones(len(codes), bool)
    for name, reads in past.gained.items():
        found = _found(reads, places, codes)
        found = found[one.owner[found] == by_name.get(name, _STRANGER)]
        before[found], unmoved[found] = NO_OWNER, False
    for name, reads in past.lost.items():
        found = _found(reads, places, codes)
        found = found[~unmoved[found] | (one.owner[found] == NO_OWNER)]
        before[found] = by_name[name]
    moved = replace(one, owners=owners, before=before)
    return moved if not gone else _ranked(moved)


def last_moves(group: GroupImage) -> Rebalance | None:
    """The last rebalance that moved anything and is over."""
    over = (past for past in reversed(group.rebalances) if past.took_ms is not None and (past.gained or past.lost))
    return next(over, None)


def _ranked(one: Sharing) -> Sharing:
    names, states = [owner.name for owner in one.owners], [owner.state for owner in one.owners]
    return shared(one.topics, one.topic, one.number, one.owner, one.before, one.lag, names, states)


def _state(group: GroupImage, name: str, count: int) -> str:
    if group.member_of(name) not in group.members:
        return "dead"
    return "ok" if count else "idle"


def _codes(reads: Iterable[TopicPartition], places: Mapping[str, int]) -> Longs:
    return np.array([places[topic] + number for topic, number in reads if topic in places], np.int64)


def _found(reads: Iterable[TopicPartition], places: Mapping[str, int], codes: Longs) -> Longs:
    """Places of those that are there."""
    wanted = _codes(reads, places)
    at = np.searchsorted(codes, wanted)
    there = at < len(codes)
    at, wanted = at[there], wanted[there]
    return at[codes[at] == wanted]


def _lag(group: GroupImage, image: ClusterImage, places: Mapping[str, int], codes: Longs) -> Longs:
    lag = np.full(len(codes), -1, np.int64)
    ends = image.log_ends
    if ends:
        known = {
            places[read.topic] + read.partition: max(ends[read] - offset, 0)
            for read, offset in group.offsets.items()
            if read in ends and read.topic in places
        }
        keys = np.fromiter(known, np.int64)
        at = np.minimum(np.searchsorted(codes, keys), max(len(codes) - 1, 0))
        if len(codes):
            there = codes[at] == keys
            lag[at[there]] = np.fromiter(known.values(), np.int64)[there]
    return lag
