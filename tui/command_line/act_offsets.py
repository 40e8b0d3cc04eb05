"""`kdrill act reset-offsets`: where a group in which nobody is continues, in the words of kafka-consumer-groups.sh."""

import time
from pathlib import Path

import click

from tui.command_line.action_command import ActionCommand
from tui.command_line.reset_options import offsets_in, reset_of
from tui.data.acting.requests import ResetOffsets


@click.command("reset-offsets", cls=ActionCommand)
@click.option("--group", metavar="NAME", required=True, help="the group")
@click.option("--topic", "topics", multiple=True, metavar="NAME[:0,1]", help="a topic, or some of its partitions")
@click.option("--all-topics", is_flag=True, help="all that the group has committed")
@click.option("--to-earliest", is_flag=True, help="to the first record there is")
@click.option("--to-latest", is_flag=True, help="behind the last record")
@click.option("--to-current", is_flag=True, help="to what is committed, or within the log again")
@click.option("--to-offset", type=int, metavar="N", help="to this offset")
@click.option("--shift-by", type=int, metavar="N", help="so many records on, or back where negative")
@click.option("--to-datetime", metavar="TIME", help="to the first record from then on: 2026-11-20T12:03:58Z")
@click.option("--by-duration", metavar="PnDTnHnMnS", help="to the first record not older than this: PT1H30M")
@click.option("--from-file", type=click.Path(path_type=Path), metavar="FILE", help="topic,partition,offset a line")
def reset_offsets(
    group: str, topics: tuple[str, ...], all_topics: bool, from_file: Path | None, **how: object
) -> ResetOffsets:
    """Set the offsets of a group, in ZooKeeper or at its coordinator. Refused while a member lives.

    Offsets before or behind what is in the logs are taken to their ends.

    \b
    Example: kdrill act zk://zk1:2181/kafka reset-offsets --group reports --topic orders --to-earliest --allow-writes
    """
    listed = None if from_file is None else tuple(offsets_in(from_file).items())
    reset = reset_of(how, time.time_ns() // 1_000_000, has_file=from_file is not None)
    if (listed is None) == (not topics and not all_topics):
        raise click.UsageError("name --topic, --all-topics or --from-file")
    return ResetOffsets(group=group, topics=topics, reset=reset, listed=listed)
