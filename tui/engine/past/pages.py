"""What the screen of events shows: the whole feed whatever moment is looked at, and where in time that is.

And what changed between any two moments: counts on top, then each change, as `changes_between` says.
"""

import asyncio
import heapq
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from model.cluster.changes import Change, changes_between
from model.cluster.findings.check import SEVERITIES, Finding
from model.cluster.texts import counted
from model.sources.feed import Moment
from tui.engine.cluster.events import event_text, events_window
from tui.engine.cluster.overview import partitions_found
from tui.engine.listing import Memory
from tui.engine.messages import TextAnswer
from tui.engine.past.moments import happened
from tui.engine.past.queries import ComparisonText, PastEventList, PastEventText
from tui.engine.past.service import PastService
from tui.engine.rows import Window, span
from tui.engine.sheets import SEVERITY_STYLES, Sheet, clock_text, date_text, stamp_text

COUNTED = 20
"""Cells of a counter's name."""


class Side(NamedTuple):
    """One of the two moments: when it was (ms), and what it is to the operator."""

    moment: Moment
    at_ms: int
    name: str


def comparison_text(earlier: Side, later: Side, query: ComparisonText) -> TextAnswer:
    """From the earlier one to the later one."""
    then, now = earlier.moment, later.moment
    sheet = Sheet("compared", query.width)
    for name, side in (("from", earlier), ("to", later)):
        sheet.fact(name, f"{stamp_text(side.at_ms)}, {side.name}", "strong")
    sheet.gap()
    changes = changes_between(then.image, now.image)
    if then.image is now.image or not changes:
        return sheet.say("nothing is different").answer()
    sheet.draw(span(f"{'':{COUNTED}}{'from':>10}{'to':>10}", "dim"))
    for name, old, new in _counters(then, now):
        style = "" if old == new else "changed"
        sheet.draw(span(f"{name:{COUNTED}}", "dim"), span(f"{old:>10}{new:>10}", style))
    sheet.gap()
    for kind, count in Counter(change.kind for change in changes).most_common():
        sheet.draw(span(f"{kind:{COUNTED}}", "dim"), f"{count:>10,}")
    sheet.gap()
    for change in sorted(changes, key=lambda one: SEVERITIES.index(one.severity)):
        _tell(sheet, change)
    for title, found in (("new findings", _apart(now, then)), ("findings gone", _apart(then, now))):
        if found:
            sheet.gap().say(f"{title}: {len(found):,}", "heading")
        for one in found:
            sheet.fact(one.severity, f"{one.subject}: {one.what}", SEVERITY_STYLES[one.severity])
    return sheet.answer()


def _tell(sheet: Sheet, change: Change) -> None:
    style = SEVERITY_STYLES[change.severity] if change.severity != "info" else ""
    sheet.fact(change.severity, f"{change.subject}: {change.text}", style)


def _counters(then: Moment, now: Moment) -> list[tuple[str, str, str]]:
    def controller(moment: Moment) -> str:
        ruler = moment.image.controller
        return "none" if ruler.broker is None else f"b{ruler.broker} e{ruler.epoch}"

    numbers = (
        ("brokers", lambda moment: len(moment.image.brokers)),
        ("topics", lambda moment: len(moment.image.topics)),
        ("partitions", lambda moment: moment.image.partition_count),
        ("offline", lambda moment: partitions_found(moment, "offline")),
        ("under-replicated", lambda moment: partitions_found(moment, "under-replicated")),
        ("errors", lambda moment: moment.findings.census.of("error")),
    )
    counted = [(name, f"{count(then):,}", f"{count(now):,}") for name, count in numbers]
    return [("controller", controller(then), controller(now)), *counted]


def _apart(some: Moment, others: Moment) -> list[Finding]:
    """Findings of one moment that the other has none like."""
    known = {(one.kind, one.subject) for one in others.findings.found}
    return [one for one in some.findings.found if (one.kind, one.subject) not in known]


MIB = 1 << 20


class More(NamedTuple):
    """What the past does not know: the newest moment, and what became critical."""

    live: Moment
    alerts: tuple[Change, ...]


async def past_window(past: PastService, more: More, query: PastEventList, now_ms: int, memory: Memory) -> Window:
    """All events, those after the moment looked at too: they are the way back to it; what the operator marked,
    and what became critical."""
    return events_window(_with_more(past, more, memory), query, now_ms, memory)


async def past_event_text(past: PastService, more: More, query: PastEventText, _: int, memory: Memory) -> TextAnswer:
    """The event with this key, and the timeline."""
    event = event_text(_with_more(past, more, memory), query)
    sheet = _standing(past, query)
    return TextAnswer(event.title, (*event.lines, (), *sheet.lines), f"{event.plain}\n\n{sheet.plain}")


async def past_comparison(past: PastService, more: More, query: ComparisonText, *_: object) -> TextAnswer:
    """The moment looked at, and the one whose `seq` is the key."""
    live = more.live
    newest = past.newest.seq if past.newest else 0
    other = int(query.key) if query.key.isdecimal() else newest
    sides: list[Side] = []
    for seq in sorted((query.at or newest, other)):
        moment, at_ms = await past.look(seq, live) if seq else (live, live.image.provenance.time_ms)
        sides.append(Side(moment, at_ms, past.called(seq)))
    return await asyncio.to_thread(comparison_text, sides[0], sides[1], query)


def _with_more(past: PastService, more: More, memory: Memory) -> Moment:
    live, alerts = more
    feed, marks = past.feed or live.feed, past.marks

    def merged() -> Moment:
        added = sorted((*alerts, *(mark.change for mark in marks.made)), key=_time)
        return replace(live, feed=tuple(heapq.merge(feed, added, key=_time)))

    return memory.recall("past events", (feed, alerts, marks), merged)


def _time(change: Change) -> int:
    return change.time_ms


def _standing(past: PastService, query: PastEventText) -> TextAnswer:
    timeline, newest = past.timeline, past.newest
    sheet = Sheet("Timeline", query.width)
    sheet.draw(span("Timeline", "heading"))
    if newest is None or not timeline.instants:
        return sheet.say("nothing was read yet", "dim").answer()
    first, last = timeline.instants[0], timeline.instants[-1]
    here = timeline.at_seq(query.at) if query.at else None
    if here is None:
        sheet.fact("looked at", past.called(newest.seq))
    else:
        apart = newest.total - here.total
        away = f"{counted(abs(apart), 'change')} {'before' if apart >= 0 else 'after'} {past.called(newest.seq)}"
        sheet.fact("looked at", f"{_when(here.at_ms)}, {away}", "paused")
        sheet.fact("then", happened(here))
    sheet.fact("reaches", f"back to {_when(first.at_ms)}, {_span(last.at_ms - first.at_ms)}")
    if not (past.window.is_first and past.window.is_last):
        sheet.fact("", "the recording goes on: stepping on plays more of it")
    marks = sum(each.is_mark for each in timeline.instants)
    gone = f"; {timeline.dropped:,} older ones were dropped" if timeline.dropped else ""
    sheet.fact("moments", f"{len(timeline.instants):,} of at most {timeline.most_moments:,}, {marks:,} marks{gone}")
    used, most = timeline.size_bytes / MIB, timeline.most_bytes // MIB
    return sheet.fact("memory", f"about {used:,.1f} MiB of at most {most:,} MiB").answer()


def _when(at_ms: int) -> str:
    return f"{date_text(at_ms)[:10]} {clock_text(at_ms)} UTC"


def _span(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
