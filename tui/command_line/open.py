"""`kdrill [SOURCE]`: the dashboard. Says what is plainly wrong before the screen is taken."""

import os
from collections.abc import Callable
from typing import Any

import click

from model.sources.naming import parse_source
from tui.command_line.options import takes_source
from tui.data.link import ProcessLink
from tui.data.opening import Opening

THEMES = ("dark", "light", "ansi", "mono")


def with_look(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the dashboard is to look, which the command passes on to `dashboard`."""
    command = click.option("--ascii", "ascii_only", is_flag=True, envvar="KDRILL_ASCII", help="no line drawing")(
        command
    )
    themes = click.Choice(THEMES)
    return click.option("--theme", envvar="KDRILL_THEME", type=themes, default="dark", show_default=True)(command)


@click.command("open")
@takes_source
@click.option("--demo", is_flag=True, help="a cluster's tree that a script moves, without brokers: opens in a second")
@with_look
def open_dashboard(opening: Opening, demo: bool, theme: str, ascii_only: bool) -> int:
    """Open the dashboard on SOURCE, on the configuration's default, or else on a sandbox with traffic.

    The sandbox is a real ZooKeeper and three brokers on this machine; it ends with kdrill. See kdrill sandbox --help.

    \b
    Example: kdrill zk://zk1:2181,zk2:2181/kafka
    """
    return dashboard(Opening(is_demo=True) if demo else opening, theme=theme, ascii_only=ascii_only)


def dashboard(opening: Opening, *, theme: str, ascii_only: bool) -> int:
    """Runs the dashboard; the exit code. Raises SourceError or click.ClickException, the terminal as it was."""
    if opening.source:
        parse_source(opening.source)
    if not all(os.isatty(descriptor) for descriptor in range(3)):  # it draws on standard error
        raise click.ClickException("the dashboard needs a terminal; without one use: kdrill status SOURCE")
    if os.environ.get("TERM") == "dumb":
        raise click.ClickException("TERM is dumb: the dashboard needs a terminal that can move the cursor")
    link = ProcessLink(opening)
    os.environ.setdefault("TEXTUAL_FPS", "240")  # Textual's limiter at 60 makes every fifth key wait a frame or two
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    from tui.app import run  # noqa: PLC0415 - slow, so the data process is started first; reads the settings above

    code, fatal = run(link, theme=theme, ascii_only=ascii_only)
    if fatal:
        raise click.ClickException(fatal)
    return code
