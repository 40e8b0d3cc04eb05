"""A topic's partitions as columns.

One numpy array per fact, one row per partition, so that a million partitions fit in memory and a question about the
whole cluster is one vector operation. The arrays are never written to once an image holds them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from model.cluster.ids import NO_LEADER, NO_STATE

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Column = NDArray[Any]
"""A column of any of these."""

NOBODY = -1
"""Pads rows of brokers that are shorter than the widest."""

UNTOLD = -2
"""Stands alone in a row of `elr` or `last_known_elr` of which nobody told anything; ZooKeeper's Kafka has none."""

_HUGE_ID = 1_000_000


def padded(rows: list[tuple[int, ...]], width: int = 0) -> Ints:
    """Rows of broker ids as int32[len(rows), W], W at least `width` and 1, padded with -1."""
    widths = set(map(len, rows))
    width = max(width, 1, *widths)
    if widths == {width}:
        return np.fromiter(chain.from_iterable(rows), np.int32, len(rows) * width).reshape(len(rows), width)
    return np.array([(*row, *(NOBODY,) * (width - len(row))) for row in rows], np.int32).reshape(len(rows), width)


def told(rows: list[tuple[int, ...] | None]) -> Ints:
    """As `padded`, with rows that nobody told."""
    return padded([(UNTOLD,) if row is None else row for row in rows])


def untold(count: int) -> Ints:
    """So many rows that nobody told, which take no memory."""
    return np.broadcast_to(np.int32(UNTOLD), (count, 1))


def told_in(row: Ints) -> tuple[int, ...] | None:
    """The broker ids of one padded row, in order; None where nobody told it."""
    return None if row[0] == UNTOLD else unpadded(row)


def unpadded(row: Ints) -> tuple[int, ...]:
    """The broker ids of one padded row, in order."""
    return tuple(int(broker) for broker in row if broker != NOBODY)


def rows_of(padded: Ints) -> list[tuple[int, ...]]:
    """The broker ids of every padded row, in order; much faster than row by row."""
    rows: list[tuple[int, ...]] = list(zip(*(column.tolist() for column in padded.T), strict=True))
    if len(padded) and padded.min() <= NOBODY:
        return [tuple(broker for broker in row if broker != NOBODY) if NOBODY in row else row for row in rows]
    return rows


