"""`kdrill act SOURCE rollback`: every replica of the last reassignment back to where it was, order included."""

import click

from model.actions.reassignment import Asked
from model.actions.reassignment_run import decide
from tui.command_line.act_options import ActOptions, takes_act_options
from tui.command_line.options import takes_source
from tui.command_line.reassigning import follow, way_to
from tui.data.opening import Opening


@click.command()
@takes_source
@takes_act_options
def rollback(opening: Opening, act: ActOptions) -> None:
    """Bring every replica of the last reassignment back to where it was, order included, the last batch first.

    It works while the reassignment is not done, and after; with the same throttle. Partitions that somebody else moved
    meanwhile are left alone.

    \b
    Example: kdrill act zk://zk1:2181/kafka rollback --allow-writes
    """
    with way_to(opening, act) as way:
        last = way.last_run()
        if last is None:
            raise click.UsageError("there is nothing to roll back: no reassignment from here is known")
        follow(decide(last, Asked("roll-back")).state, way, act)
