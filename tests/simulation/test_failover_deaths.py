"""The controller dies, and its successor dies at every step of taking over: nothing is lost or left undone."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.generations import LATEST
from model.hosts.virtual.scheduled_events import TimingAssumptions
from model.znodes.topics import TopicAssignment
from model.zookeeper import Create
from tests.simulation.endings import check_ending
from tests.simulation.history import History
from tests.simulation.scenario import Scenario
from tests.thorough import the_rest_when_asked

SCENARIO = Scenario(
    seed=1,
    brokers=(0, 1, 2, 3),
    racks=(None,) * 4,
    generation=LATEST,
    unclean=False,
    rebalance=False,
    assumptions=TimingAssumptions(session_timeout_ms=6_000, in_flight=1, catch_up_ms=5),
    loss=0,
    lateness=0,
    acts=0,
)
TOPICS = {"led": ((0, 1, 2), (1, 2, 0)), "gone": ((1, 2), (0, 2)), "moved": ((2, 1), (0, 1))}
STRIDE = 8


def in_the_middle_of_things() -> History:
    """A cluster whose controller, broker 0, has a deletion and a reassignment to finish when it dies."""
    history = History(SCENARIO)
    cluster = history.cluster
    for broker in SCENARIO.brokers:
        history.operation.start(broker)
        history.run_for(1_000)
    for name, replicas in TOPICS.items():
        payload = TopicAssignment(partitions=dict(enumerate(replicas)), topic_id=name.ljust(22, "A"), version=3)
        cluster.write(Create(f"/config/topics/{name}", b'{"version":1,"config":{}}'))
        cluster.write(Create(f"/brokers/topics/{name}", payload.to_bytes()))
    history.run_for(1_000)
    cluster.crash(2)
    cluster.expire(2)
    history.run_for(1_000)
    cluster.ask(events_and_commands.ReassignmentsRequested(request=0, targets=((TopicPartition("moved", 0), (3, 1)),)))
    cluster.write(Create("/admin/delete_topics/gone"))
    history.operation.wanted = {"led", "moved"}
    assert cluster.controllers == (0,)
    cluster.crash(0)
    cluster.expire(0)
    return history


def steps_of_a_failover() -> int:
    history = in_the_middle_of_things()
    while not history.cluster.at_rest:
        history.step()
    before = in_the_middle_of_things()
    return history.steps - before.steps


@pytest.mark.parametrize("offset", the_rest_when_asked(range(STRIDE), 3))
def test_a_successor_may_die_at_any_step(offset: int) -> None:
    total = steps_of_a_failover()
    assert total > 100
    for steps in range(offset, total, STRIDE):
        history = in_the_middle_of_things()
        for _ in range(steps):
            history.step()
        history.cluster.crash(history.cluster.controllers[0] if history.cluster.controllers else 1)
        history.heal()
        check_ending(history)
