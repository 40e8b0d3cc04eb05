"""What the history's screen shows: brokers by hours as a heat map, the worst moments, topics without a leader, groups
that rebalance, and what is known at all. It grows while the recording is read.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from model.analyses.history.results import ClusterHistory, HistoryResult, Storm
from model.cluster.texts import counted
from model.recordings.folder import parse_time, said
from tui.engine import glyphs
from tui.engine.filters import Numbers, Texts, whole_numbers
from tui.engine.history.hours import HOUR_MS, SIGNS, UNKNOWN, HourGrid, grid_of, took
from tui.engine.history.queries import LOST, HistoryText, HourList, LeaderlessList, MomentList, StormList
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import (
    BESIDE,
    NAMED,
    NOWHERE,
    AnswerMemo,
    Listing,
    VisibleColumns,
    place_in,
    visible_columns,
    window,
)
from tui.engine.messages import TextAnswer
from tui.engine.rows import Column, Line, Row, Window, line, span
from tui.engine.sheets import Sheet

EDGES = 4
"""Cells of a list beside its columns."""
BROKER, TOTAL = 6, 9
MAP = 2
"""The place of the map among the columns."""
WIDEST = 8
"""Cells of one cell of the map, at most."""
BAR = 12


class HistorySoFar(NamedTuple):
    """A result that may not be whole yet: so many of all parts of the recording are in it."""

    history: HistoryResult
    done: int
    parts: int


def chosen(look: AnalysisAnswer, recorded: int) -> ClusterHistory | None:
    """The cluster that is shown; None before anything is known."""
    clusters = look.result.history.clusters if look.result is not None else ()
    return clusters[recorded % len(clusters)] if clusters else None


def history_hours(look: AnalysisAnswer, query: HourList, now_ms: int, memory: AnswerMemo) -> Window:
    """A row for each broker, by id."""
    of = chosen(look, query.recorded)
    if of is None:
        return window(_no_hours(look), query, memory, now_ms)
    room = max(query.width - EDGES - BROKER - TOTAL - 2, 1)
    measure = query.view or LOST
    grid = memory.recall(query.name, (of, measure, room), lambda: grid_of(of, measure, room - 1))
    things = _things(grid, of)
    worst = np.unravel_index(int(grid.counts.argmax()), grid.counts.shape) if grid.counts.size else (0, 0)
    column = query.column if query.column in things else things[int(worst[1])]
    cell = max(min(room // max(len(things), 1), WIDEST), 1)
    shown = visible_columns(len(things), cell, room, query.offset, things.index(column), is_led=True)
    keys = [f"b{broker}" for broker in grid.brokers]
    listing = Listing(
        count=len(keys),
        fields=lambda: {"broker": whole_numbers(grid.brokers), "times": Numbers(np.array(grid.totals))},
        shown=("broker",),
        row=lambda row: _hour_row(keys[row], grid, row, shown, is_filled=query.is_filled),
        place=place_in(keys),
        columns=(*HOURS, Column(_title(things, shown), shown.width)),
        made_from=(of, measure, room),
        nothing="no broker left an ISR or lost a leadership",
        sought=int(worst[0]),
    )
    answer = window(listing, query, memory, now_ms)
    return msgspec.structs.replace(
        answer, across=shown.across(things, MAP), wants=EDGES + BROKER + TOTAL + 2 + shown.width
    )


HOURS = (Column("broker", BROKER, ">", "broker"), Column("times", TOTAL, ">", "times"))
"""Columns beside the map."""


def _no_hours(look: AnalysisAnswer) -> Listing:
    nobody = Numbers(np.empty(0, np.int64))
    return Listing(
        count=0,
        fields=lambda: {"broker": nobody, "times": nobody},
        shown=("broker",),
        row=lambda _: Row("", ()),
        place=lambda _: NOWHERE,
        columns=HOURS,
        made_from=(look.result,),
        nothing=look.note or "nothing is recorded of any broker",
    )


def _things(grid: HourGrid, of: ClusterHistory) -> tuple[str, ...]:
    """What columns stand for: when they begin, but not before anything was known."""
    return tuple(said(max(at_ms, of.from_ms)) for at_ms in grid.times)


def _title(things: Sequence[str], shown: VisibleColumns) -> str:
    """The time under the cursor, above its column."""
    if shown.column == NOWHERE:
        return ""
    name, start = f"{NAMED}{things[shown.column][5:16]}Z", (shown.column - shown.first) * shown.cell
    return " " * min(start, max(shown.width - len(name), 0)) + name


def _hour_row(key: str, grid: HourGrid, row: int, shown: VisibleColumns, *, is_filled: bool) -> Row:
    places = range(len(grid.known))[shown.view]
    width = shown.cell - 1
    cells = [grid.cell(row, place, width, is_filled=is_filled) for place in places]
    total = grid.totals[row]
    numbers = (line(key), line(span(f"{total:,}", "" if total else "dim")))
    if shown.cell > 1:
        return Row(key, (*numbers, shown.line(cells)))
    lead: Line = ((" ", ""),) if shown.lead else ()
    drawn = tuple(
        (BESIDE if place == shown.column else sign, style) for place, (sign, style) in zip(places, cells, strict=True)
    )
    return Row(key, (*numbers, (*lead, *drawn)))


def history_moments(look: AnalysisAnswer, query: MomentList, *_: object) -> Listing:
    """The worst moment of each hour in which it got worse, the worst of all first."""
    of = chosen(look, query.recorded)
    moments = of.moments_by_hour if of else ()
    most = max((one.offline + one.under_replicated for one in moments), default=0)
    keys = [said(one.at_ms) for one in moments]

    def row(place: int) -> Row:
        one = moments[place]
        parts = [(one.offline / most if most else 0, "heat7"), (one.under_replicated / most if most else 0, "heat4")]
        numbers = (span(f"{one.offline:,}", "error" if one.offline else "dim"), span(f"{one.under_replicated:,}"))
        mark = "X" if one.offline else "!"
        time = keys[place][5:19].replace("T", " ")
        return Row(keys[place], (line(time), *map(line, numbers), glyphs.bars(parts, BAR)), mark=mark)

    return Listing(
        count=len(moments),
        fields=lambda: {
            "time": Texts(lambda: keys),
            "offline": whole_numbers(one.offline for one in moments),
            "under": whole_numbers(one.under_replicated for one in moments),
        },
        shown=("time",),
        row=row,
        place=place_in(keys),
        columns=(
            Column("time", 14, "<", "time"),
            Column("offline", 7, ">", "offline"),
            Column("under-repl", 10, ">", "under", 1),
            Column("", BAR, rank=2),
        ),
        made_from=(moments,),
        nothing=look.note or "nothing was ever offline or under-replicated",
    )


def history_topics(look: AnalysisAnswer, query: LeaderlessList, *_: object) -> Listing:
    """The longest time without a leader first; a row leads to where its longest outage began."""
    of = chosen(look, query.recorded)
    topics = of.leaderless.topics if of else ()
    most = max((one.total_ms for one in topics), default=0)
    began = {one.topic: one.from_ms for one in reversed(of.leaderless.longest)} if of else {}
    keys = [f"{said(began[one.topic]) if one.topic in began else '-'} {one.topic}" for one in topics]

    def row(place: int) -> Row:
        one = topics[place]
        numbers = (took(one.total_ms), f"{one.outages:,}", took(one.longest_ms))
        return Row(
            keys[place],
            (line(one.topic), *map(line, numbers), line(span(glyphs.bar(one.total_ms / most, BAR), "error"))),
        )

    return Listing(
        count=len(topics),
        fields=lambda: {
            "topic": Texts(lambda: [one.topic for one in topics]),
            "total": whole_numbers(one.total_ms for one in topics),
            "outages": whole_numbers(one.outages for one in topics),
            "longest": whole_numbers(one.longest_ms for one in topics),
        },
        shown=("topic",),
        row=row,
        place=place_in(keys),
        columns=(
            Column("topic", -16, "<", "topic"),
            Column("in all", 11, ">", "total"),
            Column("outages", 8, ">", "outages", 2),
            Column("longest", 11, ">", "longest", 1),
            Column("", BAR, rank=3),
        ),
        made_from=(topics,),
        nothing=look.note or "every partition had a leader all the time",
    )


def history_groups(look: AnalysisAnswer, query: StormList, *_: object) -> Listing:
    """Most rebalances first; a row leads to where the group's worst storm began."""
    of = chosen(look, query.recorded)
    groups = of.groups if of else ()
    worst: dict[str, Storm] = {storm.group: storm for storm in reversed(of.storms)} if of else {}
    keys = [f"{said(worst[one.group].from_ms) if one.group in worst else '-'} {one.group}" for one in groups]

    def row(place: int) -> Row:
        one = groups[place]
        storm = worst.get(one.group)
        told = f"{storm.rebalances:,} in {took(storm.to_ms - storm.from_ms)}" if storm else "-"
        cells = (
            span(f"{one.rebalances:,}"),
            span(f"{one.storms:,}", "warn" if one.storms else "dim"),
            span(told),
            span(f"{one.moved:,}"),
        )
        return Row(keys[place], (line(one.group), *map(line, cells)), mark="!" if one.storms else "")

    return Listing(
        count=len(groups),
        fields=lambda: {
            "group": Texts(lambda: [one.group for one in groups]),
            "rebalances": whole_numbers(one.rebalances for one in groups),
            "storms": whole_numbers(one.storms for one in groups),
            "moved": whole_numbers(one.moved for one in groups),
        },
        shown=("group",),
        row=row,
        place=place_in(keys),
        columns=(
            Column("group", -16, "<", "group"),
            Column("rebalances", 10, ">", "rebalances"),
            Column("storms", 6, ">", "storms"),
            Column("worst storm", 18, ">", rank=1),
            Column("moved", 8, ">", "moved", 2),
        ),
        made_from=(groups,),
        nothing=look.note or "no group rebalanced",
    )


