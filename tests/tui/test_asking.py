"""Keys of the analyses as changes of the view state."""

from dataclasses import replace

from tui.app import analysis_choices
from tui.engine.questions import SWEEPS, ForecastQuestion, MadeUp
from tui.engine.view_state import ViewState

START = ViewState()


def test_the_kinds_of_a_sweep_come_round_again() -> None:
    state, seen = START, list[str]()
    for _ in SWEEPS:
        state = analysis_choices.with_next_kind(state)
        seen.append(state.sweep.kind)
    assert seen == [*SWEEPS[1:], SWEEPS[0]]
    assert state == START


def test_another_take_is_another_question_and_what_was_stopped_goes_on() -> None:
    stopped = analysis_choices.stopped(START, "sweep")
    assert stopped.sweep.stopped and stopped.sweep != START.sweep
    anew = analysis_choices.anew(stopped, "sweep")
    assert not anew.sweep.stopped and anew.sweep.take == 1
    assert not analysis_choices.with_next_kind(stopped).sweep.stopped


def test_ten_times_as_many_years_and_past_the_most_few_again() -> None:
    state, seen = replace(START, forecast=ForecastQuestion(histories=200)), list[int]()
    for _ in range(4):
        state = analysis_choices.with_more_years(state)
        seen.append(state.forecast.histories)
    assert seen == [10_000, 100_000, 1_000_000, 10_000]


def test_the_plan_of_the_moment_is_put_beside_the_forecast_and_taken_away() -> None:
    planned = analysis_choices.asked_for(START)
    beside = analysis_choices.with_or_without_plan(planned)
    assert beside.forecast.plan == planned.plan
    assert analysis_choices.with_or_without_plan(beside).forecast == START.forecast


def test_a_consumer_dies_and_is_spared_and_members_join_up_to_three() -> None:
    dead = analysis_choices.without_consumer(START, "c1")
    assert dead.trial.leaves == "c1"
    assert analysis_choices.without_consumer(dead, "c1") == START
    assert analysis_choices.without_consumer(dead, "c2").trial.leaves == "c2"
    state = START
    for joins in (1, 2, 3, 0):
        state = analysis_choices.with_one_more(state)
        assert state.trial.joins == joins
    assert analysis_choices.cleared(analysis_choices.with_one_more(dead)) == START


def test_a_broker_that_was_to_come_is_taken_back_and_one_that_is_there_leaves() -> None:
    comes = analysis_choices.with_broker(analysis_choices.with_broker(START, 9, "r1"), 9, "r2")
    assert comes.plan.add == ((9, "r2"),)
    assert analysis_choices.without_broker(comes, 9) == START
    leaves = analysis_choices.without_broker(analysis_choices.without_broker(START, 3), 1)
    assert leaves.plan.remove == (1, 3)
    assert analysis_choices.without_broker(leaves, 3).plan.remove == (1,)


def test_a_plan_is_made_when_asked_for_and_forgotten_by_reset() -> None:
    asked = analysis_choices.asked_for(START)
    assert asked.plan.asked and analysis_choices.with_next_reach(asked).plan.asked
    assert analysis_choices.by_the_other(analysis_choices.by_the_other(asked)) == asked
    assert analysis_choices.with_next_tolerance(asked).plan.tolerance_percent == 5.0
    assert not analysis_choices.without_plan(asked).plan.asked


def test_a_group_is_made_up_and_the_lab_begins_anew_with_it_until_nothing_is_tried() -> None:
    state = analysis_choices.with_made_up(analysis_choices.without_consumer(START, "c1"), ("orders*",), 4)
    assert state.preview.made_up == MadeUp(("orders*",), 4) and not state.trial.leaves
    assert state.of("lab-groups").scope == "made-up orders* by 4"
    tried = analysis_choices.with_one_more(state)
    assert analysis_choices.cleared(tried) == state, "first who joins goes"
    assert analysis_choices.cleared(state).preview.made_up is None


def test_a_plan_is_about_what_a_group_reads_and_batches_are_left_out_of_this_plan_only() -> None:
    made_up = analysis_choices.with_made_up(START, ("orders*",), 4)
    assert analysis_choices.about_group(made_up, "made-up orders* by 4").plan.topics == ("orders*",)
    state = analysis_choices.about_group(made_up, "billing")
    assert (state.plan.topics, state.plan.topics_of) == ((), "billing")
    out = analysis_choices.with_or_without(analysis_choices.with_or_without(state, 3), 1)
    assert out.plan.left_out == (1, 3)
    assert analysis_choices.with_or_without(out, 3).plan.left_out == (1,)
    for again in (
        analysis_choices.with_all_batches,
        analysis_choices.by_the_other,
        lambda one: analysis_choices.anew(one, "plan"),
    ):
        assert again(out).plan.left_out == ()
