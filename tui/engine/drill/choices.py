"""What the keys of the drill screen do to the view state: pure functions. Nothing is played here."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from tui.engine.questions import NO_DRILL, DrillPlan
from tui.engine.view_state import ViewState

RACK = "rack:"
"""Before the name of a rack, where brokers and racks are told apart."""

BACK_AFTER_MS = 60_000
"""How long after their death the victims are started again."""

SESSIONS_MS = (None, 6_000)
"""As the cluster has it, and zookeeper.session.timeout.ms before Kafka 2.5."""


_NO_NODES: Mapping[str, object] = {"controllers": "", "folders": (), "voters": ()}


def with_broker(state: ViewState, broker: int) -> ViewState:
    """The broker dies, or is spared again."""
    return _plan(state, kill=_toggled(state.drill.kill, broker), stop=_without(state.drill.stop, broker))


def with_shutdown(state: ViewState, broker: int) -> ViewState:
    """The broker is shut down in good order, or is not."""
    return _plan(state, stop=_toggled(state.drill.stop, broker), kill=_without(state.drill.kill, broker))


def with_start(state: ViewState, broker: int) -> ViewState:
    """The broker, which is dead, starts, or does not."""
    return _plan(state, start=_toggled(state.drill.start, broker))


def with_rack(state: ViewState, broker: int) -> ViewState:
    """Everybody in the broker's rack dies, or is spared again."""
    return _plan(state, racks_of=_toggled(state.drill.racks_of, broker))


CONTROLLERS = ("", "active", "majority")
"""In the order of the key."""


def with_controllers(state: ViewState) -> ViewState:
    """The active controller dies, then a majority of the voters, then neither."""
    now = CONTROLLERS.index(state.drill.controllers)
    return _plan(state, controllers=CONTROLLERS[(now + 1) % len(CONTROLLERS)])


def with_folder(state: ViewState, broker: int) -> ViewState:
    """The next log folder of the broker fails, in place of the one before."""
    numbers = dict(state.drill.folders)
    numbers[broker] = numbers.get(broker, 0) + 1
    return _plan(state, folders=tuple(sorted(numbers.items())))


def with_voter(state: ViewState, node: int) -> ViewState:
    """The node votes if it does not, and does not if it does; again: as it is."""
    return _plan(state, voters=_toggled(state.drill.voters, node))


def with_victims(state: ViewState, victims: tuple[int, ...], *, unclean: bool) -> ViewState:
    """These brokers die, and nobody else."""
    return _plan(state, kill=victims, racks_of=(), racks=(), stop=(), start=(), **_NO_NODES, unclean=unclean)


def with_mark(state: ViewState, thing: str) -> ViewState:
    """The broker, `b3`, or rack, `rack:r1`, is marked, or not any more."""
    marked = state.marked
    return replace(state, marked=tuple(one for one in marked if one != thing) if thing in marked else (*marked, thing))


def without_marks(state: ViewState) -> ViewState:
    """Nothing is marked."""
    return replace(state, marked=())


def with_these(state: ViewState, things: Iterable[str], **changes: object) -> ViewState:
    """These brokers and racks die, and nobody else; no mark is left. `changes`: more of the plan."""
    some = tuple(things)
    racks = tuple(sorted({thing.removeprefix(RACK) for thing in some if thing.startswith(RACK)}))
    kill = tuple(sorted({broker for thing in some if (broker := broker_of(thing)) is not None}))
    return _plan(without_marks(state), kill=kill, racks_of=(), racks=racks, stop=(), start=(), **_NO_NODES, **changes)


def victims_of(scenario: str) -> tuple[str, ...]:
    """Who dies in a scenario that is told as `b1 b4` or `rack r1: b1 b4`."""
    return tuple(word for word in scenario.rpartition(": ")[2].split() if broker_of(word) is not None)


def broker_of(thing: str) -> int | None:
    """The broker that is meant; None for a rack, or nothing at all."""
    number = thing.removeprefix("b")
    return int(number) if number != thing and number.isdecimal() else None


def with_restart(state: ViewState) -> ViewState:
    """The victims come back, or never."""
    return _plan(state, restart_after_ms=None if state.drill.restart_after_ms else BACK_AFTER_MS)


def with_next_policy(state: ViewState) -> ViewState:
    """Unclean election off and on, and then the same with another session timeout."""
    plan = state.drill
    if not plan.unclean:
        return _plan(state, unclean=True)
    other = SESSIONS_MS[(SESSIONS_MS.index(plan.session_timeout_ms) + 1) % len(SESSIONS_MS)]
    return _plan(state, unclean=False, session_timeout_ms=other)


def anew(state: ViewState) -> ViewState:
    """The same again, on the cluster as it is now."""
    return _plan(state, take=state.drill.take + 1)


def stopped(state: ViewState) -> ViewState:
    """It is not played to its end."""
    return _with(state, msgspec.structs.replace(state.drill, stopped=True))


def without_any(state: ViewState) -> ViewState:
    """Nobody dies."""
    return _with(state, msgspec.structs.replace(NO_DRILL, take=state.drill.take + 1))


def undone(state: ViewState) -> ViewState:
    """The drill before."""
    return replace(state, drills=state.drills[:-1], moment=-1) if len(state.drills) > 1 else state


def with_played(state: ViewState, played: str, *, unclean: bool) -> ViewState:
    """What a fleet has played is played again, moment by moment, and nothing else; no mark is left."""
    plan = DrillPlan(played=played, unclean=unclean, take=state.drill.take)
    return _with(without_marks(state), plan)


def _plan(state: ViewState, **changes: object) -> ViewState:
    """Another plan; who chooses who fails begins anew where a fleet's scenario was played."""
    if not changes.keys() <= {"unclean", "session_timeout_ms", "take"}:
        changes = {"played": "", **changes}
    return _with(state, msgspec.structs.replace(state.drill, stopped=False, **changes))


def _with(state: ViewState, plan: DrillPlan) -> ViewState:
    return replace(state, drills=(*state.drills, plan), moment=-1)


def _without(brokers: tuple[int, ...], broker: int) -> tuple[int, ...]:
    return tuple(one for one in brokers if one != broker)


def _toggled(brokers: tuple[int, ...], broker: int) -> tuple[int, ...]:
    return tuple(sorted({*brokers} ^ {broker}))
