"""Brokers asked by commands that only show."""

import contextlib
from collections.abc import Iterator

import click

from model.actions.proposal import ActionRefused
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.writer import UnansweredError
from model.hosts.client_security.values import SecurityError
from tui.data.acting.brokers import asking
from tui.data.opening import Opening


@contextlib.contextmanager
def asking_brokers(opening: Opening, brokers: str) -> Iterator[AdminReads]:
    """Connected as long as the context lasts. Raises click.ClickException with the one line that says why not."""
    try:
        with asking(opening, brokers) as reads:
            yield reads
    except (ActionRefused, UnansweredError, SecurityError) as error:
        raise click.ClickException(str(error)) from None
