"""`kdrill act elect-preferred`: leaders back to their preferred replicas."""

from pathlib import Path

import click

from model.cluster.ids import TopicPartition
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.interchange.election_file import read_election
from tui.command_line.action_command import ActionCommand
from tui.data.acting.requests import ElectPreferred


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
    """Elect preferred leaders: of what is named, else wherever another replica leads.

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
