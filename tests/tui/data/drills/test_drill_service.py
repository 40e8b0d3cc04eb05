"""Drills are played beside everything else: one at a time, told meanwhile, and given up when another comes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from model.analyses.analysis import run_here
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, Generator
from model.cluster.cluster_image import ClusterImage
from model.cluster.records import BrokerRegistered
from model.drills.scenario import Act, Deed
from tests.harness.waiting import eventually
from tests.tui.data.small_cluster import small_image
from tui.engine.drill.playback import CHOOSE, NOBODY, STOPPED, DrillAnswer, DrillService
from tui.engine.questions import DrillPlan


class Desk:
    """A desk on a cluster that a test changes; counts what was told."""

    def __init__(self) -> None:
        self.image = small_image()
        self.told: list[str] = []
        self.desk = DrillService(self._now, self._hear)

    def _now(self) -> ClusterImage:
        return self.image

    def _hear(self) -> None:
        self.told.append(threading.current_thread().name)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def played(desk: Desk) -> Callable[[DrillPlan], DrillAnswer]:
    def play(plan: DrillPlan) -> DrillAnswer:
        eventually(lambda: desk.desk.look(plan).playback is not None)
        return desk.desk.look(plan)

    return play


def test_nobody_dies_until_somebody_is_chosen(desk: Desk) -> None:
    look = desk.desk.look(DrillPlan())
    assert (look.playback, look.note) == (None, CHOOSE)


def test_a_drill_is_played_in_a_thread_and_told_when_it_is_over(
    desk: Desk, played: Callable[[DrillPlan], DrillAnswer]
) -> None:
    look = played(DrillPlan(kill=(3,)))
    assert look.playback is not None and look.playback.drill.scenario.kill == (3,)
    assert set(desk.told) == {"drill"}
    assert not look.is_stale(desk.image)


def test_a_whole_rack_dies_and_those_who_are_dead_already_do_not(played: Callable[[DrillPlan], DrillAnswer]) -> None:
    look = played(DrillPlan(kill=(5,), racks_of=(1,)))
    assert look.playback is not None and look.playback.drill.scenario.kill == (1, 4)


def test_another_choice_is_played_on_the_same_cluster_and_another_take_on_the_present_one(
    desk: Desk, played: Callable[[DrillPlan], DrillAnswer]
) -> None:
    first = played(DrillPlan(kill=(3,)))
    desk.image = small_image()
    assert played(DrillPlan(kill=(3, 4))).image is first.image
    assert desk.desk.look(DrillPlan(kill=(3, 4))).is_stale(desk.image)
    assert played(DrillPlan(kill=(3, 4), take=1)).image is desk.image


def test_what_was_stopped_is_not_played(desk: Desk) -> None:
    look = desk.desk.look(DrillPlan(kill=(3,), stopped=True))
    assert (look.playback, look.note) == (None, STOPPED)
    assert not desk.told


def test_a_drill_that_makes_no_sense_is_refused_in_a_line(desk: Desk) -> None:
    plan = DrillPlan(kill=(1, 2, 3, 4, 6))
    eventually(lambda: desk.desk.look(plan).note.startswith("that is every live broker"))
    assert desk.desk.look(plan).playback is None


def test_racks_are_named_and_who_names_none_is_in_the_last_one(
    played: Callable[[DrillPlan], DrillAnswer], desk: Desk
) -> None:
    look = played(DrillPlan(racks=("r2",), kill=(6,)))
    assert look.playback is not None and look.playback.drill.scenario.kill == (2, 6)
    desk.image = small_image(BrokerRegistered(broker=7, endpoints=("PLAINTEXT://kfk-07:9092",), rack=None))
    look = played(DrillPlan(racks=("none",), take=1))
    assert look.playback is not None and look.playback.drill.scenario.kill == (7,)


def test_nobody_is_left_to_kill_among_the_dead(desk: Desk) -> None:
    look = desk.desk.look(DrillPlan(kill=(5,)))
    assert (look.playback, look.note) == (None, NOBODY)


def test_after_the_deaths_brokers_shut_down_and_dead_ones_start(played: Callable[[DrillPlan], DrillAnswer]) -> None:
    look = played(DrillPlan(kill=(3,), stop=(4, 5), start=(1, 5)))
    assert look.playback is not None and look.dead == (5,)
    assert look.playback.drill.scenario.acts == (Act(Deed.KILL, (3,)), Act(Deed.STOP, (4,)), Act(Deed.START, (5,)))


def test_who_comes_back_after_a_shutdown_starts_when_all_is_over(played: Callable[[DrillPlan], DrillAnswer]) -> None:
    look = played(DrillPlan(kill=(3,), stop=(4,), restart_after_ms=60_000))
    assert look.playback is not None
    scenario = look.playback.drill.scenario
    assert (scenario.restart_after_ms, scenario.acts[-1]) == (None, Act(Deed.START, (3, 4)))
    assert look.playback.drill.after.brokers.keys() == look.image.brokers.keys()


@pytest.mark.parametrize("kind", GENERATORS)
def test_what_a_fleet_played_comes_to_the_same_figures(
    desk: Desk, played: Callable[[DrillPlan], DrillAnswer], kind: Generator
) -> None:
    """The controller is where the fleet had it, and who returns does so when the fleet said."""
    asked = FleetParameters(generators=(kind,), count=3, seed=7)
    rows = run_here(FLEET, fleet_arrays(desk.image), asked).rows
    for row in rows[:: max(len(rows) // 3, 1)]:
        look = played(DrillPlan(played=row.scenario))
        assert look.playback is not None
        drill, last = look.playback.drill, look.playback.counts[-1]
        assert drill.before.controller.broker == (row.controller or desk.image.controller.broker)
        assert drill.timeline.end_ms == pytest.approx(row.ended_s * 1000)
        assert last.longest_ms == pytest.approx(row.longest_s * 1000)
        waits = [outage.lasted_ms(drill.timeline.end_ms) for outage in drill.timeline.outages]
        assert sum(waits) == pytest.approx(row.leaderless_s * 1000)
        assert drill.summary.newly_offline == row.offline_after
        assert (drill.summary.unclean, drill.summary.leaders_moved) == (row.lost, row.moved)


def test_another_controller_is_only_that_drills(desk: Desk, played: Callable[[DrillPlan], DrillAnswer]) -> None:
    assert desk.image.controller.broker != 2
    first = played(DrillPlan(played="K3 @2")).playback
    then = played(DrillPlan(kill=(3,))).playback
    assert first is not None and then is not None
    assert first.drill.before.controller.broker == 2
    assert then.drill.before.controller.broker == desk.image.controller.broker
