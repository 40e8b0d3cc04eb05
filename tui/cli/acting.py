"""A proposal on the terminal: shown, confirmed, carried out, and its outcome reported.

A kdrill.act/1 document has `title`, `changes`, `warnings`, `steps` (as the audit log has them), `rollback`, and
`outcome`: `kind` (done, refused, unknown, or proposed where nothing was to be done) and what was `said`.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import NoReturn

import click
import msgspec

from model.actions.proposal import ActionRefused, Proposal
from model.hosts.acting.carrying_out import UnansweredError, WriteOutcome, carry_out, shown
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from tui.cli.act_options import ActOptions
from tui.cli.broker_groups import with_groups
from tui.cli.following import image_of
from tui.cli.output import json_line, let_go, tell
from tui.engine.acting.proposing import proposal_of, step_text
from tui.engine.acting.way import Way
from tui.engine.opening import Opening
from tui.engine.questions import DeleteGroup, Request, ResetOffsets
from tui.engine.text import plain

FORMAT = "kdrill.act/1"
MOST_LINES = 30
UNWRITTEN = 3
"""The exit code of an action that was done but could not be recorded or reported: do not repeat it."""
ONLY_SHOWN = "nothing was done: repeat this with --allow-writes to do it"


def perform(proposal: Proposal, way: Way, act: ActOptions) -> None:
    """Shows a proposal, asks, and carries it out. Exits 0 if done, 1 if it failed, 2 if declined, or as `finish`.

    Raises click.ClickException with the one line that says why not.
    """
    if not proposal.steps:
        tell(f"{proposal.title}: there is nothing to do")
        return
    show(proposal, act)
    confirm(proposal, act)
    try:
        outcome = carry_out(proposal, way.writers, way.audit)
    except ActionRefused as refusal:
        raise click.ClickException(str(refusal)) from None
    finish(proposal, outcome, act)


def finish(proposal: Proposal, outcome: WriteOutcome, act: ActOptions) -> None:
    """Reports the outcome. Raises click.ClickException unless done, Exit (UNWRITTEN) if only recording failed."""
    try:
        if act.as_json:
            print_document(proposal, {"kind": outcome.kind, "said": outcome.told})
        if outcome.kind != "done":
            raise click.ClickException(outcome.told)
        if outcome.unwritten:
            unwritten(f"{proposal.title}: {outcome.told}")
        tell(f"{proposal.title}: done{f' ({outcome.said})' if outcome.said else ''}")
        if proposal.rollback:
            tell(f"to undo it: {proposal.rollback}")
    except OSError as error:  # nobody reads the output any more, or its disk is full
        if outcome.kind != "done":
            raise click.ClickException(outcome.told) from None
        let_go(sys.stdout)
        unwritten(f"{proposal.title}: done, but the output cannot be written: {error.strerror or error}")


def unwritten(said: str) -> NoReturn:
    """Ends a command whose action was carried out but could not be recorded. Raises click.exceptions.Exit."""
    try:
        tell(said)
    except OSError:
        let_go(sys.stderr)
    raise click.exceptions.Exit(UNWRITTEN)


def show(proposal: Proposal, act: ActOptions) -> None:
    """Prints what would be done: on standard output, or with `--json` on standard error for whoever has to confirm."""
    if act.as_json and (act.yes or not act.allow_writes):
        return
    for line in lines(proposal):
        click.echo(plain(line), err=act.as_json)


def confirm(proposal: Proposal, act: ActOptions) -> None:
    """Returns if confirmed. Raises click.exceptions.Exit (2), or click.ClickException without a terminal."""
    if not act.allow_writes:
        if act.as_json:
            print_document(proposal, {"kind": "proposed", "said": ONLY_SHOWN})
        tell(ONLY_SHOWN)
        raise click.exceptions.Exit(2)
    if act.yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("nothing was done: there is no terminal to ask on; use --yes")
    wanted = proposal.type_to_confirm or "yes"
    typed = click.prompt(f"type {plain(wanted)} to do it", default="", show_default=False, err=True)
    if typed != wanted:
        tell("nothing was done")
        raise click.exceptions.Exit(2)


def lines(proposal: Proposal) -> Iterator[str]:
    """A proposal as text; long lists are cut."""
    yield proposal.title
    yield from _some(proposal.changes)
    yield from (f"! {warning}" for warning in proposal.warnings)
    yield "in this order:" if proposal.steps else "nothing is written"
    yield from _some([step_text(step) for step in proposal.steps])
    if proposal.rollback:
        yield f"to undo it: {proposal.rollback}"


def print_document(proposal: Proposal, outcome: Mapping[str, object]) -> None:
    """Prints the kdrill.act/1 document on one line."""
    document = {
        "format": FORMAT,
        "title": proposal.title,
        "changes": proposal.changes,
        "warnings": proposal.warnings,
        "steps": [shown(step) for step in proposal.steps],
        "rollback": proposal.rollback,
        "outcome": outcome,
    }
    click.echo(json_line(msgspec.to_builtins(document, str_keys=True)))


def _some(texts: "list[str] | tuple[str, ...]") -> Iterator[str]:
    yield from (f"  {text}" for text in texts[:MOST_LINES])
    if len(texts) > MOST_LINES:
        yield f"  … {len(texts) - MOST_LINES:,} more: --json has them"


def act_on(opening: Opening, act: ActOptions, request: Request) -> None:
    """Shows what is proposed, asks, and carries it out.

    Raises click.ClickException with the line that says why not.
    """
    image = image_of(opening)
    if isinstance(request, ResetOffsets | DeleteGroup):
        image = with_groups(image, opening)
    try:
        with Way(opening, image, may_write=act.allow_writes) as way:
            perform(proposal_of(request, way, opening), way, act)
    except (ActionRefused, UnansweredError, ZooKeeperUnavailable) as error:
        raise click.ClickException(str(error)) from None
