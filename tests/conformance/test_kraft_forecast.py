"""Real brokers of 3.9.1 and 4.4.0 die, stop and start: each partition becomes, to the epoch, what a drill said before.

Preferred leaders are not elected by themselves here. `python -m tests.kraft_forecasts` plays random drills, and with
`--matrix` every case.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model.drills.scenario import Act, Deed, controllers_named
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.foreseen import Foreseen
from tests.kraft_forecasts.matrix import create_sorts

pytestmark = pytest.mark.conformance

BROKER = 4
"""The one that is no voter."""


@pytest.fixture
def foreseen(quorum: KraftCluster, request: pytest.FixtureRequest) -> Iterator[Foreseen]:
    """Topics of every sort, on the broker, the active controller and another one."""
    it = Foreseen(quorum)
    (active,) = controllers_named(it.image(), "active")
    another = next(each for each in quorum.voters if each != active)
    name = request.node.originalname.removeprefix("test_")
    topics = create_sorts(quorum.bootstrap, name, (BROKER, active, another), every=2)
    it.wait_for_sync()
    yield it
    quorum.restore()
    Client(quorum.bootstrap).delete(topics)


def test_brokers_die_stop_and_start(foreseen: Foreseen) -> None:
    deeds = (Deed.KILL, Deed.START, Deed.STOP, Deed.START)
    foreseen.plays([Act(deed, (BROKER,)) for deed in deeds])


def test_two_die_at_once_and_the_active_controller_among_them(foreseen: Foreseen) -> None:
    (active,) = controllers_named(foreseen.image(), "active")
    starts = [Act(Deed.START, (each,)) for each in (active, BROKER)]  # one by one: who is first of two is a race
    foreseen.plays([Act(Deed.KILL, tuple(sorted((active, BROKER)))), *starts])


def test_a_majority_dies(foreseen: Foreseen) -> None:
    foreseen.loses_a_majority()
