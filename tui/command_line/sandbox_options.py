"""The options of `kdrill sandbox`, and what a scenario's file says of them. Starts nothing."""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from model.sandbox.cluster.options import MOST_BROKERS, SandboxOptions
from model.sandbox.errors import SandboxError
from model.sandbox.scenarios import scenario as scenarios

Command = Callable[..., Any]
RATE = SandboxOptions().rate
PORTS = click.IntRange(1, 65_535)


def takes_sandbox(command: Command) -> Command:
    """How many of what, and where, which the command gets as `options`; and a `scenario`, a file that was read once."""

    @click.option("--brokers", metavar="N", type=click.IntRange(1, MOST_BROKERS), default=3, show_default=True)
    @click.option("--racks", metavar="N", type=click.IntRange(0, MOST_BROKERS), default=3, show_default=True)
    @click.option("--zookeepers", type=click.Choice(["1", "3"]), default="1", show_default=True)
    @click.option(
        "--dir", "folder", type=click.Path(path_type=Path), help="where all is kept; default: a temporary one"
    )
    @click.option("--keep", is_flag=True, help="leave the folder behind, or go on with what is in it")
    @click.option("--topics", metavar="N", type=click.IntRange(0), help="topics to begin with; default: a small set")
    @click.option("--partitions", metavar="N", type=click.IntRange(1), help="of each of those topics")
    @click.option("--port", metavar="N", type=PORTS, help="where clients reach the first broker; the next ones follow")
    @click.option("--zookeeper-port", metavar="N", type=PORTS, help="the same for the ZooKeeper servers")
    @click.option("--load", is_flag=True, help="a producer and consumers, and an audit of what they wrote")
    @click.option(
        "--rate", metavar="N", type=click.FloatRange(0), default=RATE, show_default=True, help="records a second"
    )
    @click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="a setting of every broker")
    @click.option("--scenario", type=click.Path(path_type=Path), help="play the drill in this TOML file")
    @click.option(
        "--help-scenario",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_tell_of_scenarios,
        help="what such a file may say",
    )
    @wraps(command)
    def with_options(scenario: Path | None, settings: tuple[str, ...], **others: Any) -> Any:
        chosen = {name: others.pop(name) for name in _NAMES if name in others}
        chosen["settings"] = _settings(settings)
        if scenario is not None:
            chosen |= _not_given(_read(scenario))
        folder = chosen["folder"]
        chosen |= {"zookeepers": int(chosen["zookeepers"]), "folder": None if folder is None else str(folder)}
        return command(options=SandboxOptions(**chosen), scenario=scenario, **others)

    return with_options


_NAMES = SandboxOptions.__struct_fields__


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
