"""`kdrill act`: what can be done to a live cluster, each shown first, confirmed, and written down.

Here are the command whose function only makes a `Request` of its own options, and the verbs that need no more:
elections, offsets, groups, deletion markers. The dashboard reads the same commands for what is typed behind `:`, so
nothing here loads what carries a request out.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model.cluster.ids import TopicPartition
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.controller.topic_validation import topic_name_problem
from model.interchange.tool_files import read_election
from tui.cli.acting import ActOptions, offsets_in, reset_of, takes_act_options
from tui.cli.main import Verbs
from tui.cli.options import takes_source
from tui.engine.opening import Opening
from tui.engine.questions import DeleteGroup, ElectPreferred, RemoveDeleteMarker, ResetOffsets

if TYPE_CHECKING:
    from tui.engine.questions import Request


class ActionCommand(click.Command):
    """Its function makes a `Request` of its own options; the command proposes it, asks, and carries it out."""

    def __init__(
        self, name: str | None, *, callback: Callable[..., "Request"], params: Sequence[click.Parameter], **more: Any
    ) -> None:
        self.make = callback
        self.own = tuple(params)
        run = takes_source(takes_act_options(_acting(callback)))
        common: list[click.Parameter] = run.__dict__.pop("__click_params__")
        super().__init__(name, callback=run, params=[*params, *reversed(common)], **more)

    def request(self, ctx: click.Context) -> "Request":
        """What is asked for. Raises click.ClickException for options that do not go together."""
        return ctx.invoke(self.make, **{str(each.name): ctx.params[str(each.name)] for each in self.own})


def _acting(make: Callable[..., "Request"]) -> Callable[..., None]:
    def act(opening: Opening, act: ActOptions, **own: Any) -> None:
        request = make(**own)
        from tui.cli.acting import act_on  # noqa: PLC0415 - what only makes a request does without

        act_on(opening, act, request)

    return act


@click.command("elect-preferred", cls=ActionCommand)
@click.option("--topic", metavar="NAME", help="all partitions of this topic")
@click.option("--partition", "partitions", type=int, multiple=True, metavar="N", help="with --topic: only these")
@click.option(
    "--path-to-json-file", type=click.Path(path_type=Path), metavar="FILE", help="partitions as Kafka's tool has them"
)
@click.option("--all-topic-partitions", is_flag=True, help="all partitions, as Kafka's tool calls it")
def elect_preferred(
    topic: str | None, partitions: tuple[int, ...], path_to_json_file: Path | None, all_topic_partitions: bool
) -> ElectPreferred:
    """Elect preferred leaders: for the partitions named, or wherever another replica leads.

    Partitions whose preferred replica is down or not in sync are left out and named.

    \b
    Example: kdrill act zk://zk1:2181/kafka elect-preferred --topic orders --allow-writes
    """
    if sum((topic is not None, path_to_json_file is not None, all_topic_partitions)) > 1:
        raise click.UsageError("--topic, --path-to-json-file and --all-topic-partitions exclude each other")
    if partitions and topic is None:
        raise click.UsageError("--partition needs --topic")
    return ElectPreferred(topic, partitions, None if path_to_json_file is None else _in_file(path_to_json_file))


def _in_file(path: Path) -> tuple[TopicPartition, ...]:
    try:
        return read_election(read_whole(path, MOST_FACTS))
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None


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
    "elect-preferred": "act:elect_preferred",
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
