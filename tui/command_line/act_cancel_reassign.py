"""`kdrill act SOURCE cancel-reassign`: nothing new begins, what is under way goes back where that can be."""

from collections.abc import Mapping

import click

from model.actions.cancelling import cancel_reassignments, under_way
from model.actions.reassignment import Asked
from model.actions.reassignment_run import decide
from model.cluster.ids import TopicPartition
from model.cluster.words import counted, listed, replicas
from tui.command_line.act_options import ActOptions, takes_act_options
from tui.command_line.acting import perform, tell
from tui.command_line.options import takes_source
from tui.command_line.reassigning import follow, way_to
from tui.data.acting.proposing import basis_of
from tui.data.opening import Opening

Targets = Mapping[TopicPartition, tuple[int, ...]]


@click.command("cancel-reassign")
@takes_source
@click.option("--all", "everything", is_flag=True, help="also what was not begun from here")
@takes_act_options
def cancel_reassign(opening: Opening, everything: bool, act: ActOptions) -> None:
    """Stop the last reassignment: no batch begins any more, and the throttle is taken off.

    What is under way goes back to where it was; through ZooKeeper, which has no way to take it back, it is waited for.
    Batches that are done stay: rollback undoes them, too. With --all, through brokers of 2.4 or later, partitions go
    back, too, that others reassign; a throttle that they set stays.

    \b
    Example: kdrill act zk://zk1:2181/kafka cancel-reassign --allow-writes
             kdrill act kafka://b1:9092 cancel-reassign --all --allow-writes
    """
    with way_to(opening, act) as way:
        last = way.last_run()
        ours = last if last is not None and last.phase != "ended" else None
        others = under_way(way.image, {move.name for move in ours.run.moves} if ours else ())
        if ours is None and not (others and everything):
            raise click.UsageError(f"there is nothing to cancel: {_found(others) or 'no reassignment is under way'}")
        if ours is not None:
            if others:
                tell(_found(others))
            follow(decide(ours, Asked("cancel")).state, way, act)
        if others and everything:
            perform(cancel_reassignments(basis_of(way, ()), others), way, act)


def _found(others: Targets) -> str:
    if not others:
        return ""
    each = (f"{name} to {replicas(target)}" for name, target in others.items())
    return f"somebody else reassigns {counted(len(others), 'partition')} ({listed(each)}), which takes --all"
