"""Who has which partitions of a group, and the owners as a list.

Ownership is in arrays, so that groups of 100,000 partitions are no burden.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage, Rebalance
from model.cluster.topic_image import Longs
from model.consumers.ownership import subscribed_topics, threads_of
from tui.engine.consumers.groups import lag_cell
from tui.engine.consumers.names import JOINS, Naming, Short, naming, readable
from tui.engine.filters import ListField, Texts, whole_numbers
from tui.engine.glyphs import bar
from tui.engine.listing import Listing, place_in
from tui.engine.rows import Column, Line, Row, line, span

NOBODY = "no owner"
RANKS = (NOBODY, "dead", "gone", "idle", "ok", "joins")
"""What needs a look comes first. `gone`: owned something before the rebalance; `joins`: will, on a copy."""
_MARKS = {NOBODY: "X", "dead": "X", "gone": "-", "idle": "!", "joins": "+"}
_STYLES = {NOBODY: "error", "dead": "dead", "gone": "removed", "idle": "warn", "joins": "added"}


class Owner(NamedTuple):
    """A thread, or nobody. `state` is one of RANKS, `parts` its partitions, `lag` records, None where not known."""

    name: str
    state: str
    parts: int
    lag: int | None
    short: Short | None = None
    """None for nobody."""

    @property
    def label(self) -> str:
        """What it is called on the screens."""
        return self.short.name if self.short else self.name

    @property
    def mark(self) -> str:
        """The severity's sign."""
        return _MARKS.get(self.state, "")

    @property
    def style(self) -> str:
        """The style of its name where its state says more than who it is; else empty."""
        return _STYLES.get(self.state, "")

    @property
    def hue(self) -> str:
        """The style of its name, and of its bars."""
        return self.style or (self.short.hue if self.short else "")


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
    naming: Naming
    """Of the consumers that are there."""

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
    return shared(topics, codes // _TOPIC, codes % _TOPIC, owner, owner, lag, names, states, naming_of(group))


def naming_of(group: GroupImage) -> Naming:
    """Short names of a group's members."""
    return naming(group.members, is_threaded=group.kind == ZOOKEEPER)


def shared(
    topics: tuple[str, ...],
    topic: Longs,
    number: Longs,
    owner: Longs,
    before: Longs,
    lag: Longs,
    names: Iterable[str],
    states: Iterable[str],
    named: Naming,
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
    shorts = named.of([name for name, _ in pairs])
    owners = tuple(
        Owner(*pairs[place], counts[at], int(sums[at]) if told[at] else None, shorts[pairs[place][0]])
        for at, place in enumerate(order)
    )
    return Sharing(owners, topics, topic, number, owner, before, lag, named)


def with_before(one: Sharing, past: Rebalance) -> Sharing:
    """The same, with what a rebalance moved and nobody moved since; who owned it then and is gone is an owner again."""
    places = {name: place * _TOPIC for place, name in enumerate(one.topics)}
    codes = one.topic * _TOPIC + one.number
    there = {owner.name for owner in one.owners}
    gone = sorted(past.lost.keys() - there)
    shorts = one.naming.of([*(owner.name for owner in one.owners), *gone])
    owners = (*one.owners, *(Owner(name, "gone", 0, None, shorts[name]) for name in gone))
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
    return shared(one.topics, one.topic, one.number, one.owner, one.before, one.lag, names, states, one.naming)


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


BAR = 8
"""Cells of the bar that compares how much each one owns."""


def listed(one: Sharing) -> tuple[tuple[Owner, int], ...]:
    """Nobody, if there is something that nobody owns, and the owners; each with its place in the sharing."""
    nobody = () if one.nobody is None else ((one.nobody, NO_OWNER),)
    return (*nobody, *((owner, place) for place, owner in enumerate(one.owners)))


Cells = Callable[[Owner, int], tuple[Line, ...]]
"""The cells of a row, from an owner and its place in the sharing."""


def owner_listing(one: Sharing, columns: tuple[Column, ...], cells: Cells) -> Listing:
    """Each with these cells; what needs a look comes first."""
    rows = listed(one)
    return Listing(
        count=len(rows),
        fields=lambda: _fields(one, rows),
        shown=("thread", "state", "owns"),
        row=lambda i: Row(rows[i][0].name, cells(*rows[i]), mark=rows[i][0].mark),
        place=place_in([owner.name for owner, _ in rows]),
        columns=columns,
        made_from=(one,),
        nothing="the group has no members and owns nothing",
    )


def owner_columns(one: Sharing, width: int, lag: int) -> tuple[Column, ...]:
    """The columns that the table and the graph share."""
    return (
        Column("thread" if one.naming.is_threaded else "member", width, "<", "thread"),
        Column("parts", 5, ">", "partitions"),
        Column("lag", lag, ">", "lag"),
    )


def owner_cells(owner: Owner, style: str | None = None) -> tuple[Line, ...]:
    """What stands in them; another style takes away what a name's own says only by colour."""
    return (
        line(span(owner.label, owner.hue), *_beside(owner)),
        line(span(f"{owner.parts:,}", style or ("" if owner.parts else "dim"))),
        lag_cell(owner.lag),
    )


def _beside(owner: Owner) -> Line:
    """The host or client id of an owner, beside its short name."""
    beside = readable(owner.name).removeprefix(JOINS)
    return (span(f" {beside}", "dim"),) if owner.short and beside != owner.label else ()


def owner_bar(owner: Owner, most: int) -> Line:
    """How much it owns, compared with the others."""
    shown = bar(owner.parts / most, BAR) if owner.parts else "idle" if owner.state == "idle" else ""
    return line(span(shown, owner.hue))


def _fields(one: Sharing, rows: Sequence[tuple[Owner, int]]) -> dict[str, ListField]:
    def owned(place: int) -> str:
        return " ".join(map(one.name, one.of(place).tolist()))

    return {
        "thread": Texts(lambda: [owner.name for owner, _ in rows]),
        "state": Texts(lambda: [owner.state for owner, _ in rows]),
        "owns": Texts(lambda: [owned(place) for _, place in rows]),
        "partitions": whole_numbers(owner.parts for owner, _ in rows),
        "lag": whole_numbers(owner.lag for owner, _ in rows),
    }
