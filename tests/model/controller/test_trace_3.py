"""ISRs that leaders change, against the transactions of a real 3.9.1 cluster in which a follower was stopped."""

from __future__ import annotations

from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import ZnodeWrite, by_path, scenario
from tests.model.controller.trace_scenarios import create_topic

STATE = "/brokers/topics/e/partitions/0/state"


def stopped_and_continued(replica_lag_ms: float | None) -> dict[str, list[ZnodeWrite]]:
    """What is written while a follower is stopped and goes on, its session being kept."""
    cluster = VirtualCluster(replica_lag_ms=replica_lag_ms, auto_leader_rebalance_enable=False)
    cluster.start(0)
    cluster.start(1)
    create_topic(cluster, "e", (0, 1))
    mark = len(cluster.log)
    cluster.world.pause(1)
    cluster.settle()
    cluster.resume(1)
    return by_path(cluster.since(mark))


def test_an_isr_shrinks_and_grows_without_a_new_leader_epoch() -> None:
    """T01."""
    assert stopped_and_continued(3_000) == {STATE: by_path(scenario("golden-trace-3.txt", "T01"))[STATE]}


def test_the_isr_of_an_idle_partition_does_not_shrink() -> None:
    """T02: nobody lags behind a leader whose log does not grow."""
    assert stopped_and_continued(None) == by_path(scenario("golden-trace-3.txt", "T02")) == {}
