"""What the forecast's screen shows: topics, causes, what helps, worst moments, and the whole in sentences.

With a change beside the cluster as it is, topics and causes have both, and what differs between them.
"""

import math
from collections.abc import Sequence

import numpy as np

from model.analyses.forecast.figures import (
    NOT_MODELLED,
    CauseFigures,
    in_columns,
    sentences,
    signed_in_columns,
)
from model.analyses.forecast.figures import (
    span as told,
)
from model.analyses.forecast.lockstep import MEASURES
from model.analyses.forecast.playing import WorstStretch, compared
from model.analyses.forecast.statistics import Estimate
from model.cluster.texts import listed
from model.drills.voters import not_forecast
from tui.engine import glyphs
from tui.engine.filters import Numbers, Texts, whole_numbers
from tui.engine.forecast_played import ForecastSoFar
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.palette import drawn, heat
from tui.engine.queries import (
    ForecastActionList,
    ForecastCauseList,
    ForecastMomentList,
    ForecastText,
    ForecastTopicList,
)
from tui.engine.rows import Column, Line, Row, line, span
from tui.engine.sheets import Sheet, clock_text

LOG_FROM = 100
"""So many times as much as the least of a list, and its bars are logarithmic."""
BARS = range(10, 41)
TOPIC_NUMBERS, CAUSE_NUMBERS = 86, 50
"""Cells of all else in a list, with a name of 20 cells."""


class Scale:
    """How long a bar is."""

    def __init__(self, means: Sequence[float], most: float) -> None:
        """`most`: what fills it."""
        seen = [mean for mean in means if mean > 0]
        self._least = min(seen, default=1.0)
        self._most = max(most, self._least)
        self.is_log = self._most > LOG_FROM * self._least

    def part(self, value: float) -> float:
        """0 to 1."""
        if not self.is_log:
            return value / self._most
        return math.log1p(value / self._least) / math.log1p(self._most / self._least)


def _bar(scale: Scale, mean: float, low: float, high: float, width: int) -> Line:
    """To the lower bound in a colour of the heat ramp, and on to the upper one as a line, which narrows."""
    full = glyphs.bar(scale.part(low), width).rstrip()
    end = round(scale.part(high) * width)
    return line(span(full, drawn(heat(scale.part(mean)))), span("╌" * max(end - len(full), 0), "dim"))


_MOST_CELLS = 96
"""As TOPIC_NUMBERS, with a change beside."""


TOPIC_COLUMNS = (
    Column("topic", -16, "<", "topic"),
    Column("parts", 6, ">", "partitions", 5),
    Column("no leader", 9, ">", "leaderless"),
    Column("95 %", 16, ">", "", 4),
    Column("under min", 9, ">", "under_min_isr"),
    Column("95 %", 16, ">", "", 2),
)


CHANGED_COLUMNS = (
    Column("topic", -16, "<", "topic"),
    Column("parts", 6, ">", "partitions", 6),
    Column("under min", 9, ">", "under_min_isr"),
    Column("changed", 9, ">", "changed"),
    Column("95 %", 16, ">", "", 4),
    Column("fewer", 9, ">", "fewer"),
    Column("95 %", 18, ">", "", 1),
)


