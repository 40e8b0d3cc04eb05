"""`kdrill act delete-group`: a group in which nobody is any more."""

import click

from tui.command_line.action_command import ActionCommand
from tui.data.acting.requests import DeleteGroup


@click.command("delete-group", cls=ActionCommand)
@click.option("--group", metavar="NAME", required=True, help="the group")
def delete_group(group: str) -> DeleteGroup:
    """Remove a group that is stuck or not used any more, with its offsets. Refused while a member lives.

    \b
    Example: kdrill act zk://zk1:2181/kafka delete-group --group reports --allow-writes
    """
    return DeleteGroup(group)
