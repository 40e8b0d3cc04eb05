"""`kdrill act`: what can be done to a live cluster, each shown first, confirmed, and written down.

Here are the options of every command that acts, how a proposal is shown, confirmed and carried out, the command whose
function only makes a `Request` of its own options, and the verbs that need no more: elections, offsets, groups,
deletion markers. The dashboard reads the same commands for what is typed behind `:`.

Where offsets are to be set to is said as kafka-consumer-groups.sh is told. A kdrill.act/1 document has `title`,
`changes`, `warnings`, `steps` (as the audit log has them), `rollback`, and `outcome`: `kind` (done, refused, unknown,
or proposed where nothing was to be done) and what was `said`.
"""

import csv
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from model.actions import Reset
from model.actions.proposal import ActionRefused, Proposal
from model.cluster.ids import TopicPartition
from model.cluster.whole_file import MOST_FACTS, read_text
from model.controller.topic_validation import topic_name_problem
from model.hosts.acting.carrying_out import UnansweredError, WriteOutcome, carry_out, shown
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from tui.cli.following import image_of, with_groups
from tui.cli.main import Verbs
from tui.cli.options import takes_source
from tui.cli.output import json_line, let_go, tell
from tui.engine.messages import Opening
from tui.engine.proposing import proposal_of, step_text
from tui.engine.questions import DeleteGroup, RemoveDeleteMarker, Request, ResetOffsets
from tui.engine.text import plain
from tui.engine.way_in import Way

Command = Callable[..., Any]


class ActOptions(msgspec.Struct, frozen=True):
    """Whether a proposal may be carried out, whether to ask first, and how it is printed."""

    allow_writes: bool = False
    yes: bool = False
    as_json: bool = False


def takes_act_options(command: Command) -> Command:
    """The command gets them as `act`."""

    @click.option("--allow-writes", is_flag=True, help="do it; without this, only show what would be done")
    @click.option("--yes", is_flag=True, help="do not ask")
    @click.option("--json", "as_json", is_flag=True, help="print a kdrill.act/1 document")
    @wraps(command)
    def with_act_options(allow_writes: bool, yes: bool, as_json: bool, **others: Any) -> Any:
        return command(act=ActOptions(allow_writes, yes, as_json), **others)

    return with_act_options


_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def reset_of(how: Mapping[str, object], now_ms: int, *, has_file: bool = False) -> Reset:
    """The reset that the options ask for: exactly one of them, or a file. Raises click.UsageError."""
    given = {name.replace("_", "-"): value for name, value in how.items() if value is not None and value is not False}
    if len(given) + has_file != 1:
        raise click.UsageError("say where to, once: --to-earliest, --to-latest, --to-offset N, --shift-by N …")
    name, value = next(iter(given.items()), ("to-offset", 0))
    match name:
        case "to-datetime":
            return Reset("to-time", time_ms(str(value)))
        case "by-duration":
            return Reset("to-time", now_ms - duration_ms(str(value)))
        case "to-earliest" | "to-latest" | "to-current":
            return Reset(name)
        case _:
            return Reset("shift-by" if name == "shift-by" else "to-offset", int(str(value)))


