"""How probable it is that brokers which die for good take the only in-sync replicas of a partition with them.

A. Cidon et al., Copysets: Reducing the Frequency of Data Loss in Cloud Storage (USENIX ATC 2013): data is lost if all
members of a copyset die. Brokers fail at random; racks that fail as a whole are another drill.
"""

from collections.abc import Mapping
from math import comb, exp, prod

import numpy as np
from numpy.typing import NDArray

from spark_tasks.analysis import Arrays
from spark_tasks.drills.fatal import Ints, copysets, sizes_of
from spark_tasks.drills.numbering import Numbers, flags
from spark_tasks.drills.results import DEFAULT_RATE, LossChance

ENUMERABLE = 16
"""Live brokers whose every subset is looked at."""


def loss_chances(arrays: Arrays, rate: float = DEFAULT_RATE) -> tuple[LossChance, ...]:
    """Of the partitions in `arrays`, as they are or as a plan would have them."""
    return chances_of(arrays, *copysets(arrays), rate)


def chances_of(arrays: Arrays, sets: Ints, partitions: Numbers, rate: float) -> tuple[LossChance, ...]:
    """If one, two or three brokers die, or as many as `rate` makes of all; and if each dies at `rate`."""
    live = flags(arrays, "live")
    count = int(live.sum())
    sizes = sizes_of(sets, len(live))
    widths: list[int] = np.unique(sizes).tolist()
    fatal = _fatal(live, sets) if count <= ENUMERABLE else None
    found: list[LossChance] = []
    for failed in sorted({1, 2, 3, max(1, round(rate * count))}):
        if failed <= count:
            all_of = {size: prod((failed - k) / (count - k) for k in range(size)) for size in widths}
            found.append(_chance(sizes, partitions, all_of, _exactly(fatal, failed, sizes, count), failed=failed))
    all_of = {size: rate**size for size in widths}
    found.append(_chance(sizes, partitions, all_of, _at(fatal, count, rate), rate=rate))
    return tuple(found)


def _chance(
    sizes: Numbers,
    partitions: Numbers,
    all_of: Mapping[int, float],
    exact: float | None,
    *,
    failed: int | None = None,
    rate: float | None = None,
) -> LossChance:
    """`all_of`: size → the probability that so many given brokers all die."""
    expected_sets = expected_partitions = 0.0
    for size, probability in all_of.items():
        some = sizes == size
        expected_sets += int(some.sum()) * probability
        expected_partitions += int(partitions[some].sum()) * probability
    probability = 1 - exp(-expected_sets) if exact is None else exact
    return LossChance(failed, rate, expected_partitions, expected_sets, probability, exact is not None)


def _fatal(live: NDArray[np.bool_], sets: Ints) -> Numbers:
    """int64[L + 1]: of the subsets of so many live brokers, those that contain a copyset."""
    count = int(live.sum())
    bit = np.append(np.where(live, 1 << (np.cumsum(live) - 1), 0), 0)
    fatal = np.zeros(1 << count, np.bool_)
    fatal[bit[sets].sum(axis=1)] = True
    for place in range(count):
        by_bit = fatal.reshape(-1, 2, 1 << place)
        by_bit[:, 1] |= by_bit[:, 0]
    return np.bincount(np.bitwise_count(np.flatnonzero(fatal)), minlength=count + 1)


def _exactly(fatal: Numbers | None, failed: int, sizes: Numbers, count: int) -> float | None:
    if fatal is not None:
        return int(fatal[failed]) / comb(count, failed)
    if failed > sizes.min(initial=count):
        return None
    return int((sizes == failed).sum()) / comb(count, failed)  # no two sets at the same time


def _at(fatal: Numbers | None, count: int, rate: float) -> float | None:
    if fatal is None:
        return None
    return sum(subsets * rate**size * (1 - rate) ** (count - size) for size, subsets in enumerate(fatal.tolist()))
