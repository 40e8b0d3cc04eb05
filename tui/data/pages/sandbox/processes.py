"""What runs in a sandbox: servers, brokers, the producer and the consumers; and everything about one of them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from model.sandbox.control.state import ProcessView, SandboxState
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import age_ms, age_text, date_text
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.sandbox.member_view import is_member_log, tell_member_view
from tui.data.pages.sheets import Sheet
from tui.rows import Column, Row, line, span

COLUMNS = (
    Column("process", 24, "<", "name"),
    Column("state", 8, "<", "state"),
    Column("since", 5, ">", "age"),
    Column("pid", 8, ">", "pid"),
    Column("what", -12),
)
SIGNS: Mapping[str, tuple[str, str]] = {
    "running": ("", "ok"),
    "starting": ("+", "waiting"),
    "paused": ("~", "warn"),
    "stopped": ("-", "dim"),
    "killed": ("X", "dead"),
    "crashed": ("X", "error"),
}
"""State → mark and style."""

LAST_LINES = 200
LAST_BYTES = 256 << 10


def sandbox_processes(state: SandboxState, now_ms: int) -> Listing:
    """Servers, brokers, load; in that order."""
    processes = state.processes
    fields: dict[str, Field] = {
        "name": Texts(lambda: [one.name for one in processes]),
        "state": Texts(lambda: [one.status for one in processes]),
        "detail": Texts(lambda: [_what(one) for one in processes]),
        "age": Numbers(np.array([age_ms(one.since_ms, now_ms) for one in processes], np.int64), is_duration=True),
        "pid": Numbers(np.array([one.pid or -1 for one in processes], np.int64)),
    }
    return Listing(
        count=len(processes),
        fields=lambda: fields,
        shown=("name", "state", "detail"),
        row=lambda index: _row(processes[index], now_ms),
        place=place_in([one.name for one in processes]),
        columns=COLUMNS,
        made_from=(state,),
        nothing="nothing runs yet",
    )


def _what(process: ProcessView) -> str:
    return "  ".join(text for text in (process.detail, process.address) if text)


def _row(process: ProcessView, now_ms: int) -> Row:
    mark, style = SIGNS[process.status]
    return Row(
        key=process.name,
        cells=(
            line(process.name),
            line(span(process.status, style)),
            line(span(age_text(process.since_ms, now_ms), "dim")),
            line(span(process.pid or "-", "dim")),
            line(_what(process)),
        ),
        mark=mark,
    )


def process_text(state: SandboxState, query: TextQuery, now_ms: int) -> TextAnswer:
    """The process whose name is the key, with the end of what it said."""
    sheet = Sheet(query.key, query.width)
    process = next((one for one in state.processes if one.name == query.key), None)
    if process is None:
        return sheet.say("there is no such process (any more)", "warn").answer()
    sheet.fact("state", process.status, SIGNS[process.status][1])
    sheet.fact("since", f"{date_text(process.since_ms)}, {age_text(process.since_ms, now_ms)} ago")
    sheet.fact("pid", str(process.pid or "-")).fact("address", process.address or "-")
    sheet.fact("detail", process.detail or "-").fact("log", process.log or "-").gap()
    lines = _end_of(process.log)
    if is_member_log(lines):
        return tell_member_view(sheet, lines).answer()
    for each in lines[-LAST_LINES:]:
        sheet.say(each)
    return sheet.answer()


def _end_of(log: str) -> list[str]:
    """The last lines of a log, as far as it can be read."""
    try:
        with Path(log).open("rb") as file:
            file.seek(max(file.seek(0, 2) - LAST_BYTES, 0))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
