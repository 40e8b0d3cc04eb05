"""`kdrill guide`: the documentation that comes with kdrill, on the terminal."""

from collections.abc import Iterator
from pathlib import Path

import click

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
        click.echo(_text(files[name]), nl=False)
    else:
        raise click.UsageError(f"there is no guide {name!r}: {', '.join(files)}")


def _list(files: dict[str, Path]) -> Iterator[str]:
    widest = max(map(len, files))
    yield from (f"{name:{widest}}  {_text(file).partition(chr(10))[0].lstrip('# ')}" for name, file in files.items())


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
