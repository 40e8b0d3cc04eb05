"""The reference pages of tui/guides, made of the program itself: its commands, keys, findings and files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

import click

from model.cluster.findings import SEVERITIES, SEVERITY
from tests.tui.guides.file_formats import file_formats
from tests.tui.guides.finding_examples import example
from tui.app.commands import WORDS
from tui.cli.main import kdrill
from tui.engine.actions import ACTIONS, MOTIONS, OVERLAY, SCREENS, TITLES, Action

WIDTH = 100


def commands() -> str:
    """Every command with its help."""
    return _page("Commands", "What `kdrill COMMAND --help` says, for each command.", *_helps(kdrill, None, "kdrill"))


def keys() -> str:
    """Every key on every screen, and what can be typed behind `:`."""
    everywhere = [action for action in ACTIONS if set(SCREENS) <= set(action.places)]
    sections = [
        _table("Moving (these keys are fixed)", ("key", "what it does"), MOTIONS),
        _actions("Every screen", everywhere),
        *(
            _actions(title, (each for each in ACTIONS if screen in each.places and each not in everywhere))
            for screen, title in zip(SCREENS, TITLES, strict=True)
        ),
        _actions("Texts over a screen", (each for each in ACTIONS if OVERLAY in each.places)),
        _table(
            "Commands, typed behind `:`", ("command", "needs"), ((word, needs) for word, (needs, _) in WORDS.items())
        ),
    ]
    about = "The name is what `[keys]` in the configuration calls the action; `kdrill keys` shows your own settings."
    return _page("Keys", about, *sections)


def findings() -> str:
    """Every kind of finding, as it is told of the smallest cluster that has it."""
    about = (
        "What kdrill calls wrong, worst first: on the overview, in `kdrill status` and in its exit code, which is 2 "
        "for severity error. Each stands here as it is told of a small cluster."
    )
    sections: list[str] = []
    for severity in SEVERITIES:
        sections.append(f"## {severity}")
        for kind in (kind for kind, its in SEVERITY.items() if its == severity):
            one = example(kind)
            sections.append(
                f"### {kind}\n\n{one.subject}: {one.what}.\n\n- Why it matters: {one.why}\n- What to do: {one.action}"
            )
    return _page("Findings", about, *sections)


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "keys": keys,
    "findings": findings,
    "file-formats": lambda: _page("File formats", *file_formats()),
}
"""The pages that are generated, by name."""


def _page(title: str, *parts: str) -> str:
    return "\n\n".join((f"# {title}", *filter(None, parts))) + "\n"


def _helps(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## {context.command_path}\n\n```text\n{help_text}\n```"
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            one = command.get_command(context, verb)
            assert one is not None
            yield from _helps(one, context, verb)


def _actions(title: str, actions: Iterable[Action]) -> str:
    return _table(title, ("key", "name", "what it does"), ((each.sign, each.name, each.help) for each in actions))


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| `{first}` | {' | '.join(rest)} |" for first, *rest in rows]
    return "\n".join((f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines)) if lines else ""


if __name__ == "__main__":
    sys.stdout.write(PAGES[sys.argv[1]]())
