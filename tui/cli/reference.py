"""`kdrill keys` and `kdrill guide`: which key does what with the settings, and the guides, on the terminal."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from tui.cli.options import common_options
from tui.engine.actions import ACTIONS, EVERYWHERE, MOTIONS, OVERLAY, SCREENS, TITLES, Action
from tui.engine.config import Config
from tui.engine.keymap import MOTION_KEYS, remapped

FORMAT = "kdrill.keys/1"


@click.command()
@common_options
@click.option("--json", "as_json", is_flag=True, help="one kdrill.keys/1 object")
def keys(config: Config, as_json: bool) -> int:
    """Which key does what on which screen, with the configuration's keys. Exits 1 if the configuration is not valid.

    The word after the keys is the action's name, as [keys] in the configuration uses it.

    \b
    Example: kdrill keys
             kdrill keys --json | jq '.actions[] | select(.remapped)'
    """
    actions = remapped(config)
    click.echo(msgspec.json.encode(_document(actions)) if as_json else "\n".join(_text(actions)))
    return 0


def _document(actions: tuple[Action, ...]) -> dict[str, Any]:
    told = [
        {
            "name": now.name,
            "keys": now.keys.split(","),
            "label": now.label,
            "help": now.help,
            "screens": list(now.places),
            "remapped": now.keys != was.keys,
        }
        for was, now in zip(ACTIONS, actions, strict=True)
    ]
    return {"format": FORMAT, "screens": list(EVERYWHERE), "reserved": sorted(MOTION_KEYS), "actions": told}


def _text(actions: tuple[Action, ...]) -> Iterator[str]:
    """Keys that work on every screen first, then those of each screen."""
    signs = max(len(sign) for sign in (*(action.sign for action in actions), *(keys for keys, _ in MOTIONS)))
    names = max(len(action.name) for action in actions)

    def row(sign: str, name: str, what: str) -> str:
        return f"  {sign:{signs}}  {name:{names}}  {what}"

    def rows(title: str, chosen: Iterable[Action]) -> Iterator[str]:
        found = [row(action.sign, action.name, action.help) for action in chosen]
        if found:
            yield from ("", title, *found)

    yield "Moving (these keys are fixed)"
    yield from (row(sign, "", what) for sign, what in MOTIONS)
    everywhere = [action for action in actions if set(SCREENS) <= set(action.places)]
    yield from rows("Every screen", everywhere)
    for screen, title in zip(SCREENS, TITLES, strict=True):
        yield from rows(title, (each for each in actions if screen in each.places and each not in everywhere))
    yield from rows("Texts over a screen", (each for each in actions if OVERLAY in each.places))


FOLDER = Path(__file__).parent.parent / "guides"


@click.command()
@click.argument("name", required=False, default="")
def guide(name: str) -> None:
    """Print guides and reference pages as Markdown: the list of names, or the page NAME.

    \b
    Example: kdrill guide
             kdrill guide decommission | less
    """
    files = {file.stem: file for file in sorted(FOLDER.glob("*.md"))}
    if not name:
        click.echo("\n".join(_list(files)))
    elif name in files:
        click.echo(_read(files[name]), nl=False)
    else:
        raise click.UsageError(f"there is no guide {name!r}: {', '.join(files)}")


def _list(files: dict[str, Path]) -> Iterator[str]:
    widest = max(map(len, files))
    yield from (f"{name:{widest}}  {_read(file).partition(chr(10))[0].lstrip('# ')}" for name, file in files.items())


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
