"""What the keys of the drill screen do to the view state."""

from __future__ import annotations

from tui.engine.drill import choices as drill_choices
from tui.engine.questions import NO_DRILL
from tui.engine.view_state import ViewState


def test_a_broker_dies_and_is_spared_again() -> None:
    state = drill_choices.with_broker(drill_choices.with_broker(ViewState(), 3), 1)
    assert state.drill.kill == (1, 3)
    assert drill_choices.with_broker(state, 3).drill.kill == (1,)


def test_a_rack_is_named_by_one_of_its_brokers() -> None:
    state = drill_choices.with_rack(ViewState(), 3)
    assert (state.drill.kill, state.drill.racks_of) == ((), (3,))
    assert drill_choices.with_rack(state, 3).drill == NO_DRILL


def test_the_policies_come_round() -> None:
    state, seen = ViewState(), []
    for _ in range(4):
        state = drill_choices.with_next_policy(state)
        seen.append((state.drill.unclean, state.drill.session_timeout_ms))
    assert seen == [(True, None), (False, 6_000), (True, 6_000), (False, None)]


def test_a_broker_either_dies_or_is_shut_down() -> None:
    state = drill_choices.with_shutdown(drill_choices.with_broker(ViewState(), 3), 3)
    assert (state.drill.kill, state.drill.stop) == ((), (3,))
    assert drill_choices.with_shutdown(state, 3).drill == NO_DRILL
    state = drill_choices.with_broker(state, 3)
    assert (state.drill.kill, state.drill.stop) == ((3,), ())


def test_a_dead_broker_starts_or_not() -> None:
    state = drill_choices.with_start(ViewState(), 5)
    assert state.drill.start == (5,)
    assert drill_choices.with_start(state, 5).drill == NO_DRILL


def test_the_victims_come_back_or_not() -> None:
    state = drill_choices.with_restart(ViewState())
    assert state.drill.restart_after_ms == 60_000
    assert drill_choices.with_restart(state).drill.restart_after_ms is None


def test_undo_leads_back_through_everything_and_stops_at_the_beginning() -> None:
    state = drill_choices.stopped(drill_choices.with_restart(drill_choices.with_broker(ViewState(), 1)))
    assert state.drill.stopped
    for _ in range(3):
        state = drill_choices.undone(state)
    assert state.drill == NO_DRILL
    assert drill_choices.undone(state) == state


def test_what_was_stopped_goes_on_with_the_next_change() -> None:
    assert not drill_choices.with_broker(
        drill_choices.stopped(drill_choices.with_broker(ViewState(), 1)), 2
    ).drill.stopped


def test_the_same_again_is_another_take() -> None:
    state = drill_choices.with_broker(ViewState(), 1)
    assert drill_choices.anew(state).drill.kill == (1,)
    assert drill_choices.anew(state).drill != state.drill
    assert drill_choices.without_any(state).drill.take != state.drill.take


def test_marks_come_and_go_and_become_victims() -> None:
    state = drill_choices.with_mark(
        drill_choices.with_mark(drill_choices.with_mark(ViewState(), "b3"), "rack:r 1"), "b10"
    )
    assert state.marked == ("b3", "rack:r 1", "b10")
    assert drill_choices.with_mark(state, "b3").marked == ("rack:r 1", "b10")
    played = drill_choices.with_these(drill_choices.with_broker(state, 7), state.marked, unclean=True)
    assert (played.drill.kill, played.drill.racks, played.drill.unclean) == ((3, 10), ("r 1",), True)
    assert played.marked == drill_choices.without_marks(state).marked == ()
    assert drill_choices.undone(played).drill.kill == (7,)


def test_a_thing_is_a_broker_or_not() -> None:
    assert [drill_choices.broker_of(thing) for thing in ("b3", "b10", "rack:b3", "3", "b", "bx", "")] == [
        3,
        10,
        *(None,) * 5,
    ]


def test_who_dies_in_a_scenario_is_read_from_its_name_whatever_the_rack_is_called() -> None:
    assert drill_choices.victims_of("b1 b12") == ("b1", "b12")
    assert drill_choices.victims_of("rack b3: b1 b4") == ("b1", "b4")
    assert drill_choices.victims_of("rack a: b7: b1") == ("b1",)
