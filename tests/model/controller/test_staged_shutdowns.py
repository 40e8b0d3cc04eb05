"""Brokers that leave one after the other until nobody in sync is left, failovers meanwhile, and the way back.

What a real 3.9.1 cluster of four brokers wrote (R06, R11 to R13), as (leader, leader epoch, ISR) of a partition.
"""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import create_topic

STATE = "/brokers/topics/t/partitions/0/state"
T0 = TopicPartition("t", 0)

State = tuple[int, int, list[int]]


def written(cluster: VirtualCluster, mark: int) -> list[State]:
    found = [write.data for write in by_path(cluster.since(mark)).get(STATE, [])]
    return [(state["leader"], state["leader_epoch"], state["isr"]) for state in found]


class Story:
    """A cluster, and what each thing that happened to it made the controllers write."""

    def __init__(self, *replicas: int, **settings: bool) -> None:
        self.cluster = VirtualCluster(**settings)
        for broker in range(4):
            self.cluster.start(broker)
        create_topic(self.cluster, "t", replicas)

    def wrote(self, what: str, broker: int = -1) -> list[State]:
        mark = len(self.cluster.log)
        if what == "rebalance":
            self.cluster.fire_timers()
        else:
            getattr(self.cluster, what)(broker)
        return written(self.cluster, mark)


def test_a_follower_whose_session_expires_leaves_the_isr_and_comes_back() -> None:
    """R06: it was stopped for longer than its session lasts, though not yet than it may lag."""
    story = Story(1, 2, auto_leader_rebalance_enable=False)
    story.cluster.pause(2)
    mark = len(story.cluster.log)
    story.cluster.settle()
    assert written(story.cluster, mark) == [(1, 1, [1])]
    assert story.wrote("resume", 2) == [(1, 1, [1, 2])]


def test_leadership_is_handed_on_until_nobody_is_left_then_lost_and_written_anew_at_every_failover() -> None:
    """R11 and R12."""
    story = Story(3, 1, 2, auto_leader_rebalance_enable=False)
    assert story.wrote("stop", 3) == [(1, 1, [1, 2])]
    assert story.wrote("stop", 2) == [(1, 2, [1])]
    mark = len(story.cluster.log)
    assert [outcome.partition for outcome in story.cluster.stop(1).partitions] == [T0]
    assert written(story.cluster, mark) == [(-1, 3, [1])]
    assert story.wrote("start", 3) == []
    assert story.wrote("kill", 0) == [(-1, 4, [1])]
    assert story.wrote("start", 0) == []
    assert story.wrote("kill", 3) == [(-1, 5, [1])]
    assert story.wrote("start", 1) == [(1, 6, [1])]
    assert story.wrote("start", 3) == [(1, 6, [1, 3])]
    assert story.wrote("start", 2) == [(1, 6, [1, 3, 2])]


def test_leaders_go_back_to_the_preferred_replica_one_epoch_later_and_the_isr_keeps_its_order() -> None:
    """R13."""
    story = Story(3, 1, 2)
    assert story.wrote("stop", 3) == [(1, 1, [1, 2])]
    assert story.wrote("start", 3) == [(1, 1, [1, 2, 3])]
    assert story.wrote("rebalance") == [(3, 2, [1, 2, 3])]
    assert story.wrote("rebalance") == []
