"""A reassignment on the terminal: shown, confirmed, followed to its end or left to go on."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator

import click

from model.actions.proposal import ActionRefused, Proposal
from model.actions.reassignment import Asked, RunState
from model.actions.reassignment_run import Decision
from model.hosts.acting.writer import Outcome, UnansweredError, UnwrittenError
from model.hosts.zookeeper.protocol import ZooKeeperError
from tui.command_line import acting
from tui.command_line.act_options import ActOptions
from tui.command_line.source_image import image_of
from tui.data.acting.reassignment import carried_out, proposed
from tui.data.acting.way import Way
from tui.data.opening import Opening

GOES_ON = (
    "kdrill ends: what the controller was asked for goes on, and the throttle stays; reassign --resume goes on here"
)


@contextlib.contextmanager
def way_to(opening: Opening, act: ActOptions) -> Iterator[Way]:
    """Into the cluster as it is now. Raises click.ClickException."""
    image = image_of(opening)
    try:
        with Way(opening, image, may_write=act.allow_writes) as way:
            yield way
    except (ActionRefused, UnansweredError, ZooKeeperError) as error:
        raise click.ClickException(str(error)) from None


def follow(state: RunState, way: Way, act: ActOptions, drilled: str = "") -> None:
    """All of it; exits as `acting.perform`. Raises ActionRefused and what else ends `way_to`."""
    state, proposal = proposed(state, way, drilled)
    if not proposal.steps and state.wish != "cancel":
        acting.tell(f"{proposal.title}: there is nothing to do")
    else:
        acting.show(proposal, act)
        acting.confirm(proposal, act)
    if act.allow_writes:
        _carry_on(state, way, proposal, act)


def _carry_on(state: RunState, way: Way, proposal: Proposal, act: ActOptions) -> None:
    """Without asking. Raises ActionRefused and click.ClickException, and exits as `acting.finish`."""
    try:
        decision = carried_out(state, way, _progress(), _wait)
    except KeyboardInterrupt:
        acting.tell(GOES_ON)
        raise click.exceptions.Exit(130) from None
    except UnwrittenError as error:
        acting.unwritten(f"{error}; reassign --resume goes on")
    kind = "refused" if decision.is_stuck else "done"
    acting.finish(proposal, Outcome(kind, decision.said), act)


def _progress() -> Callable[[Decision], None]:
    last = ""

    def told(decision: Decision) -> None:
        nonlocal last
        if decision.said and decision.said != last and decision.state.phase != "ended":
            last = decision.said
            acting.tell(last)

    return told


def _wait(seconds: float) -> Iterable[Asked]:
    time.sleep(seconds)
    return ()
