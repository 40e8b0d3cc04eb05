"""`--demo`: an invented cluster in place of a SOURCE, asked for on purpose and told in all that is printed of it."""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from tui.command_line.options import NO_SOURCE, takes_opening
from tui.data.opening import Opening

Command = Callable[..., Any]

DEMO = "DEMO, an invented cluster"
"""What the demo's image names as its source, and the first line of what is printed of it."""


def takes_demo(command: Command) -> Command:
    """As `takes_opening`, and `--demo` in place of a SOURCE. Raises click.UsageError for both."""

    @takes_opening
    @click.option("--demo", is_flag=True, help="an invented cluster without brokers, in place of SOURCE; headed DEMO")
    @wraps(command)
    def with_demo(opening: Opening, demo: bool, **others: Any) -> Any:
        if demo and click.get_current_context().params["source"]:
            raise click.UsageError("SOURCE and --demo exclude each other")
        return command(opening=Opening(is_demo=True) if demo else opening, **others)

    return with_demo


def takes_cluster(command: Command) -> Command:
    """As `takes_demo`, for commands that need one of them. Raises click.UsageError for neither."""

    @takes_demo
    @wraps(command)
    def with_cluster(opening: Opening, **others: Any) -> Any:
        if not (opening.source or opening.is_demo):
            raise click.UsageError(f"{NO_SOURCE} (--demo shows an invented one)")
        return command(opening=opening, **others)

    return with_cluster


def tell_demo(opening: Opening) -> None:
    """The first line of a text that does not name its source by itself."""
    if opening.is_demo:
        click.echo(DEMO)


def json_line(document: Mapping[str, Any], opening: Opening) -> str:
    """A document of plain values as one line, which begins with `"demo":true` where it is about the demo."""
    # In ASCII: names come from znodes, and the line may be read on a terminal.
    return json.dumps({**({"demo": True} if opening.is_demo else {}), **document}, separators=(",", ":"))
