"""`--serve [HOST:]PORT`: the dashboard for browsers on this machine."""

from collections.abc import Callable
from typing import Any

import click

from tui.cli.address import ARGUMENTS, DEFAULT_PORT, OPTION, NotServed, ServeAddress, parse_address
from tui.engine.opening import Opening


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
    help_text = f"in browsers on this machine, read-only [port: {DEFAULT_PORT}]"
    return click.option(OPTION, type=_Address(), metavar="[[HOST:]PORT]", help=help_text)(command)


def serve_dashboard(opening: Opening, address: ServeAddress) -> int:
    """Serves until it is told to end; the exit code. Raises click.ClickException."""
    from tui.cli.serve import serve  # noqa: PLC0415 - slow, and most dashboards are on a terminal

    try:
        return serve(opening, address, click.get_current_context().meta[ARGUMENTS])
    except NotServed as error:
        raise click.ClickException(str(error)) from None
