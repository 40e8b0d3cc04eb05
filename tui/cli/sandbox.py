"""`kdrill sandbox`: a real cluster on this machine, to break. Its options, and what a scenario's file says of them."""

import asyncio
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from click.core import ParameterSource

from model.sandbox import scenario as scenarios
from model.sandbox.options import MOST_BROKERS, MOST_MEMBERS, Mode, SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_folder import mode_in
from tui.cli.open import check_java, dashboard, with_look
from tui.cli.options import common_options, with_all
from tui.engine.config import Config
from tui.engine.messages import Opening

Command = Callable[..., Any]
RATE = SandboxOptions().rate
PORTS = click.IntRange(1, 65_535)


def _takes_load(command: Command) -> Command:
    @click.option("--load", is_flag=True, help="run a producer and consumers, and audit what was written")
    @click.option(
        "--rate", metavar="N", type=click.FloatRange(0), default=RATE, show_default=True, help="records a second"
    )
    @click.option(
        "--old-consumers",
        metavar="N",
        type=click.IntRange(0, MOST_MEMBERS),
        default=0,
        show_default=True,
        help="consumers of Kafka 0.8.2.2 in the load, in group legacy (Maven fetches them)",
    )
    @wraps(command)
    def with_options(**given: Any) -> Any:
        return command(**given)

    return with_options


def _takes_mode(command: Command) -> Command:
    """Who has the metadata, and where clients find it."""
    return with_all(
        command,
        click.option(
            "--mode",
            type=click.Choice(get_args(Mode)),
            help="who has the metadata: a ZooKeeper, or a quorum of controllers (KRaft), which needs no Java "
            "[default: zookeeper, or that of a folder that is kept]",
        ),
        click.option("--zookeepers", type=click.Choice(["1", "3"]), default="1", show_default=True),
        click.option("--controllers", type=click.Choice(["1", "3", "5"]), default="3", help="KRaft's [default: 3]"),
        click.option("--zookeeper-port", metavar="N", type=PORTS, help="port of the first ZooKeeper server"),
        click.option("--controller-port", metavar="N", type=PORTS, help="port of the first controller"),
    )


def takes_sandbox(command: Command) -> Command:
    """How many of what, and where, which the command gets as `options`; and a `scenario`, a file that was read once."""

    @click.option("--brokers", metavar="N", type=click.IntRange(1, MOST_BROKERS), default=3, show_default=True)
    @click.option("--racks", metavar="N", type=click.IntRange(0, MOST_BROKERS), default=3, show_default=True)
    @_takes_mode
    @click.option(
        "--dir", "folder", type=click.Path(path_type=Path), help="folder for all data; default: a temporary one"
    )
    @click.option("--keep", is_flag=True, help="keep the folder, or continue with what is in it")
    @click.option("--topics", metavar="N", type=click.IntRange(0), help="topics to create; default: a small set")
    @click.option("--partitions", metavar="N", type=click.IntRange(1), help="partitions of each of these topics")
    @click.option("--port", metavar="N", type=PORTS, help="port of the first broker; the others follow")
    @_takes_load
    @click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="broker setting, for all brokers")
    @click.option(
        "--scenario",
        type=click.Path(path_type=Path),
        help="TOML file, or name, of a scenario to play",
    )
    @click.option(
        "--help-scenario",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_tell_of_scenarios,
        help="describe the scenario format",
    )
    @wraps(command)
    def with_options(scenario: Path | None, settings: tuple[str, ...], **others: Any) -> Any:
        chosen = {name: others.pop(name) for name in _NAMES if name in others}
        chosen["settings"] = _settings(settings)
        if scenario is not None:
            chosen |= _not_given(_read(scenario))
        return command(options=_options(chosen), scenario=scenario, **others)

    return with_options


_NAMES = SandboxOptions.__struct_fields__


def _options(chosen: dict[str, Any]) -> SandboxOptions:
    """A folder that is kept is of the mode that it was made in, where none is named."""
    folder = chosen["folder"]
    kept = mode_in(folder) if folder is not None and chosen["keep"] else None
    chosen |= {name: int(chosen[name]) for name in ("zookeepers", "controllers")}
    chosen |= {"mode": chosen["mode"] or kept or "zookeeper", "folder": None if folder is None else str(folder)}
    return SandboxOptions(**chosen)


def _tell_of_scenarios(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(scenarios.__doc__)
        context.exit()


def _read(file: Path) -> Mapping[str, Any]:
    """What a scenario says of the sandbox."""
    try:
        return scenarios.read_scenario(file).sandbox
    except SandboxError as error:
        raise click.ClickException(str(error)) from None


def _not_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that the command line does not say itself."""
    context = click.get_current_context()
    named = {("settings" if name == "set" else name): value for name, value in values.items()}
    return {
        name: value
        for name, value in named.items()
        if context.get_parameter_source(name) in (ParameterSource.DEFAULT, None)
    }


def _settings(lines: tuple[str, ...]) -> dict[str, str]:
    for line in lines:
        if "=" not in line or not line.partition("=")[0].strip():
            raise click.UsageError(f"--set {line!r}: write KEY=VALUE")
    return {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


@click.command()
@takes_sandbox
@click.option("--headless", is_flag=True, help="no dashboard: print one kdrill.sandbox/1 line and run until SIGTERM")
@with_look
@common_options
def sandbox(options: SandboxOptions, scenario: Path | None, headless: bool, config: Config, **look: Any) -> int:
    """Start a real cluster on this machine, to break: ZooKeeper and brokers, each a process of its own.

    With --mode kraft there are controllers of KRaft instead of ZooKeeper: a quorum that elects one of them and has the
    metadata in a log.

    Any Kafka client can use it. Everything ends with this command, however it ends, and without --keep nothing is
    left behind. With --headless, one line on standard output says where everything is once every broker serves;
    events go to standard error, one per line, and so does how to use it at once: from Python, Java, kcat and the
    console tools. In the dashboard, d on a broker says that.

    With --headless it ends on SIGTERM, SIGINT or SIGHUP and, if standard input is a pipe, when the other end closes,
    so that it never outlives the program that started it. To run it on its own, as under nohup or systemd, give it no
    pipe: kdrill sandbox --headless </dev/null. If it ends before it serves, it exits with 1.

    With --headless a scenario is played and then everything ends: a kdrill.scenario/1 line gives the outcome. Exits 0
    if every step passed, 2 if not.

    \b
    Example: kdrill sandbox --brokers 5 --load
             kdrill sandbox --mode kraft --load
             kdrill sandbox --headless --dir ./lab --keep
             kdrill sandbox --scenario drill.toml --headless
             kdrill sandbox --scenario split-brain
    """
    if headless and look["serve"] is not None:
        raise click.UsageError("--headless is without a dashboard, --serve shows one: choose")
    try:
        if scenario is not None:
            scenarios.check_mode(scenarios.read_scenario(scenario), options.mode)
        if not headless:
            opening = Opening(sandbox=msgspec.structs.replace(options, scenario=scenario and str(scenario)))
            return dashboard(opening, **look)
        if not options.is_kraft:
            check_java()
        from tui.cli.sandbox_headless import serve  # noqa: PLC0415 - the dashboard's sandbox lives elsewhere

        return asyncio.run(serve(options, scenario))
    except SandboxError as error:
        raise click.ClickException(str(error)) from None