@dataclass(frozen=True, eq=False)
class TopicImage:
    """One topic. Arrays share their first axis P; partition ids are ascending.

    A row without replicas is an orphan: the partition has a state znode and no assignment names it.

    `isr` keeps broker ids in the znode's order, because Kafka 0.8 elects the first live one, and may name brokers that
    are no replicas: a cluster can contradict itself, and an operator has to see it.

    `directories` are those that hold the replicas (KIP-858), as the metadata log has them.

    `elr` are the eligible leader replicas (KIP-966): out of the ISR, and still without loss where it was below
    min.insync.replicas since. `last_known_elr` is the last leader where nobody leads.
    """

    name: str
    partitions: Ints  # [P] partition ids
    replicas: Ints  # [P, RF] broker ids, preferred first, padded with -1
    leader: Ints  # [P] broker id, -1 none
    isr: Ints  # [P, W] broker ids in znode order, padded with -1
    leader_epoch: Ints  # [P]
    controller_epoch: Ints  # [P] epoch of the controller that wrote the state
    version: Ints  # [P] data version of the state znode, -1 no such znode
    recovering: Flags  # [P] leader_recovery_state is RECOVERING (KIP-704)
    zxid: Longs  # [P] transaction that last wrote the state, -1 unknown
    time_ms: Longs  # [P] when that was
    elr: Ints  # [P, E] broker ids, padded with -1, or UNTOLD
    last_known_elr: Ints  # [P, L] the same
    directories: Ints  # [P, D] of each replica, `directory_number`, padded with -1, or UNTOLD
    topic_id: str | None = None
    adding: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    removing: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicImage):
            return NotImplemented
        return self is other or all(
            _same(getattr(self, column.name), getattr(other, column.name)) for column in fields(self)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # columns have no hash

    def __len__(self) -> int:
        return len(self.partitions)

    @cached_property
    def row_of(self) -> Mapping[int, int]:
        """Partition id → row."""
        return {partition: row for row, partition in enumerate(self.partitions.tolist())}

    @cached_property
    def placed(self) -> frozenset[int]:
        """Every broker that is named as a replica."""
        return _ids(self.replicas)

    @cached_property
    def brokers(self) -> frozenset[int]:
        """Every broker that is named as a replica, a leader or in an ISR."""
        strangers = (_ids(self.isr) | _ids(self.leader)) - self.placed
        return self.placed | strangers if strangers else self.placed

    @cached_property
    def in_isr(self) -> Flags:
        """bool[P, RF]: whether the replica at that position is in the ISR."""
        members = (self.replicas[:, :, None] == self.isr[:, None, :]).any(axis=2)
        return members & (self.replicas != NOBODY)

    @cached_property
    def preferred(self) -> Ints:
        """int32[P]: the preferred leader, first of the replicas."""
        return self.replicas[:, 0]

    @cached_property
    def isr_count(self) -> Ints:
        """int32[P]: members of the ISR, strangers included."""
        return (self.isr != NOBODY).sum(axis=1, dtype=np.int32)

    @cached_property
    def replica_count(self) -> Ints:
        """int32[P]: replication factor of each partition."""
        return (self.replicas != NOBODY).sum(axis=1, dtype=np.int32)

    @cached_property
    def orphaned(self) -> Flags:
        """bool[P]: whether the partition has a state znode and no assignment."""
        return self.replica_count == 0

    @property
    def has_state(self) -> Flags:
        """bool[P]: whether the controller has written the partition's state yet."""
        return self.version != NO_STATE

    def with_states(self, rows: Column, **columns: Column) -> "TopicImage":
        """These rows, ascending, in other states; what that leaves as it is is not worked out again."""
        had, mark = vars(self), self._mark
        known = {name: had[name] for name in _CARRIED if name in had} | columns
        if "brokers" in known:
            named = {*known["leader"][rows].tolist(), *known["isr"][rows].ravel().tolist()} - {NOBODY}
            if not named <= self.placed == self.brokers:
                del known["brokers"]
        after = object.__new__(TopicImage)  # `replace` takes several times as long, and images at a death are many
        vars(after).update(known, _written=(mark, rows))
        return after

    @cached_property
    def _mark(self) -> object:
        """Stands for this image: those made of it must not keep all that came before them."""
        return object()

    def rows_since(self, earlier: "TopicImage") -> Column | None:
        """Ascending rows in which states may differ from an earlier image's, if nothing else does; None where it may.

        None also where an equal assignment was read again.
        """
        if self.partitions is not earlier.partitions or self.replicas is not earlier.replicas:
            return None
        if (self.topic_id, self.adding, self.removing) != (earlier.topic_id, earlier.adding, earlier.removing):
            return None
        mark, rows = vars(self).get("_written", (None, None))
        if mark is not None and mark is vars(earlier).get("_mark"):
            return rows
        differing = np.zeros(len(self), np.bool_)
        for name in BROKERS_COLUMNS:
            differing |= differing_rows(getattr(self, name), getattr(earlier, name))
        for name in STATE_COLUMNS:
            differing |= getattr(self, name) != getattr(earlier, name)
        return np.flatnonzero(differing)

    def rows(self) -> Iterator[tuple[int, tuple[int, ...], int, tuple[int, ...]]]:
        """(partition, replicas, leader, isr) of each partition, for small topics and tests."""
        for row, partition in enumerate(self.partitions):
            yield int(partition), unpadded(self.replicas[row]), int(self.leader[row]), unpadded(self.isr[row])


STATE_COLUMNS = (
    "leader", "leader_epoch", "controller_epoch", "version", "recovering", "zxid", "time_ms",
)  # fmt: skip
"""What a state says in one number."""

BROKERS_COLUMNS = ("isr", "elr", "last_known_elr", "directories")
"""What a state says in a row of brokers, or of what they have."""

_KEPT = ("row_of", "placed", "brokers", "preferred", "replica_count", "orphaned")
"""What other states leave as it is, as a rule."""

_CARRIED = (*(each.name for each in fields(TopicImage)), *_KEPT)


def _ids(brokers: Column) -> frozenset[int]:
    return frozenset(counted_ids(brokers)[0].tolist())


def counted_ids(brokers: Column) -> tuple[Longs, Longs]:
    """The broker ids that occur, ascending, and how often; several times quicker than sorting, unless ids are huge."""
    ids = brokers[brokers > NOBODY]
    if ids.max(initial=0) > _HUGE_ID:
        return np.unique(ids, return_counts=True)
    counts = np.bincount(ids)
    found = np.flatnonzero(counts)
    return found, counts[found]


def _same(left: object, right: object) -> bool:
    if not (isinstance(left, np.ndarray) and isinstance(right, np.ndarray)):
        return left == right
    one, other = cast(Column, left), cast(Column, right)
    if one.ndim == 2 == other.ndim:
        width = max(one.shape[1], other.shape[1])
        return np.array_equal(widened(one, width), widened(other, width))
    return np.array_equal(one, other)


def widened(rows: Column, width: int) -> Column:
    """The same padded rows with at least `width` columns."""
    if width <= rows.shape[1]:
        return rows
    wide = np.full((len(rows), width), NOBODY, rows.dtype)
    wide[:, : rows.shape[1]] = rows
    return wide


def differing_rows(some: Column, others: Column) -> Flags:
    """bool[N]: which padded rows differ."""
    width = max(some.shape[1], others.shape[1])
    return (widened(some, width) != widened(others, width)).any(axis=1)


def blank_topic(name: str, partitions: Ints, replicas: Ints) -> TopicImage:
    """A topic whose partitions have no state znodes yet."""
    count = len(partitions)
    none = np.full(count, NO_LEADER, np.int32)
    return TopicImage(
        name=name,
        partitions=partitions,
        replicas=replicas,
        leader=none,
        isr=np.full((count, 1), NOBODY, np.int32),
        leader_epoch=none,
        controller_epoch=none,
        version=np.full(count, NO_STATE, np.int32),
        recovering=np.zeros(count, np.bool_),
        zxid=np.full(count, -1, np.int64),
        time_ms=np.zeros(count, np.int64),
        elr=untold(count),
        last_known_elr=untold(count),
        directories=untold(count),
    )