def forecast_topics(look: AnalysisAnswer, query: ForecastTopicList, *_: object) -> Listing:
    """The worst first, by what is certain; the key is the topic's name."""
    so_far: ForecastSoFar | None = look.result
    topics = so_far.topics if so_far else []
    names = [topic.name for topic in topics]
    unled, under = ([topic.each(measure) for topic in topics] for measure in ("leaderless", "under_min_isr"))
    beside = _changed_topics(so_far) if so_far and so_far.change else {}
    scale = Scale([one.mean for one in under], max((one.high or one.mean for one in under), default=0.0))
    bar = max(BARS[0], min(query.width - (_MOST_CELLS if beside else TOPIC_NUMBERS), BARS[-1]))

    def row(place: int) -> Row:
        one, parts = under[place], span(f"{topics[place].partitions:,}", "dim")
        now = _spans(one, "" if one.low else "dim")
        numbers = (*_spans(unled[place], "" if unled[place].low else "dim"), *now)
        cells = (parts, now[0], *beside[names[place]]) if beside else (parts, *numbers)
        bars = _bar(scale, one.mean, one.low, one.mean if one.high is None else one.high, bar)
        return Row(names[place], (line(names[place]), *map(line, cells), bars))

    columns = CHANGED_COLUMNS if beside else TOPIC_COLUMNS
    return Listing(
        count=len(topics),
        fields=lambda: _topic_fields(so_far, names),
        shown=("topic",),
        row=row,
        place=place_in(names),
        columns=(*columns, Column("log scale" if scale.is_log else "", bar, "<", "", 3, most=BARS[0])),
        made_from=(look.result,),
        nothing=look.note or "there is no topic",
    )


def _topic_fields(so_far: ForecastSoFar | None, names: Sequence[str]) -> dict[str, Texts | Numbers]:
    topics = so_far.topics if so_far else []
    minutes = {
        measure: np.array([topic.each(measure).mean for topic in topics]) for measure in ("leaderless", "under_min_isr")
    }
    found: dict[str, Texts | Numbers] = {
        "topic": Texts(lambda: names),
        "partitions": whole_numbers(topic.partitions for topic in topics),
        **{measure: Numbers(each) for measure, each in minutes.items()},
    }
    if so_far and so_far.change:
        fewer = np.array([so_far.fewer(topic, "under_min_isr").mean for topic in topics])
        found |= {"fewer": Numbers(fewer), "changed": Numbers(minutes["under_min_isr"] - fewer)}
    return found


def _changed_topics(so_far: ForecastSoFar) -> dict[str, tuple[tuple[str, str], ...]]:
    """By topic: minutes with the change, and how many fewer these are, over the same accidents."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    after = {topic.name: topic for topic in so_far.after.topics} if so_far.after else {}
    for topic in so_far.topics:
        pair = so_far.pairs[topic.name]
        fewer, interval = signed_in_columns(so_far.fewer(topic, "under_min_isr"))
        then = after.get(topic.name)
        now = _spans(then.each("under_min_isr"), "") if then else (span("-"), span(""))
        found[topic.name] = (*now, span(fewer, VERDICTS[pair.verdict("under_min_isr")]), span(interval, "dim"))
    return found


MOMENT_COLUMNS = (
    Column("year", 7, ">", "", 3),
    Column("from", 8, ">", "", 4),
    Column("no leader", 9, ">", "leaderless"),
    Column("under min", 9, ">", "under_min_isr"),
    Column("fail", -14, "<", "brokers"),
    Column("because of", -22, "<", "cause", 1),
    Column("", BARS[0], "<", "", 2),
)


def forecast_moments(look: AnalysisAnswer, query: ForecastMomentList, _: object, memory: AnswerMemo) -> Listing:
    """The worst first; a row's key is what is played, as a drill has it."""
    so_far: ForecastSoFar | None = look.result
    moments: tuple[WorstStretch, ...] = ()
    if so_far is not None and query.scope:
        moments = memory.recall(query.name, (so_far, query.scope), lambda: so_far.moments_of(query.scope))
    moments = tuple({one.scenario: one for one in reversed(moments) if one.scenario}.values())[::-1]
    keys = [one.scenario for one in moments]
    most = max((one.under_min_isr_min for one in moments), default=0.0) or 1.0

    def row(place: int) -> Row:
        one = moments[place]
        part = one.under_min_isr_min / most
        cells = (
            span(f"{one.history:,}", "dim"),
            span(f"day {one.start_ms / 86_400_000:,.0f}", "dim"),
            span(f"{one.leaderless_min:,.4g}"),
            span(f"{one.under_min_isr_min:,.4g}"),
            span(", ".join(f"b{broker}" for broker in one.brokers)),
            span(", ".join(one.causes), "dim"),
            span(glyphs.bar(part, BARS[0]), drawn(heat(part))),
        )
        return Row(keys[place], tuple(map(line, cells)))

    return Listing(
        count=len(moments),
        fields=lambda: {
            "brokers": Texts(lambda: [" ".join(f"b{broker}" for broker in one.brokers) for one in moments]),
            "cause": Texts(lambda: [", ".join(one.causes) for one in moments]),
            "leaderless": Numbers(np.array([one.leaderless_min for one in moments])),
            "under_min_isr": Numbers(np.array([one.under_min_isr_min for one in moments])),
        },
        shown=("brokers", "cause"),
        row=row,
        place=place_in(keys),
        columns=MOMENT_COLUMNS,
        made_from=(look.result, query.scope),
        nothing=look.note or "in no year that was played did it lack a leader or enough in sync",
    )


