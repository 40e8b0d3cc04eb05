"""`kdrill topics alter` and `delete`: proposed, confirmed, carried out."""

import click

from tui.command_line.action_command import ActionCommand
from tui.command_line.assignment_option import assigned, assignment_option, racks_option
from tui.data.acting.requests import AddPartitions, DeleteTopics


@click.command(cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="a name, or a regular expression that fits one topic")
@click.option("--partitions", "count", type=int, metavar="N", help="how many there shall be in all")
@click.option("--replication-factor", type=int, hidden=True)
@assignment_option
@racks_option
@click.option("--if-exists", is_flag=True, help="no error where there is no such topic")
def alter(
    topic: str,
    count: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    disable_rack_aware: bool,
    if_exists: bool,
) -> AddPartitions:
    """Add partitions to a topic. Settings are changed by kdrill configs, replicas by kdrill act reassign.

    --replica-assignment names the brokers of all partitions; those of partitions that exist are passed over.

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
@click.option("--if-exists", is_flag=True, help="no error where there is no such topic")
def delete(topic: str, if_exists: bool) -> DeleteTopics:
    """Delete topics with all their records. The names have to be typed, unless --yes is given.

    \b
    Example: kdrill topics zk://zk1:2181/kafka delete --topic orders --allow-writes
    """
    return DeleteTopics(topic, if_exists)
