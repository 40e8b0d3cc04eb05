"""Our controllers do what the real ones of Kafka 3.9.1 did: the same writes to every znode, scenario by scenario."""

from __future__ import annotations

import pytest

from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path, scenario
from tests.model.controller.trace_scenarios import SCENARIOS

TRACE = "golden-trace-1.txt"


@pytest.fixture(scope="module")
def journey() -> dict[str, list[str]]:
    """The transactions of every scenario, all in one cluster as in the trace."""
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    found: dict[str, list[str]] = {}
    for name, act in SCENARIOS.items():
        mark = len(cluster.log)
        act(cluster)
        found[name] = cluster.since(mark)
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_znode_is_written_as_by_kafka(name: str, journey: dict[str, list[str]]) -> None:
    assert by_path(journey[name]) == by_path(scenario(TRACE, name))


IN_ORDER = "S00 S01 S02 S03 S04 S06 S07 S09 S10 S11 S12 S13 S14 S16 S18 S19 S20 S21 S22 S24 S27"
"""Scenarios in which Kafka's order does not depend on hashes, nor on which of several brokers is faster."""


@pytest.mark.parametrize("name", IN_ORDER.split())
def test_where_nothing_races_every_transaction_is_the_same_and_in_order(
    name: str, journey: dict[str, list[str]]
) -> None:
    """Failed ones, too. Left out is the attempt to change what is not there that brokers make before they create it."""
    by_controller = [line for line in scenario(TRACE, name) if line != "multi{check /controller v1 ; error -101}"]
    assert journey[name] == by_controller