def _spans(figure: Estimate, style: str) -> tuple[tuple[str, str], tuple[str, str]]:
    mean, interval = in_columns(figure)
    return span(mean, style), span(interval, "dim")


def forecast_causes(look: AnalysisAnswer, query: ForecastCauseList, *_: object) -> Listing:
    """The worst first."""
    so_far: ForecastSoFar | None = look.result
    causes: tuple[CauseFigures, ...] = so_far.figures.causes if so_far else ()
    names = [cause.name for cause in causes]
    most = max((cause.under_min_isr for cause in causes), default=0.0) or 1.0
    after = {cause.name: cause.under_min_isr for cause in so_far.after.causes} if so_far and so_far.after else None
    bar = max(BARS[0], min(query.width - CAUSE_NUMBERS, BARS[-1]))

    def row(place: int) -> Row:
        cause = causes[place]
        part = cause.under_min_isr / most
        cells = [span(f"{cause.leaderless:,.4g}"), span(f"{cause.under_min_isr:,.4g}")]
        if after is not None:
            cells.append(span(f"{after.get(cause.name, 0.0):,.4g}"))
        return Row(
            names[place], (line(names[place]), *map(line, cells), line(span(glyphs.bar(part, bar), drawn(heat(part)))))
        )

    return Listing(
        count=len(causes),
        fields=lambda: {
            "cause": Texts(lambda: names),
            "leaderless": Numbers(np.array([cause.leaderless for cause in causes])),
            "under_min_isr": Numbers(np.array([cause.under_min_isr for cause in causes])),
        },
        shown=("cause",),
        row=row,
        place=place_in(names),
        columns=(
            Column("cause", -14, "<", "cause"),
            Column("no leader", 9, ">", "leaderless"),
            Column("under min", 9, ">", "under_min_isr"),
            *(() if after is None else (Column("changed", 9, ">"),)),
            Column("", bar, "<", "", 3, most=BARS[0]),
        ),
        made_from=(look.result,),
        nothing=look.note or "nothing was out of order in any year",
    )


VERDICTS = {1: "ok", 0: "dim", -1: "error"}


def forecast_actions(look: AnalysisAnswer, query: ForecastActionList, *_: object) -> Listing:
    """What certainly saves most first; what makes it worse is below 0."""
    so_far: ForecastSoFar | None = look.result
    helps = so_far.helps if so_far else ()
    names = [one.name for one in helps]

    def row(place: int) -> Row:
        pair = helps[place].pair
        cells: list[tuple[str, str]] = []
        for measure in ("under_min_isr", "leaderless"):
            mean, interval = signed_in_columns(pair.difference[measure])
            cells += [span(mean, VERDICTS[pair.verdict(measure)]), span(interval, "dim")]
        return Row(names[place], (line(names[place]), *map(line, cells), line(span(helps[place].price, "dim"))))

    def saved(measure: str) -> Numbers:
        return Numbers(np.array([one.pair.difference[measure].mean for one in helps]))

    return Listing(
        count=len(helps),
        fields=lambda: {
            "action": Texts(lambda: names),
            "leaderless": saved("leaderless"),
            "under_min_isr": saved("under_min_isr"),
        },
        shown=("action",),
        row=row,
        place=place_in(names),
        columns=(
            Column("action", -28, "<", "action"),
            Column("under min", 9, ">", "under_min_isr"),
            Column("95 %", 18, ">", "", 2),
            Column("no leader", 9, ">", "leaderless", 1),
            Column("95 %", 18, ">", "", 4),
            Column("price", -20, "<", "", 3),
        ),
        made_from=(helps,),
        nothing=look.note or "nothing that was tried changes anything",
    )


