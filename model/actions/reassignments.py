"""Reassignments as proposals: a plan in batches, forward or back. What is done when, the run decides."""

from collections.abc import Callable, Container, Iterator, Sequence

import msgspec

from model.actions.proposal import ActionRefused, Proposal, Step
from model.actions.reassignment import (
    Begin,
    Command,
    Move,
    PartitionNow,
    RunState,
    Seen,
    SetConfigs,
    Standing,
)
from model.actions.reassignment_run import decide
from model.cluster.ids import TopicPartition
from model.cluster.words import brokers, counted, replicas

NOT_UNDONE = "through ZooKeeper a batch that was asked for cannot be taken back: it is waited for"
_AGAIN = "the same plan once more carries it out again"


def commands_of(state: RunState, standing: Standing) -> Iterator[tuple[Command, Standing]]:
    """All that a run is going to do if nothing comes in between, and what the cluster is like each time.

    `standing` has all partitions and all configs of the run.
    """
    while state.phase != "ended":
        decision = decide(state, Seen(standing))
        state = decision.state
        if decision.command is not None:
            yield decision.command, standing
            standing = _obeyed(standing, decision.command)
        elif not decision.is_soon:
            before, standing = standing, _settled(standing, state.run.moves)
            if standing is before:
                return  # it would wait for somebody else


def unthrottled_if_idle(state: RunState, standing: Standing) -> RunState:
    """Without a throttle where none was set yet and nothing is to begin any more."""
    if state.kept or any(isinstance(command, Begin) for command, _ in commands_of(state, standing)):
        return state
    return msgspec.structs.replace(state, rate=None, rates=())


def proposal_of(
    state: RunState, standing: Standing, steps_of: Callable[[Command, Standing], Sequence[Step]], title: str
) -> Proposal:
    """What a run is going to do. The steps are those before anything has changed: the last ones take the throttle off.

    Raises ActionRefused where nothing can begin, or steps cannot be made.
    """
    given = [command for command, _ in commands_of(state, standing)]
    begun = {name: goal for command in given if isinstance(command, Begin) for name, goal in command.goals.items()}
    waiting = [] if state.wish == "cancel" else [m for m in state.run.moves if _waits(state, standing, m, begun)]
    if waiting and not begun:
        raise ActionRefused(f"{title}: {_held(state, standing, waiting)}")
    return Proposal(
        title=title,
        steps=tuple(step for command in _on_what_is(given) for step in steps_of(command, standing)),
        changes=(
            *_throttled(state),
            *(
                f"{name}: {replicas(standing.partitions[name].replicas)} → {replicas(goal)}"
                for name, goal in begun.items()
            ),
        ),
        warnings=tuple(_warnings(state, standing, waiting)),
        type_to_confirm=str(len(begun)) if begun else "",
        rollback=_AGAIN if state.is_back else "rollback brings every replica back to where it was, order included",
    )


def _throttled(state: RunState) -> Iterator[str]:
    if state.rate is not None and state.wish != "cancel":
        yield f"throttle: {state.rate:,} B/s a broker until it is done; what was set before comes back then"


def _on_what_is(given: Sequence[Command]) -> Iterator[Command]:
    """Without those that change again what an earlier one has changed: their versions are not known yet."""
    touched: set[str] = set()
    for command in given:
        if isinstance(command, Begin) or not touched & command.values.keys():
            yield command
        if isinstance(command, SetConfigs):
            touched |= command.values.keys()


def _warnings(state: RunState, standing: Standing, waiting: Sequence[Move]) -> Iterator[str]:
    if waiting:
        yield _held(state, standing, waiting)
    if state.rate is None and state.wish != "cancel" and state.run.rate is None:
        yield "no throttle: copying takes all the bandwidth that it gets (--throttle)"
    if state.run.route == "zookeeper":
        yield NOT_UNDONE


def _held(state: RunState, standing: Standing, waiting: Sequence[Move]) -> str:
    needed = {broker for move in waiting for broker in (move.before if state.is_back else move.after)}
    dead = needed - standing.alive
    why = f"{brokers(dead)} must come back first" if dead else "something else is under way, or moved them"
    return f"{counted(len(waiting), 'partition')} cannot begin now: {why}"


def _waits(state: RunState, standing: Standing, move: Move, begun: Container[TopicPartition]) -> bool:
    now = standing.partitions.get(move.name)
    if now is None or move.name in begun or _is_ours(move, now):
        return False
    return now.is_moving or now.replicas != (move.before if state.is_back else move.after)


def _is_ours(move: Move, now: PartitionNow) -> bool:
    """Whether the run itself has asked for it."""
    return now.is_moving and now.heading in (move.before, move.after)


def _settled(standing: Standing, moves: Sequence[Move]) -> Standing:
    """The cluster once what the run has asked for is done; the same where nothing is under way."""
    now = standing.partitions
    done = {
        move.name: PartitionNow(now[move.name].heading, isr=now[move.name].heading)
        for move in moves
        if move.name in now and _is_ours(move, now[move.name])
    }
    if not done:
        return standing
    return msgspec.structs.replace(standing, partitions={**now, **done}, is_taken=False)


def _obeyed(standing: Standing, command: Command) -> Standing:
    """The cluster once a command is carried out to its end."""
    if isinstance(command, SetConfigs):
        configs = dict(standing.configs)
        for entity, values in command.values.items():
            after = {**configs.get(entity, {}), **values}
            configs[entity] = {key: value for key, value in after.items() if value is not None}
        return msgspec.structs.replace(standing, configs=configs)
    done = {name: PartitionNow(goal, isr=goal) for name, goal in command.goals.items()}
    return msgspec.structs.replace(standing, partitions={**standing.partitions, **done})
