"""A command of several verbs, `kdrill topics SOURCE list`: the SOURCE may stand before its verb or behind it."""

from collections.abc import Mapping
from importlib import import_module

import click

from tui.command_line.docstrings import docstring


class Verbs(click.Group):
    """`places`: verb → `module:function`, imported when the verb is wanted and not before."""

    def __init__(self, places: Mapping[str, str] | None = None, **attributes: object) -> None:
        super().__init__(**attributes)  # pyright: ignore[reportArgumentType]  # click's own
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return None
        module, _, name = self._places[cmd_name].partition(":")
        return getattr(import_module(f"tui.command_line.{module}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without importing the verbs, as the program's own help does."""
        rows: list[tuple[str, str]] = []
        for verb, place in self._places.items():
            module, _, name = place.partition(":")
            stub = click.Command(verb, help=docstring(f"tui.command_line.{module}", name))
            rows.append((verb, stub.get_short_help_str(formatter.width - 24)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if len(args) > 1 and args[0] not in self._places and args[1] in self._places:
            args = [args[1], args[0], *args[2:]]
        return super().parse_args(ctx, args)
