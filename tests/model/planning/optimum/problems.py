"""Small problems and every answer there is to them; random larger ones."""

from collections.abc import Iterator
from itertools import combinations, product

import msgspec
import numpy as np
from hypothesis import strategies as st

from model.planning.optimum.problem import NONE, PlacementProblem

Row = tuple[int, ...]


def problem(
    rows: list[Row],
    racks: list[int],
    *,
    rf: int | list[int] | None = None,
    gone: tuple[int, ...] = (),
    sizes: list[int] | None = None,
    topics: list[int] | None = None,
    fixed: tuple[int, ...] = (),
    capacity: list[int] | None = None,
) -> PlacementProblem:
    """A problem from lists; every partition keeps its number of replicas unless `rf` says otherwise."""
    width = max(map(len, rows))
    factors = [rf] * len(rows) if isinstance(rf, int) else rf or [len(row) for row in rows]
    return PlacementProblem(
        replicas=np.array([[*row, *[NONE] * (width - len(row))] for row in rows], np.int32),
        target_rf=np.array(factors, np.int32),
        allowed=np.array([broker not in gone for broker in range(len(racks))]),
        rack=np.array(racks, np.int32),
        topic=np.array(topics or [0] * len(rows), np.int32),
        bytes=None if sizes is None else np.array(sizes, np.int64),
        capacity=None if capacity is None else np.array(capacity, np.int64),
        fixed=np.isin(np.arange(len(rows)), fixed) if fixed else None,
    )


def rows_of(replicas: np.ndarray) -> list[Row]:
    """Without padding."""
    return [tuple(broker for broker in row if broker != NONE) for row in replicas.tolist()]


def counts(rows: list[Row], brokers: int) -> list[int]:
    """Replicas of each broker."""
    return np.bincount([broker for row in rows for broker in row], minlength=brokers).tolist()


def moves(before: list[Row], after: list[Row]) -> int:
    """Replicas added."""
    return sum(len(set(new) - set(old)) for old, new in zip(before, after, strict=True))


def changes(before: list[Row], after: list[Row]) -> int:
    """Partitions that another broker leads."""
    return sum(old[0] != new[0] for old, new in zip(before, after, strict=True))


def is_spread(row: Row, asked: PlacementProblem) -> bool:
    """Distinct allowed brokers, on as many racks as possible."""
    racks = asked.rack[asked.allowed]
    rack = asked.rack if (racks != NONE).all() else np.zeros_like(asked.rack)
    there = len(set(rack[asked.allowed].tolist()))
    return (
        len(set(row)) == len(row)
        and bool(asked.allowed[list(row)].all())
        and len({int(rack[broker]) for broker in row}) == min(len(row), there)
    )


def every_placement(asked: PlacementProblem) -> Iterator[list[Row]]:
    """All there are, the order of those that follow the leader aside."""
    brokers = np.flatnonzero(asked.allowed).tolist()
    ways = [
        [
            (leader, *(broker for broker in chosen if broker != leader))
            for chosen in combinations(brokers, int(factor))
            if is_spread(chosen, asked)
            for leader in chosen
        ]
        for factor in asked.target_rf
    ]
    return (list(rows) for rows in product(*ways))


@st.composite
def mostly_fixed(draw: st.DrawFn) -> PlacementProblem:
    """A few partitions that may move beside many that stay, all on a few brokers, far from any even count."""
    free = draw(problems(most_brokers=6, most_partitions=8))
    here = draw(st.lists(st.integers(0, len(free.allowed) - 1), min_size=1, max_size=3, unique=True))
    stay = draw(st.integers(1, 200))
    width = max(free.replicas.shape[1], len(here))
    padded = np.pad(free.replicas, ((0, 0), (0, width - free.replicas.shape[1])), constant_values=NONE)
    row = np.array(here + [NONE] * (width - len(here)), np.int32)
    return msgspec.structs.replace(
        free,
        replicas=np.vstack([padded, np.tile(row, (stay, 1))]),
        target_rf=np.append(free.target_rf, np.full(stay, len(here), np.int32)),
        topic=np.append(free.topic, np.zeros(stay, np.int32)),
        bytes=None if free.bytes is None else np.append(free.bytes, np.ones(stay, np.int64)),
        fixed=np.arange(len(padded) + stay) >= len(padded),
    )


@st.composite
def problems(draw: st.DrawFn, most_brokers: int = 4, most_partitions: int = 4) -> PlacementProblem:
    """Any cluster of this size: brokers gone, racks uneven or unknown, partitions that break every rule."""
    brokers = draw(st.integers(1, most_brokers))
    racks = draw(st.lists(st.integers(-1 if draw(st.booleans()) else 0, 2), min_size=brokers, max_size=brokers))
    gone = tuple(draw(st.sets(st.integers(0, brokers - 1), max_size=brokers - 1)))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, brokers - 1), min_size=1, max_size=3, unique=True).map(tuple),
            min_size=1,
            max_size=most_partitions,
        )
    )
    factor = st.integers(1, min(brokers - len(gone), 3))
    factors = draw(st.lists(factor, min_size=len(rows), max_size=len(rows)))
    sizes = draw(st.none() | st.lists(st.integers(0, 100), min_size=len(rows), max_size=len(rows)))
    topics = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return problem(rows, racks, rf=factors, gone=gone, sizes=sizes, topics=topics)
