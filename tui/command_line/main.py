"""The `kdrill` command: its subcommands, what a bare SOURCE means, and how failures are told. Does nothing itself."""

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import NoReturn

import click

from model.sources.source import SourceError
from tui.config import ConfigError

COMMANDS: Mapping[str, str] = {
    "open": "open_dashboard",
    "snapshot": "snapshot",
    "status": "status",
    "drill": "drill",
    "sandbox": "sandbox",
    "assign": "assign",
    "dump-log": "dump_log",
    "doctor": "doctor",
}
"""Command → its name in the module called after it, which is imported when the command is wanted and not before."""

VALUED = frozenset(
    {"--config", "--connect-timeout", "--theme", "-o", "--output"}
    | {"--kill", "--rack", "--restart-after", "--session-timeout", "--zookeeper-write", "--request"}
    | {"--strategy"}
    | {"--brokers", "--racks", "--zookeepers", "--dir", "--topics", "--partitions", "--port", "--zookeeper-port"}
    | {"--rate", "--set", "--scenario"}
)
"""Options that the next word belongs to."""


class SourceFirst(click.Group):
    """The commands; a first word that is none of them is a SOURCE to open. Options may stand before that word."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(f"tui.command_line.{cmd_name.replace('-', '_')}"), COMMANDS[cmd_name])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] not in (["--help"], ["-h"], ["--version"]):
            place = next(_words(args), None)
            if place is not None and args[place] in COMMANDS:
                args = [args[place], *args[:place], *args[place + 1 :]]
            else:
                _check_not_mistyped("" if place is None else args[place])
                args = ["open", *args]
        return super().parse_args(ctx, args)


def _words(args: Sequence[str]) -> Iterator[int]:
    """Places of the words that are neither options nor their values; none after `--`."""
    is_value = False
    for place, arg in enumerate(args):
        if arg == "--":
            return
        if not is_value and not arg.startswith("-"):
            yield place
        is_value = not is_value and arg in VALUED


def _check_not_mistyped(word: str) -> None:
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

    SOURCE is zk://host:port[,host:port...][/chroot], a snapshot file, or a cluster's name in the configuration.

    The dashboard's options: kdrill open --help
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs kdrill; exits 0 done, 1 failed, 2 findings of severity error, or wrong usage."""
    try:
        code = kdrill.main(arguments, prog_name="kdrill", standalone_mode=False)
    except (SourceError, ConfigError) as error:
        code = _tell(str(error), 1)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "kdrill"
        code = _tell(f"{error.format_message().rstrip('.')}; see {command} --help", error.exit_code)
    except click.ClickException as error:
        code = _tell(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code or 0)


def _tell(reason: str, code: int) -> int:
    """One line on standard error, whatever the reason is made of."""
    from tui.text import plain  # noqa: PLC0415 - most runs have nothing to tell

    click.echo(f"kdrill: {plain(reason)}", err=True)
    return code
