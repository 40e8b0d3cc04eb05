"""A reassignment in batches, decided step by step from what the cluster looks like. It does and reads nothing itself.

Nothing is remembered that the cluster can tell: a step is decided from how partitions stand, so that a run that was
killed at any point goes on from its last state. A partition ends with the replicas it shall have, or with exactly those
it had, order included, or with those that somebody else gave it. Through ZooKeeper (`/admin/reassign_partitions`, one
at a time) nothing can be taken back once it is asked for; through AlterPartitionReassignments (KIP-455) it can.
"""

from collections.abc import Mapping

import msgspec

from model.actions import reassignment
from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers, counted, listed

MOST_ATTEMPTS = 5
"""A command that was given so often and changed nothing is not given again."""

ENTITIES_AT_ONCE = 100
"""A transaction must stay below ZooKeeper's 1 MB."""


class Decision(msgspec.Struct, frozen=True):
    """`said` is where it stands, one line; without a command the cluster is to be looked at again after a while."""

    state: reassignment.RunState
    said: str = ""
    command: reassignment.Command | None = None
    is_soon: bool = False
    """Look again at once."""
    is_stuck: bool = False
    """Nothing goes on by itself: the operator has to look."""


def started(run: reassignment.ReassignmentPlan) -> reassignment.RunState:
    """A run that has not begun."""
    return reassignment.RunState(run=run, rate=run.rate, rates=() if run.rate is None else (run.rate,))


def wanted(state: reassignment.RunState) -> reassignment.WantedReads:
    """What the next decision needs to know."""
    needs_configs = state.phase == "clearing" or (state.rate is not None and not state.is_throttled)
    return reassignment.WantedReads(
        tuple(move.name for move in _reached(state)), _entities(state) if needs_configs else ()
    )


def wanted_by_all(state: reassignment.RunState) -> reassignment.WantedReads:
    """What all decisions to come need to know together."""
    return reassignment.WantedReads(tuple(move.name for move in state.run.moves), _entities(state))


def decide(state: reassignment.RunState, event: reassignment.Event) -> Decision:
    """The next step."""
    match event:
        case reassignment.CommandRefused():
            return Decision(msgspec.structs.replace(state, reason=event.said), event.said)
        case reassignment.OperatorDecided():
            return _asked(state, event)
        case reassignment.Seen() if state.phase == "running":
            return _go_on(state, event.observed)
        case reassignment.Seen() if state.phase == "clearing":
            return _clear(state, event.observed)
        case reassignment.Seen():
            return Decision(state, outcome(state))


def outcome(state: reassignment.RunState) -> str:
    """How it ended, one line."""
    total = counted(len(state.run.moves), "partition")
    if state.wish == "cancel":
        said = f"stopped in batch {state.batch + 1} of {len(state.run.ends)}: what was done stays, rollback undoes it"
    elif state.is_back:
        said = f"{total}: all as they were"
    else:
        said = f"{total}: all as planned"
    return f"{said}, but for {listed(map(str, state.foreign))}, which somebody else changed" if state.foreign else said


def _asked(state: reassignment.RunState, asked: reassignment.OperatorDecided) -> Decision:
    replace = msgspec.structs.replace
    if asked.wish == "throttle":
        if state.phase == "ended":
            return Decision(state, "it is done: no throttle is set any more")
        state = replace(state, rate=asked.rate, rates=(*state.rates, asked.rate), is_throttled=False, attempts=0)
        return Decision(state, f"throttle {asked.rate:,} B/s")
    if asked.wish == "roll-back":
        kept: reassignment.Settings = {} if state.phase == "ended" else state.kept
        back = replace(state, is_back=True, wish="go", phase="running", batch=0, attempts=0, foreign=(), kept=kept)
        return Decision(replace(back, is_throttled=False), "goes back, the last batch first")
    if state.phase != "running":
        return Decision(state, outcome(state) if state.phase == "ended" else "it is about to end")
    said = {"pause": "no new batch begins", "go": "goes on", "cancel": "stops"}[asked.wish]
    return Decision(replace(state, wish=asked.wish, attempts=0), said)


def _go_on(state: reassignment.RunState, observed: reassignment.ObservedCluster) -> Decision:
    if state.rate is not None and not state.is_throttled and state.wish != "cancel":
        return _throttle(state, observed)
    replace = msgspec.structs.replace
    now = observed.partitions
    foreign = [move.name for move in _batch(state) if _is_foreign(state, move, now.get(move.name))]
    if not {*foreign} <= {*state.foreign}:
        state = replace(state, foreign=tuple(dict.fromkeys((*state.foreign, *foreign))))
    left = [move for move in _batch(state) if move.name not in state.foreign and not _is_there(state, move, now)]
    if state.wish == "cancel":
        return _cancel(state, observed)
    moving = [move for move in left if now[move.name].is_moving]
    if not left:
        if state.batch + 1 < len(state.run.ends):
            return Decision(replace(state, batch=state.batch + 1, attempts=0), _progress(state, 0), is_soon=True)
        return Decision(replace(state, phase="clearing", attempts=0), _progress(state, 0), is_soon=True)
    if moving and state.attempts:
        state = replace(state, attempts=0, reason="")
    if state.wish == "pause":
        under_way = f"{counted(len(moving), 'partition')} under way go on" if moving else "nothing is under way"
        return Decision(state, f"paused: {under_way}")
    return _begin(state, observed, left, moving)


