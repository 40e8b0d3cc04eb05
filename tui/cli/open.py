"""`kdrill [SOURCE]`: the dashboard. Obvious mistakes are reported before it takes over the screen.

A run begins as the last one on that cluster was left; an option or a setting wins over what was kept.

`--serve [HOST:]PORT`: the dashboard for browsers on this machine.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from model.hosts.process import loading
from model.sandbox.options import SandboxOptions
from model.sources.addresses import ZooKeeperAddress, parse_source
from tui.cli.address import ARGUMENTS, DEFAULT_PORT, OPTION, NotServed, ServeAddress, parse_address
from tui.cli.options import opening_of, takes_demo, with_all
from tui.cli.output import tell
from tui.engine.config import Config
from tui.engine.keymap import remapped
from tui.engine.link import ProcessLink
from tui.engine.messages import THIS_MACHINE, Opening, watched
from tui.engine.palette import THEMES
from tui.engine.remembered import Remembered, recall, remember, state_folder

if TYPE_CHECKING:
    from tui.app.app import Ended
    from tui.app.commands import TypedRequests


class _Address(click.ParamType):
    name = "[host:]port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServeAddress:
        try:
            return value if isinstance(value, ServeAddress) else parse_address(value)
        except NotServed as error:
            raise click.UsageError(f"{OPTION}: {error}", ctx) from None


def takes_serve(command: Callable[..., Any]) -> Callable[..., Any]:
    """`serve`, an address or None; and `served`, how the server tells a session of its own what to show, or empty."""
    command = click.option("--served", hidden=True, default="")(command)
    help_text = f"show it in browsers on this machine, read-only [port: {DEFAULT_PORT}]"
    return click.option(OPTION, type=_Address(), metavar="[[HOST:]PORT]", help=help_text)(command)


def serve_dashboard(opening: Opening, address: ServeAddress) -> int:
    """Serves until it is told to end; the exit code. Raises click.ClickException."""
    from tui.cli.serve import serve  # noqa: PLC0415 - slow, and most dashboards are on a terminal

    try:
        return serve(opening, address, click.get_current_context().meta[ARGUMENTS])
    except NotServed as error:
        raise click.ClickException(str(error)) from None


@dataclass(frozen=True)
class RunStart:
    """How a run begins. `theme`: asked for, or empty; `folder`: where things are kept, None for nowhere."""

    theme: str
    folder: Path | None
    is_fresh: bool
    """As if it were the first run; what is chosen then is kept as always."""


def remembering(
    run: "Callable[..., Ended]", opening: Opening, start: RunStart, *, note: str, tour: bool, **look: Any
) -> "Ended":
    """Runs the dashboard on a cluster as it was left the last time. What broke is not kept: it might break again.

    `tour`: whether a first run on a sandbox is to begin with the guided tour.
    """
    cluster = _cluster(opening)
    # Where nothing is remembered, a tour would come every time.
    kept = Remembered(toured=True) if start.folder is None or start.is_fresh else recall(start.folder, cluster)
    ended = run(
        theme=start.theme or kept.theme or "dark",
        screen=kept.screen,
        view_state=kept.view_state,
        note=note or kept.note,
        tour=tour and not kept.toured and _is_for_playing(opening),
        **look,
    )
    if start.folder is not None and not ended.fatal and ended.code != 1:
        theme = ended.theme if ended.theme_chosen else ""
        reason = remember(
            start.folder,
            cluster,
            theme=theme,
            screen=ended.screen,
            view_state=ended.view_state,
            toured=ended.toured,
        )
        if reason and not kept.note:  # else it was said as it began
            with suppress(OSError):  # the terminal is gone, too
                tell(reason)
    return ended


def _is_for_playing(opening: Opening) -> bool:
    """Whether it is a sandbox without a scenario."""
    return not (opening.source or opening.is_demo or opening.sandbox.scenario)


def _cluster(opening: Opening) -> str:
    if opening.name or not opening.source:
        return opening.name or ("demo" if opening.is_demo else "sandbox")
    parsed = parse_source(opening.source)
    return str(parsed) if isinstance(parsed, ZooKeeperAddress) else os.path.abspath(opening.source)


Address = ServeAddress | None


def with_look(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the dashboard is to look, where, and where its analyses run; the command passes it on to `dashboard`."""
    return with_all(
        command,
        takes_serve,
        click.option("--allow-writes", is_flag=True, help="allow actions; each is shown first and confirmed by typing"),
        click.option(
            "--fresh",
            is_flag=True,
            envvar="KDRILL_FRESH",
            show_envvar=True,
            help="ignore the screen, filters, views and theme of last time",
        ),
        click.option(
            "--theme",
            envvar="KDRILL_THEME",
            show_envvar=True,
            type=click.Choice(THEMES),
            help="default: as configured, or as last time",
        ),
        click.option(
            "--ascii", "ascii_only", is_flag=True, envvar="KDRILL_ASCII", show_envvar=True, help="draw with ASCII only"
        ),
        click.option(
            "--spark-master",
            metavar="URL",
            envvar="KDRILL_SPARK_MASTER",
            show_envvar=True,
            default=THIS_MACHINE,
            show_default=True,
            help="where large analyses run: local[N], spark://host:7077, yarn, k8s://…; off: in this process",
        ),
    )


