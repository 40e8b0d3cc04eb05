"""Options may stand before the command that they belong to: each of them, and with its value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.harness.command import kdrill
from tui.cli.address import ARGUMENTS
from tui.cli.main import COMMANDS, Verbs
from tui.cli.main import kdrill as kdrill_group


def every_option() -> Iterator[tuple[str, str, click.Option]]:
    """Each option of each command, and of each verb, with their names; no verb: empty."""
    with click.Context(kdrill_group) as context:
        for name in COMMANDS:
            command = kdrill_group.get_command(context, name)
            assert command is not None
            yield from ((name, "", each) for each in command.params if isinstance(each, click.Option))
            if isinstance(command, click.Group):
                for verb in command.list_commands(context):
                    found = command.get_command(context, verb)
                    assert found is not None
                    yield from ((name, verb, each) for each in found.params if isinstance(each, click.Option))


def sorted_out(*args: str) -> tuple[str, ...]:
    """The command line with its command first."""
    context = click.Context(kdrill_group)
    kdrill_group.parse_args(context, [*args])
    return context.meta[ARGUMENTS]


def test_every_option_of_every_command_may_stand_before_it() -> None:
    options = [*every_option()]
    assert len(options) > 300
    for name, verb, option in options:
        assert option.nargs == 1
        said = [option.opts[-1], *([] if option.is_flag else ["3"])]
        behind = [verb] if verb else []
        if option.name == "serve":
            said = ["--serve=3"]
        if option.name != "help":
            assert sorted_out(*said, name, *behind, "S") == (name, *said, *behind, "S"), (name, verb, option.opts)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_value_may_be_called_as_a_command(name: str) -> None:
    assert sorted_out("--config", name, "status", "S") == ("status", "--config", name, "S")
    assert sorted_out("--theme", name, "S") == ("open", "--theme", name, "S")


def test_options_before_a_verb_go_to_the_verb() -> None:
    group = kdrill_group.get_command(click.Context(kdrill_group), "topics")
    assert isinstance(group, Verbs)
    for args in (
        ["--max-reads-per-second", "2000", "zk://a", "describe"],
        ["zk://a", "--max-reads-per-second", "2000", "describe"],
        ["-", "describe"],
        ["zk://a", "describe"],
    ):
        context = click.Context(group)
        group.parse_args(context, args)
        rest = [arg for arg in args if arg != "describe"]
        assert [*context._protected_args, *context.args] == ["describe", *rest]


def test_a_pace_may_be_named_before_the_command(snapshot_file: Path) -> None:
    done = kdrill("--max-reads-per-second", "2000", "status", snapshot_file)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == kdrill("status", snapshot_file).stdout
