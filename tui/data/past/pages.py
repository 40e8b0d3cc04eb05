"""What the screen of events shows: the whole feed whatever moment is looked at, and where in time that is."""

import asyncio
import heapq
from dataclasses import replace

from model.cluster.changes import Change
from model.cluster.words import counted
from model.sources.feed import Moment
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.ages import clock_text, date_text
from tui.data.pages.comparison import Side, comparison_text
from tui.data.pages.events import event_text, events_window
from tui.data.pages.listing import Memory
from tui.data.pages.sheets import Sheet
from tui.data.past.desk import PastDesk
from tui.data.past.steps import happened
from tui.rows import Window, span

MIB = 1 << 20


def past_window(
    past: PastDesk, alerts: tuple[Change, ...], live: Moment, query: ListQuery, now_ms: int, memory: Memory
) -> Window:
    """All events, those after the moment looked at too: they are the way back to it; what the operator marked,
    and what became critical."""
    return events_window(_with_more(past, alerts, live, memory), query, now_ms, memory)


async def past_text(
    past: PastDesk, alerts: tuple[Change, ...], live: Moment, query: TextQuery, memory: Memory
) -> TextAnswer:
    """`past-event`: the event with this key, and the timeline; `past-comparison`: the moment looked at, and the one
    whose `seq` is the key."""
    if query.about == "past-comparison":
        return await _comparison(past, live, query)
    event = event_text(_with_more(past, alerts, live, memory), query)
    sheet = _standing(past, query)
    return TextAnswer(event.title, (*event.lines, (), *sheet.lines), f"{event.plain}\n\n{sheet.plain}")


async def _comparison(past: PastDesk, live: Moment, query: TextQuery) -> TextAnswer:
    newest = past.newest.seq if past.newest else 0
    other = int(query.key) if query.key.isdecimal() else newest
    sides: list[Side] = []
    for seq in sorted((query.at or newest, other)):
        moment, at_ms = await past.look(seq, live) if seq else (live, live.image.provenance.time_ms)
        sides.append(Side(moment, at_ms, past.called(seq)))
    return await asyncio.to_thread(comparison_text, sides[0], sides[1], query)


def _with_more(past: PastDesk, alerts: tuple[Change, ...], live: Moment, memory: Memory) -> Moment:
    feed, marks = past.feed or live.feed, past.marks

    def merged() -> Moment:
        added = sorted((*alerts, *(mark.change for mark in marks.made)), key=_time)
        return replace(live, feed=tuple(heapq.merge(feed, added, key=_time)))

    return memory.recall("past events", (feed, alerts, marks), merged)


def _time(change: Change) -> int:
    return change.time_ms


def _standing(past: PastDesk, query: TextQuery) -> TextAnswer:
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
