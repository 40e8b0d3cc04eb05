"""The event feed, newest first, and one event in full. Shows what `changes_between` said; interprets nothing."""

import numpy as np

from model.cluster.changes import Change
from model.cluster.findings.check import SEVERITIES
from model.cluster.texts import kept_in
from model.sources.feed import Moment
from tui.engine.cluster.queries import EffectList
from tui.engine.filters import Coded, Field, Numbers, Texts
from tui.engine.listing import Listing, Memory, window
from tui.engine.messages import ListQuery, TextAnswer, TextQuery
from tui.engine.rows import Column, Row, Window, line, span
from tui.engine.sheets import (
    SEVERITY_MARKS,
    SEVERITY_RANKS,
    SEVERITY_STYLES,
    SEVERITY_WORDS,
    Sheet,
    age_ms,
    clock_text,
    date_text,
)

COLUMNS = (
    Column("time", 12, "<", "age"),
    Column("kind", 18, "<", "kind", rank=2),
    Column("subject", 16, "<", "subject", rank=1),
    Column("what", -20),
)


def event_key(change: Change) -> str:
    """The same for as long as the change is in the feed."""
    return f"{change.time_ms}/{change.zxid}/{change.kind}/{change.subject}/{change.text}"


def events_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """All changes that are remembered."""
    return _window(moment.feed, query, now_ms, memory)


def effects_window(moment: Moment, query: EffectList, now_ms: int, memory: Memory) -> Window:
    """Those among which a fault and what came of it can be found: without the steady commits of offsets."""

    def effects() -> tuple[Change, ...]:
        return tuple(change for change in moment.feed if change.kind != "offset-committed")

    return _window(memory.recall("effects", (moment.feed,), effects), query, now_ms, memory)


def _window(changes: tuple[Change, ...], query: ListQuery, now_ms: int, memory: Memory) -> Window:
    feed = memory.recall("events in order", (changes,), lambda: _in_order(changes))
    listing = Listing(
        count=len(feed),
        fields=lambda: _fields(feed[::-1], now_ms),
        shown=("subject", "kind", "text"),
        row=lambda index: _row(feed[-1 - index]),
        place=lambda key: _place(feed, key),
        columns=COLUMNS,
        made_from=(changes,),
        nothing="nothing changed yet",
    )
    return window(listing, query, memory, now_ms)


def _in_order(feed: tuple[Change, ...]) -> tuple[Change, ...]:
    """By time: what is learnt together has the times of its znodes, or of when it was seen, causes first."""
    return tuple(sorted(feed, key=lambda change: change.time_ms))


def _place(feed: tuple[Change, ...], key: str) -> int:
    time = key.partition("/")[0]
    return next((i for i, one in enumerate(reversed(feed)) if str(one.time_ms) == time and event_key(one) == key), -1)


def _fields(changes: tuple[Change, ...], now_ms: int) -> dict[str, Field]:
    return {
        "age": Numbers(np.array([age_ms(one.time_ms, now_ms) for one in changes], np.int64), is_duration=True),
        "severity": Coded(
            np.array([SEVERITY_RANKS[one.severity] for one in changes], np.int32), Texts(lambda: SEVERITIES)
        ),
        "kind": Texts(lambda: [one.kind for one in changes]),
        "subject": Texts(lambda: [one.subject for one in changes]),
        "text": Texts(lambda: [one.text for one in changes]),
        "zxid": Numbers(np.array([one.zxid for one in changes], np.int64)),
    }


def _row(change: Change) -> Row:
    style = SEVERITY_STYLES[change.severity] if change.severity != "info" else ""
    return Row(
        key=event_key(change),
        cells=(
            line(span(clock_text(change.time_ms), "dim")),
            line(span(change.kind, style)),
            line(change.subject),
            line(change.text),
        ),
        mark=SEVERITY_MARKS[change.severity],
    )


def event_text(moment: Moment, query: TextQuery, *_: object) -> TextAnswer:
    """The event with this key."""
    sheet = Sheet("event", query.width)
    place = _place(moment.feed, query.key)
    if place < 0:
        return sheet.say("this event is not remembered any more", "dim").answer()
    change = moment.feed[-1 - place]
    sheet.fact(SEVERITY_WORDS[change.severity], change.text, SEVERITY_STYLES[change.severity]).gap()
    sheet.fact("time", f"{date_text(change.time_ms)[:10]} {clock_text(change.time_ms)} UTC")
    sheet.fact("kind", change.kind).fact("subject", change.subject)
    name, place = kept_in(moment.image.generation, change.path or "several")
    if name == "znode":
        sheet.fact("zxid", f"{change.zxid:#x}" if change.zxid >= 0 else "unknown")
    sheet.fact(name, place)
    return sheet.answer()
