"""What the screen of events shows: the whole feed whatever moment is looked at, and where in time that is.

And what changed between any two moments: counts on top, then each change, as `changes_between` says.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.cluster.change import Change
from model.cluster.changes import changes_between
from model.cluster.findings.check import SEVERITIES, Finding
from model.cluster.texts import counted
from model.cluster.topic_image import Longs
from model.sources.feed import Moment
from tui.engine.cluster.events import event_text, folded_window
from tui.engine.cluster.overview import partitions_found
from tui.engine.cluster.queries import COMMITTED
from tui.engine.glyphs import area
from tui.engine.history.moments import happened
from tui.engine.history.past_service import STANDS_STILL, PastService
from tui.engine.history.queries import ComparisonText, EventStrip, PastEventList, PastEventText
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.rows import Line, Span, Window, line, span
from tui.engine.sheets import (
    SEVERITY_MARKS,
    SEVERITY_RANKS,
    SEVERITY_STYLES,
    Sheet,
    age_text,
    clock_text,
    date_text,
    stamp_text,
)

COUNTED = 20
"""Cells of a counter's name."""


class MomentSide(NamedTuple):
    """One of the two moments: when it was (ms), and what it is to the operator."""

    moment: Moment
    at_ms: int
    name: str


def comparison_text(earlier: MomentSide, later: MomentSide, query: ComparisonText) -> TextAnswer:
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


async def past_window(past: PastService, more: More, query: PastEventList, now_ms: int, memory: AnswerMemo) -> Window:
    """All events, those after the moment looked at too: they are the way back to it; what the operator marked,
    and what became critical."""
    return folded_window(_with_more(past, more, memory), query, now_ms, memory)


async def past_event_text(
    past: PastService, more: More, query: PastEventText, _: int, memory: AnswerMemo
) -> TextAnswer:
    """The event with this key, and the timeline."""
    event = event_text(_with_more(past, more, memory), query)
    sheet = _standing(past, query, more[0].status.unread)
    return TextAnswer(event.title, (*event.lines, (), *sheet.lines), f"{event.plain}\n\n{sheet.plain}")


_MARKED = ("error", "warn")


