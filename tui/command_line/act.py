"""`kdrill act`: what can be done to a live cluster, each shown first, confirmed, and written down."""

import click

from tui.command_line.verbs import Verbs

PLACES = {
    "elect-preferred": "act_elections:elect_preferred",
    "reassign": "act_reassign:reassign",
    "cancel-reassign": "act_cancel_reassign:cancel_reassign",
    "rollback": "act_rollback:rollback",
    "reset-offsets": "act_offsets:reset_offsets",
    "delete-group": "act_groups:delete_group",
    "remove-delete-marker": "act_markers:remove_delete_marker",
}


@click.group(cls=Verbs, places=PLACES)
def act() -> None:
    """Do something to a live cluster: show what it takes, ask, do it, and write it down.

    Without --allow-writes nothing is done: it is shown, and kdrill exits with 2. Everything is checked once more at the
    moment of doing. What was done stands in audit.jsonl in the platform's folder for state.

    Exits 0 when it is done, 1 when it failed, 2 when it was not to be done, and 3 when it is done and that could not be
    written down, or told: look at the cluster, and do not repeat it.

    \b
    Example: kdrill act zk://zk1:2181/kafka reassign plan.json --throttle 50MB --allow-writes
             kdrill act prod-eu1 rollback --allow-writes
    """
