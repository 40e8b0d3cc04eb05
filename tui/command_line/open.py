"""`kdrill [SOURCE]`: the dashboard. Says what is plainly wrong before the screen is taken."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from model.hosts.collecting import loading
from model.sources.naming import parse_source
from tui.command_line.demo import takes_demo
from tui.command_line.options import opening_of
from tui.command_line.remembering import Start, remembering
from tui.command_line.serve_option import serve_dashboard, takes_serve
from tui.config import Config
from tui.data.link import ProcessLink
from tui.data.opening import Opening
from tui.keymap import remapped
from tui.palette import THEMES
from tui.remembered import state_folder
from tui.serving.address import ServeAddress
from tui.serving.standing import watched

Address = ServeAddress | None


def with_look(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the dashboard is to look, where, and where its analyses run; the command passes it on to `dashboard`."""
    command = click.option(
        "--spark-master",
        metavar="URL",
        envvar="KDRILL_SPARK_MASTER",
        show_envvar=True,
        default="local[*]",
        show_default=True,
        help="where large analyses run: local[N], spark://host:7077, yarn, k8s://…; off: here",
    )(command)
    command = click.option(
        "--ascii", "ascii_only", is_flag=True, envvar="KDRILL_ASCII", show_envvar=True, help="no line drawing"
    )(command)
    themes = click.Choice(THEMES)
    command = click.option(
        "--theme",
        envvar="KDRILL_THEME",
        show_envvar=True,
        type=themes,
        help="default: the configuration's, or the last one",
    )(command)
    command = click.option(
        "--fresh",
        is_flag=True,
        envvar="KDRILL_FRESH",
        show_envvar=True,
        help="without the screen, filters, views and theme of last time",
    )(command)
    command = click.option(
        "--allow-writes", is_flag=True, help="actions may be carried out, each shown first and confirmed by typing"
    )(command)
    return takes_serve(command)


@click.command("open")
@takes_demo
@with_look
def open_dashboard(opening: Opening, **look: Any) -> int:
    """Open the dashboard on SOURCE, on the configuration's default, or else on a sandbox with traffic.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka://host:port[,host:port...], a snapshot file, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), what kafka-topics --describe printed (a file), or
    a cluster's name in the configuration.

    The sandbox is a real ZooKeeper and three brokers on this machine; it ends with kdrill. See kdrill sandbox --help.

    With --serve it is shown in browsers on this machine: each tab is a session of its own, four at most. There is no
    password, so nothing is written or broken from there, no file is read, and a sandbox can only be watched.

    \b
    Example: kdrill zk://zk1:2181,zk2:2181/kafka
             kdrill zk://zk1:2181/kafka --serve 8000
    """
    return dashboard(opening, **look)


def dashboard(
    opening: Opening, *, theme: str | None, fresh: bool, spark_master: str, serve: Address, served: str, **look: Any
) -> int:
    """Runs the dashboard, on one cluster after the other as the operator wishes; the exit code. `look`: as with_look.

    With `serve` it is a server's; a session of one, which knows `served`, draws for the server.
    Raises SourceError or click.ClickException, the terminal as it was.
    """
    if opening.source:
        _check_lasts(opening.source)
    config = click.get_current_context().ensure_object(Config)
    look |= {"actions": remapped(config), "is_served": bool(served), "notices": config.notices, "tour": config.tour}
    opening = _with_leave(opening, look.pop("allow_writes"), in_browser=serve is not None or bool(served))
    if serve is not None:
        return serve_dashboard(opening, serve)
    if served:
        opening = watched(opening, served)
    else:
        _check_terminal()
    master = "" if spark_master == "off" or (served and _is_default("spark_master")) else spark_master
    os.environ.setdefault("TEXTUAL_FPS", "240")  # Textual's limiter at 60 makes every fifth key wait a frame or two
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    start = Start(theme or config.theme, None if served else state_folder(), fresh)
    contexts, before, note = _contexts(opening, config), opening, ""
    while True:
        link = ProcessLink(msgspec.structs.replace(opening, spark_master=master))
        with loading():
            from tui.running import run  # noqa: PLC0415 - slow: the data process comes first; reads the settings above
        ended = remembering(partial(run, link), opening, start, contexts=contexts, note=note, **look)
        start, note = replace(start, theme=ended.theme), ended.fatal
        if ended.wanted is not None:
            before, opening = opening, ended.wanted
        elif not ended.fatal:
            return ended.code
        elif opening is before:
            raise click.ClickException(ended.fatal)
        else:
            opening = before  # the other cluster cannot be opened: back to the one that could be


def _with_leave(opening: Opening, allow_writes: bool, *, in_browser: bool) -> Opening:
    if allow_writes and in_browser:
        raise click.UsageError("--allow-writes and --serve exclude each other: in a browser kdrill only shows")
    return msgspec.structs.replace(opening, allow_writes=allow_writes)


def _check_terminal() -> None:
    if not all(os.isatty(descriptor) for descriptor in range(3)):  # it draws on standard error
        raise click.ClickException("the dashboard needs a terminal; without one use: kdrill status SOURCE")
    if os.environ.get("TERM") == "dumb":
        raise click.ClickException("TERM is dumb: the dashboard needs a terminal that can move the cursor")


def _check_lasts(source: str) -> None:
    """Raises SourceError, or click.ClickException for a pipe: another process is to read it."""
    named = parse_source(source)
    if isinstance(named, Path) and named.exists() and not named.is_file():
        raise click.ClickException(f"{source}: the dashboard opens files and no pipes: write it to a file first")


def _is_default(option: str) -> bool:
    """Whether nobody asked for it: each session would start a Spark of its own."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def _contexts(first: Opening, config: Config) -> dict[str, Callable[[], Opening]]:
    """The clusters that can be switched to, by name: what was opened first, and all of the configuration."""
    named = {name: partial(opening_of, name, config) for name in config.clusters}
    own = first.name or first.source or ("demo" if first.is_demo else "sandbox")
    return {own: lambda: first, **named}