def history_text(look: AnalysisAnswer, query: HistoryText, *_: object) -> TextAnswer:
    """The box beside the map."""
    of = chosen(look, query.recorded)
    sheet = Sheet("", query.width)
    so_far: HistorySoFar | None = look.result
    if so_far is not None and so_far.done < so_far.parts:
        sheet.fact("partial", f"{so_far.done:,} of {so_far.parts:,} parts read, the newest first", "warn")
    if look.note:
        sheet.say(look.note)
    if of is None or so_far is None:
        return sheet.answer()
    _cell(sheet, of, query)
    gaps = f", {counted(of.gaps, 'gap')}" if of.gaps else ""
    sheet.fact("recorded", f"{_minute(of.from_ms)} to {_minute(of.to_ms)}{gaps}")
    sheet.fact("", f"{took(of.observed_ms)} known, {counted(of.moments, 'moment')} of change")
    lost, left, joined = (sum(getattr(hour, name) for hour in of.hours) for name in ("lost", "left", "joined"))
    sheet.fact("leaders", f"{of.leader_changes:,} changes, {lost:,} leaderships lost")
    sheet.fact("ISR churn", f"{left:,} times out, {joined:,} times back in")
    without = of.leaderless
    total = f"{took(without.total_ms)} in {counted(without.outages, 'outage')}" if without.outages else "never"
    sheet.fact("leaderless", total, "error" if without.outages else "ok")
    sheet.fact("controller", counted(len(of.controllers), "change") if of.controllers else "no change")
    clusters = so_far.history.clusters
    if len(clusters) > 1:
        sheet.fact(
            "cluster", f"{of.cluster}, {query.recorded % len(clusters) + 1} of {len(clusters)}: O shows the next one"
        )
    else:
        sheet.fact("cluster", of.cluster)
    for name, told in look.engine_facts:
        sheet.fact(name, told)
    answer = sheet.answer()
    return msgspec.structs.replace(answer, title=folder_of(of))