# The text


def forecast_text(look: AnalysisAnswer, query: ForecastText, *_: object) -> TextAnswer:
    """The whole, or what a row of a list is about."""
    so_far: ForecastSoFar | None = look.result
    sheet = Sheet(query.key, query.width)
    if query.key and so_far is not None:
        return _of_row(sheet, so_far, query.key).answer()
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    if look.stale:
        sheet.say("the cluster has changed since: r works it out anew", "warn")
    if look.note:
        sheet.say(look.note)
    if so_far is None:
        return sheet.answer()
    for sentence in sentences(so_far.figures, so_far.detect_s):
        sheet.say(sentence)
    if so_far.pair is not None:
        for sentence in compared(so_far.pair, so_far.change):
            sheet.say(sentence)
    sheet.gap()
    _rates(sheet, so_far)
    sheet.fact("never in it", listed(NOT_MODELLED, 20), "dim")
    sheet.fact("played", f"{so_far.figures.histories:,} of {so_far.asked:,} years, seed {so_far.seed}")
    for name, fact in look.engine_facts:
        sheet.fact(name, fact)
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC").answer()


def _rates(sheet: Sheet, so_far: ForecastSoFar) -> None:
    usual = [rate for rate in so_far.rates if not rate.given]
    sheet.fact("assumed", f"{len(usual)} of {len(so_far.rates)} rates are defaults, not yours", "warn")
    if so_far.swings and so_far.swings[0].width:
        most = so_far.swings[0]
        at = f"{most.at_low:,.4g} to {most.at_high:,.4g} min under min ISR between {most.low:g} and {most.high:g}"
        sheet.fact("", f"{most.key} moves the answer most: {at}")
    sheet.fact("", "all in sync at first; preferred leaders lead again at once")
    for rate in so_far.rates:
        if rate.given or rate.value:
            source = rate.source if rate.given else f"assumed, {rate.low:g} to {rate.high:g}"
            sheet.draw(span(f"  {rate.key:<28}"), span(f"{rate.value:>8g}  "), span(source, "dim"))


def _of_row(sheet: Sheet, so_far: ForecastSoFar, key: str) -> Sheet:
    for topic in so_far.figures.topics:
        if topic.name == key:
            sheet.say(f"{topic.partitions:,} partitions; minutes a year of one of them, on average", "dim")
            for measure in MEASURES:
                sheet.fact(measure.replace("_", " "), f"  {told(topic.each(measure))}")
            if so_far.change:
                sheet.say(f"with {so_far.change}, minutes fewer", "dim")
                for measure in MEASURES:
                    mean, interval = signed_in_columns(so_far.fewer(topic, measure))
                    sheet.fact(measure.replace("_", " "), f"  {mean} (95 %: {interval})")
    for cause in so_far.figures.causes:
        if cause.name == key:
            sheet.say("minutes a year over all partitions that it is to blame for", "dim")
            sheet.fact("leaderless", f"  {cause.leaderless:,.4g}").fact(
                "under min isr", f"  {cause.under_min_isr:,.4g}"
            )
    for one in so_far.helps:
        if one.name == key:
            sheet.fact("price", one.price)
            sheet.say("minutes, or partitions, a year fewer over all partitions, through the same accidents", "dim")
            for name, figure in one.pair.difference.items():
                mean, interval = signed_in_columns(figure)
                sheet.fact(name.replace("_", " "), f"  {mean} (95 %: {interval})")
    return sheet
