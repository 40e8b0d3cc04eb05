"""What `kdrill forecast` does once its options make sense: variants of the cluster, histories in waves, a document.

Variants are played together, by the same random numbers. What has come when somebody interrupts is kept.
"""

import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from model.analyses import AnalysisError
from model.analyses.forecast import assumptions
from model.analyses.forecast.assumptions import USUAL, AssumptionError, Assumptions
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.figures import (
    FORMAT,
    HISTORIES,
    NOT_MODELLED,
    YEAR_MS,
    Pair,
    VariantFigures,
    pair_of,
    plain_values,
)
from model.analyses.forecast.forecast import (
    FORECAST,
    UnitSums,
    arrays_of_variants,
    is_look,
    parts,
    together,
)
from model.analyses.forecast.given import Setting, changed, learnt_from
from model.analyses.forecast.playing import Playing, RemedyEffect, Swing, WorstStretch, write_tables
from model.analyses.forecast.statistics import is_within
from model.cluster.cluster_image import ClusterImage
from model.planning.layout import Sizes, measured
from model.planning.plan import applied
from model.planning.planner import read_moves, score
from model.planning.request import NewBroker, PlanError, PlanRequest
from spark_tasks.spark_client import IN_PROCESS, Engine
from tui.cli.following import image_of
from tui.cli.output import tell
from tui.cli.plan_made import read_file, sizes_for
from tui.cli.waved import played
from tui.engine.messages import Opening

SWUNG = 1_000
"""Histories for each rate at each end of what is known of it."""


class ForecastOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options."""

    years: float
    histories: int
    seed: int | None
    assumed: Path | None
    learn: Path | None
    plan: Path | None
    settings: tuple[Setting, ...]
    add: tuple[NewBroker, ...]
    within: float | None
    """Percent: enough is played when the intervals are so narrow."""
    store: Path | None
    quick: bool


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """A forecast, and how it came about."""

    image: ClusterImage
    assumed: Assumptions
    seed: int
    asked: int
    horizon_ms: int
    figures: VariantFigures
    cluster: Cluster
    after: VariantFigures | None
    pair: Pair | None
    change: str
    actions: tuple[RemedyEffect, ...]
    swings: tuple[Swing, ...]
    warnings: tuple[str, ...]
    engine: str
    seconds: float
    moments: tuple[WorstStretch, ...]
    stopped: bool
    """The intervals were narrow enough before all was played."""

    @property
    def complete(self) -> bool:
        return self.figures.histories >= self.asked


class _Players(Playing):
    """Plays by the command's engine."""

    interrupted = False
    """Somebody wants to see what there is: nothing more is to be played."""

    def play(
        self, variants: Sequence[Cluster], histories: int, engine: Engine, within: float | None = None
    ) -> tuple[UnitSums, str]:
        """As many as came before an interruption, or were enough, and by whom.

        It is asked after whole waves whether they are, else quick histories would count for more. Raises
        click.ClickException; KeyboardInterrupt where none came.
        """
        came, look, by = list[UnitSums](), list[UnitSums](), IN_PROCESS
        every = parts(histories, len(variants), partial(self.parameters, variants))
        coming = played(engine, FORECAST, arrays_of_variants(variants), lambda _: every, first=0.0, apart=False)
        try:
            with closing(coming):
                for one in coming:
                    asked, by = one.wave.parameters, one.run.so_far(None).engine
                    (look if is_look(asked, histories) else came).append(one.result)
                    one.tell(f"{asked.first + asked.histories:,} of {histories:,} years played")
                    if came and self.is_enough(together(came), variants, within):
                        break
        except KeyboardInterrupt:
            if not look and not came:
                raise
            self.interrupted = True
            tell("interrupted: what follows is of the histories that were played by then")
        return together(came or look), by

    def is_enough(self, tally: UnitSums, variants: Sequence[Cluster], within: float | None) -> bool:
        """Whether the intervals of the whole cluster's minutes are within so many percent."""
        if within is None:
            return False
        measures = self.figures(tally, variants).measures
        return all(is_within(measures[name], within / 100) for name in ("leaderless", "under_min_isr"))


def make(opening: Opening, wish: ForecastOptions, engine: Engine) -> Made:
    """Raises click.ClickException, click.UsageError, SourceError."""
    image = image_of(opening)
    sizes = sizes_for(opening.source, None) or measured(image)
    try:
        return _made(image, sizes, wish, engine)
    except (AnalysisError, AssumptionError) as error:
        raise click.ClickException(str(error)) from None


