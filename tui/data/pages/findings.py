"""What is wrong, worst first, and one finding in full: what, why it matters, what to do. The findings' own words."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from model.cluster.findings import Finding
from model.cluster.findings.finding import SEVERITIES
from model.consumers.partition_ranges import partition_ranges
from model.sources.feed import Moment
from tui.data.fields import Coded, Field, Numbers, Texts
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.ages import age_ms, age_text, date_text
from tui.data.pages.listing import Listing, Memory, place_in, window
from tui.data.pages.sheets import Sheet
from tui.data.pages.signs import MARKS, RANKS, STYLES, WORDS
from tui.rows import Column, Row, Window, line, span

SUBJECT, AGE, WHAT = (
    Column("subject", 14, "<", "subject"),
    Column("since", 5, ">", "age"),
    Column("what", -18, "<", "severity"),
)
ACKNOWLEDGED = "a"
"""The mark of a finding that the operator knows of."""

NARROW = 60
"""Below this many cells, how long it has been so is left to the description."""


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
    moment: Moment, query: ListQuery, now_ms: int, memory: Memory, known: Collection[Finding] = ()
) -> Window:
    """All findings, worst first; those that the operator knows of stay in their places, and are quieter."""
    found, narrow = moment.findings.found, query.width < NARROW
    keys = memory.recall("finding keys", (found,), lambda: finding_keys(found))
    listing = Listing(
        count=len(found),
        fields=lambda: _fields(found, now_ms),
        shown=("subject", "kind", "what"),
        row=lambda index: _row(keys[index], found[index], now_ms, narrow=narrow, is_known=found[index] in known),
        place=place_in(keys),
        columns=(SUBJECT, WHAT) if narrow else (SUBJECT, AGE, WHAT),
        made_from=(found,),
        nothing="nothing is wrong" if moment.image.provenance.complete else "not everything was read yet",
    )
    return window(listing, query, memory, now_ms)


def _fields(found: Sequence[Finding], now_ms: int) -> dict[str, Field]:
    return {
        "severity": Coded(np.array([RANKS[one.severity] for one in found], np.int32), Texts(lambda: SEVERITIES)),
        "kind": Texts(lambda: [one.kind for one in found]),
        "subject": Texts(lambda: [one.subject for one in found]),
        "what": Texts(lambda: [one.what for one in found]),
        "age": Numbers(np.array([age_ms(one.since_ms, now_ms) for one in found], np.int64), is_duration=True),
    }


def _row(key: str, found: Finding, now_ms: int, *, narrow: bool, is_known: bool) -> Row:
    style = "dim" if is_known else STYLES[found.severity]
    subject, what = line(span(found.subject, style)), line(span(found.what, "dim") if is_known else found.what)
    return Row(
        key=key,
        cells=(subject, what) if narrow else (subject, line(span(age_text(found.since_ms, now_ms), "dim")), what),
        mark=ACKNOWLEDGED if is_known else MARKS[found.severity],
    )


def finding_text(moment: Moment, query: TextQuery, now_ms: int) -> TextAnswer:
    """The finding with this key."""
    found = moment.findings.found
    keys = finding_keys(found)
    sheet = Sheet("finding", query.width)
    if query.key not in keys:
        return sheet.say("this is not so any more", "ok").answer()
    one = found[keys.index(query.key)]
    sheet.fact(WORDS[one.severity], f"{one.subject}: {one.what}", STYLES[one.severity]).gap()
    sheet.fact("why", one.why).fact("what to do", one.action).gap()
    if one.since_ms > 0:
        sheet.fact("since", f"{date_text(one.since_ms)}, {age_text(one.since_ms, now_ms)} ago")
    if one.partitions:
        sheet.fact("partitions", f"{partition_ranges(one.partitions)} ({len(one.partitions):,})")
    return sheet.fact("kind", one.kind).answer()
