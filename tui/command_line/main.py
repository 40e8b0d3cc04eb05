"""The `kdrill` command: its subcommands, what a bare SOURCE means, and how failures are told. Does nothing itself."""

import errno
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

import click

from model.hosts.crash_reports import tell_no_values
from tui.command_line.docstrings import docstring
from tui.command_line.verbs import named_first, options_of, words
from tui.command_line.waiting import BEGUN
from tui.serving.address import ARGUMENTS, with_address

COMMANDS: Mapping[str, str] = {
    "open": "open_dashboard",
    "snapshot": "snapshot",
    "record": "record",
    "history": "history",
    "status": "status",
    "drill": "drill",
    "plan": "plan",
    "preview": "preview",
    "topics": "topics",
    "configs": "configs",
    "act": "act",
    "sandbox": "sandbox",
    "assign": "assign",
    "dump-log": "dump_log",
    "scan": "scan",
    "doctor": "doctor",
    "keys": "keys",
    "guide": "guide",
}
"""Command → its name in the module called after it, which is imported when the command is wanted and not before."""

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
        return getattr(import_module(_module(cmd_name)), COMMANDS[cmd_name])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does it, but without importing the commands: some take long to load."""
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        stubs = [click.Command(name, help=docstring(_module(name), COMMANDS[name])) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl([(stub.name or "", stub.get_short_help_str(limit)) for stub in stubs])

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


def _module(command: str) -> str:
    return f"tui.command_line.{command.replace('-', '_')}"


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

    SOURCE is zk://host:port[,host:port...][/chroot], kafka://host:port[,host:port...], a snapshot file, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), what kafka-topics --describe printed (a file), or
    a cluster's name in the configuration.

    The dashboard's options: kdrill open --help
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs kdrill; exits 0 done, 1 failed, 2 findings of severity error, or wrong usage; 3 see `acting`."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to flush goes there
        code = _tell(f"the output cannot be written: {error.strerror}", 1)
    except Exception as error:
        if not _is_foreseen(error):
            raise
        code = _tell(str(error), 1)
    sys.exit(code or 0)


def _is_foreseen(error: Exception) -> bool:
    """Whether the error's message is a line for the operator."""
    from model.sources.source import SourceError  # noqa: PLC0415 - takes longer to load than some commands to run
    from tui.config import ConfigError  # noqa: PLC0415

    return isinstance(error, SourceError | ConfigError)


def _tell(reason: str, code: int) -> int:
    """One line on standard error that can be read, whatever the reason is made of."""
    from tui.text import plain  # noqa: PLC0415 - most runs have nothing to tell

    said = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"
    click.echo(f"kdrill: {plain(said)}", err=True)
    return code