def _begin(
    state: reassignment.RunState,
    observed: reassignment.ObservedCluster,
    left: list[reassignment.ReplicaMove],
    moving: list[reassignment.ReplicaMove],
) -> Decision:
    now = observed.partitions
    said = _progress(state, len(left))
    turned = [move for move in moving if state.run.route == "admin" and now[move.name].heading == _origin(state, move)]
    waiting = [move for move in left if not now[move.name].is_moving]
    dead = {broker for move in waiting for broker in _goal(state, move) if _is_dead(broker, now[move.name], observed)}
    ready = turned + [move for move in waiting if not dead & ({*_goal(state, move)} - {*now[move.name].replicas})]
    if state.run.route == "zookeeper" and (observed.is_taken or moving):
        return Decision(state, said + (_slowest(state, moving, now) if moving else _before_us(state, now)))
    if not ready:
        held = "" if not dead else f"; {brokers(dead)} must come back first: nothing can be copied there"
        return Decision(state, said + held + _slowest(state, moving, now))
    if state.attempts >= MOST_ATTEMPTS:
        why = state.reason or "the controller does not take it"
        return Decision(state, f"{said}; asked {MOST_ATTEMPTS} times in vain: {why}", is_stuck=True)
    state = msgspec.structs.replace(state, attempts=state.attempts + 1)
    return Decision(state, said, reassignment.BeginMove({move.name: _goal(state, move) for move in ready}))


def _cancel(state: reassignment.RunState, observed: reassignment.ObservedCluster) -> Decision:
    """What is under way goes back where it can; through ZooKeeper it has to be waited for."""
    now = observed.partitions
    moving = _under_way(state, now)
    back = {move.name: _origin(state, move) for move in moving if now[move.name].heading == _goal(state, move)}
    if not moving:
        return Decision(msgspec.structs.replace(state, phase="clearing", attempts=0), outcome(state), is_soon=True)
    many = counted(len(moving), "partition")
    if state.run.route == "zookeeper":
        return Decision(state, f"stops when {many} under way are done: ZooKeeper has no way to take them back")
    if not back:
        return Decision(state, f"stops when {many} under way are done")
    if state.attempts >= MOST_ATTEMPTS:
        why = state.reason or "the controller does not take it"
        return Decision(state, f"{many} cannot be taken back: asked {MOST_ATTEMPTS} times: {why}", is_stuck=True)
    return Decision(
        msgspec.structs.replace(state, attempts=state.attempts + 1), f"takes {many} back", reassignment.BeginMove(back)
    )


def _throttle(state: reassignment.RunState, observed: reassignment.ObservedCluster) -> Decision:
    replace = msgspec.structs.replace
    if not state.kept:
        state = replace(state, kept=reassignment.present_throttle(observed.configs, _entities(state)))
    lacks = reassignment.missing_throttle(_throttle_now(state), observed.configs)
    if not lacks:
        return Decision(replace(state, is_throttled=True, attempts=0, reason=""), "throttle set", is_soon=True)
    if state.attempts >= MOST_ATTEMPTS:
        return Decision(state, f"the throttle cannot be set: {state.reason or 'it does not stay'}", is_stuck=True)
    return _setting(state, lacks, f"sets a throttle of {state.rate:,} B/s a broker")


def _clear(state: reassignment.RunState, observed: reassignment.ObservedCluster) -> Decision:
    ours = [_throttle_of(state, rate, is_back=back) for rate in state.rates for back in (False, True)]
    back = reassignment.to_restore(state.kept, ours, observed.configs)
    if not back:
        return Decision(msgspec.structs.replace(state, phase="ended"), outcome(state))
    if state.attempts >= MOST_ATTEMPTS:
        return Decision(state, f"the throttle cannot be taken off: {state.reason or 'it comes back'}", is_stuck=True)
    return _setting(state, back, "takes the throttle off")


def _setting(state: reassignment.RunState, values: reassignment.Settings, said: str) -> Decision:
    some = {entity: values[entity] for entity in list(values)[:ENTITIES_AT_ONCE]}
    attempts = state.attempts + (len(some) == len(values))  # more than one command is needed for more
    return Decision(msgspec.structs.replace(state, attempts=attempts), said, reassignment.SetConfigs(some))


