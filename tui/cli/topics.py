"""`kdrill topics`: what kafka-topics.sh does, in its words; here what creates, alters and deletes."""

from collections.abc import Sequence

import click

from model.controller.topic_validation import topic_name_problem
from tui.cli.act import ActionCommand
from tui.cli.configs import checked, settings_of
from tui.cli.main import Verbs
from tui.engine.questions import AddPartitions, CreateTopic, DeleteTopics

Replicas = tuple[tuple[int, ...], ...]

assignment_option = click.option(
    "--replica-assignment", metavar="1:2,2:3", help="brokers of each partition in turn, the preferred leader first"
)
racks_option = click.option("--disable-rack-aware", is_flag=True, help="place replicas without regard to racks")


def assigned(text: str | None, count: int | None = None, factor: int | None = None) -> Replicas:
    """The replicas of each partition; empty without the option. Raises click.UsageError."""
    if text is None:
        return ()
    if count is not None or factor is not None:
        raise click.UsageError("--replica-assignment says how many there are: leave --partitions and "
                               "--replication-factor out")  # fmt: skip
    try:
        return tuple(tuple(int(broker) for broker in each.split(":")) for each in text.split(","))
    except ValueError:
        raise click.UsageError(f"--replica-assignment {text!r}: write brokers as 1:2,2:3") from None


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
    "--topic-config", "configs", multiple=True, metavar="NAME=VALUE", help="a topic setting; also --config NAME=VALUE"
)
@click.option("--if-not-exists", is_flag=True, help="no error if it exists already")
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


@click.command(cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="a name, or a regular expression that matches one topic")
@click.option("--partitions", "count", type=int, metavar="N", help="total number of partitions")
@click.option("--replication-factor", type=int, hidden=True)
@assignment_option
@racks_option
@click.option("--if-exists", is_flag=True, help="no error if there is no such topic")
def alter(
    topic: str,
    count: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    disable_rack_aware: bool,
    if_exists: bool,
) -> AddPartitions:
    """Add partitions to a topic. Settings are changed by kdrill configs, replicas by kdrill act reassign.

    --replica-assignment names the brokers of all partitions; existing partitions are skipped.

    \b
    Example: kdrill topics zk://zk1:2181/kafka alter --topic orders --partitions 6 --allow-writes
    """
    if replication_factor is not None:
        raise click.UsageError(
            f"other replicas are a reassignment: kdrill plan SOURCE --topic {topic} --replication-factor "
            f"{replication_factor} -o plan.json, then kdrill act SOURCE reassign plan.json"
        )
    if count is None:
        raise click.UsageError("--partitions is missing; settings are changed by kdrill configs SOURCE alter")
    return AddPartitions(
        topic=topic,
        partitions=count,
        assignment=assigned(replica_assignment),
        ignores_racks=disable_rack_aware,
        if_exists=if_exists,
    )


@click.command(cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="names, or a regular expression")
@click.option("--if-exists", is_flag=True, help="no error if there is no such topic")
def delete(topic: str, if_exists: bool) -> DeleteTopics:
    """Delete topics with all their records. Asks for the names to be typed, unless --yes is given.

    \b
    Example: kdrill topics zk://zk1:2181/kafka delete --topic orders --allow-writes
    """
    return DeleteTopics(topic, if_exists)


PLACES = {
    "list": "described:list_topics",
    "describe": "described:describe_topics",
    "create": "topics:create",
    "alter": "topics:alter",
    "delete": "topics:delete",
}


@click.group("topics", cls=Verbs, places=PLACES)
def topics() -> None:
    """List, describe, create, alter and delete topics, in the words of kafka-topics.sh.

    \b
    Example: kdrill topics zk://zk1:2181/kafka describe --topic orders
             kdrill topics prod-eu1 create --topic orders --partitions 3 --replication-factor 2 --allow-writes
    """
