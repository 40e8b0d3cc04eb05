"""What brokers are to many partitions at once: replicas counted by broker and sign. Draws nothing.

One replica's sign is what `partition_map.signs_of_state` says of it; here the same is said of whole columns.
"""

from collections.abc import Iterator

import numpy as np

from model.cluster.ids import NO_LEADER
from model.cluster.topic_image import NOBODY, Flags, Ints, Longs
from tui.data.partition_table import PartitionTable

SIGNS = ".oL+-?X"
"""In the order of how bad they are: the last one that occurs is a group's worst."""

NOTHING, IN_SYNC, LEADS, ADDING, OUT, STRANGER, LEADERLESS = range(len(SIGNS))
"""Indices into SIGNS. LEADERLESS: leads, or was last in sync, and is dead."""

MOST_ID = 1_000_000
"""Broker ids up to here are looked up in a table of that length, larger ones are searched for."""

Rows = slice | Longs


class SignCounts:
    """Counts the replicas of any rows of one table."""

    def __init__(self, table: PartitionTable) -> None:
        self._columns = table.columns
        self._health = table.health
        self._ids = np.array(table.brokers, np.int64)
        self._dead = np.array([*map(table.is_dead, table.brokers), False], np.bool_)
        self._adding = _adding(table)
        self._place = np.full(0, 0, np.int64)
        if len(self._ids) and self._ids[-1] <= MOST_ID:
            self._place = np.full(self._ids[-1] + 2, len(self._ids), np.int64)  # -1, nobody, is its last
            self._place[self._ids] = np.arange(len(self._ids))

    def of(self, rows: Rows) -> Longs:
        """int64[B, 7]: how many replicas of these rows each broker of the table has in each of SIGNS."""
        size = (len(self._ids) + 1) * len(SIGNS)
        counts = np.zeros(size, np.int64)
        for places, codes in self._signed(rows):
            counts += np.bincount(places * len(SIGNS) + codes, minlength=size)
        return counts.reshape(-1, len(SIGNS))[:-1]

    def _signed(self, rows: Rows) -> Iterator[tuple[Longs, Longs]]:
        """(place of the broker, sign) of each replica, a column at a time; then of who is no replica."""
        columns, health = self._columns, self._health
        leader = columns.leader[rows]
        for number in range(columns.replicas.shape[1]):
            in_isr = columns.in_isr[rows, number]
            signs = np.where(in_isr, IN_SYNC, OUT)
            if self._adding is not None:
                signs[self._adding[rows, number] & ~in_isr] = ADDING
            yield self._led(columns.replicas[rows, number], signs, health.eligible[rows, number], leader)
        if health.isr_not_replica[rows].any() or health.leader_not_replica[rows].any():
            yield from self._strangers(rows, leader)

    def _strangers(self, rows: Rows, leader: Ints) -> Iterator[tuple[Longs, Longs]]:
        columns, health = self._columns, self._health
        for number in range(columns.isr.shape[1]):
            in_isr = health.strangers[rows, number]
            ids = np.where(in_isr, columns.isr[rows, number], NOBODY)
            yield self._led(ids, np.full(len(ids), STRANGER), in_isr, leader)
        unlisted = health.leader_not_replica[rows] & ~columns.leader_in_isr[rows]
        ids = np.where(unlisted, leader, NOBODY)
        yield self._led(ids, np.full(len(ids), STRANGER), unlisted, leader)

    def _led(self, ids: Ints, signs: Longs, eligible: Flags, leader: Ints) -> tuple[Longs, Longs]:
        """The signs again, with leaders, and with those who are dead and missed."""
        places = self._places(ids)
        leads = (ids == leader) & (leader != NO_LEADER)
        signs[leads] = LEADS
        signs[self._dead[places] & (leads | (eligible & (leader == NO_LEADER)))] = LEADERLESS
        return places, signs

    def _places(self, ids: Ints) -> Longs:
        if len(self._place):
            return self._place[ids]
        return np.where(ids == NOBODY, len(self._ids), np.searchsorted(self._ids, ids))


def worst(counts: Longs) -> tuple[Ints, Longs]:
    """(index into SIGNS, how many) of the worst sign in each row of counts."""
    there = counts > 0
    there[:, NOTHING] = True
    codes = len(SIGNS) - 1 - np.argmax(there[:, ::-1], axis=1)
    return codes.astype(np.int32), counts[np.arange(len(counts)), codes]


def _adding(table: PartitionTable) -> Flags | None:
    """bool[N, RF]: whether the replica there is being added by a reassignment; None where none is."""
    pairs = [
        (table.starts[topic.name] + topic.row_of[partition], broker)
        for topic in table.columns.topics
        for partition, brokers in topic.adding.items()
        if partition in topic.row_of
        for broker in brokers
    ]
    if not pairs:
        return None
    rows, ids = np.array(pairs, np.int64).T
    adding = np.zeros(table.columns.replicas.shape, np.bool_)
    pair, number = np.nonzero(table.columns.replicas[rows] == ids[:, None])
    adding[rows[pair], number] = True
    return adding
