"""How commands say things: results on standard output or in a file, all else as `kdrill: …` on standard error.

Names come from clusters: what is printed for people passes `plain`, and JSON is in ASCII, as a line of it may be read
on a terminal. Nothing here takes long to load.

Also how commands wait for the whole picture of a cluster: as long as something new arrives, but in all no longer than
ten times their patience; on a terminal they say how far they have come. Durations are as options have them: `90s`,
`10m`.
"""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

import click

from model.cluster.whole_file import write_whole

if TYPE_CHECKING:
    from model.sources.source import Progress, Source, SourceStatus
    from tui.engine.messages import Opening


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


_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


class Duration(click.ParamType):
    """A number and a unit → seconds."""

    name = "duration"

    def __init__(self, said: str = "not a duration: write 30s, 10m, 2h or 7d") -> None:
        """`said`: what is wrong with a text that is none."""
        self._said = said

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises click.BadParameter."""
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)", str(value).strip().lower())
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is {self._said}", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


BEGUN = "kdrill.begun"
"""Under this name click's context keeps when the command began, s of `time.monotonic`."""
IN_ALL = 10
"""So many times its patience a command waits, whatever arrives: who lies always has something new to tell."""
LOOK_S = 0.25
"""Between two looks at how far the source has come."""
SAID_AFTER_S, SAID_EVERY_S = 2.0, 0.5
"""When a terminal is told how far it is, first and then."""
READS_AT_ONCE = 400
"""Znodes that are asked for together, and so waited for together where they are asked for slowly."""


def begun_s() -> float:
    return click.get_current_context().meta.get(BEGUN, time.monotonic())


class WaitIndicator:
    """Patience with one source, from the start of the command; shows progress on a terminal."""

    def __init__(self, source: "Source", opening: "Opening", clock_s: Callable[[], float] = time.monotonic) -> None:
        self._source, self._clock_s = source, clock_s
        patience, reads_per_s = opening.patience, opening.limits.reads_per_s
        self._timeout_s = patience.timeout_s
        self._slowness_s = READS_AT_ONCE / reads_per_s if reads_per_s else 0.0
        self._begun_s = self._new_s = patience.begun_s or clock_s()
        self._told: Progress | None = None
        self._status: SourceStatus | None = None
        self._reason = ""
        self._said_s = self._begun_s + SAID_AFTER_S
        self._is_said = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_said:
            click.echo(ERASE_LINE, nl=False, err=True)

    @property
    def look_s(self) -> float:
        """How long to wait for news before looking whether patience is at an end."""
        return min(LOOK_S, self._timeout_s)

    def hear(self, status: "SourceStatus") -> None:
        """Takes the source's status, and remembers what was wrong last."""
        self._status = status
        self._reason = status.reason or self._reason

    def look(self) -> None:
        """Raises SourceError where nothing new has come for too long."""
        from model.sources.source import Progress, SourceError, TellsProgress  # noqa: PLC0415 - help needs none of it

        now_s, before = self._clock_s(), self._told
        is_told = isinstance(self._source, TellsProgress)
        self._told = self._source.progress() if isinstance(self._source, TellsProgress) else Progress()
        if before is not None and (self._told.answers, self._told.pieces) > (before.answers, before.pieces):
            self._new_s = now_s
        patience_s = self._timeout_s + self._slowness_s if is_told else IN_ALL * self._timeout_s
        if now_s - self._new_s >= patience_s:
            raise SourceError(self._gave_up(f"nothing new for {patience_s:g} s"))
        if now_s - self._begun_s >= IN_ALL * patience_s:
            raise SourceError(
                self._gave_up(f"not done within {IN_ALL * patience_s:g} s (--timeout is a tenth of that)")
            )
        if now_s >= self._said_s and sys.stderr.isatty():
            self._said_s, self._is_said = now_s + SAID_EVERY_S, True
            self._say(f"{self._how_far()}, {now_s - self._begun_s:.0f} s")

    def _say(self, text: str) -> None:
        from tui.engine.text import plain  # noqa: PLC0415 - most commands are done before

        width = shutil.get_terminal_size().columns
        click.echo(f"{ERASE_LINE}{plain(f'kdrill: {self._source.name}: {text}')[: width - 1]}", nl=False, err=True)

    def _gave_up(self, why: str) -> str:
        reason = f": {self._reason}" if self._reason else ""
        return f"{self._source.name}: {why}: {self._how_far()}{reason}"

    def _how_far(self) -> str:
        told, status = self._told, self._status
        if told is None or not told.connections:
            return "never connected" if told is not None else "reading"
        from model.cluster.texts import counted  # noqa: PLC0415 - as above

        times = "once" if told.connections == 1 else f"{told.connections:,} times"
        parts = [f"connected {times}", *([counted(told.answers, "answer")] if told.answers else [])]
        if status is not None and status.total:
            parts.append(f"{status.done:,} of {status.total:,} znodes read")
        if told.unread:
            parts.append(f"{told.unread} never read whole")
        elif not told.answers:
            parts.append("nothing read")
        return ", ".join(parts)
