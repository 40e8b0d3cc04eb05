"""What the forecast's screen shows, and how it is played: wave after wave of random years, then what would help.

Figures are there after the first few hundred years, and narrow. Those of what helps, and of what the answer hangs on,
are of fewer years: they are differences over the same accidents, which need less.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from model.analyses.forecast.assumptions import USUAL, Rate
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.figures import (
    HISTORIES,
    NOT_MODELLED,
    YEAR_MS,
    CauseFigures,
    Figures,
    TopicFigures,
    in_columns,
    sentences,
    signed_in_columns,
)
from model.analyses.forecast.figures import (
    span as told,
)
from model.analyses.forecast.forecast import FORECAST, PILOT, UNIT, Tally, arrays_of_variants, together, waves
from model.analyses.forecast.lockstep import MEASURES
from model.analyses.forecast.playing import Help, Playing, Swing
from model.analyses.forecast.statistics import Estimate
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import listed
from model.drills.voters import not_forecast
from model.planning.layout import Sizes
from spark_tasks.engines import Engines
from spark_tasks.spark_client import EngineResult
from tui.engine import glyphs
from tui.engine.analysis import AnalysisAnswer
from tui.engine.filters import Numbers, Texts, whole_numbers
from tui.engine.listing import Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.palette import drawn, heat
from tui.engine.queries import ForecastActionList, ForecastCauseList, ForecastText, ForecastTopicList
from tui.engine.questions import ForecastQuestion
from tui.engine.rows import Column, Line, Row, line, span
from tui.engine.sheets import Sheet, clock_text, duration_text


class ForecastSoFar(msgspec.Struct, frozen=True, kw_only=True):
    """A forecast as far as it is played."""

    figures: Figures
    asked: int
    """Histories in all."""
    seed: int
    detect_s: float
    rates: tuple[Rate, ...]
    helps: tuple[Help, ...] = ()
    swings: tuple[Swing, ...] = ()

    @property
    def topics(self) -> list[TopicFigures]:
        """The worst first."""
        return sorted(self.figures.topics, key=lambda topic: (topic.badness, topic.name))


SWUNG = PILOT
"""Histories for each rate at each end of what is known of it."""
OnPart = Callable[[Any, str, str], None]
"""Is handed what is known so far, who works it out, and how far that is."""


ACTIONS_MEANT = 8
"""Before it is known how many apply, so many are reckoned with."""


class _Play:
    """One forecast on its way; the work is counted in histories of one variant."""

    def __init__(self, question: ForecastQuestion, playing: Playing, engines: Engines, tag: str) -> None:
        self.playing, self.asked = playing, question.histories
        self.base = playing.cluster(playing.images[0], playing.assumed)
        self._question, self._engines, self._tag = question, engines, tag
        self._left = self.asked + min(HISTORIES, self.asked) * (1 + ACTIONS_MEANT) + SWUNG * playing.swings_count
        self._done, self._began_s = 0, time.monotonic()
        self.found: list[EngineResult] = []

    async def play(self, variants: Sequence[Cluster], first: int, count: int) -> Tally:
        """Of so many histories from the first one on. Raises what the engine raises."""
        parameters, arrays = self.playing.parameters(variants, first, count), arrays_of_variants(variants)
        kind = self._question.engine
        one = await self._engines.run(FORECAST, arrays, parameters, tag=self._tag, told=lambda _: None, kind=kind)
        self.found.append(one)
        self._done, self._left = self._done + count * len(variants), self._left - count * len(variants)
        return one.result

    def so_far(self, came: Sequence[Tally]) -> ForecastSoFar:
        """What these histories come to."""
        figures = self.playing.figures(together(came), [self.base])
        return ForecastSoFar(
            figures=figures, asked=self.asked, seed=self.playing.seed, detect_s=self.base.times.detect_ms / 1000,
            rates=tuple(self.playing.assumed.rates.values()),
        )  # fmt: skip

    async def helps(self) -> tuple[Help, ...]:
        """What could be done, played beside the cluster as it is."""
        actions = await asyncio.to_thread(self.playing.actions, self.base)
        variants = [self.base, *(one.cluster for one in actions)]
        return self.playing.helping(await self.play(variants, 0, min(HISTORIES, self.asked)), actions)

    async def swings(self) -> tuple[Swing, ...]:
        """What the answer hangs on."""
        variants = await asyncio.to_thread(self.playing.swung)
        return self.playing.swings(await self.play(variants, 0, min(SWUNG, self.asked)))

    def progress(self, what: str) -> str:
        """With about how long it still takes."""
        left_s = (time.monotonic() - self._began_s) / self._done * max(self._left, 0)
        return f"{what}, about {duration_text(round(1000 * max(left_s, 1)))} left"

    def result(self, so_far: ForecastSoFar) -> EngineResult:
        """With what all of it took."""
        seconds, cpu_s, tasks = (
            sum(getattr(one, name) for one in self.found) for name in ("seconds", "cpu_s", "tasks")
        )
        return msgspec.structs.replace(self.found[-1], result=so_far, seconds=seconds, cpu_s=cpu_s, tasks=tasks)


async def forecast_played(
    question: ForecastQuestion, image: ClusterImage, sizes: Sizes | None, engines: Engines, tag: str, part: OnPart
) -> EngineResult:
    """The result, and what it took; meanwhile what is known so far is handed over. Raises what an engine raises."""
    play = await asyncio.to_thread(lambda: _Play(question, Playing([image], USUAL, YEAR_MS, sizes), engines, tag))
    so_far, helps, came = None, tuple[Help, ...](), list[Tally]()

    def tell(known: ForecastSoFar, next_one: str) -> None:
        part(known, play.found[-1].engine, play.progress(next_one))

    for first, count in waves(play.asked):
        tally = await play.play([play.base], first, count)
        is_look = not came and count < min(play.asked, UNIT)  # it is played again within the next wave
        came = came if is_look else [*came, tally]
        so_far = await asyncio.to_thread(play.so_far, came or [tally])
        if came and not helps:
            tell(so_far, "trying what would help")
            helps = await play.helps()
        so_far = msgspec.structs.replace(so_far, helps=helps)
        tell(so_far, f"{so_far.figures.histories:,} of {play.asked:,} years played")
    assert so_far is not None
    tell(so_far, "trying what it hangs on")
    return play.result(msgspec.structs.replace(so_far, swings=await play.swings()))


# The lists

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


TOPIC_COLUMNS = (
    Column("topic", -16, "<", "topic"),
    Column("parts", 6, ">", "partitions", 5),
    Column("no leader", 9, ">", "leaderless"),
    Column("95 %", 16, ">", "", 4),
    Column("under min", 9, ">", "under_min_isr"),
    Column("95 %", 16, ">", "", 2),
)


def forecast_topics(look: AnalysisAnswer, query: ForecastTopicList, *_: object) -> Listing:
    """The worst first, by what is certain; the key is the topic's name."""
    so_far: ForecastSoFar | None = look.result
    topics = so_far.topics if so_far else []
    names = [topic.name for topic in topics]
    unled, under = ([topic.each(measure) for topic in topics] for measure in ("leaderless", "under_min_isr"))
    scale = Scale([one.mean for one in under], max((one.high or one.mean for one in under), default=0.0))
    bar = max(BARS[0], min(query.width - TOPIC_NUMBERS, BARS[-1]))

    def row(place: int) -> Row:
        one = under[place]
        style = "" if one.low else "dim"
        cells = (
            span(f"{topics[place].partitions:,}", "dim"),
            *_spans(unled[place], "" if unled[place].low else "dim"),
            *_spans(one, style),
        )
        bars = _bar(scale, one.mean, one.low, one.mean if one.high is None else one.high, bar)
        return Row(names[place], (line(names[place]), *map(line, cells), bars))

    return Listing(
        count=len(topics),
        fields=lambda: {
            "topic": Texts(lambda: names),
            "partitions": whole_numbers(topic.partitions for topic in topics),
            "leaderless": Numbers(np.array([one.mean for one in unled])),
            "under_min_isr": Numbers(np.array([one.mean for one in under])),
        },
        shown=("topic",),
        row=row,
        place=place_in(names),
        columns=(*TOPIC_COLUMNS, Column("log scale" if scale.is_log else "", bar, "<", "", 3, most=BARS[0])),
        made_from=(look.result,),
        nothing=look.note or "there is no topic",
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
    bar = max(BARS[0], min(query.width - CAUSE_NUMBERS, BARS[-1]))

    def row(place: int) -> Row:
        cause = causes[place]
        part = cause.under_min_isr / most
        cells = (span(f"{cause.leaderless:,.4g}"), span(f"{cause.under_min_isr:,.4g}"))
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
