"""`kdrill act SOURCE elect-preferred` and `elect-unclean`: which partitions, in words of `kafka-leader-election.sh`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from model.cluster.ids import TopicPartition
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.interchange.tool_files import read_election
from tui.cli.act import ActionCommand
from tui.cli.options import with_all
from tui.engine.questions import ElectPreferred, ElectUnclean

Command = Callable[..., Any]
_WHICH = (
    click.option("--topic", metavar="NAME", help="all partitions of this topic"),
    click.option("--partition", "partitions", type=int, multiple=True, metavar="N", help="with --topic: only these"),
    click.option(
        "--path-to-json-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="partitions as Kafka's tool has them",
    ),
    click.option("--all-topic-partitions", is_flag=True, help="all partitions, as Kafka's tool calls it"),
)


def _takes_partitions(command: Command) -> Command:
    """Partitions, named as `kafka-leader-election.sh` takes them."""
    return with_all(command, *_WHICH)


@click.command("elect-preferred", cls=ActionCommand)
@_takes_partitions
def elect_preferred(
    topic: str | None, partitions: tuple[int, ...], path_to_json_file: Path | None, all_topic_partitions: bool
) -> ElectPreferred:
    """Elect preferred leaders: for the partitions named, or wherever another replica leads.

    Partitions whose preferred replica is down or not in sync are left out and named.

    \b
    Example: kdrill act zk://zk1:2181/kafka elect-preferred --topic orders --allow-writes
    """
    return ElectPreferred(topic, partitions, _listed(topic, partitions, path_to_json_file, all_topic_partitions))


@click.command("elect-unclean", cls=ActionCommand)
@_takes_partitions
def elect_unclean(
    topic: str | None, partitions: tuple[int, ...], path_to_json_file: Path | None, all_topic_partitions: bool
) -> ElectUnclean:
    """Elect leaders though nobody in sync is left: for the partitions named, or wherever there is none.

    Records that the new leader lacks are lost. Who would lead is said first, and whose return would save them.
    Brokers of 2.4 or later take it, whatever unclean.leader.election.enable says.

    \b
    Example: kdrill act kafka://b1:9092 elect-unclean --topic orders --partition 3 --allow-writes
    """
    return ElectUnclean(topic, partitions, _listed(topic, partitions, path_to_json_file, all_topic_partitions))


def _listed(
    topic: str | None, partitions: tuple[int, ...], file: Path | None, everything: bool
) -> tuple[TopicPartition, ...] | None:
    """Those in the file, if there is one. Raises click.ClickException."""
    if sum((topic is not None, file is not None, everything)) > 1:
        raise click.UsageError("--topic, --path-to-json-file and --all-topic-partitions exclude each other")
    if partitions and topic is None:
        raise click.UsageError("--partition needs --topic")
    return None if file is None else _in_file(file)


def _in_file(path: Path) -> tuple[TopicPartition, ...]:
    try:
        return read_election(read_whole(path, MOST_FACTS))
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None
