"""`kdrill act remove-delete-marker`: a topic that is marked for deletion and shall not go."""

import click

from model.controller.topic_names import topic_name_problem
from tui.command_line.action_command import ActionCommand
from tui.data.acting.requests import RemoveDeleteMarker


@click.command("remove-delete-marker", cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="the topic")
def remove_delete_marker(topic: str) -> RemoveDeleteMarker:
    """Take away the mark of a deletion that is stuck, and say what it waits for. Through ZooKeeper only.

    \b
    Example: kdrill act zk://zk1:2181/kafka remove-delete-marker --topic orders --allow-writes
    """
    if problem := topic_name_problem(topic):
        raise click.UsageError(problem.message)
    return RemoveDeleteMarker(topic)
