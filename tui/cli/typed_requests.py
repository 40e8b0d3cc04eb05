"""The words of the command line typed behind `:` of a dashboard, by the very options of its commands.

A `TypedRequests` of the app; loaded when something is typed. Reaches no cluster.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

import click
from click.core import ParameterSource

from tui.cli.act import ActionCommand, act
from tui.cli.kafka_tools import configs, topics
from tui.engine.actions import CommandError
from tui.engine.questions import Request

GROUPS: Mapping[str, click.Group] = {"topics": topics, "configs": configs, "act": act}

ELSEWHERE: Mapping[str, str] = {
    "topics list": "topics are on the partitions screen: :partitions",
    "topics describe": "a topic is on the partitions screen: :topic NAME",
    "configs describe": "settings are on the znodes screen: :zk /config",
    "act reassign": "a plan is carried out from its screen: :plans, then :reassign",
    "act cancel-reassign": "a reassignment is cancelled by :reassign cancel",
    "act rollback": "a reassignment is rolled back by :reassign rollback",
}
"""What a dashboard has otherwise."""

PATTERNS = ("topics alter", "topics delete")
"""Whose `--topic` is a regular expression."""


def elsewhere(words: str) -> str:
    """Where a dashboard has what was typed, one line; empty for what may be a request."""
    return ELSEWHERE.get(" ".join(words.split()[:2]), "")


def request_of(words: str, at_hand: Mapping[str, str]) -> Request:
    """What `topics create --topic orders …` asks for. Raises CommandError with one line.

    `at_hand` is what the cursor is on, by option, `{"topic": "orders"}`: it stands in for an option that has to be
    given, and is not.
    """
    try:
        typed = shlex.split(words)
        what, args = " ".join(typed[:2]), typed[2:]
        command = _command(typed)
        if command.name != "create":
            args += _stand_ins(command, what, args, at_hand)
        if {"-h", "--help"} & set(args) or (not args and any(each.required for each in command.own)):
            raise CommandError(f":{what} takes {' '.join(map(_usage, command.own))}")
        with command.make_context(what, args, help_option_names=[]) as context:
            _check_own(command, context)
            return command.request(context)
    except click.ClickException as error:
        reason = " ".join(error.format_message().split())
    except CommandError:
        raise
    except ValueError as error:  # of shlex
        reason = str(error)
    raise CommandError(f":{' '.join(words.split()[:2])}: {reason}")


def offered() -> Iterator[tuple[str, str]]:
    """Every `topics create` that can be typed, and what it does in a few words."""
    for name, group in GROUPS.items():
        for verb in _verbs(group, name):
            yield f"{name} {verb}", _command([name, verb]).get_short_help_str(100)


def finished(text: str) -> str:
    """The line with its last word in full, a verb or an option, as far as there is no doubt."""
    *before, word = text.split(" ")
    group = GROUPS[before[0]]
    if len(before) == 1:
        words = _verbs(group, before[0])
    else:
        command = group.get_command(click.Context(group), before[1])
        own = command.own if isinstance(command, ActionCommand) else ()
        words = [name for each in own for name in each.opts] if word.startswith("-") else []
    matches = [each for each in words if each.startswith(word)]
    return " ".join([*before, f"{matches[0]} "]) if len(matches) == 1 and word else text


def _command(typed: Sequence[str]) -> ActionCommand:
    name, verb = typed[0], "".join(typed[1:2])
    group = GROUPS[name]
    command = group.get_command(click.Context(group), verb)
    if not isinstance(command, ActionCommand):
        raise CommandError(f"no :{name} {verb!r}: try {', '.join(_verbs(group, name))}")
    return command


def _verbs(group: click.Group, name: str) -> list[str]:
    return [verb for verb in group.list_commands(click.Context(group)) if f"{name} {verb}" not in ELSEWHERE]


def _stand_ins(command: ActionCommand, what: str, args: Sequence[str], at_hand: Mapping[str, str]) -> list[str]:
    given = {arg.partition("=")[0] for arg in args}
    wanted = {str(each.name): each.opts[0] for each in command.own if each.required and given.isdisjoint(each.opts)}
    return [
        word
        for name, option in wanted.items()
        if at_hand.get(name)
        for word in (option, re.escape(at_hand[name]) if what in PATTERNS else at_hand[name])
    ]


def _check_own(command: ActionCommand, context: click.Context) -> None:
    """Raises CommandError for options about where and how, which a dashboard has settled."""
    for param in command.params:
        is_typed = context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if is_typed and param not in command.own:
            name = param.opts[0] if isinstance(param, click.Option) else f"SOURCE {context.params['source']!r}"
            raise CommandError(f"{name} is not taken here: it is the cluster on screen, and each step is confirmed")


def _usage(param: click.Parameter) -> str:
    is_flag = isinstance(param, click.Option) and param.is_flag
    text = param.opts[0] if is_flag else f"{param.opts[0]} {param.make_metavar(click.Context(click.Command(None)))}"
    return text if param.required else f"[{text}]"