def folder_of(of: ClusterHistory) -> str:
    """The folder of a cluster of which anything bad is known; empty where all was well."""
    return of.moments_by_hour[0].source.rpartition("@")[0] if of.moments_by_hour else ""


def _cell(sheet: Sheet, of: ClusterHistory, query: HistoryText) -> None:
    """The broker and the time under the cursor; how long a cell is, the time of the next one says."""
    broker, from_time, to_time = query.cell
    if not (broker and from_time):
        return
    from_ms = parse_time(from_time) // HOUR_MS * HOUR_MS
    to_ms = parse_time(to_time) if to_time else of.to_ms
    own = [hour for hour in of.hours if f"b{hour.broker}" == broker and from_ms <= hour.hour_ms < to_ms]
    lost, left, joined = (sum(getattr(hour, name) for hour in own) for name in ("lost", "left", "joined"))
    sheet.fact("cell", f"{broker}, {_minute(parse_time(from_time))} to {_minute(to_ms)}", "strong")
    sheet.fact("", f"{lost:,} leaderships lost, {left:,} times out of ISRs, {joined:,} times back in")
    steps = (span(f"{sign} ", f"heat{step}") for step, sign in enumerate(SIGNS))
    sheet.draw(span("none ", "dim"), *steps, span(" most   ", "dim"), UNKNOWN, span(" not recorded", "dim")).gap()


def _minute(at_ms: int) -> str:
    return f"{said(at_ms)[:16]}Z"
