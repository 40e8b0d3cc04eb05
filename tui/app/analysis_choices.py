"""What the keys of sweep, lab and plans do to the view state: pure functions. Nothing is worked out here."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import msgspec

from tui.engine.questions import (
    ENGINES,
    FLEETS,
    FORECASTS,
    PLAYED,
    SWEEPS,
    ForecastQuestion,
    HistoryQuestion,
    LabTrial,
    MadeUp,
    PlanQuestion,
    PreviewQuestion,
    SweepQuestion,
)
from tui.engine.view_state import VIEWS, Narrow, SwitchView, ViewState, reduce

Kept = Literal["sweep", "preview", "plan", "history", "forecast"]
"""Which of the view state's questions."""

MOST_JOINS = 3
OF_ONE_GROUP = ("lab-strategies", "lab-consumers", "lab-partitions", "lab-graph")
"""Lists of the lab about the group at hand."""
TOLERANCES = (0.0, 5.0, 10.0)
"""Percent of the mean that a broker may be off."""

REACHES = ("balance", "forced", "racks", "leaders")


def anew(state: ViewState, kept: Kept) -> ViewState:
    """The same again, on the cluster as it is now."""
    fresh = {"left_out": ()} if kept == "plan" else {}
    return _with(state, kept, lambda asked: {"take": asked.take + 1, "stopped": False, **fresh})


def stopped(state: ViewState, kept: Kept) -> ViewState:
    """It is not worked out to its end."""
    return _with(state, kept, lambda _: {"stopped": True})


def with_next_engine(state: ViewState, kept: Kept) -> ViewState:
    """Where it is done sooner, in this process, on Spark, and round again."""
    return _with(state, kept, lambda asked: {"engine": _next(ENGINES, asked.engine), "stopped": False})


# The history


def of_folder(state: ViewState, folder: str) -> ViewState:
    """What another folder of recordings tells; empty: the one that was meant before."""
    if not folder:
        return state
    return replace(_with(state, "history", lambda _: {"folder": folder, "stopped": False}), recorded=0)


def of_next_cluster(state: ViewState) -> ViewState:
    """The next one that is recorded in the folder."""
    return replace(state, recorded=state.recorded + 1)


# The forecast


def with_more_years(state: ViewState) -> ViewState:
    """Ten times as many random years are played; past the most, as many as at first."""

    def more(asked: ForecastQuestion) -> dict[str, Any]:
        most = [each for each in FORECASTS if each > asked.histories]
        return {"histories": (most or FORECASTS)[0], "stopped": False}

    return _with(state, "forecast", more)


def with_change(
    state: ViewState, settings: tuple[tuple[str, str, str], ...], add: tuple[tuple[int, str], ...], *, planned: bool
) -> ViewState:
    """The cluster with these settings, with brokers that come, or as the plan has it, beside the cluster as it is."""
    plan = state.plan if planned else None
    return _with(state, "forecast", lambda _: {"settings": settings, "add": add, "plan": plan, "stopped": False})


def with_or_without_plan(state: ViewState) -> ViewState:
    """The cluster as the plan has it is played beside it, or no longer."""
    plan = None if state.forecast.plan else state.plan
    return _with(state, "forecast", lambda _: {"plan": plan, "stopped": False})


# The sweep


def with_next_kind(state: ViewState) -> ViewState:
    """Brokers, pairs, racks, brokers and racks, random sets, and round again; of a fleet, its kinds."""
    return _sweep(
        state,
        lambda asked: {"fleet": _next(FLEETS, asked.fleet)} if asked.fleet else {"kind": _next(SWEEPS, asked.kind)},
    )


def played_or_counted(state: ViewState) -> ViewState:
    """Scenarios are played in time, or counted again."""
    return _sweep(state, lambda asked: {"fleet": "" if asked.fleet else FLEETS[0]})


def with_next_seed(state: ViewState) -> ViewState:
    """Other random sequences."""
    return _sweep(state, lambda asked: {"seed": asked.seed + 1})


def with_other_policy(state: ViewState) -> ViewState:
    """Unclean election everywhere, or as each topic has it."""
    return _sweep(state, lambda asked: {"unclean": not asked.unclean})


def _sweep(state: ViewState, change: Callable[[SweepQuestion], dict[str, Any]]) -> ViewState:
    return _with(state, "sweep", lambda asked: {"stopped": False, **change(asked)})


# The lab


def on_bench(state: ViewState, **changes: object) -> ViewState:
    """Something else is tried on the group, and shown as it would be then."""
    return replace(state, trial=msgspec.structs.replace(state.trial, **changes), played=PLAYED)


def of_case(state: ViewState, group: str, trial: LabTrial) -> ViewState:
    """The lab is about one case of all: this group with that change, in the first view."""
    for name in OF_ONE_GROUP:
        state = reduce(state, Narrow(name, group))
    while state.of("lab-consumers").view != VIEWS["lab-consumers"][0]:
        state = reduce(state, SwitchView("lab-consumers"))
    return replace(state, trial=trial, played=PLAYED)


