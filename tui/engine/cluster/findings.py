"""What is wrong, worst first, and one finding in full; which findings the operator knows of, and which are new.

What, why it matters, what to do: that is in the findings' own words.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from model.cluster.change import Change
from model.cluster.findings import Finding
from model.cluster.findings.check import SEVERITIES
from model.consumers.ownership import partition_ranges
from model.sources.feed import Moment
from tui.engine.cluster.briefs import brief
from tui.engine.cluster.queries import FindingList, FindingText
from tui.engine.filters import Coded, ListField, Texts, whole_numbers
from tui.engine.listing import AnswerMemo, Listing, place_in, window
from tui.engine.messages import NO_NOTICE, Notice, TextAnswer
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
    duration_text,
)

COLUMNS = (
    Column("finding", 10, "<", "severity"),
    Column("subject", -16, "<", "subject", most=22),
    Column("part", 4, ">", rank=3),
    Column("what", -18, rank=1),
    Column("since", 5, ">", "age", rank=4),
)
ACKNOWLEDGED = "a"
"""The mark of a finding that the operator knows of."""


def finding_keys(found: Sequence[Finding]) -> list[str]:
    """A key for each: kind and subject, and a number where one subject has several of a kind."""
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for one in found:
        key = f"{one.kind}/{one.subject}"
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}/{seen[key]}")
    return keys


def findings_window(
    moment: Moment, query: FindingList, now_ms: int, memory: AnswerMemo, known: Collection[Finding] = ()
) -> Window:
    """All findings, worst first; those that the operator knows of stay in their places, and are quieter."""
    found, is_whole = moment.findings.found, moment.image.provenance.complete
    keys = memory.recall("finding keys", (found,), lambda: finding_keys(found))
    listing = Listing(
        count=len(found),
        fields=lambda: _fields(found, now_ms),
        shown=("subject", "kind", "what"),
        row=lambda index: _row(keys[index], found[index], moment, now_ms, is_known=found[index] in known),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(found,),
        nothing="nothing is wrong" if is_whole else "still loading: findings come once everything was read",
    )
    return window(listing, query, memory, now_ms)


def _fields(found: Sequence[Finding], now_ms: int) -> dict[str, ListField]:
    return {
        "severity": Coded(
            np.array([SEVERITY_RANKS[one.severity] for one in found], np.int32), Texts(lambda: SEVERITIES)
        ),
        "kind": Texts(lambda: [one.kind for one in found]),
        "subject": Texts(lambda: [one.subject for one in found]),
        "what": Texts(lambda: [one.what for one in found]),
        "age": whole_numbers((age_ms(one.since_ms, now_ms) for one in found), is_duration=True),
    }


def _row(key: str, found: Finding, moment: Moment, now_ms: int, *, is_known: bool) -> Row:
    style, short = "dim" if is_known else SEVERITY_STYLES[found.severity], brief(found, moment)
    return Row(
        key=key,
        cells=(
            line(span(short.word, style)),
            line(span(found.subject, "dim" if is_known else "strong"), span(short.which, "dim" if is_known else "")),
            line(span(short.part, "dim")),
            line(span(short.text, "dim" if is_known else "")),
            line(span(age_text(found.since_ms, now_ms), "dim")),
        ),
        mark=ACKNOWLEDGED if is_known else SEVERITY_MARKS[found.severity],
    )


def finding_text(moment: Moment, query: FindingText, now_ms: int, *_: object) -> TextAnswer:
    """The finding with this key. The title says what to go to: `partition orders-4`, `broker 3`, `group billing`;
    it is empty where there is nothing any more.
    """
    found = moment.findings.found
    keys = finding_keys(found)
    sheet = Sheet("", query.width)
    if query.key not in keys:
        return sheet.say("this is resolved", "ok").answer()
    one = found[keys.index(query.key)]
    sheet.fact(SEVERITY_WORDS[one.severity], f"{one.subject}: {one.what}", SEVERITY_STYLES[one.severity]).gap()
    sheet.fact("why", one.why).fact("what to do", one.action).gap()
    if one.since_ms > 0:
        sheet.fact("since", f"{date_text(one.since_ms)}, {age_text(one.since_ms, now_ms)} ago")
    if one.partitions:
        sheet.fact("partitions", f"{partition_ranges(one.partitions)} ({len(one.partitions):,})")
    is_of_topic = one.partitions and " " not in one.subject  # those of a group are of several topics
    leads_to = f"partition {one.subject}-{one.partitions[0]}" if is_of_topic else one.subject
    return msgspec.structs.replace(sheet.fact("kind", one.kind).answer(), title=leads_to)


ALERT = "finding"
"""Kind of the event that an error came up."""

NOTICES_APART_MS = 10_000
"""In a storm, one notice tells of all that came within this time."""

MOST_RAISED = 500
"""Errors that can be read later."""

_What = tuple[str, str]
_State = tuple[_What, str, tuple[int, ...]]


class _Error(NamedTuple):
    """An error that came up, and is there still or not."""

    what: _What
    text: str
    came_ms: int
    """0 where it was there from the beginning, since nobody knows when."""
    over_ms: int = 0
    """When it was over; 0 while it is not."""

    def told(self) -> str:
        """`X 12:03:58 orders: no live leader`, or `12:04:01 orders: resolved after 3.0 s (no live leader)`."""
        subject = self.what[1]
        if not self.over_ms:
            return f"X {clock_text(self.came_ms)[:8]} {subject}: {self.text}"
        lasted = f" after {duration_text(self.over_ms - self.came_ms)}" if self.came_ms else ""
        return f"{clock_text(self.over_ms)[:8]} {subject}: resolved{lasted} ({self.text})"


class Alerts:
    """Of one source. Errors of its first whole image are no news: they stand in the list, and are counted."""

    def __init__(self) -> None:
        self.raised: tuple[Change, ...] = ()
        """Errors as they came up, for the list of events; the oldest first."""
        self._acknowledged: frozenset[_State] = frozenset()
        self.known: frozenset[Finding] = frozenset()
        """Findings of the newest moment that the operator has acknowledged, and that did not change since."""
        self._known: tuple[Finding, ...] | None = None
        self._errors: dict[int, Finding] = {}
        """By the object's id."""
        self._news: dict[_What, _Error] = {}
        """What came or ended since the last notice, in the order in which it did."""
        self._told: dict[_What, _Error] = {}
        """What the last notice told of."""
        self._open: dict[_What, _Error] = {}
        """Every error that is there, since when."""
        self._notice = NO_NOTICE
        self._told_ms = -NOTICES_APART_MS

    def take(self, moment: Moment) -> None:
        """A moment was published."""
        found = moment.findings.found
        if not moment.image.provenance.complete or found is self._known:
            return
        is_first, self._known = self._known is None, found
        # Most of them are the very same as before: only the others are looked at. Errors come first.
        errors = {id(one): one for one in found[: moment.findings.census.of("error")]}
        gone = dict.fromkeys(_what(one) for place, one in self._errors.items() if place not in errors)
        came = [one for place, one in errors.items() if place not in self._errors]
        new = [one for one in came if _what(one) not in gone]
        stays = {_what(one) for one in came}
        self._errors = errors
        seen = moment.image.provenance
        self._note(new, [what for what in gone if what not in stays], seen.time_ms, is_news=not is_first)
        if not is_first:
            changes = (Change(ALERT, one.subject, one.what, "error", seen.time_ms, seen.zxid) for one in new)
            self.raised = (*self.raised, *changes)[-MOST_RAISED:]
        self._recognise(found)

    def _note(self, new: Sequence[Finding], gone: Collection[_What], now_ms: int, *, is_news: bool) -> None:
        """These came up, and those are over."""
        for one in new:
            what = _what(one)
            came_ms = one.since_ms if 0 < one.since_ms <= now_ms else now_ms * is_news
            self._open[what] = _Error(what, one.what, came_ms)
            if is_news:
                self._news[what] = self._open[what]
        for what in gone:
            self._news.pop(what, None)  # the newest last
            self._news[what] = self._open.pop(what)._replace(over_ms=now_ms)

    def notice(self, now_ms: int) -> Notice:
        """The last thing to be told; not more often than every ten seconds.

        When all that it told of is over, its words are replaced at once: the number stays the same.
        """
        if self._told and not self._told.keys() & self._open.keys() and self._told.keys() <= self._news.keys():
            over = [self._news.pop(what) for what in self._told]
            self._told = {}
            self._notice = Notice(self._notice.number, _in_a_line(over))
        elif self._news and now_ms - self._told_ms >= NOTICES_APART_MS:
            self._told = {what: one for what, one in self._news.items() if not one.over_ms}
            told = self._told or self._news  # what is wrong comes before what is over
            self._notice = Notice(self._notice.number + 1, _in_a_line([*told.values()]))
            self._news = {what: one for what, one in self._news.items() if what not in told}
            self._told_ms = now_ms
        return self._notice

    def tell(self, text: str, now_ms: int) -> None:
        """What the operator asked for has come to its end, one line: that is told at once, and errors wait for it."""
        self._notice, self._told_ms, self._told = Notice(self._notice.number + 1, text), now_ms, {}

    def due_ms(self) -> int | None:
        """When there is something to be told; None where there is nothing."""
        return self._told_ms + NOTICES_APART_MS if self._news else None

    @property
    def counts(self) -> tuple[int, int]:
        """Errors and warnings that are known of."""
        known = Counter(one.severity for one in self.known)
        return known["error"], known["warn"]

    def acknowledge(self, key: str, found: tuple[Finding, ...]) -> str:
        """The operator knows of the finding with this key, or no longer does; what was done, in a sentence."""
        keys = finding_keys(found)
        if key not in keys:
            return "this is resolved"
        one = found[keys.index(key)]
        was_known = one in self.known
        self._acknowledged ^= {_state(one)}
        self._recognise(found)
        if was_known:
            return f"{one.subject}: no longer acknowledged"
        return f"{one.subject}: acknowledged until it changes; A takes it back"

    def _recognise(self, found: tuple[Finding, ...]) -> None:
        """What is gone, or is otherwise by now, is no longer known of."""
        if self._acknowledged or self.known:
            known = [one for one in found if _state(one) in self._acknowledged]
            self.known, self._acknowledged = frozenset(known), frozenset(map(_state, known))


def _in_a_line(errors: Sequence[_Error]) -> str:
    more = len(errors) - 1
    return errors[0].told() + (f" (and {more:,} more)" if more else "")


def _what(finding: Finding) -> _What:
    return finding.kind, finding.subject


def _state(finding: Finding) -> _State:
    """How bad it is, and which partitions it is about; numbers within the sentence may change all the time."""
    return _what(finding), finding.severity, finding.partitions
