"""The event feed, newest first, and one event in full. Shows what `changes_between` said; interprets nothing.

Commits of offsets come all the time while all is well: they are left out, or folded, unless they are searched for.
"""

from collections.abc import Sequence

import numpy as np

from model.cluster.change import Change
from model.cluster.findings.check import SEVERITIES
from model.cluster.texts import counted, kept_in, written_at
from model.sources.feed import Moment
from tui.engine.cluster.queries import COMMITTED, FOLDED, EffectList, unfolding
from tui.engine.filters import Coded, ListField, Texts, whole_numbers
from tui.engine.listing import AnswerMemo, Listing, window
from tui.engine.messages import ListQuery, TextAnswer, TextQuery
from tui.engine.rows import Column, Row, Window, line, span
from tui.engine.sheets import (
    SEVERITY_MARKS,
    SEVERITY_RANKS,
    SEVERITY_STYLES,
    SEVERITY_WORDS,
    Sheet,
    age_ms,
    age_text,
    clock_text,
    date_text,
)

COLUMNS = (
    Column("time", 12, "<", "age"),
    Column("kind", 18, "<", "kind", rank=2),
    Column("subject", 16, "<", "subject", rank=1),
    Column("what", -20),
)


class Folded(Change, frozen=True):
    """Many steady changes as one line; `time_ms` is that of the last one."""


MOST_FOLDED = 3
"""Subjects that get a line each; more of them share one."""


def event_key(change: Change) -> str:
    """The same for as long as the change is in the feed."""
    if isinstance(change, Folded):
        return f"{FOLDED}/{change.subject}"
    return f"{change.time_ms}/{change.zxid}/{change.kind}/{change.subject}/{change.text}"


def events_window(moment: Moment, query: ListQuery, now_ms: int, memory: AnswerMemo) -> Window:
    """All changes that are remembered; unless they are searched, without the steady commits of offsets."""
    feed = moment.feed if query.filter.strip() else _without_commits(moment.feed, memory)
    return _window(feed, query, now_ms, memory)


def folded_window(moment: Moment, query: ListQuery, now_ms: int, memory: AnswerMemo) -> Window:
    """The same with the commits as a line for each group."""
    if query.filter.strip():
        return events_window(moment, query, now_ms, memory)
    feed = memory.recall("folded events", (moment.feed,), lambda: _folded(moment.feed))
    return _window(feed, query, now_ms, memory)


def effects_window(moment: Moment, query: EffectList, now_ms: int, memory: AnswerMemo) -> Window:
    """Those among which a fault and what came of it can be found: never the commits."""
    return _window(_without_commits(moment.feed, memory), query, now_ms, memory)


def _without_commits(feed: tuple[Change, ...], memory: AnswerMemo) -> tuple[Change, ...]:
    return memory.recall("effects", (feed,), lambda: tuple(change for change in feed if change.kind != COMMITTED))


def _folded(feed: tuple[Change, ...]) -> tuple[Change, ...]:
    """With a line for each group that committed; one for all of them where there are many."""
    commits: dict[str, list[Change]] = {}
    for change in feed:
        if change.kind == COMMITTED:
            commits.setdefault(change.subject, []).append(change)
    if len(commits) > MOST_FOLDED:
        commits = {f"{len(commits)} groups": [change for some in commits.values() for change in some]}
    lines = [_fold(subject, some) for subject, some in commits.items()]
    return (*(change for change in feed if change.kind != COMMITTED), *lines)


def _fold(subject: str, commits: Sequence[Change]) -> Folded:
    times = [change.time_ms for change in commits]
    count = sum(change.count for change in commits)
    text = f"committed {counted(count, 'offset')} in {age_text(min(times), max(times))}"
    return Folded(COMMITTED, subject, text, time_ms=max(times), count=count)


def _window(changes: tuple[Change, ...], query: ListQuery, now_ms: int, memory: AnswerMemo) -> Window:
    feed = memory.recall("events in order", (changes,), lambda: _in_order(changes))
    listing = Listing(
        count=len(feed),
        fields=lambda: _fields(feed[::-1], now_ms),
        shown=("subject", "kind", "text"),
        row=lambda index: _row(feed[-1 - index], now_ms),
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
    return next(
        (
            i
            for i, one in enumerate(reversed(feed))
            if (str(one.time_ms) == time or time == FOLDED) and event_key(one) == key
        ),
        -1,
    )


def _fields(changes: tuple[Change, ...], now_ms: int) -> dict[str, ListField]:
    return {
        "age": whole_numbers((age_ms(one.time_ms, now_ms) for one in changes), is_duration=True),
        "severity": Coded(
            np.array([SEVERITY_RANKS[one.severity] for one in changes], np.int32), Texts(lambda: SEVERITIES)
        ),
        "kind": Texts(lambda: [one.kind for one in changes]),
        "subject": Texts(lambda: [one.subject for one in changes]),
        "text": Texts(lambda: [one.text for one in changes]),
        "zxid": whole_numbers(one.zxid for one in changes),
    }


def _row(change: Change, now_ms: int) -> Row:
    style = SEVERITY_STYLES[change.severity] if change.severity != "info" else ""
    is_folded = isinstance(change, Folded)
    last = f", last {age_text(change.time_ms, now_ms)} ago" if is_folded else ""
    return Row(
        key=event_key(change),
        cells=(
            line(span(clock_text(change.time_ms), "dim")),
            line(span(change.kind, "dim" if is_folded else style)),
            line(span(change.subject, "dim" if is_folded else "")),
            line(span(change.text + last, "dim" if is_folded else "")),
        ),
        mark=SEVERITY_MARKS[change.severity],
    )


def event_text(moment: Moment, query: TextQuery, *_: object) -> TextAnswer:
    """The event with this key."""
    sheet = Sheet("event", query.width)
    if query.key.startswith(f"{FOLDED}/"):
        return _folded_text(sheet, moment.feed, query.key).answer()
    place = _place(moment.feed, query.key)
    if place < 0:
        return sheet.say("this event is not remembered any more", "dim").answer()
    change = moment.feed[-1 - place]
    sheet.fact(SEVERITY_WORDS[change.severity], change.text, SEVERITY_STYLES[change.severity]).gap()
    sheet.fact("time", f"{date_text(change.time_ms)[:10]} {clock_text(change.time_ms)} UTC")
    sheet.fact("kind", change.kind).fact("subject", change.subject)
    name, place = kept_in(moment.image.generation, change.path or "several")
    if name == "znode" or change.zxid >= 0:
        sheet.fact(*written_at(moment.image.generation, change.zxid))
    sheet.fact(name, place)
    return sheet.answer()


def _folded_text(sheet: Sheet, feed: tuple[Change, ...], key: str) -> Sheet:
    found = next((change for change in _folded(feed) if event_key(change) == key), None)
    if found is None:
        return sheet.say("this is not remembered any more", "dim")
    sheet.fact("info", f"{found.subject} {found.text}", "info").gap()
    sheet.fact("last", f"{date_text(found.time_ms)[:10]} {clock_text(found.time_ms)} UTC")
    return sheet.fact("filter", f"{unfolding(key)} lists each commit")
