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
from tests.whole_run import is_plain

WORKERS_MOST = 4
"""Each has servers, brokers and JVMs of its own beside it."""

CONFORMANCE = "tests/conformance/"
CLUSTER = re.compile(rf"^{CONFORMANCE}.*\[(\d+\.\d+\.[\d.]+|KRaft)")


class BySharedParts(LoadScopeScheduling):
    """Kafka's clusters are shared by release, one by all that want KRaft, Sparks by tests/spark; else a file shares.

    Tests of real Kafka mostly wait, for sessions to end and brokers to come back. From the beginning to the end one
    process has such tests, and the others what computes: side by side they would leave the cores idle. So would the
    rest if those of few tests, which mostly wait as well, were left for the end: the queue is taken from both.
    """

    def _split_scope(self, nodeid: str) -> str:
        if cluster := CLUSTER.match(nodeid):
            return CONFORMANCE + cluster[1]
        return "spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        under_way = (
            scope for units in self.assigned_work.values() for scope, unit in units.items() if not all(unit.values())
        )
        has_conformance = any(scope.startswith(CONFORMANCE) for scope in under_way)
        if fitting := [scope for scope in self.workqueue if scope.startswith(CONFORMANCE) != has_conformance]:
            fewest_tests, most_tests = fitting[-1], fitting[0]
            self.workqueue.move_to_end(fewest_tests if len(fitting) % 2 else most_tests, last=False)
        super()._assign_work_unit(node)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each core, and more for while others wait: sessions expire and brokers come back in their own time.

    The fast tier waits for nothing. Two more are for a run without real Kafka, whose JVMs take what memory there is.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    is_fast = config.option.markexpr == EXPRESSION
    return min(len(os.sched_getaffinity(0)) + (not is_fast) + is_plain(config), WORKERS_MOST)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharedParts:
    """In place of xdist's own: its groups by marker do not reach pytest 9's names of tests."""
    return BySharedParts(config, log)
