"""How the forecast's screen has it played: wave after wave of random years, then what would help.

Figures are there after the first few hundred years, and narrow. Those of what helps, and of what the answer hangs on,
are of fewer years: they are differences over the same accidents, which need less. A plan, other settings or brokers
that come are played beside the cluster as it is, through the same accidents, too.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from model.analyses.analysis import Wave
from model.analyses.forecast.assumptions import USUAL, Rate
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.figures import HISTORIES, YEAR_MS, Pair, TopicFigures, VariantFigures, pair_of, scaled
from model.analyses.forecast.forecast import (
    FORECAST,
    PILOT,
    ForecastParameters,
    UnitSums,
    arrays_of_variants,
    is_look,
    parts,
    together,
)
from model.analyses.forecast.given import changed
from model.analyses.forecast.playing import Playing, RemedyEffect, Swing, WorstStretch, topic_pairs
from model.analyses.forecast.statistics import Estimate
from model.cluster.cluster_image import ClusterImage
from model.planning.layout import Sizes
from model.planning.request import NewBroker
from spark_tasks.engines import Engines
from spark_tasks.spark_client import EngineResult
from spark_tasks.worker import Waves
from tui.engine.questions import ForecastQuestion
from tui.engine.sheets import duration_text


class ForecastSoFar(msgspec.Struct, frozen=True, kw_only=True):
    """A forecast as far as it is played."""

    figures: VariantFigures
    asked: int
    """Histories in all."""
    seed: int
    detect_s: float
    rates: tuple[Rate, ...]
    moments_of: Callable[[str], tuple[WorstStretch, ...]]
    """The worst moments of a topic, which are played once more for that; empty: of all topics together."""
    change: str = ""
    """What is changed in the cluster that is played beside this one; empty: there is none."""
    after: VariantFigures | None = None
    pair: Pair | None = None
    pairs: Mapping[str, Pair] = {}
    """By topic."""
    helps: tuple[RemedyEffect, ...] = ()
    swings: tuple[Swing, ...] = ()

    def fewer(self, topic: TopicFigures, measure: str) -> Estimate:
        """Minutes a year of one of its partitions that the change saves."""
        return scaled(self.pairs[topic.name].difference[measure], 1 / topic.partitions)

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

    def __init__(self, asked: int, playing: Playing, change: str, run: Waves) -> None:
        self.playing, self.change, self.asked, self.run = playing, change, asked, run
        self.variants = [playing.cluster(image, playing.assumed) for image in playing.images]
        self.base = self.variants[0]
        self._rest = min(HISTORIES, asked) * (1 + ACTIONS_MEANT), SWUNG * playing.swings_count
        self.left = 0.0

    async def waves(self) -> AsyncIterator[tuple[ForecastParameters, UnitSums]]:
        """Of the cluster, and of what is to be played beside it. Raises what the engine raises."""
        parameters = partial(self.playing.parameters, self.variants)
        every = parts(self.asked, len(self.variants), parameters, sum(self._rest))
        async for wave, tally in self.run.over(FORECAST, arrays_of_variants(self.variants), every):
            self.left = wave.left
            yield wave.parameters, tally

    async def _beside(self, variants: Sequence[Cluster], count: int) -> UnitSums:
        """Fewer histories, all of them at once."""
        cost = float(count * len(variants))
        wave = Wave(self.playing.parameters(variants, 0, count), cost, max(self.left - cost, 0.0))
        return await self.run.play(FORECAST, arrays_of_variants(variants), wave)

    def so_far(self, came: Sequence[UnitSums]) -> ForecastSoFar:
        """What these histories come to."""
        playing, variants, tally = self.playing, self.variants, together(came)
        both = [playing.figures(tally, variants, number) for number in range(len(variants))]
        is_changed = len(variants) > 1
        return ForecastSoFar(
            figures=both[0], asked=self.asked, seed=playing.seed, detect_s=self.base.times.detect_ms / 1000,
            rates=tuple(playing.assumed.rates.values()), change=self.change,
            moments_of=lambda topic: playing.moments(tally, variants, topic),
            after=both[1] if is_changed else None,
            pair=pair_of(tally, 0, 1, playing.horizon_ms) if is_changed else None,
            pairs=topic_pairs(tally, playing.topics, playing.horizon_ms) if is_changed else {},
        )  # fmt: skip

    async def helps(self) -> tuple[RemedyEffect, ...]:
        """What could be done, played beside the cluster as it is."""
        actions = await asyncio.to_thread(self.playing.actions, self.base)
        variants = [self.base, *(one.cluster for one in actions)]
        return self.playing.helping(await self._beside(variants, min(HISTORIES, self.asked)), actions)

    async def swings(self) -> tuple[Swing, ...]:
        """What the answer hangs on."""
        variants = await asyncio.to_thread(self.playing.swung)
        return self.playing.swings(await self._beside(variants, min(SWUNG, self.asked)))

    def progress(self, what: str) -> str:
        """With about how long it still takes."""
        return f"{what}, about {duration_text(round(1000 * max(self.run.left_s(self.left), 1)))} left"


async def forecast_played(
    question: ForecastQuestion,
    image: ClusterImage,
    sizes: Sizes | None,
    planned: ClusterImage | None,
    engines: Engines,
    tag: str,
    part: OnPart,
) -> EngineResult:
    """The result, and what it took; meanwhile what is known so far is handed over.

    `planned`: the cluster as the question's plan has it. Raises what an engine raises, and AnalysisError.
    """

    run = Waves(engines, tag, question.engine, first=0.0, apart=True)
    try:
        return await _played(question, image, sizes, planned, run, part)
    finally:
        await asyncio.shield(run.close())


async def _played(
    question: ForecastQuestion,
    image: ClusterImage,
    sizes: Sizes | None,
    planned: ClusterImage | None,
    run: Waves,
    part: OnPart,
) -> EngineResult:
    def begun() -> _Play:
        add = tuple(NewBroker(broker, rack or None) for broker, rack in question.add)
        named = None if planned is None else ("the plan", planned)
        after, change = changed(image, sizes, question.settings, add, named)
        images = [image] if after is None else [image, after]
        return _Play(question.histories, Playing(images, USUAL, YEAR_MS, sizes), change, run)

    play = await asyncio.to_thread(begun)
    so_far, helps, came = None, tuple[RemedyEffect, ...](), list[UnitSums]()

    def tell(known: ForecastSoFar, next_one: str) -> None:
        part(known, run.so_far(None).engine, play.progress(next_one))

    async for asked, tally in play.waves():
        came = came if is_look(asked, play.asked) else [*came, tally]
        so_far = await asyncio.to_thread(play.so_far, came or [tally])
        if came and not helps:
            tell(so_far, "trying what would help")
            helps = await play.helps()
        so_far = msgspec.structs.replace(so_far, helps=helps)
        tell(so_far, f"{so_far.figures.histories:,} of {play.asked:,} years played")
    assert so_far is not None
    tell(so_far, "trying what it hangs on")
    return run.so_far(msgspec.structs.replace(so_far, swings=await play.swings()))