class Strip(NamedTuple):
    """Events by column: how many, and the worst of them as an index of SEVERITIES. `commits` are counted apart."""

    first_ms: int
    step_ms: int
    counts: Longs
    commits: Longs
    worst: Longs

    def column(self, at_ms: int) -> int:
        return min(max((at_ms - self.first_ms) // self.step_ms, 0), len(self.counts) - 1)


def strip_of(feed: Sequence[Change], first_ms: int, last_ms: int, width: int) -> Strip:
    """The events of a time in at most `width` columns; those before it are in the first one."""
    span_ms = max(last_ms - first_ms, 0) + 1
    step_s = -(-span_ms // (1_000 * max(width, 1)))
    columns = max(-(-span_ms // (step_s * 1_000)), 1)
    facts = ((one.time_ms, one.count, one.kind == COMMITTED, SEVERITY_RANKS[one.severity]) for one in feed)
    times, numbers, is_commit, ranks = np.array(list(facts), np.int64).reshape(-1, 4).T
    places, worst = np.clip((times - first_ms) // (step_s * 1_000), 0, columns - 1), np.full(columns, len(SEVERITIES))
    np.minimum.at(worst, places[is_commit == 0], ranks[is_commit == 0])
    counts, commits = (
        np.bincount(places, numbers * (is_commit == wanted), columns).astype(np.int64) for wanted in (0, 1)
    )
    return Strip(first_ms, step_s * 1_000, counts, commits, worst)


async def event_strip(past: PastService, more: More, query: EventStrip, now_ms: int, memory: AnswerMemo) -> TextAnswer:
    """Events over time, coloured by the worst of each column; where the cursor is, and the moment looked at."""
    feed, instants = _with_more(past, more, memory).feed, past.timeline.instants
    if not instants or not feed:
        return Sheet("Events", query.width).say("nothing changed yet", "dim").answer()
    is_past = more.live.status.phase in STANDS_STILL
    last_ms = max(instants[-1].at_ms, 0 if is_past else now_ms)
    made_from = (feed, instants[0].at_ms, last_ms // 1_000, query.width)
    strip = memory.recall("strip", made_from, lambda: strip_of(feed, instants[0].at_ms, last_ms, query.width))
    looked = past.timeline.at_seq(query.at) if query.at else None
    time = query.key.partition("/")[0]
    signs = {strip.column(int(time)): ("▲", "key")} if time.isdecimal() else {}
    if looked is not None:
        signs[strip.column(looked.at_ms)] = ("◆", "simulated")
    lines = (*_columns(strip, max(query.height - 2, 1)), _axis(strip, signs), _times(strip, last_ms, query.width))
    told = (f"{clock_text(strip.first_ms + place * strip.step_ms)[:8]} {count:,}"
            for place, count in enumerate(strip.counts.tolist()) if count)  # fmt: skip
    return TextAnswer("Events", lines, "\n".join(told))


def _columns(strip: Strip, height: int) -> tuple[Line, ...]:
    """Bars on a scale of square roots: one event can be seen beside a storm of thousands."""
    styles = [SEVERITY_STYLES[SEVERITIES[rank]] if rank < len(SEVERITIES) else "" for rank in strip.worst.tolist()]
    heights = np.sqrt(strip.counts)
    most = float(heights.max(initial=1))
    columns = [area([(part,)], (style,), height, most) for part, style in zip(heights.tolist(), styles, strict=True)]
    return tuple(tuple(column[y][0] for column in columns) for y in range(height))


def _axis(strip: Strip, signs: Mapping[int, Span]) -> Line:
    """Errors and warnings are letters, too; commits make the line thick."""
    marks = {rank: (SEVERITY_MARKS[severity], severity) for rank, severity in enumerate(_MARKED)}
    ruled: Mapping[bool, Span] = {True: ("━", "isr"), False: ("─", "rule")}
    ranks, commits = strip.worst.tolist(), strip.commits.tolist()
    return tuple(
        signs.get(place) or marks.get(rank) or ruled[bool(committed)]
        for place, (rank, committed) in enumerate(zip(ranks, commits, strict=True))
    )


def _times(strip: Strip, last_ms: int, width: int) -> Line:
    """When it begins and ends, and as much of the legend as there is room for, between the two or behind them."""
    first, last = clock_text(strip.first_ms)[:8], clock_text(last_ms)[:8]
    commits = int(strip.commits.sum())
    parts = [f"a column is {age_text(1, strip.step_ms + 1)}", counted(int(strip.counts.sum()), "event")]
    parts += [f"━ {counted(commits, 'offset')} committed"] if commits else []
    legends = [", ".join(parts[:size]) for size in range(len(parts), -1, -1)]
    within = max(len(strip.counts) - len(first) - len(last), 2)
    behind = width - within - len(first) - len(last) - 3
    between = next(legend for legend in legends if len(legend) + 4 <= within or not legend)
    after = next((legend for legend in legends if len(legend) <= behind), "")
    if len(after) > len(between):
        return line(span(first + " " * within + last + f"   {after}", "dim"))
    return line(span(first + between.center(within) + last, "dim"))


async def past_comparison(past: PastService, more: More, query: ComparisonText, *_: object) -> TextAnswer:
    """The moment looked at, and the one whose `seq` is the key."""
    live = more.live
    newest = past.newest.seq if past.newest else 0
    other = int(query.key) if query.key.isdecimal() else newest
    sides: list[MomentSide] = []
    for seq in sorted((query.at or newest, other)):
        moment, at_ms = await past.look(seq, live) if seq else (live, live.image.provenance.time_ms)
        sides.append(MomentSide(moment, at_ms, past.called(seq)))
    return await asyncio.to_thread(comparison_text, sides[0], sides[1], query)


def _with_more(past: PastService, more: More, memory: AnswerMemo) -> Moment:
    live, alerts = more
    feed, marks = past.feed or live.feed, past.marks

    def merged() -> Moment:
        added = sorted((*alerts, *(mark.change for mark in marks.made)), key=_time)
        return replace(live, feed=tuple(heapq.merge(feed, added, key=_time)))

    return memory.recall("past events", (feed, alerts, marks), merged)


def _time(change: Change) -> int:
    return change.time_ms


def _standing(past: PastService, query: PastEventText, unread: str) -> TextAnswer:
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
    if past.recalled_ms and timeline.image.generation == "kraft":
        sheet.fact("", f"from the cluster's own log, since {_when(past.recalled_ms)[:16]}")
    if unread:
        sheet.fact("", f"the cluster's own log is not read from its start: {unread}", "warn")
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
