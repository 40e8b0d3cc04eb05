"""A step of a drill as it is read: why, the znodes old and new, the requests by broker."""

from __future__ import annotations

from collections.abc import Callable

from model.drills.drill import run
from model.drills.rows import StateWritten, ZnodeWritten
from model.drills.scenario import Scenario
from model.drills.sentences import CONTROLLER_ELECTED, DEATH, EXPIRY, REFUSALS, RETURN, VACANCY, reasons
from model.hosts.virtual.journal import Reasoned, RequestSent
from tests.tui.data.asked import text_query, text_shown
from tests.tui.data.small_cluster import small_image, text_of
from tui.engine.drill.playback import DrillAnswer, Playback, playback_of
from tui.engine.drill.queries import DrillBrokerList, DrillStepText
from tui.engine.drill.rows import BROKER_COLUMNS, drill_brokers
from tui.engine.questions import DrillPlan

STATE = [column.title for column in BROKER_COLUMNS].index("state")
IMAGE = small_image()
FILM = playback_of(run(IMAGE, Scenario(kill=(4,), restart_after_ms=60_000)))
LOOK = DrillAnswer(DrillPlan(kill=(4,)), IMAGE, FILM)
ROWS = FILM.drill.timeline.rows


def step(is_it: Callable[[str], bool]) -> str:
    """The first step whose line in the timeline is so, in a wide pane."""
    moment = next(number for number, step in enumerate(FILM.steps) if is_it(step.text))
    return text_shown(LOOK, DrillStepText(width=300, moment=moment)).plain


def test_a_state_is_told_with_path_versions_old_and_new_and_the_rule() -> None:
    said = step(lambda text: "wrote" in text and "orders-2" in text)
    assert "/brokers/topics/orders/partitions/2/state  v39 -> v40" in said
    assert "leader 3, isr 3,4 -> 3, leader_epoch 39 -> 40, controller_epoch 7 -> 119" in said
    assert "leader 4 -> none, isr 4,6 -> 6" in said
    assert "why       Replica 4 of 2 partitions is offline, it leaves the ISR" in said


def test_an_election_names_its_rule() -> None:
    said = step(lambda text: "orders-3 v41" in text)
    assert "leader none -> 6, isr 6, leader_epoch 40 -> 41" in said
    assert "first assigned replica that is online and in sync" in said


def test_other_znodes_are_told_by_their_differences() -> None:
    said = step(lambda text: "set /controller_epoch" in text)
    assert "/controller_epoch  v118 -> v119\n   118 -> 119" in said
    created = step(lambda text: "created /controller" in text)
    assert '/controller  created, v0\n   {"version":' in created and '"brokerid":1' in created


def test_requests_are_told_by_broker_and_partition() -> None:
    said = step(lambda text: "LeaderAndIsr" in text)
    assert "LeaderAndIsr to broker 2: 2 partitions, controller epoch 119" in said
    assert "   orders-10  leader 2  isr 2,1,3  epoch 5" in said
    assert "decided   Replica 5 of 2 partitions is offline" in said
    last = step(lambda text: "UpdateMetadata (2 partitions)" in text)
    assert "UpdateMetadata to brokers 1, 2, 3, 4, 6: 2 partitions" in last and "offline 5" in last


def test_the_overlay_tells_the_same_by_number() -> None:
    texts = [
        text_shown(LOOK, text_query(about, key=key, width=80, moment=3)).plain
        for about, key in (("drill-moment", "3"), ("drill-step", ""))
    ]
    assert texts[0] == texts[1]


def test_everything_but_a_sentence_has_a_reason() -> None:
    by_sign = {step.sign: reasons(ROWS, step.first, step.end) for step in reversed(FILM.steps)}
    assert by_sign["K"] == (DEATH,)
    assert by_sign["x"] == (EXPIRY, VACANCY)
    assert by_sign["*"] == (CONTROLLER_ELECTED,)
    assert by_sign["U"] == (RETURN,)
    refused = next(step for step in FILM.steps if "could not write /controller: NODE_EXISTS" in step.text)
    assert reasons(ROWS, refused.first, refused.end) == (REFUSALS["NODE_EXISTS"],)


def test_a_write_is_explained_by_its_writer_and_by_nothing_that_came_after_a_death() -> None:
    written = (StateWritten, ZnodeWritten)
    for step in FILM.steps:
        row = ROWS[step.first]
        if isinstance(row, written):
            for why in reasons(ROWS, step.first, step.end):
                said = next(one for one in ROWS[step.end :] if isinstance(one, Reasoned) and one.why == why)
                assert said.by == row.by and (said.at_ms < 60_000) == (row.at_ms < 60_000)


def test_no_words_are_said_before_two_requests() -> None:
    sent = [step for step in FILM.steps if isinstance(ROWS[step.first], RequestSent)]
    told = [why for step in sent for why in reasons(ROWS, step.first, step.end)]
    assert told and len(told) <= sum(isinstance(row, Reasoned) for row in ROWS)


def test_each_broker_that_may_have_won_a_race_is_marked_as_a_controller_that_is_not_sure() -> None:
    def states(playback: Playback) -> list[str]:
        won = next(number for number, step in enumerate(playback.steps) if step.sign == "*")
        listing = drill_brokers(DrillAnswer(LOOK.plan, IMAGE, playback), DrillBrokerList(moment=won))
        return [text_of(listing.row(place).cells[STATE]) for place in range(listing.count)]

    assert states(FILM) == ["controller?", "controller?", "controller?", "dead", "controller?"]
    alone = playback_of(run(IMAGE, Scenario(kill=(1, 2, 3, 4))))
    assert states(alone)[-1] == "controller"
