"""How commands say things: results on standard output or in a file, all else as `kdrill: …` on standard error.

Names come from clusters: what is printed for people passes `plain`, and JSON is in ASCII, as a line of it may be read
on a terminal. Nothing here takes long to load.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from model.cluster.whole_file import write_whole

if TYPE_CHECKING:
    from tui.engine.opening import Opening

DEMO = "DEMO, an invented cluster"
"""What the demo's image names as its source, and the first line of what is printed of it."""
ERASE_LINE = "\r\x1b[K"


def tell(said: str, *, head: str = "kdrill: ") -> None:
    """One line on standard error."""
    from tui.engine.text import plain  # noqa: PLC0415 - most runs have nothing to tell

    click.echo(f"{head}{plain(said)}", err=True)


def tell_demo(opening: "Opening") -> None:
    """The first line of a text that does not name its source by itself."""
    if opening.is_demo:
        click.echo(DEMO)


def json_line(document: Mapping[str, Any], opening: "Opening | None" = None) -> str:
    """A document of plain values as one line, which begins with `"demo":true` where it is about the demo."""
    demo = {"demo": True} if opening is not None and opening.is_demo else {}
    return json.dumps({**demo, **document}, separators=(",", ":"))


def more(left: int) -> Iterator[str]:
    """The end of a list of which so many rows are not shown."""
    if left > 0:
        yield f"  … {left:,} more: --all shows them"


def put(text: str, output: Path | None) -> None:
    """On standard output, or whole into a file. Raises click.ClickException where that cannot be written."""
    if output is None:
        click.echo(text, nl=False)
    else:
        write(output, text)


def write(path: Path, text: str) -> None:
    """A file, whole or not at all. Raises click.ClickException."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def progress() -> Iterator[Callable[[str], None] | None]:
    """What shows how far the work is, in a line that is erased at its end; None where nobody watches a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda said: click.echo(f"{ERASE_LINE}{said}", nl=False, err=True)
    finally:
        click.echo(ERASE_LINE, nl=False, err=True)


def let_go(stream: TextIO) -> None:
    """What is left to flush goes nowhere: Python would fail over it once more, as its last deed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