def _made(image: ClusterImage, sizes: Sizes | None, wish: ForecastOptions, engine: Engine) -> Made:
    began_s = time.monotonic()
    assumed = USUAL if wish.assumed is None else assumptions.read(read_file(wish.assumed), str(wish.assumed))
    if wish.learn is not None:
        assumed = learnt_from(wish.learn, assumed)
    after, change = _changed(image, wish, sizes)
    images = [image] if after is None else [image, after]
    players = _Players(images, assumed, round(wish.years * YEAR_MS), sizes, wish.seed)
    warnings: list[str] = []
    assumptions.check(assumed, players.brokers, warnings.append)
    variants = [players.cluster(each, assumed) for each in images]
    tally, by = players.play(variants, wish.histories, engine, wish.within)
    if wish.store is not None:
        try:
            write_tables(wish.store, players.topics, tally, seed=players.seed, horizon_ms=players.horizon_ms)
        except OSError as error:
            raise click.ClickException(f"--store {wish.store}: {error.strerror or error}") from None
    figures = [players.figures(tally, variants, number) for number in range(len(images))]
    helps, swings = _beside(players, variants[0], wish, engine)
    return Made(
        image=image, assumed=assumed, seed=players.seed, asked=wish.histories, horizon_ms=players.horizon_ms,
        figures=figures[0], cluster=variants[0], after=figures[1] if after is not None else None,
        pair=pair_of(tally, 0, 1, players.horizon_ms) if after is not None else None, change=change, actions=helps,
        swings=swings, warnings=tuple(warnings), engine=by,
        seconds=time.monotonic() - began_s, moments=players.moments(tally, variants),
        stopped=players.is_enough(tally, variants, wish.within),
    )  # fmt: skip


def _beside(
    players: _Players, base: Cluster, wish: ForecastOptions, engine: Engine
) -> tuple[tuple[RemedyEffect, ...], tuple[Swing, ...]]:
    """What helps, and what the answer hangs on: as far as there is time and anybody wants to know."""
    helps: tuple[RemedyEffect, ...] = ()
    swings: tuple[Swing, ...] = ()
    if wish.quick or players.interrupted:
        return helps, swings
    try:
        helps = _helping(players, base, wish, engine)
        swings = () if players.interrupted else _swung(players, wish, engine)
    except KeyboardInterrupt:
        tell("interrupted: what helps, or what the answer hangs on, is left out")
    return helps, swings


def _helping(players: _Players, base: Cluster, wish: ForecastOptions, engine: Engine) -> tuple[RemedyEffect, ...]:
    found = players.actions(base)
    tally, _ = players.play([base, *(one.cluster for one in found)], min(HISTORIES, wish.histories), engine)
    return players.helping(tally, found)


def _swung(players: _Players, wish: ForecastOptions, engine: Engine) -> tuple[Swing, ...]:
    tally, _ = players.play(players.swung(), min(SWUNG, wish.histories), engine)
    return players.swings(tally)


def _changed(image: ClusterImage, wish: ForecastOptions, sizes: Sizes | None) -> tuple[ClusterImage | None, str]:
    """The cluster with the plan and the settings, and what they are in words; None where nothing is to change."""

    def planned(path: Path) -> ClusterImage:
        moves = read_moves(read_file(path), str(path))
        return applied(image, score(image, moves, PlanRequest(add=wish.add), str(path), sizes))

    path = wish.plan
    try:
        return changed(image, sizes, wish.settings, wish.add, None if path is None else (str(path), planned(path)))
    except (AnalysisError, PlanError) as error:
        raise click.UsageError(str(error)) from None


def document(made: Made) -> dict[str, Any]:
    """`kdrill.forecast/1`."""
    seen = made.image.provenance
    told = made.figures
    found: dict[str, Any] = {
        "format": FORMAT,
        "image": {"source": seen.source, "time_ms": seen.time_ms},
        "assumptions": {
            "rates": list(made.assumed.rates.values()),
            "detect_s": made.cluster.times.detect_ms / 1000,
            "lag_s": made.cluster.times.lag_ms / 1000,
            "groups": made.assumed.groups,
            "maintenance": made.assumed.calendars,
        },
        "seed": made.seed,
        "years": made.horizon_ms / YEAR_MS,
        "histories": told.histories,
        "engine": {"name": made.engine, "wall_s": round(made.seconds, 3)},
        "complete": made.complete,
        "unit": "partition-minutes a year",
        "cluster": told.measures,
        "quantiles": told.quantiles,
        "topics": {topic.name: {"partitions": topic.partitions, **topic.measures} for topic in told.topics},
        "loss": told.loss,
        "causes": told.causes,
        "sensitivity": made.swings,
        "actions": [{"name": one.name, "price": one.price, **_pair(one.pair)} for one in made.actions],
        "pair": None if made.pair is None else {"plan": made.change, **_pair(made.pair)},
        "after": None if made.after is None else {"cluster": made.after.measures, "loss": made.after.loss},
        "worst": made.moments,
        "stopped": made.stopped,
        "warnings": made.warnings,
        "not_modelled": NOT_MODELLED,
    }
    return plain_values(found)


def _pair(pair: Pair) -> dict[str, Any]:
    return {"difference": pair.difference, "variance_ratio": pair.variance_ratio}
