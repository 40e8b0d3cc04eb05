"""`kdrill act SOURCE reassign`, `cancel-reassign` and `rollback`: a plan carried out in batches, with a throttle.

It is shown, confirmed, and followed to its end or left to go on; `--resume` goes on with it. Cancelling begins no
more batches; a rollback brings every replica back to where it was, order included.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click
import msgspec

from model.actions.proposal import ActionRefused, Proposal
from model.actions.reassignment import OperatorDecided, RunState
from model.actions.reassignment_run import Decision, decide, started
from model.actions.reassignments import cancel_reassignments, under_way
from model.cluster.ids import TopicPartition
from model.cluster.texts import counted, listed, replicas
from model.hosts.acting.carrying_out import UnansweredError, UnwrittenError, WriteOutcome
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.planning.documents import batching_in
from model.planning.kraft_course import notes_on_courses
from model.planning.plan import applied
from model.planning.planner import read_moves, score
from model.planning.request import Batching, PlanError, PlanRequest
from tui.cli import plan_made
from tui.cli.act import ActOptions, confirm, finish, perform, show, takes_act_options, unwritten
from tui.cli.following import image_of
from tui.cli.options import takes_source
from tui.cli.output import tell
from tui.cli.plan import Amount
from tui.engine.messages import Opening
from tui.engine.proposing import basis_of, drills_said
from tui.engine.way_in import Way, carried_out, proposed, run_of

GOES_ON = "kdrill is ending: moves already requested continue, and the throttle stays; reassign --resume continues"


@contextlib.contextmanager
def way_to(opening: Opening, act: ActOptions) -> Iterator[Way]:
    """The way into the cluster, read anew. Raises click.ClickException."""
    image = image_of(opening)
    try:
        with Way(opening, image, may_write=act.allow_writes) as way:
            yield way
    except (ActionRefused, UnansweredError, ZooKeeperError) as error:
        raise click.ClickException(str(error)) from None


def follow(state: RunState, way: Way, act: ActOptions, drilled: str = "", notes: tuple[str, ...] = ()) -> None:
    """Shows what a run would do, asks, and carries it on. Exits as `act.perform`; raises what `way_to` catches."""
    state, proposal = proposed(state, way, drilled, notes)
    if not proposal.steps and state.wish != "cancel":
        tell(f"{proposal.title}: there is nothing to do")
    else:
        show(proposal, act)
        confirm(proposal, act)
    if act.allow_writes:
        _carry_on(state, way, proposal, act)


def _carry_on(state: RunState, way: Way, proposal: Proposal, act: ActOptions) -> None:
    """Carries a confirmed run on. Raises ActionRefused and click.ClickException; exits as `act.finish`."""
    try:
        decision = carried_out(state, way, _progress(), _wait)
    except KeyboardInterrupt:
        tell(GOES_ON)
        raise click.exceptions.Exit(130) from None
    except UnwrittenError as error:
        unwritten(f"{error}; reassign --resume goes on")
    kind = "refused" if decision.is_stuck else "done"
    finish(proposal, WriteOutcome(kind, decision.said), act)


def _progress() -> Callable[[Decision], None]:
    last = ""

    def told(decision: Decision) -> None:
        nonlocal last
        if decision.said and decision.said != last and decision.state.phase != "ended":
            last = decision.said
            tell(last)

    return told


def _wait(seconds: float) -> Iterable[OperatorDecided]:
    time.sleep(seconds)
    return ()


_NOT_ENDED = "a reassignment of this cluster ({plan}, batch {batch} of {batches}) has not ended: "
_WAYS_OUT = "reassign --resume goes on with it, cancel-reassign stops it, rollback brings everything back"


class _Wish(msgspec.Struct, frozen=True):
    file: Path | None
    resume: bool
    throttle: int | None
    batching: Batching | None
    """None: as the plan was cut."""


@click.command()
@takes_source
@click.argument("file", metavar="PLAN.JSON", required=False, type=click.Path(path_type=Path))
@click.option("--resume", is_flag=True, help="resume the unfinished reassignment")
@click.option(
    "--throttle", metavar="BYTES/S", type=Amount(), help="most that a broker may send and receive for it: 50MB"
)
@click.option(
    "--batch-size",
    metavar="N",
    type=click.IntRange(min=1),
    help="replicas to, or from, a broker in one batch; without it and --batch-bytes the plan's own batches, or 20",
)
@click.option("--batch-bytes", metavar="BYTES", type=Amount(), help="bytes to or from a broker per batch")
@takes_act_options
def reassign(
    opening: Opening,
    file: Path | None,
    resume: bool,
    throttle: int | None,
    batch_size: int | None,
    batch_bytes: int | None,
    act: ActOptions,
) -> None:
    """Carry out a plan of `kdrill plan` or of Kafka's own tool, in batches.

    A batch begins when the one before is done. The throttle is set before the first and removed after the last; a
    throttle set before is restored. kdrill may be ended or killed at any time: --resume continues.

    \b
    Example: kdrill act zk://zk1:2181/kafka reassign plan.json --throttle 50MB --allow-writes
             kdrill act zk://zk1:2181/kafka reassign --resume --throttle 80MB --allow-writes --yes
    """
    if (file is None) != resume:
        raise click.UsageError("name a plan, or say --resume to go on with the last one")
    given = {name: size for name, size in (("replicas", batch_size), ("bytes", batch_bytes)) if size is not None}
    wish = _Wish(file, resume, throttle, Batching(**given) if given else None)
    with way_to(opening, act) as way:
        last = way.last_run()
        state, drilled, notes = (_resumed(last, wish), "", ()) if resume else _begun(last, way, wish)
        follow(state, way, act, drilled, notes)


def _resumed(last: RunState | None, wish: _Wish) -> RunState:
    if last is None or last.phase == "ended":
        raise click.UsageError("there is nothing to resume: the last reassignment of this cluster from here has ended")
    state = decide(last, OperatorDecided("go")).state if last.wish == "pause" else last
    return state if wish.throttle is None else decide(state, OperatorDecided("throttle", wish.throttle)).state


def _begun(last: RunState | None, way: Way, wish: _Wish) -> tuple[RunState, str, tuple[str, ...]]:
    """The run, what drills say of it, and on KRaft what its controller makes of it."""
    if last is not None and last.phase != "ended":
        told = _NOT_ENDED.format(plan=last.run.plan, batch=last.batch + 1, batches=len(last.run.ends))
        raise click.UsageError(told + _WAYS_OUT)
    assert wish.file is not None
    try:
        text, name = plan_made.read_file(wish.file), str(wish.file)
        moves, batching = read_moves(text, name), wish.batching or batching_in(text, name)
        plan = score(way.image, moves, PlanRequest(batching=batching), name)
    except PlanError as error:
        raise click.ClickException(str(error)) from None
    if not plan.changes:
        raise click.UsageError(f"{wish.file}: everything is already as it says")
    begun_ms = time.time_ns() // 1_000_000
    run = run_of(plan, way.image, route=way.route, rate=wish.throttle, begun_ms=begun_ms)
    notes = tuple(notes_on_courses(plan.courses, way.image.fenced))
    return started(run), drills_said(way.image, applied(way.image, plan)), notes


Targets = Mapping[TopicPartition, tuple[int, ...]]


@click.command("cancel-reassign")
@takes_source
@click.option("--all", "everything", is_flag=True, help="also reassignments started by others")
@takes_act_options
def cancel_reassign(opening: Opening, everything: bool, act: ActOptions) -> None:
    """Stop the last reassignment: start no more batches, and remove the throttle.

    Moves in progress are reverted; through ZooKeeper, which cannot revert them, kdrill waits for them. Finished
    batches stay: rollback undoes those too. With --all, through brokers of 2.4 or later, reassignments started by
    others are reverted too; a throttle that they set stays.

    \b
    Example: kdrill act zk://zk1:2181/kafka cancel-reassign --allow-writes
             kdrill act kafka://b1:9092 cancel-reassign --all --allow-writes
    """
    with way_to(opening, act) as way:
        last = way.last_run()
        ours = last if last is not None and last.phase != "ended" else None
        others = under_way(way.image, {move.name for move in ours.run.moves} if ours else ())
        if ours is None and not (others and everything):
            raise click.UsageError(f"there is nothing to cancel: {_found(others) or 'no reassignment is under way'}")
        if ours is not None:
            if others:
                tell(_found(others))
            follow(decide(ours, OperatorDecided("cancel")).state, way, act)
        if others and everything:
            perform(cancel_reassignments(basis_of(way, ()), others), way, act)


def _found(others: Targets) -> str:
    if not others:
        return ""
    each = (f"{name} to {replicas(target)}" for name, target in others.items())
    return f"others are reassigning {counted(len(others), 'partition')} ({listed(each)}); --all cancels those too"


@click.command()
@takes_source
@takes_act_options
def rollback(opening: Opening, act: ActOptions) -> None:
    """Move every replica of the last reassignment back to where it was, order included, last batch first.

    It works during the reassignment and after it, with the same throttle. Partitions that others moved meanwhile are
    left alone.

    \b
    Example: kdrill act zk://zk1:2181/kafka rollback --allow-writes
    """
    with way_to(opening, act) as way:
        last = way.last_run()
        if last is None:
            raise click.UsageError("there is nothing to roll back: no reassignment from here is known")
        follow(decide(last, OperatorDecided("roll-back")).state, way, act)
