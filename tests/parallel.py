"""How a whole run is spread over processes: tests that share what takes long to start stay together, in their order.

A run of named files or tests stays in one process.
"""

from __future__ import annotations

import os
import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.fast_tier import EXPRESSION

WORKERS_MOST = 5
"""Each has servers, brokers and JVMs of its own beside it."""

CONFORMANCE = "tests/conformance/"
CLUSTER = re.compile(rf"^{CONFORMANCE}.*\[((?:KRaft )?\d+\.\d+\.[\d.]+|KRaft)")
TOGETHER = ("tests/architecture/", "tests/spark/")
CLUSTERS_MOST = 2
"""Of real Kafka at a time: their JVMs take what memory there is."""
LONGEST = ("KRaft 4", "KRaft 3", "3.9.1", "1.1.1", "test_scenarios", "0.8.2.2", "4.4.0")
"""What takes minutes with real Kafka, by what follows `CONFORMANCE` in scopes' names, in the order in which it begins:
all would wait for a long one that began last."""
WAITING = (CONFORMANCE, "tests/model/hosts/", "tests/pty/", "tests/sandbox/", "tests/zookeeper/")
"""Where tests mostly wait: for sessions to end, leaders to be elected, processes to come back."""


class BySharedParts(LoadScopeScheduling):
    """Kafka's clusters are shared by release, Sparks and syntax trees by folder; else a file shares.

    As long as there are both, most of the processes have tests that wait, those of real Kafka first, and the others
    what computes: side by side those that wait would leave the cores idle, and so they would at the end.
    """

    def _split_scope(self, nodeid: str) -> str:
        if cluster := CLUSTER.match(nodeid):
            return CONFORMANCE + cluster[1]
        return next((begin for begin in TOGETHER if nodeid.startswith(begin)), nodeid.partition("::")[0])

    def _assign_work_unit(self, node: WorkerController) -> None:
        waits = self.nodes.index(node) <= len(self.nodes) // 2
        preferred = sorted(self.workqueue, key=lambda scope: _rank(scope, waits))
        others = (units for other, units in self.assigned_work.items() if other is not node)
        under_way = (scope for units in others for scope, unit in units.items() if not all(unit.values()))
        if sum(scope.startswith(CONFORMANCE) for scope in under_way) >= CLUSTERS_MOST:
            preferred = [scope for scope in preferred if not scope.startswith(CONFORMANCE)] or preferred
        self.workqueue.move_to_end(preferred[0], last=False)
        super()._assign_work_unit(node)


def _rank(scope: str, waits: bool) -> tuple[bool, bool, int]:
    """Sorts first what a process that waits, or one that computes, is to have."""
    name = scope.removeprefix(CONFORMANCE)
    order = next((place for place, begin in enumerate(LONGEST) if name.startswith(begin)), len(LONGEST))
    return scope.startswith(WAITING) != waits, scope.startswith(CONFORMANCE) != waits, order


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each core, and three more for while others wait: sessions expire and brokers come back in their own time.

    The fast tier waits for nothing.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    is_fast = config.option.markexpr == EXPRESSION
    return min(len(os.sched_getaffinity(0)) + 3 * (not is_fast), WORKERS_MOST)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharedParts:
    """In place of xdist's own: its groups by marker do not reach pytest 9's names of tests."""
    return BySharedParts(config, log)
