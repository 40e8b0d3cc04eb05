"""What is on the screen as a new file: its text, a picture of it, or every row of the list. Overwrites nothing."""

import asyncio
import csv
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from textual.app import App

from model.cluster.texts import visible_json
from model.cluster.whole_file import typed_path, write_new
from tui.engine.link import DataLink, DataLost
from tui.engine.messages import HeaderFacts, ListQuery
from tui.engine.rows import Line, Row, Window
from tui.engine.text import plain

_HARMLESS = re.compile(r"[+-]?[\d,.]*")
"""A number, or a lonely sign."""
ROWS_AT_ONCE = 5_000
"""So many rows are asked for at once: the data process answers others in between."""


class ExportError(Exception):
    """Nothing was written; the message is one line."""


def screen_text(app: App[Any]) -> str:
    """What the terminal shows, without the blanks at the ends of lines."""
    strips = app.screen._compositor.render_strips()  # Textual offers a picture of its screens, and no text
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips)


def screen_svg(app: App[Any]) -> str:
    """A picture of what the terminal shows, in a font of the machine that looks at it.

    Textual's own names one on another host, that whoever opens the picture would be asked to fetch.
    """
    return re.sub(r"\s*@font-face \{[^}]*\}", "", app.export_screenshot())


def rows_as_json(window: Window, query: ListQuery, facts: HeaderFacts) -> str:
    """One object, `kdrill.view/1`: the columns' titles, and each row's key, mark and cells in their order."""
    document = {
        "format": "kdrill.view/1",
        "source": facts.source,
        "cluster": facts.cluster,
        "taken_at_ms": facts.image_time_ms,
        "list": query.name,
        "about": query.form[0],
        "filter": query.filter,
        "sort": query.sort,
        "reverse": query.reverse,
        "columns": [column.title for column in window.columns],
        "rows": [{"key": row.key, "mark": row.mark, "cells": _cells(row)} for row in window.rows],
    }
    return visible_json(msgspec.json.format(msgspec.json.encode(document), indent=1)).decode() + "\n"


def rows_as_csv(window: Window, _: ListQuery, __: HeaderFacts) -> str:
    """A line of titles, and one for each row. What a spreadsheet would take for a formula has a `'` in front of it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["mark", *(column.title for column in window.columns)])
    writer.writerows([row.mark, *map(_inert, _cells(row))] for row in window.rows)
    return text.getvalue()


def _inert(cell: str) -> str:
    """Anybody who may name a group or a client may name it like a formula, that whoever opens the file would run."""
    is_formula = cell.startswith(("=", "@")) or (cell.startswith(("+", "-")) and not _HARMLESS.fullmatch(cell))
    return f"'{cell}" if is_formula else cell


ROW_FORMATS: Mapping[str, Callable[[Window, ListQuery, HeaderFacts], str]] = {
    ".json": rows_as_json,
    ".csv": rows_as_csv,
}
SCREEN_FORMATS: Mapping[str, Callable[[App[Any]], str]] = {
    ".txt": screen_text,
    ".svg": screen_svg,
}


Progress = Callable[[int, int], None]
"""How many rows are there, of how many; 0 of 0 before that is known."""


async def whole_list(link: DataLink, query: ListQuery, told: Progress = lambda done, of: None) -> Window:
    """Every row that matches, in the order on the screen. Raises DataLost."""
    rows: list[Row] = []
    told(0, 0)
    while True:
        window = await link.rows(msgspec.structs.replace(query, first=len(rows), count=ROWS_AT_ONCE))
        rows += window.rows[len(rows) - window.first :]
        told(len(rows), window.total)
        if len(rows) >= window.total or not window.rows:
            return msgspec.structs.replace(window, first=0, rows=tuple(rows))


async def exported(
    app: App[Any], link: DataLink, query: ListQuery, facts: HeaderFacts, name: str, told: Progress
) -> str:
    """Writes the file; the sentence that says what is in it. Raises ExportError."""
    path = typed_path(name)
    form = path.suffix.lower()
    if form in SCREEN_FORMATS:
        await _write(path, SCREEN_FORMATS[form](app))
        return f"this screen was written to {path}"
    if form not in ROW_FORMATS:
        known = ", ".join((*SCREEN_FORMATS, *ROW_FORMATS))
        raise ExportError(f"{path}: the name must end in {known}")
    try:
        window = await whole_list(link, query, told)
    except DataLost as lost:
        raise ExportError(str(lost)) from None
    await _write(path, await asyncio.to_thread(ROW_FORMATS[form], window, query, facts))
    return f"{path} has {len(window.rows):,} rows of {query.name}"


async def _write(path: Path, text: str) -> None:
    try:
        await asyncio.to_thread(write_new, path, text)
    except FileExistsError:
        raise ExportError(f"{path} exists already: choose another name") from None
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from None


def _cells(row: Row) -> list[str]:
    return [_text(cell) for cell in row.cells]


def _text(cell: Line) -> str:
    return plain("".join(text for text, _ in cell)).strip()
