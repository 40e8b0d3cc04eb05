"""Real brokers of 3.9.1 and 4.4.0 die, stop and start: each partition becomes, to the epoch, what a drill said before.

Preferred leaders are not elected by themselves here. `python -m tests.kraft_forecasts` plays random drills.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.drills.scenario import Act, Deed, controllers_named
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.playing import Foreseen

pytestmark = pytest.mark.conformance

BROKER = 4
"""The one that is no voter."""


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


def test_brokers_die_stop_and_start(foreseen: Foreseen) -> None:
    deeds = (Deed.KILL, Deed.START, Deed.STOP, Deed.START)
    foreseen.plays([Act(deed, (BROKER,)) for deed in deeds])


def test_two_die_at_once_and_the_active_controller_among_them(foreseen: Foreseen) -> None:
    (active,) = controllers_named(foreseen.image(), "active")
    starts = [Act(Deed.START, (each,)) for each in (active, BROKER)]  # one by one: who is first of two is a race
    foreseen.plays([Act(Deed.KILL, tuple(sorted((active, BROKER)))), *starts])


def test_a_majority_dies(foreseen: Foreseen) -> None:
    foreseen.loses_a_majority()
