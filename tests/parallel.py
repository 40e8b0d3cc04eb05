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

WORKERS_MOST = 4
"""Each has servers, brokers and JVMs of its own beside it."""

CONFORMANCE = "tests/conformance/"
CLUSTER = re.compile(rf"^{CONFORMANCE}.*\[(\d+\.\d+\.[\d.]+|KRaft)")


class BySharedParts(LoadScopeScheduling):
    """Kafka's clusters are shared by release, one by all that want KRaft, Sparks by tests/spark; else a file shares.

    Tests of real Kafka mostly wait, for sessions to end and brokers to come back; so do many of the files that have
    few tests. From the beginning to the end one process has such tests of either kind, and the others what computes:
    side by side they would leave the cores idle.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self._of_few_tests: set[str] = set()
        """Scopes that were taken from the end of the queue, which is sorted by how many tests there are."""

    def _split_scope(self, nodeid: str) -> str:
        if cluster := CLUSTER.match(nodeid):
            return CONFORMANCE + cluster[1]
        return "spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        under_way = {
            scope for units in self.assigned_work.values() for scope, unit in units.items() if not all(unit.values())
        }
        conformance = [scope for scope in self.workqueue if scope.startswith(CONFORMANCE)]
        others = [scope for scope in self.workqueue if not scope.startswith(CONFORMANCE)]
        if conformance and not any(scope.startswith(CONFORMANCE) for scope in under_way):
            self.workqueue.move_to_end(conformance[0], last=False)
        elif others and not under_way & self._of_few_tests:
            self._of_few_tests.add(others[-1])
            self.workqueue.move_to_end(others[-1], last=False)
        elif others:
            self.workqueue.move_to_end(others[0], last=False)
        super()._assign_work_unit(node)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each core, and one for while others wait: sessions expire and brokers come back in their own time."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return min(len(os.sched_getaffinity(0)) + 1, WORKERS_MOST)
    return 0


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharedParts:
    """In place of xdist's own: its groups by marker do not reach pytest 9's names of tests."""
    return BySharedParts(config, log)
