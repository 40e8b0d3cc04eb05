"""`kdrill act SOURCE reassign`: a plan carried out in batches, with a throttle, resumable and undone by `rollback`."""

import time
from pathlib import Path

import click
import msgspec

from model.actions.reassignment import Asked, RunState
from model.actions.reassignment_run import decide, started
from model.planning.applied import applied
from model.planning.kafka_file import batching_in
from model.planning.refusal import PlanError
from model.planning.request import Batching, PlanRequest
from model.planning.scoring import read_moves, score
from tui.command_line import plan_files
from tui.command_line.act_options import ActOptions, takes_act_options
from tui.command_line.options import takes_source
from tui.command_line.plan_wish import Amount
from tui.command_line.reassigning import follow, way_to
from tui.data.acting.drilled import drills_said
from tui.data.acting.reassignment import run_of
from tui.data.acting.way import Way
from tui.data.opening import Opening

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
@click.option("--resume", is_flag=True, help="go on with the one that was not brought to its end")
@click.option("--throttle", metavar="BYTES/S", type=Amount(), help="what a broker may send, and receive, for it: 50MB")
@click.option(
    "--batch-size",
    metavar="N",
    type=click.IntRange(min=1),
    help="replicas to, or from, a broker in one batch; without it and --batch-bytes the plan's own batches, or 20",
)
@click.option("--batch-bytes", metavar="BYTES", type=Amount(), help="bytes to, or from, a broker in one batch")
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

    A batch begins when the one before is done. The throttle is set before the first and taken off after the last; what
    was set before comes back. kdrill may be ended or killed at any time: --resume goes on.

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
        state, drilled = (_resumed(last, wish), "") if resume else _begun(last, way, wish)
        follow(state, way, act, drilled)


def _resumed(last: RunState | None, wish: _Wish) -> RunState:
    if last is None or last.phase == "ended":
        raise click.UsageError("there is nothing to resume: the last reassignment of this cluster from here has ended")
    state = decide(last, Asked("go")).state if last.wish == "pause" else last
    return state if wish.throttle is None else decide(state, Asked("throttle", wish.throttle)).state


def _begun(last: RunState | None, way: Way, wish: _Wish) -> tuple[RunState, str]:
    if last is not None and last.phase != "ended":
        told = _NOT_ENDED.format(plan=last.run.plan, batch=last.batch + 1, batches=len(last.run.ends))
        raise click.UsageError(told + _WAYS_OUT)
    assert wish.file is not None
    try:
        text, name = plan_files.read(wish.file), str(wish.file)
        moves, batching = read_moves(text, name), wish.batching or batching_in(text, name)
        plan = score(way.image, moves, PlanRequest(batching=batching), name)
    except PlanError as error:
        raise click.ClickException(str(error)) from None
    if not plan.changes:
        raise click.UsageError(f"{wish.file}: everything is already as it says")
    begun_ms = time.time_ns() // 1_000_000
    run = run_of(plan, way.image, route=way.route, rate=wish.throttle, begun_ms=begun_ms)
    return started(run), drills_said(way.image, applied(way.image, plan))
