"""`kdrill sandbox`: a real cluster on this machine, to break."""

import asyncio
from pathlib import Path
from typing import Any

import click
import msgspec

from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.errors import SandboxError
from tui.command_line.open import dashboard, with_look
from tui.command_line.options import common_options
from tui.command_line.sandbox_options import takes_sandbox
from tui.config import Config
from tui.data.opening import Opening


@click.command()
@takes_sandbox
@click.option("--headless", is_flag=True, help="no dashboard: print one kdrill.sandbox/1 line, and serve until SIGTERM")
@with_look
@common_options
def sandbox(options: SandboxOptions, scenario: Path | None, headless: bool, config: Config, **look: Any) -> int:
    """Start a real cluster on this machine, to break: ZooKeeper and brokers, each a process of its own.

    Any Kafka client can use it. All ends with this command, whatever ends it, and nothing is left behind without
    --keep. With --headless one line on standard output tells where everything is, once every broker serves; what
    happens is told on standard error, a line each.

    With --headless it ends by SIGTERM, SIGINT or SIGHUP; and, where standard input is a pipe, as soon as the other end
    of that is closed, so that it never outlives the program that started it. To let it run by itself, as under nohup or
    systemd (which does that), give it no pipe: kdrill sandbox --headless </dev/null. If it is to end before it serves,
    it exits with 1.

    With --headless a scenario is played, and then all ends: a kdrill.scenario/1 line says what came of it. Exits 0
    if every step passed, 2 if not.

    \b
    Example: kdrill sandbox --brokers 5 --load
             kdrill sandbox --headless --dir ./lab --keep
             kdrill sandbox --scenario drill.toml --headless
    """
    if headless and look["serve"] is not None:
        raise click.UsageError("--headless is without a dashboard, --serve shows one: choose")
    try:
        if not headless:
            opening = Opening(sandbox=msgspec.structs.replace(options, scenario=scenario and str(scenario)))
            return dashboard(opening, **look)
        from tui.command_line.sandbox_headless import serve  # noqa: PLC0415 - the dashboard's sandbox lives elsewhere

        return asyncio.run(serve(options, scenario))
    except SandboxError as error:
        raise click.ClickException(str(error)) from None