@click.command("open")
@takes_demo
@with_look
def open_dashboard(opening: Opening, **look: Any) -> int:
    """Open the dashboard on SOURCE, on the configuration's default, or else on a sandbox with traffic.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file), or a cluster's name in the configuration.

    The sandbox is a real ZooKeeper and three brokers on this machine; C switches to one of KRaft, without ZooKeeper.
    It ends with kdrill. See kdrill sandbox --help.

    With --serve the dashboard runs in browsers on this machine: each tab is its own session, four at most. There is
    no password, so from there nothing is written or broken, no file is read, and a sandbox can only be watched.

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
    _check_can_open(opening, served)
    config = click.get_current_context().ensure_object(Config)
    look |= {"requests": _requests, "actions": remapped(config)}
    look |= {"notices": config.notices, "tour": config.tour, "parsed": {}}
    opening = _with_leave(opening, look.pop("allow_writes"), in_browser=serve is not None or bool(served))
    if serve is not None:
        return serve_dashboard(opening, serve)
    if served:
        opening = watched(opening, served)
    else:
        _check_terminal()
    master = "" if spark_master == "off" or (served and _is_default("spark_master")) else spark_master
    os.environ.setdefault("TEXTUAL_FPS", "240")  # Textual's limiter at 60 makes every fifth key wait a frame or two
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "basic")  # what has just changed is bright for a moment, and no more
    start = RunStart(theme or config.theme, None if served else state_folder(), fresh)
    contexts, before, note = contexts_of(opening, config), opening, ""
    while True:
        link = ProcessLink(msgspec.structs.replace(opening, spark_master=master))
        run = _app(in_browser=bool(served))
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


def _app(*, in_browser: bool) -> "Callable[..., Ended]":
    """What runs the app. Slow to load: the data process comes first, and the settings of Textual."""
    with loading():
        if in_browser:
            from tui.app.served import ServedKdrill as kind  # noqa: PLC0415, N813
        else:
            from tui.app.app import Kdrill as kind  # noqa: PLC0415, N813
        from tui.app.app import run  # noqa: PLC0415
    return partial(run, kind)


def _requests() -> "TypedRequests":
    from tui.cli import typed_requests  # noqa: PLC0415 - few dashboards act

    return typed_requests


def _with_leave(opening: Opening, allow_writes: bool, *, in_browser: bool) -> Opening:
    if allow_writes and in_browser:
        raise click.UsageError("--allow-writes and --serve exclude each other: in a browser kdrill only shows")
    return msgspec.structs.replace(opening, allow_writes=allow_writes)


WITHOUT_JAVA = "The sandbox and --demo run a real ZooKeeper, which needs Java; a sandbox of KRaft, live clusters and "
WAYS = "snapshots do not: kdrill sandbox --mode kraft, kdrill zk://host:2181, kdrill kafka://host:9092 or kdrill FILE."


def check_java() -> None:
    """Raises click.ClickException where no Java will do: what is missing, what works without, how to install it."""
    from model.sandbox.java import find_java  # noqa: PLC0415 - only who starts a server needs it
    from model.sandbox.processes import SandboxError  # noqa: PLC0415

    try:
        find_java()
    except SandboxError as error:
        from tui.cli.doctor_programs import java_facts, this_machine  # noqa: PLC0415 - slow, and seldom needed

        mend = next(java_facts(this_machine())).mend
        command = f" On this machine: {mend}" if mend else ""
        raise click.ClickException(f"{error} {WITHOUT_JAVA}{WAYS}{command}") from None


def _check_terminal() -> None:
    if not all(os.isatty(descriptor) for descriptor in range(3)):  # it draws on standard error
        raise click.ClickException("the dashboard needs a terminal; without one use: kdrill status SOURCE")
    if os.environ.get("TERM") == "dumb":
        raise click.ClickException("TERM is dumb: the dashboard needs a terminal that can move the cursor")


def _check_can_open(opening: Opening, served: str) -> None:
    """Raises SourceError or click.ClickException for what cannot be opened here. A session's server has its source."""
    if opening.source:
        _check_lasts(opening.source)
    elif not (served or opening.sandbox.is_kraft):
        check_java()


def _check_lasts(source: str) -> None:
    """Raises SourceError, or click.ClickException for a pipe: another process is to read it."""
    named = parse_source(source)
    if isinstance(named, Path) and named.exists() and not named.is_file():
        raise click.ClickException(f"{source}: the dashboard opens files and no pipes: write it to a file first")


def _is_default(option: str) -> bool:
    """Whether the option was left at its default."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def contexts_of(first: Opening, config: Config) -> dict[str, Callable[[], Opening]]:
    """The clusters that can be switched to, by name: what was opened first, and all of the configuration.

    Of a sandbox it is one of the other mode, too.
    """
    named = {name: partial(opening_of, name, config) for name in config.clusters}
    own = first.name or first.source or ("demo" if first.is_demo else _sandbox_name(first.sandbox))
    other = _other_sandbox(first) if _is_for_playing(first) else None
    both = {} if other is None else {_sandbox_name(other.sandbox): lambda: other}
    return {own: lambda: first, **both, **named}


def _sandbox_name(options: SandboxOptions) -> str:
    return "sandbox-kraft" if options.is_kraft else "sandbox"


def _other_sandbox(first: Opening) -> Opening:
    """One of the other mode, as far as both have the same options; new, in a folder of its own."""
    kept = ("brokers", "racks", "topics", "partitions", "load", "rate")
    options = SandboxOptions(
        mode="zookeeper" if first.sandbox.is_kraft else "kraft",
        **{name: getattr(first.sandbox, name) for name in kept},
    )
    return msgspec.structs.replace(first, sandbox=options)
