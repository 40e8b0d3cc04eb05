"""How a whole run is spread over processes: tests that share what takes long to start stay together, in their order.

A run of named files or tests stays in one process.
"""

from __future__ import annotations

import os
import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

WORKERS_MOST = 4
"""Each has servers, brokers and JVMs of its own beside it."""

CLUSTER = re.compile(r"^tests/conformance/.*\[(\d+\.\d+\.[\d.]+|KRaft)")


class BySharedParts(LoadScopeScheduling):
    """Kafka's clusters are shared by release, one by all that want KRaft, Sparks by tests/spark; else a file shares."""

    def _split_scope(self, nodeid: str) -> str:
        if cluster := CLUSTER.match(nodeid):
            return cluster[1]
        return "spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each core, and one for while others wait: sessions expire and brokers come back in their own time."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return min(len(os.sched_getaffinity(0)) + 1, WORKERS_MOST)
    return 0


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharedParts:
    """In place of xdist's own: its groups by marker do not reach pytest 9's names of tests."""
    return BySharedParts(config, log)
