"""Real brokers of 3.9.1 and 4.4.0 die, stop and start: each partition becomes, to the epoch, what a drill said before.

Preferred leaders are not elected by themselves here. A forecast on a cluster that moved before its deed is made anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from model.cluster.cluster_image import ClusterImage, state_of
from model.drills.drill import run
from model.drills.scenario import Act, Deed, Scenario, controllers_named, of_acts
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.model.sources.test_metadata_log_source import image_of

pytestmark = pytest.mark.conformance

BROKER = 4
"""The one that is no voter."""
TRIES = 5
MORE_THAN_A_SESSION_S = 10
Partitions = dict[tuple[str, int], Any]


def partitions(image: ClusterImage) -> Partitions:
    found: Partitions = {}
    for topic in image.topics.values():
        for row, number in enumerate(topic.partitions.tolist()):
            state = state_of(topic, row)
            found[topic.name, number] = (
                state.leader, state.leader_epoch, state.version, set(state.isr), set(state.elr or ()),
                state.last_known_elr or (), state.recovering,
            )  # fmt: skip
    return found


def standing(image: ClusterImage) -> tuple[Partitions, set[int], set[int]]:
    """All that a forecast stands on."""
    return partitions(image), set(image.brokers), set(image.fenced)


class Foreseen:
    """A cluster whose metadata log is read on a node's disk."""

    def __init__(self, cluster: KraftCluster) -> None:
        self.cluster = cluster
        self.node = 1

    def image(self) -> ClusterImage:
        return image_of(self.cluster.metadata_folder(self.node))

    def wait_for_sync(self) -> None:
        def in_sync() -> bool:
            image = self.image()
            sizes = (topic.isr_count.tolist() == topic.replica_count.tolist() for topic in image.topics.values())
            return not image.fenced and all(sizes)

        eventually(in_sync, "all replicas in sync", 90)

    def becomes(self, deed: Callable[[], object], scenario: Scenario) -> None:
        """Forecasts, then does it; a forecast that is not of the last moment before does not count."""
        for _ in range(TRIES):
            before = self.image()
            expected = standing(run(before, scenario).after)
            if standing(self.image()) == standing(before):
                break
        else:
            raise AssertionError(f"the cluster did not rest in {TRIES} tries")
        deed()
        found: list[Any] = []

        def is_so() -> bool:
            found[:] = standing(self.image())
            return tuple(found) == expected

        eventually(is_so, "what was forecast", 60, standing=lambda: f"{tuple(found)}\nforecast\n{expected}")


@pytest.fixture
def foreseen(quorum: KraftCluster, request: pytest.FixtureRequest) -> Iterator[Foreseen]:
    """Topics of one to three replicas, with a min ISR of 1 and 2, one of them with unclean elections."""
    name = request.node.originalname.removeprefix("test_")
    client = Client(quorum.bootstrap)
    client.create(f"{name}-one", {0: [BROKER], 1: [1]}, min_insync_replicas="1")
    client.create(f"{name}-two", {0: [BROKER, 1], 1: [2, BROKER]}, min_insync_replicas="2")
    client.create(f"{name}-three", {0: [BROKER, 1, 2], 1: [3, BROKER, 1], 2: [2, 3, BROKER]}, min_insync_replicas="2")
    client.create(f"{name}-all", {0: [1, 2, 3], 1: [BROKER, 3, 2]}, min_insync_replicas="3")
    loose = {"min_insync_replicas": "1", "unclean_leader_election_enable": "true"}
    client.create(f"{name}-loose", {0: [BROKER, 2], 1: [3, BROKER]}, **loose)
    it = Foreseen(quorum)
    it.wait_for_sync()
    yield it
    quorum.restore()
    Client(quorum.bootstrap).delete([f"{name}-{kind}" for kind in ("one", "two", "three", "all", "loose")])


def test_a_broker_dies_comes_back_and_restarts(foreseen: Foreseen) -> None:
    it, cluster = foreseen, foreseen.cluster
    it.becomes(lambda: cluster.kill(BROKER), of_acts([Act(Deed.KILL, (BROKER,))]))
    it.becomes(lambda: cluster.start(BROKER), of_acts([Act(Deed.START, (BROKER,))]))
    restart = of_acts([Act(Deed.STOP, (BROKER,)), Act(Deed.START, (BROKER,))])

    def restarted() -> None:
        cluster.stop(BROKER)
        cluster.start(BROKER)

    it.becomes(restarted, restart)


def test_the_active_controller_dies(foreseen: Foreseen) -> None:
    it, cluster = foreseen, foreseen.cluster
    (active,) = controllers_named(it.image(), "active")
    it.node = 1 if active != 1 else 2
    it.becomes(lambda: cluster.kill(active), of_acts([Act(Deed.KILL, (active,))]))
    it.becomes(lambda: cluster.start(active), of_acts([Act(Deed.START, (active,))]))


def test_a_majority_dies(foreseen: Foreseen) -> None:
    """Nothing is decided any more: for more than a session nobody is fenced, or leads in place of the dead."""
    it, cluster = foreseen, foreseen.cluster
    before = it.image()
    dead = controllers_named(before, "majority")
    (it.node,) = {1, 2, 3}.difference(dead)
    drill = run(before, of_acts([Act(Deed.KILL, dead)]))
    assert drill.turnout is not None and drill.turnout.is_lost
    assert partitions(drill.after) == partitions(before)
    cluster.kill(*dead)
    until_s = time.monotonic() + MORE_THAN_A_SESSION_S

    def passed() -> bool:
        assert standing(it.image()) == standing(before)
        return time.monotonic() > until_s

    eventually(passed, "more than a session to pass")
