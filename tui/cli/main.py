"""The `kdrill` command: its subcommands, what a bare SOURCE means, and how failures are reported.

A command and its verbs are imported when they are wanted and not before; help reads their docstrings in the source.
Options, and a verb's SOURCE, may stand before the word that names the command or verb.
"""

import ast
import errno
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

import click

from model.hosts.process import tell_no_values
from tui.cli.address import ARGUMENTS, with_address
from tui.cli.output import BEGUN, let_go, tell


def docstring(module: str, function: str) -> str:
    """The docstring of a top-level function, read from the source; empty if there is none."""
    spec = find_spec(module)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(module)
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return ast.get_docstring(node) or ""
    return ""


def named_first(
    args: Sequence[str], find: Callable[[str], click.Command | None], *, usual: str = "", most_before: int = 0
) -> list[str] | None:
    """The words with the command's name moved to the front; None if no word names one.

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
    """Indexes of the words before `--` that are neither options nor their values. `takes_value`: by option."""
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
        return _command(self._places[cmd_name])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without importing the verbs, as the program's own help does."""
        with formatter.section("Commands"):
            formatter.write_dl(_rows(self._places, formatter.width - 24))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, named_first(args, partial(self.get_command, ctx), most_before=1) or args)


COMMANDS: Mapping[str, str] = {
    "open": "open:open_dashboard",
    "snapshot": "record:snapshot",
    "record": "record:record",
    "history": "history:history",
    "status": "status:status",
    "drill": "drill:drill",
    "forecast": "forecast:forecast",
    "plan": "plan:plan",
    "preview": "preview:preview",
    "topics": "kafka_tools:topics",
    "configs": "kafka_tools:configs",
    "act": "act:act",
    "sandbox": "sandbox:sandbox",
    "assign": "assign:assign",
    "dump-log": "dump_log:dump_log",
    "scan": "scan:scan",
    "doctor": "doctor:doctor",
    "keys": "reference:keys",
    "guide": "reference:guide",
}
"""Command → its module, which is imported when the command is wanted and not before, and its name there."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
LONGEST_REASON = 2_000
"""Characters of a failure: names in a file may be of any length."""


class SourceFirst(click.Group):
    """The commands; a first word that is none of them is a SOURCE to open. Options may stand before that word."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return _command(COMMANDS[cmd_name])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does it, but without importing the commands: some take long to load."""
        with formatter.section("Commands"):
            formatter.write_dl(_rows(COMMANDS, formatter.width - 6 - max(map(len, COMMANDS))))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = with_address(args)
        if args[:1] not in (["--help"], ["-h"], ["--version"]):
            named = named_first(args, partial(self.get_command, ctx), usual="open")
            if named is None:
                options = options_of(self.get_command(ctx, "open"))
                _check_not_mistyped(next((args[place] for place in words(args, options)), ""))
            args = named or ["open", *args]
        ctx.meta[ARGUMENTS] = tuple(args)
        ctx.meta[BEGUN] = time.monotonic()
        return super().parse_args(ctx, args)


def _command(place: str) -> click.Command:
    module, _, name = place.partition(":")
    return getattr(import_module(f"tui.cli.{module}"), name)


def _rows(places: Mapping[str, str], limit: int) -> list[tuple[str, str]]:
    """Each word and the beginning of its help, read without importing its module."""
    modules = {word: place.partition(":") for word, place in places.items()}
    helps = {word: docstring(f"tui.cli.{module}", name) for word, (module, _, name) in modules.items()}
    return [(word, click.Command(word, help=help).get_short_help_str(limit)) for word, help in helps.items()]


def _check_not_mistyped(word: str) -> None:
    import difflib  # noqa: PLC0415 - a command that is named needs none of it

    close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.75)
    if close and not any(sign in word for sign in ":/."):
        raise click.UsageError(f"no such command {word!r}: did you mean {close[0]!r}? (a file: ./{word})")


@click.group(cls=SourceFirst, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="kdrill", prog_name="kdrill")
def kdrill() -> None:
    """An operator's terminal for Apache Kafka's control plane.

    \b
    kdrill                           open a sandbox: a real cluster to break
    kdrill zk://zk1:2181/kafka       open it on a live cluster, read-only
    kdrill incident.json.zst         open it on a snapshot
    kdrill prod-eu1                  open it on a cluster of the configuration
    kdrill prod-eu1 --serve          show it in a browser on this machine, read-only

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file), or a cluster's name in the configuration.

    The dashboard's options: kdrill open --help
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs kdrill; exits 0 done, 1 failed, 2 findings of severity error, or wrong usage; 3 see `act`."""
    tell_no_values()
    try:
        code = kdrill.main(arguments, prog_name="kdrill", standalone_mode=False)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "kdrill"
        code = _tell(f"{error.format_message().rstrip('.')}; see {command} --help", error.exit_code)
    except click.ClickException as error:
        code = _tell(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:  # then it is a file's, and nobody foresaw it
            raise
        let_go(sys.stdout)
        code = _tell(f"the output cannot be written: {error.strerror}", 1)
    except Exception as error:
        if not _is_foreseen(error):
            raise
        code = _tell(str(error), 1)
    sys.exit(code or 0)


def _is_foreseen(error: Exception) -> bool:
    """Whether the error's message is meant for the operator."""
    from model.sources.source import SourceError  # noqa: PLC0415 - takes longer to load than some commands to run
    from tui.engine.config import ConfigError  # noqa: PLC0415

    return isinstance(error, SourceError | ConfigError)


def _tell(reason: str, code: int) -> int:
    """Prints the reason, cut to a readable length; returns the exit code."""
    tell(reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…")
    return code
