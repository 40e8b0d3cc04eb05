"""Screen 6 on KRaft: controllers in the list, fenced brokers, log folders, voters that come and go, in words."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.drills.drill import run
from tests.model.drills.test_nodes import apart, folders
from tests.model.drills.test_voters import kraft
from tests.tui.data.asked import text_shown
from tui.engine.drill import choices
from tui.engine.drill.course import word_of
from tui.engine.drill.playback import DrillAnswer, playback_of, scenario_of, why_nothing
from tui.engine.drill.queries import DrillBrokerList, DrillText
from tui.engine.drill.rows import BROKER_COLUMNS, drill_brokers
from tui.engine.questions import NO_DRILL, DrillPlan
from tui.engine.view_state import ViewState

STATE = [column.title for column in BROKER_COLUMNS].index("state")


def look(image: ClusterImage, plan: DrillPlan) -> DrillAnswer:
    answer = DrillAnswer(plan, image)
    playback = playback_of(run(image, scenario_of(answer)))
    return msgspec.structs.replace(answer, playback=playback)


def states(answer: DrillAnswer, moment: int = -1) -> dict[str, str]:
    listing = drill_brokers(answer, DrillBrokerList(moment=moment))
    rows = [listing.row(number) for number in range(listing.count)]
    return {row.key: row.cells[STATE][0][0] for row in rows if row.cells[STATE]}


def milestones(answer: DrillAnswer) -> list[str]:
    assert answer.playback is not None
    rows = answer.playback.drill.timeline.rows
    return [word_of(step, rows[step.first : step.end]) for step in answer.playback.steps]


def text(answer: DrillAnswer) -> str:
    return text_shown(answer, DrillText(width=200)).plain


def test_controllers_stand_among_the_brokers() -> None:
    before = DrillAnswer(NO_DRILL, apart())
    listing = drill_brokers(before, DrillBrokerList())
    told = {row.key: row.cells[2][0][0] for row in map(listing.row, range(listing.count))}
    assert told == {str(broker): "up" for broker in range(1, 6)} | {"101": "voter", "102": "controller", "103": "voter"}


def test_a_broker_is_dead_and_unknown_then_fenced() -> None:
    killed = look(apart(), DrillPlan(kill=(4,), controllers="active"))
    assert (states(killed, 0)["4"], states(killed)["4"]) == ("dead, unknown", "fenced")
    assert (states(killed)["102"], states(killed)["101"]) == ("dead", "controller?")
    stopped = look(apart(), DrillPlan(stop=(4,)))
    assert states(stopped)["4"] == "fenced"
    back = look(apart(), DrillPlan(kill=(4,), restart_after_ms=60_000))
    assert states(back)["4"] == "up again"
    gone_before = msgspec.structs.replace(
        kraft(), brokers={1: kraft().brokers[1]}, fenced={2: msgspec.structs.replace(kraft().brokers[2], fenced=True)}
    )
    listing = drill_brokers(DrillAnswer(NO_DRILL, gone_before, dead=(2, 3)), DrillBrokerList())
    told = {row.key: row.cells[2][0][0] for row in map(listing.row, range(listing.count))}
    assert (told["2"], told["3"]) == ("fenced", "gone before")


def test_a_lost_majority_and_what_is_served() -> None:
    lost = look(apart(), DrillPlan(controllers="majority", kill=(5,)))
    assert "served    3 partitions as before, 1 without acks=all, 1 not at all" in text(lost)
    assert states(lost)["5"] == "dead, unknown"


def test_a_log_folder_of_the_broker_after_the_other() -> None:
    state = ViewState()
    seen: list[object] = []
    for _ in range(4):
        state = choices.with_folder(state, 1)
        seen.append([act.folders for act in scenario_of(DrillAnswer(state.drill, folders())).then])
    assert seen == [[((1, "/x"),)], [((1, "/y"),)], [], [((1, "/x"),)]]
    lost = look(folders(), DrillPlan(folders=((1, 1),)))
    assert "then      b1 loses /x" in text(lost)
    assert states(lost)["1"] == "controller"  # it lives
    marks = [drill_brokers(lost, DrillBrokerList()).row(number).mark for number in range(3)]
    assert marks == ["X", "", ""]
    last = scenario_of(DrillAnswer(DrillPlan(folders=((2, 1),), stop=(3,)), folders()))
    assert (last.kill, [act.deed.value for act in last.then]) == ((2,), ["stop"])


def test_voters_that_come_and_go() -> None:
    state = choices.with_voter(choices.with_voter(ViewState(), 101), 5)
    answer = look(apart(), state.drill)
    assert "quorum of 5 votes too" in text(answer) and "quorum of 101 votes no more" in text(answer)
    assert "3 of 3 voters are left" in text(answer)
    assert "voters 3 → 3, it takes 2 → 2, 1 → 1 may be lost" in " ".join(text(answer).split())
    assert "kraft.version is 0" in text(answer)
    assert choices.with_voter(choices.with_voter(state, 101), 5).drill.voters == ()


def test_the_active_controller_then_a_majority_then_nobody() -> None:
    state, seen = ViewState(), list[tuple[int, ...]]()
    for _ in range(3):
        state = choices.with_controllers(state)
        seen.append(scenario_of(DrillAnswer(state.drill, apart())).kill)
    assert seen == [(102,), (101, 102), ()]


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (DrillPlan(folders=((3, 1),)), "b3: its log folders are not known"),
        (DrillPlan(controllers="majority"), "the voters are not known"),
    ],
)
def test_what_cannot_be_is_told(plan: DrillPlan, why: str) -> None:
    answer = DrillAnswer(plan, folders())
    assert why in why_nothing(answer)
    assert not scenario_of(answer).acts


def test_the_course_and_the_summary_call_nodes_by_what_they_are() -> None:
    lost = look(apart(), DrillPlan(controllers="active", kill=(4,)))
    assert "fails     b4, controller 102" in text(lost)
    assert {"b102 down", "b4 down", "b4 fenced"} <= set(milestones(lost))
    assert milestones(look(folders(), DrillPlan(folders=((1, 1),))))[0] == "b1 loses a folder"
