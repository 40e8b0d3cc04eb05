"""The rows of some partitions as drills need them: members, their kind, and how many partitions are such a row."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.controller.generations import GENERATIONS, Generation
from spark_tasks.analysis import Arrays
from spark_tasks.drills.numbering import DENSE, Column, Numbers, numbered, summed
from spark_tasks.drills.reaction import PartitionKind

Ints = NDArray[np.int32]
Bounds = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PartitionRows:
    """Partitions of one kind with the same members may be one row. Members are places in `brokers`, -1 nobody."""

    members: tuple[Ints, ...]  # W columns [n]
    kind: Numbers  # [n]
    kinds: tuple[PartitionKind, ...]
    weight: Numbers | None  # [n] partitions a row, None: one each

    def __len__(self) -> int:
        return len(self.kind)


def rules_in(arrays: Arrays) -> Generation:
    """Whose rules the arrays say."""
    return GENERATIONS[int(arrays["rules"][0])]


def rows_of(arrays: Arrays, bounds: Iterable[Bounds], *, unclean: bool = False, merged: bool = False) -> PartitionRows:
    """The rows from each first to before each last. merged: partitions that are the same are one row at any cost."""
    chosen = list(bounds)

    def column(values: Column) -> Column:
        parts = [values[start:end] for start, end in chosen]
        return np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate([values[:0], *parts])

    members = tuple(
        column(arrays[name][:, place]) for name in ("replicas", "strangers") for place in range(arrays[name].shape[1])
    )
    replicas, live = _bits(members, arrays["live"])
    first = arrays["replicas"].shape[1]
    replicas &= (1 << first) - 1
    leader = np.full(len(replicas), -1, np.int32)
    led_by = column(arrays["leader"])
    for place, member in reversed(list(enumerate(members))):
        leader[(member == led_by) & (member >= 0)] = place
    facts = (
        replicas,
        live,
        column(arrays["isr"]),
        leader,
        column(arrays["stated"]),
        np.ones(len(replicas), np.bool_) if unclean else column(arrays["unclean"]),
        column(arrays["min_isr"]),
        np.bitwise_count(replicas & ~column(arrays["adding"])),
    )
    if arrays["elr"].any():
        facts = (*facts, column(arrays["elr"]))
    kind, row = numbered(facts)
    values = (fact[row].astype(int).tolist() for fact in facts)
    kinds = tuple(PartitionKind(*each) for each in zip(*values, strict=True))
    rows, brokers = PartitionRows(members, kind, kinds, None), len(arrays["brokers"])
    span = (brokers + 1) ** len(members) * max(1, len(kinds))
    pays = span < 1 << 62 if merged else span <= min(4 * DENSE, len(rows) // 2)
    return _merged(rows, brokers, span) if pays else rows


def _bits(members: tuple[Ints, ...], live: Column) -> tuple[Numbers, Numbers]:
    """Which members there are, and which live."""
    lives = np.append(live, False)  # for -1
    there, alive = np.zeros(len(members[0]), np.int64), np.zeros(len(members[0]), np.int64)
    all_live = bool(live.all())
    for place, member in enumerate(members):
        is_there = member >= 0
        there |= is_there.astype(np.int64) << place
        alive |= (is_there if all_live else lives[member]).astype(np.int64) << place
    return there, alive


def _merged(rows: PartitionRows, brokers: int, span: int) -> PartitionRows:
    """Rows that are the same as one; there are at most `span` different ones."""
    key = rows.kind.copy()
    for member in rows.members:
        key = key * (brokers + 1) + member + 1
    keys, weight = summed(key, span=span)
    members: list[Ints] = []
    for _ in rows.members:
        keys, member = np.divmod(keys, brokers + 1)
        members.append((member - 1).astype(np.int32))
    return PartitionRows(tuple(reversed(members)), keys, rows.kinds, weight)