def time_ms(text: str) -> int:
    """A time in ms since the epoch; UTC if it names no zone, as in Kafka's tool. Raises click.UsageError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--to-datetime {text!r}: write it as 2026-11-20T12:03:58Z") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def duration_ms(text: str) -> int:
    """An ISO 8601 duration of days or less, in ms. Raises click.UsageError."""
    found = _DURATION.fullmatch(text)
    parts = {name: value for name, value in found.groupdict().items() if value} if found else {}
    if not parts:
        raise click.UsageError(f"--by-duration {text!r}: write it as P1DT2H30M, or PT10M")
    return int(sum(float(value) * _SECONDS[name] for name, value in parts.items()) * 1000)


def offsets_in(path: Path) -> dict[TopicPartition, int]:
    """The offsets in a file with `topic,partition,offset` on each line. Raises click.ClickException."""
    try:
        rows = [row for row in csv.reader(read_text(path, most_bytes=MOST_FACTS).split("\n")) if row]
        return {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in rows}
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except ValueError:
        raise click.ClickException(f"{path}: each line is topic,partition,offset") from None


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


class ActionCommand(click.Command):
    """Its function makes a `Request` of its own options; the command proposes it, asks, and carries it out."""

    def __init__(
        self, name: str | None, *, callback: Callable[..., Request], params: Sequence[click.Parameter], **more: Any
    ) -> None:
        self.make = callback
        self.own = tuple(params)
        run = takes_source(takes_act_options(_acting(callback)))
        common: list[click.Parameter] = run.__dict__.pop("__click_params__")
        super().__init__(name, callback=run, params=[*params, *reversed(common)], **more)

    def request(self, ctx: click.Context) -> Request:
        """What is asked for. Raises click.ClickException for options that do not go together."""
        return ctx.invoke(self.make, **{str(each.name): ctx.params[str(each.name)] for each in self.own})


def _acting(make: Callable[..., Request]) -> Callable[..., None]:
    def act(opening: Opening, act: ActOptions, **own: Any) -> None:
        act_on(opening, act, make(**own))

    return act


@click.command("delete-group", cls=ActionCommand)
@click.option("--group", metavar="NAME", required=True, help="the group")
def delete_group(group: str) -> DeleteGroup:
    """Remove a stuck or unused group and its offsets. Refused while a member is alive.

    \b
    Example: kdrill act zk://zk1:2181/kafka delete-group --group reports --allow-writes
    """
    return DeleteGroup(group)


@click.command("remove-delete-marker", cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="the topic")
def remove_delete_marker(topic: str) -> RemoveDeleteMarker:
    """Remove the marker of a stuck topic deletion, and say what it was waiting for. ZooKeeper only.

    \b
    Example: kdrill act zk://zk1:2181/kafka remove-delete-marker --topic orders --allow-writes
    """
    if problem := topic_name_problem(topic):
        raise click.UsageError(problem.message)
    return RemoveDeleteMarker(topic)


@click.command("reset-offsets", cls=ActionCommand)
@click.option("--group", metavar="NAME", required=True, help="the group")
@click.option("--topic", "topics", multiple=True, metavar="NAME[:0,1]", help="a topic, or some of its partitions")
@click.option("--all-topics", is_flag=True, help="every topic the group has committed offsets for")
@click.option("--to-earliest", is_flag=True, help="to the first record")
@click.option("--to-latest", is_flag=True, help="after the last record")
@click.option("--to-current", is_flag=True, help="to the committed offset, moved into the log if outside")
@click.option("--to-offset", type=int, metavar="N", help="to this offset")
@click.option("--shift-by", type=int, metavar="N", help="forward by N records; back if negative")
@click.option("--to-datetime", metavar="TIME", help="to the first record at or after this: 2026-11-20T12:03:58Z")
@click.option("--by-duration", metavar="PnDTnHnMnS", help="to the first record no older than this: PT1H30M")
@click.option("--from-file", type=click.Path(path_type=Path), metavar="FILE", help="CSV lines: topic,partition,offset")
def reset_offsets(
    group: str, topics: tuple[str, ...], all_topics: bool, from_file: Path | None, **how: object
) -> ResetOffsets:
    """Set the offsets of a group, in ZooKeeper or at its coordinator. Refused while a member is alive.

    Offsets outside a log are moved to its nearest end.

    \b
    Example: kdrill act zk://zk1:2181/kafka reset-offsets --group reports --topic orders --to-earliest --allow-writes
    """
    listed = None if from_file is None else tuple(offsets_in(from_file).items())
    reset = reset_of(how, time.time_ns() // 1_000_000, has_file=from_file is not None)
    if (listed is None) == (not topics and not all_topics):
        raise click.UsageError("name --topic, --all-topics or --from-file")
    return ResetOffsets(group=group, topics=topics, reset=reset, listed=listed)


PLACES = {
    "elect-preferred": "act_elect:elect_preferred",
    "elect-unclean": "act_elect:elect_unclean",
    "reassign": "act_reassign:reassign",
    "cancel-reassign": "act_reassign:cancel_reassign",
    "rollback": "act_reassign:rollback",
    "reset-offsets": "act:reset_offsets",
    "delete-group": "act:delete_group",
    "remove-delete-marker": "act:remove_delete_marker",
}


@click.group(cls=Verbs, places=PLACES)
def act() -> None:
    """Change a live cluster: show what would be done, ask, do it, and log it.

    Without --allow-writes nothing is done: it is only shown, and kdrill exits with 2. Everything is checked again
    right before it is done. What was done is logged in audit.jsonl in the platform's state folder.

    Exits 0 if it was done, 1 if it failed, 2 if it was not to be done, and 3 if it was done but could not be logged
    or reported: check the cluster, and do not repeat it.

    \b
    Example: kdrill act zk://zk1:2181/kafka reassign plan.json --throttle 50MB --allow-writes
             kdrill act prod-eu1 rollback --allow-writes
    """
