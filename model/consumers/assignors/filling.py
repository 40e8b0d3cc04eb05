"""Giving free partitions away where subscriptions differ: each to whoever has least of those who may have it.

Source: `AbstractStickyAssignor.GeneralAssignmentBuilder.maybeAssign`, `UniformHeterogeneousAssignmentBuilder` (3.9).
"""

from collections.abc import Iterable

import numpy as np

from model.consumers.assignors.dealing import least_loaded
from model.consumers.assignors.group import Ints
from model.consumers.assignors.runs import Run


def fill(owner: Ints, counts: Ints, runs: Iterable[Run]) -> None:
    """Writes owners of the runs' partitions, and counts them; where nobody may have them they stay free."""
    for partitions, members in runs:
        if len(members) and len(partitions):
            takers = least_loaded(counts[members], len(partitions))
            owner[partitions] = members[takers]
            counts[members] += np.bincount(takers, minlength=len(members))
