"""Scenarios that take a KRaft quorum its majority: nothing is elected in them, whatever else the rules say.

What the dead led has no leader then, and all else stays as the metadata has it: see `model.drills.voters`.
"""

import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.drills.numbering import Column, Numbers, flags, integers
from spark_tasks.drills.results import NAMES, Counts

VOTES, LED, STATED, SHORT = range(4)
"""Rows of what there is by broker: whether it votes; the partitions it leads; of these those that are assigned and have
a state, and those under min ISR."""
_ROW = {name: row for row, name in enumerate(NAMES)}


class Majority:
    """Of one cluster. Without a quorum, or with voters enough, no scenario is lost."""

    def __init__(self, arrays: Arrays) -> None:
        self._spare = int(arrays["spare"][0])
        self.may_be_lost = self._spare < int(arrays["voter"].sum())
        self.by_broker: Numbers = _by_broker(arrays)
        """int64[4, B]"""

    def by_group(self, of: Numbers, count: int) -> Numbers:
        """int64[4, count]: the same of groups; `of` is each broker's group, -1 none."""
        some = of >= 0
        sums = [np.bincount(of[some], row[some], count) for row in self.by_broker]
        return np.array(sums).astype(np.int64).reshape(4, count)

    def lost(self, dead: Numbers) -> Column:
        """Whether the majority is, in scenarios: `dead` int64[4, ...] are the sums over those who die."""
        return dead[VOTES] > self._spare

    def counts(self, before: Numbers, dead: Numbers) -> Numbers:
        """int64[METRICS, ...] where it is lost; `before` int64[METRICS]: the counts as they are."""
        found = np.zeros((len(NAMES), *dead.shape[1:]), np.int64)
        was = Counts(*before.tolist())
        found[_ROW["offline"]] = was.offline + dead[STATED]
        found[_ROW["under_min_isr"]] = was.under_min_isr - dead[SHORT]
        found[_ROW["under_replicated"]] = was.under_replicated
        found[_ROW["newly_offline"]] = found[_ROW["hurt"]] = dead[LED]
        return found


def _by_broker(arrays: Arrays) -> Numbers:
    leader, brokers = integers(arrays, "leader"), len(arrays["brokers"])
    live = np.append(flags(arrays, "live"), False)  # for -1
    led: Column = live[leader]
    stated: Column = led & flags(arrays, "stated") & (integers(arrays, "replicas") >= 0).any(axis=1)
    short: Column = stated & (np.bitwise_count(integers(arrays, "isr")) < integers(arrays, "min_isr"))
    counts = [np.bincount(leader[some], minlength=brokers) for some in (led, stated, short)]
    return np.array([flags(arrays, "voter"), *counts], np.int64).reshape(4, brokers)