def _batch(state: reassignment.RunState) -> tuple[reassignment.ReplicaMove, ...]:
    ends = (0, *state.run.ends)
    place = len(state.run.ends) - 1 - state.batch if state.is_back else state.batch
    return state.run.moves[ends[place] : ends[place + 1]]


def _reached(state: reassignment.RunState) -> tuple[reassignment.ReplicaMove, ...]:
    """What may be under way: the batch, and on the way back those before it too, which were begun on the way there."""
    if not state.is_back:
        return _batch(state)
    return state.run.moves[: state.run.ends[len(state.run.ends) - 1 - state.batch]]


def _under_way(
    state: reassignment.RunState, now: Mapping[TopicPartition, reassignment.PartitionNow]
) -> list[reassignment.ReplicaMove]:
    known = (move for move in _reached(state) if move.name in now and move.name not in state.foreign)
    return [move for move in known if now[move.name].is_moving]


def _goal(state: reassignment.RunState, move: reassignment.ReplicaMove) -> tuple[int, ...]:
    return move.before if state.is_back else move.after


def _origin(state: reassignment.RunState, move: reassignment.ReplicaMove) -> tuple[int, ...]:
    return move.after if state.is_back else move.before


def _is_there(
    state: reassignment.RunState,
    move: reassignment.ReplicaMove,
    now: Mapping[TopicPartition, reassignment.PartitionNow],
) -> bool:
    found = now[move.name]
    return not found.is_moving and found.replicas == _goal(state, move)


def _is_foreign(
    state: reassignment.RunState, move: reassignment.ReplicaMove, now: reassignment.PartitionNow | None
) -> bool:
    """What was left half-way is ours: all old and new replicas before 2.4, and any of them once it is to go back."""
    if now is None or now.is_moving or now.replicas in (move.before, move.after):
        return now is None
    ours, found = {*move.before, *move.after}, {*now.replicas}
    return not (found <= ours if state.is_back else found == ours)


def _is_dead(broker: int, now: reassignment.PartitionNow, observed: reassignment.ObservedCluster) -> bool:
    return broker not in now.replicas and broker not in observed.alive


def _progress(state: reassignment.RunState, left: int) -> str:
    batch = _batch(state)
    there = len(batch) - left
    ends = (0, *state.run.ends)
    before = len(state.run.moves) - ends[-1 - state.batch] if state.is_back else ends[state.batch]
    way = "back, " if state.is_back else ""
    whole = f"{before + there} of {len(state.run.moves)} partitions"
    return f"{way}batch {state.batch + 1} of {len(state.run.ends)}: {there} of {len(batch)} done, {whole} in all"


def _before_us(state: reassignment.RunState, now: Mapping[TopicPartition, reassignment.PartitionNow]) -> str:
    """Whose reassignment it is that ZooKeeper's one place is taken by."""
    if earlier := _under_way(state, now):
        many = counted(len(earlier), "partition")
        return f"; waits for {many} still on the way there: ZooKeeper has no way to take them back"
    return "; waits for a reassignment that somebody else asked for"


def _slowest(
    state: reassignment.RunState,
    moving: list[reassignment.ReplicaMove],
    now: Mapping[TopicPartition, reassignment.PartitionNow],
) -> str:
    """Who is waited for, of one partition."""
    for move in moving:
        if late := [broker for broker in _goal(state, move) if broker not in now[move.name].isr]:
            return f"; {move.name} waits for {brokers(late)} to be in sync"
    return ""


def _throttle_now(state: reassignment.RunState) -> reassignment.Settings:
    return {} if state.rate is None else _throttle_of(state, state.rate, is_back=state.is_back)


def _throttle_of(state: reassignment.RunState, rate: int, *, is_back: bool) -> reassignment.Settings:
    return reassignment.throttle_of((_copying(move, is_back=is_back) for move in state.run.moves), rate)


def _copying(move: reassignment.ReplicaMove, *, is_back: bool) -> reassignment.Copying:
    """Going back, what is still on its way there keeps its throttle."""
    new = tuple(broker for broker in move.after if broker not in move.before)
    if not is_back:
        return reassignment.Copying(move.topic, move.partition, move.before, new)
    old = tuple(broker for broker in move.before if broker not in move.after)
    return reassignment.Copying(move.topic, move.partition, (*move.after, *old), (*old, *new))


def _entities(state: reassignment.RunState) -> tuple[str, ...]:
    """Everything that a throttle may be set on, in either direction."""
    if not state.rates:
        return ()
    both = (_throttle_of(state, state.rates[0], is_back=back) for back in (False, True))
    return tuple(sorted({entity for settings in both for entity in settings}))
