"""`kdrill topics create`: proposed, confirmed, carried out."""

from collections.abc import Sequence

import click

from model.controller.topic_names import topic_name_problem
from tui.command_line.action_command import ActionCommand
from tui.command_line.assignment_option import assigned, assignment_option, racks_option
from tui.command_line.setting_options import checked, settings_of
from tui.data.acting.requests import CreateTopic


class _Create(ActionCommand):
    """Takes Kafka's `--config name=value`, although `--config` names our own file everywhere."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for arg in args for word in (arg.split("=", 1) if arg.startswith("--config=") else [arg])]
        pairs = zip(words, [*words[1:], ""], strict=True)
        return super().parse_args(
            ctx, ["--topic-config" if word == "--config" and "=" in value else word for word, value in pairs]
        )


@click.command(cls=_Create)
@click.option("--topic", metavar="NAME", required=True, help="the topic")
@click.option("--partitions", "count", type=int, metavar="N", help="how many partitions")
@click.option("--replication-factor", type=int, metavar="N", help="how many replicas of each")
@assignment_option
@click.option(
    "--topic-config", "configs", multiple=True, metavar="NAME=VALUE", help="a setting of it; also --config NAME=VALUE"
)
@click.option("--if-not-exists", is_flag=True, help="no error where it exists already")
@racks_option
def create(
    topic: str,
    count: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    configs: Sequence[str],
    if_not_exists: bool,
    disable_rack_aware: bool,
) -> CreateTopic:
    """Create a topic. Its replicas are placed as Kafka places them, and shown before they are written.

    \b
    Example: kdrill topics zk://zk1:2181 create --topic orders --partitions 3 --replication-factor 2 --allow-writes
    """
    if problem := topic_name_problem(topic):  # before it becomes part of a path
        raise click.UsageError(problem.message)
    settings = settings_of(configs)
    checked("topics", settings)
    return CreateTopic(
        topic=topic,
        partitions=count,
        replication_factor=replication_factor,
        assignment=assigned(replica_assignment, count, replication_factor),
        configs=settings,
        ignores_racks=disable_rack_aware,
        if_not_exists=if_not_exists,
    )
