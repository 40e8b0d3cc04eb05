"""A command that does something: the cluster as it is now, a way into it, a proposal, and the operator's word."""

import click

from model.actions.proposal import ActionRefused
from model.hosts.acting.writer import UnansweredError
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from tui.command_line.act_options import ActOptions
from tui.command_line.acting import perform
from tui.command_line.broker_groups import with_groups
from tui.command_line.source_image import image_of
from tui.data.acting.proposing import proposal_of
from tui.data.acting.requests import DeleteGroup, Request, ResetOffsets
from tui.data.acting.way import Way
from tui.data.opening import Opening


def act_on(opening: Opening, act: ActOptions, request: Request) -> None:
    """Shows what is proposed, asks, and carries it out.

    Raises click.ClickException with the line that says why not.
    """
    image = image_of(opening)
    if isinstance(request, ResetOffsets | DeleteGroup):
        image = with_groups(image, opening)
    try:
        with Way(opening, image, may_write=act.allow_writes) as way:
            perform(proposal_of(request, way, opening), way, act)
    except (ActionRefused, UnansweredError, ZooKeeperUnavailable) as error:
        raise click.ClickException(str(error)) from None
