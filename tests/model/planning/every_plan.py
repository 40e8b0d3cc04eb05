"""Every plan that there is for a small cluster, and how good each is, objective by objective, in the order of the wish.

What is hard is a matter of which ways a partition has at all; the rest is counted here once more, in loops, and shares
no line with the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Row = tuple[int, ...]
Figures = tuple[int, ...]

ORDER: Mapping[str, tuple[str, ...]] = {
    "balance": ("replicas", "bytes", "moves", "leaders", "changes"),
    "racks": ("bytes", "moves", "changes", "replicas", "leaders"),
    "forced": ("bytes", "moves", "racks", "changes", "replicas", "leaders"),
    "leaders": ("leaders", "changes"),
}
"""Of each reach, what counts first, second…: `replicas` and `leaders` are how far counts are outside of their bands,
`racks` how many racks partitions could be on and are not."""


class Limits(NamedTuple):
    """The least and the most for each broker."""

    least: Sequence[float]
    most: Sequence[float]


class Case(NamedTuple):
    """Partitions as they are, the ways that each has, and by what plans are judged."""

    before: list[Row]
    ways: list[list[Row]]
    rack: Sequence[int]
    """Of each broker."""
    racks: int
    """Of brokers that stay."""
    sizes: Sequence[int] | None
    """None: bytes do not count."""
    replicas: Limits
    leaders: Limits
    order: tuple[str, ...]


def steps_outside(counts: Sequence[int], limits: Limits) -> int:
    """The first replica outside of the limits costs 1, the next two 2 each, the next four 4 each."""
    total = 0
    for count, least, most in zip(counts, limits.least, limits.most, strict=True):
        outside, width = round(max(least - count, count - most, 0)), 1
        while outside > 0:
            total += min(outside, width) * width
            outside, width = outside - width, 2 * width
    return total


def judged(case: Case, after: Sequence[Row]) -> Figures:
    """One plan's figures, in the order in which they count: fewer is better."""
    added = (0, 0, 0, 0)
    for row, replicas in enumerate(after):
        added = _sum(added, _alone(case, row, replicas))
    return _ordered(case, _held(case, after), _led(case, after), added)


def every_figures(case: Case) -> set[Figures]:
    """Those of all plans that there are."""
    brokers = len(case.rack)
    reached: dict[tuple[Figures, Figures], set[Figures]] = {((0,) * brokers, (0,) * brokers): {(0, 0, 0, 0)}}
    for row, ways in enumerate(case.ways):
        further: dict[tuple[Figures, Figures], set[Figures]] = {}
        for replicas in ways:
            alone = _alone(case, row, replicas)
            for (held, led), figures in reached.items():
                now = _counted(held, replicas), _counted(led, replicas[:1])
                further.setdefault(now, set()).update(_sum(each, alone) for each in figures)
        reached = further
    return {_ordered(case, *counts, each) for counts, figures in reached.items() for each in figures}


def beats_a_bound(case: Case, found: Figures, bounds: Mapping[str, int], figures: Iterable[Figures]) -> Figures | None:
    """A plan that is below a bound though it is as good as the one found in all that counts before; None: none is."""
    for each in figures:
        for place, name in enumerate(case.order):
            if each[place] < bounds.get(name, 0):
                return each
            if each[place] > found[place]:
                break
    return None


def _alone(case: Case, row: int, after: Row) -> Figures:
    """Bytes, moves, leader changes, racks that are missing."""
    before = case.before[row]
    moves = sum(broker not in before for broker in after)
    size = 0 if case.sizes is None else case.sizes[row]
    missing = min(len(after), case.racks) - len({case.rack[broker] for broker in after})
    return moves * size, moves, int(after[0] != before[0]), max(missing, 0)


def _ordered(case: Case, held: Sequence[int], led: Sequence[int], added: Figures) -> Figures:
    figures = {
        **dict(zip(("bytes", "moves", "changes", "racks"), added, strict=True)),
        "replicas": steps_outside(held, case.replicas),
        "leaders": steps_outside(led, case.leaders),
    }
    return tuple(figures[name] for name in case.order)


def _held(case: Case, after: Sequence[Row]) -> list[int]:
    return [sum(broker in row for row in after) for broker in range(len(case.rack))]


def _led(case: Case, after: Sequence[Row]) -> list[int]:
    return [sum(row[0] == broker for row in after) for broker in range(len(case.rack))]


def _counted(counts: Figures, brokers: Row) -> Figures:
    return tuple(count + (broker in brokers) for broker, count in enumerate(counts))


def _sum(one: Figures, other: Figures) -> Figures:
    return tuple(a + b for a, b in zip(one, other, strict=True))
