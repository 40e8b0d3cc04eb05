"""Which word of a command line names the command, or its verb: options, and a verb's SOURCE, may stand before it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module

import click

from tui.command_line.docstrings import docstring


def named_first(
    args: Sequence[str], find: Callable[[str], click.Command | None], *, usual: str = "", most_before: int = 0
) -> list[str] | None:
    """The same words with the one in front that names a command; None where none does.

    Before it there may be options of that command, and `most_before` words that are neither options nor their values.
    `find` loads a command by its name; `usual` is the one to ask about options that the command does not have.
    """
    for place, word in enumerate(args):
        if word == "--":
            return None
        command = None if word.startswith("-") else find(word)
        if command is None:
            continue
        takes_value = options_of(command)
        if usual and any(arg.startswith("-") and arg not in takes_value for arg in args[:place]):
            takes_value = options_of(find(usual)) | takes_value
        if place in [*words(args, takes_value)][: most_before + 1]:
            return [word, *args[:place], *args[place + 1 :]]
    return None


def words(args: Sequence[str], takes_value: Mapping[str, bool]) -> Iterator[int]:
    """Places of the words that are neither options nor their values; none after `--`. `takes_value`: by option."""
    is_value = False
    for place, arg in enumerate(args):
        if arg == "--":
            return
        if not is_value and (arg == "-" or not arg.startswith("-")):
            yield place
        is_value = not is_value and takes_value.get(arg, False)


def options_of(command: click.Command | None) -> dict[str, bool]:
    """The options of a command and of all its verbs, and whether the next word is their value."""
    if command is None:
        return {}
    context = click.Context(command)
    found = {
        name: not (option.is_flag or option.count)
        for option in command.get_params(context)
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            found |= options_of(command.get_command(context, verb))
    return found


class Verbs(click.Group):
    """A command of several, `kdrill topics SOURCE list`; the SOURCE may stand before its verb or behind it.

    `places`: verb → `module:function`, imported when the verb is wanted and not before.
    """

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
        return super().parse_args(ctx, named_first(args, partial(self.get_command, ctx), most_before=1) or args)