def cleared(state: ViewState) -> ViewState:
    """Nobody dies and nobody joins; where nobody does, no group is made up."""
    if state.trial.leaves or state.trial.joins:
        return on_bench(state, leaves="", joins=0)
    return state if state.preview.made_up is None else _with_made_up(state, None)


def with_made_up(state: ViewState, patterns: tuple[str, ...], consumers: int) -> ViewState:
    """A group is made up, and the lab begins with it."""
    return _with_made_up(state, MadeUp(patterns, consumers))


def _with_made_up(state: ViewState, made_up: MadeUp | None) -> ViewState:
    state = _with(on_bench(state, strategy="", leaves="", joins=0), "preview", lambda _: {"stopped": False})
    state = _with(state, "preview", lambda _: {"made_up": made_up})
    return reduce(state, Narrow("lab-groups", made_up.keys[0] if made_up else ""))


def without_consumer(state: ViewState, consumer: str) -> ViewState:
    """The consumer dies, or is spared again."""
    return on_bench(state, leaves="" if state.trial.leaves == consumer else consumer)


def with_one_more(state: ViewState) -> ViewState:
    """One more joins; past the most, nobody does."""
    return on_bench(state, joins=(state.trial.joins + 1) % (MOST_JOINS + 1))


def played_on(state: ViewState) -> ViewState:
    """What is tried is played a frame further, as far as it goes."""
    return replace(state, played=min(state.played + 1, PLAYED))


def played_to(state: ViewState, frame: int) -> ViewState:
    """It is shown as it is in this frame: 0 is now, PLAYED is then."""
    return replace(state, played=frame)


# The plan


def about_group(state: ViewState, key: str) -> ViewState:
    """The plan is about the topics that a group of the lab reads, or would read."""
    made_up = state.preview.made_up
    if made_up is not None and key in made_up.keys:
        return _plan(state, lambda _: {"topics": made_up.patterns, "topics_of": ""})
    return _plan(state, lambda _: {"topics": (), "topics_of": key})


def asked_for(state: ViewState) -> ViewState:
    """The plan is to be made."""
    return _plan(state, lambda _: {"asked": True})


def with_or_without(state: ViewState, batch: int) -> ViewState:
    """The batch is left out of the plan, or taken in again."""
    return _with(state, "plan", lambda asked: {"left_out": tuple(sorted({batch} ^ set(asked.left_out)))})


def without_broker(state: ViewState, broker: int) -> ViewState:
    """The broker leaves, or stays after all; one that was to come does not."""
    return _plan(
        state,
        lambda asked: (
            {"add": tuple(new for new in asked.add if new[0] != broker)}
            if any(new[0] == broker for new in asked.add)
            else {"remove": tuple(sorted({broker} ^ set(asked.remove)))}
        ),
    )


def with_broker(state: ViewState, broker: int, rack: str) -> ViewState:
    """A broker comes."""
    return _plan(state, lambda asked: {"add": (*(new for new in asked.add if new[0] != broker), (broker, rack))})


def with_next_reach(state: ViewState) -> ViewState:
    """How far it goes: everything, forced moves only, racks only, leaders only."""
    return _plan(state, lambda asked: {"reach": _next(REACHES, asked.reach)})


def by_the_other(state: ViewState) -> ViewState:
    """By count or by bytes."""
    return _plan(state, lambda asked: {"by": "bytes" if asked.by == "count" else "count"})


def with_next_tolerance(state: ViewState) -> ViewState:
    """How far from the mean a broker may stay."""
    return _plan(state, lambda asked: {"tolerance_percent": _next(TOLERANCES, asked.tolerance_percent)})


def with_all_batches(state: ViewState) -> ViewState:
    """No batch is left out."""
    return _with(state, "plan", lambda _: {"left_out": ()})


def without_plan(state: ViewState) -> ViewState:
    """Nothing is planned."""
    return replace(state, plan=PlanQuestion(take=state.plan.take + 1))


def _plan(state: ViewState, change: Callable[[PlanQuestion], dict[str, Any]]) -> ViewState:
    return _with(state, "plan", lambda asked: {"stopped": False, "left_out": (), **change(asked)})


def _with(state: ViewState, kept: Kept, change: Callable[[Any], dict[str, Any]]) -> ViewState:
    asked: SweepQuestion | PreviewQuestion | PlanQuestion | HistoryQuestion | ForecastQuestion = getattr(state, kept)
    return replace(state, **{kept: msgspec.structs.replace(asked, **change(asked))})


def _next(choices: tuple[Any, ...], now: Any) -> Any:
    return choices[(choices.index(now) + 1) % len(choices)]
