"""`kdrill drill --fleet`: every scenario of some kinds played in virtual time, and how long each would hurt.

Wave after wave, in this process or on Spark. For people, the worst ones first; as JSON lines, a manifest and then a
line for each scenario as it comes, in the order of their numbers: `kdrill.fleet/1`. With `--store` they are kept as
Parquet, and what is there already is not played again.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from model.analyses.analysis import Arrays, run_here
from model.analyses.errors import AnalysisError
from model.analyses.fleets.fleet import FLEET, NOTHING, FleetRow, Stage, Wave, fleet_arrays, waves
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, Generator, scenarios
from model.analyses.fleets.store import (
    MOST_WORST,
    FleetStore,
    Manifest,
    StoreError,
    hash_of,
    missing,
    with_rows,
)
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted
from model.drills.setup_znodes import rules_of
from model.drills.voters import not_forecast
from spark_tasks.messages import JobFailed, SparkLost, SparkOptions
from spark_tasks.spark_client import IN_PROCESS, LOCAL, Engine, SparkClient
from tui.cli.output import json_line, progress, put
from tui.engine.opening import Opening
from tui.engine.sheets import duration_text
from tui.engine.text import cells, plain

EVERY = "every"
MOST_SEQUENCES, SEQUENCES = 1_000_000, 1_000
HEADS = ("lost", "offline", "under min", "no leader s", "longest s", "refused s", "moved")
HERE_MS, SPARK_MS = 2_000.0, 30_000.0
"""About how much processor time a wave takes."""


def wanted(text: str, seed: int, *, unclean: bool) -> FleetParameters:
    """`single,pair,random:1000` as parameters; `every` is all there are. Raises click.UsageError."""
    kinds: list[Generator] = []
    count = 0
    for word in (part.strip() for part in text.split(",")):
        name, colon, number = word.partition(":")
        if word == EVERY:
            kinds = list(GENERATORS)
            count = count or SEQUENCES
            continue
        if name not in GENERATORS or (colon and name != "random"):
            raise click.UsageError(f"--fleet: {word!r} is none of {', '.join(GENERATORS[:-1])}, random:N and {EVERY}")
        if name == "random":
            count = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 0
            if not 1 <= count <= MOST_SEQUENCES:
                raise click.UsageError(
                    f"--fleet: {word!r} is not random:N, as in random:1000 (at most {MOST_SEQUENCES:,})"
                )
        kinds.append(cast(Generator, name))
    ordered: tuple[Generator, ...] = tuple(each for each in GENERATORS if each in kinds)
    return FleetParameters(generators=ordered, unclean=unclean, count=count, seed=seed)


class Fleet:
    """One run of the command."""

    def __init__(self, image: ClusterImage, asked: FleetParameters, engine: Engine, folder: Path | None) -> None:
        """Raises click.ClickException."""
        self.image = image
        self._asked = asked
        self._engine = engine
        self._arrays = fleet_arrays(image)
        self._total = len(scenarios(image, asked))
        if not self._total:
            raise click.ClickException(NOTHING)
        seen = image.provenance
        self.manifest = Manifest(
            source=seen.source,
            time_ms=seen.time_ms,
            image=hash_of(self._arrays),
            rules=rules_of(image).since,
            brokers=tuple(sorted(image.brokers)),
            asked=asked,
            scenarios=self._total,
        )
        self._store: FleetStore | None = None
        try:
            if folder is not None:
                self._store = FleetStore(folder, self.manifest)
                self.manifest = self._store.manifest
        except StoreError as error:
            raise click.ClickException(f"--store: {error}") from None
        except OSError as error:
            raise click.ClickException(f"--store: {folder}: {error.strerror or error}") from None

    @property
    def stored(self) -> int:
        """Scenarios that were stored before."""
        return self._store.stored if self._store else 0

    @property
    def hurts(self) -> bool:
        """Whether any scenario does that was played so far."""
        return self.manifest.hurting > 0

    @property
    def _is_spark(self) -> bool:
        return self._engine.kind == "spark" or (self._engine.kind == "auto" and bool(self._engine.master))

    @property
    def engine(self) -> str:
        """Where it is played."""
        return f"spark {self._engine.master or LOCAL}" if self._is_spark else IN_PROCESS

    def play(self, most: int = MOST_WORST) -> Iterator[Sequence[FleetRow]]:
        """The rows of each wave; the manifest has the worst of all, `most` of them. Raises click.ClickException."""
        todo = missing(self.manifest.done, range(self._total))
        budget = SPARK_MS if self._is_spark else HERE_MS
        parts = waves(Stage(self.image), self._asked, budget, todo) if todo else iter(())
        try:
            with progress() as told:
                for wave, rows in self._played(parts, told):
                    self._take(rows, most)
                    if told is not None:
                        left = duration_text(round(wave.left_ms))
                        told(f"{self._done:,} of {self._total:,} played, about {left} of processor time left")
                    yield rows
        except (AnalysisError, JobFailed, SparkLost) as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            raise click.ClickException(f"--store: {error.filename}: {error.strerror or error}") from None

    @property
    def _done(self) -> int:
        return sum(end - begin for begin, end in self.manifest.done)

    def _take(self, rows: Sequence[FleetRow], most: int) -> None:
        if self._store is None:
            self.manifest = with_rows(self.manifest, rows, most)
        else:
            self._store.keep(rows)
            self.manifest = self._store.manifest

    def _played(self, parts: Iterator[Wave], told: Any) -> Iterator[tuple[Wave, Sequence[FleetRow]]]:
        if not self._is_spark:
            for wave in parts:
                yield wave, run_here(FLEET, self._arrays, wave.parameters).rows
            return
        with ExitStack() as open:
            runner = open.enter_context(asyncio.Runner())
            client = _client(self._engine, told)
            open.callback(lambda: runner.run(client.close()))
            runner.run(client.start())
            for wave in parts:
                yield wave, runner.run(_on_spark(client, self._arrays, wave)).rows


def _client(engine: Engine, told: Any) -> SparkClient:
    def hear(status: Any) -> None:
        if told is not None and status.state == "starting":
            told(f"starting Spark on {status.master}, {status.seconds:.0f} s")

    options = SparkOptions(master=engine.master or LOCAL, build_archive=False)
    return SparkClient(options, hear, without=engine.without)


async def _on_spark(client: SparkClient, arrays: Arrays, wave: Wave) -> Any:
    return await client.run(FLEET, arrays, wave.parameters, FLEET.name)


def fleet(
    opening: Opening,
    run: Fleet,
    limit: int | None,
    output: Path | None,
    *,
    as_json: bool,
) -> bool:
    """Plays and prints it: whether any scenario hurts. Raises click.ClickException."""
    told = _json_lines(opening, run) if as_json else _lines(run, 20 if limit is None else limit)
    if output is not None:
        put("".join(f"{line}\n" for line in told), output)
    else:
        for line in told:
            click.echo(line)
    return run.hurts


def _json_lines(opening: Opening, run: Fleet) -> Iterator[str]:
    """Those that are stored already are not told again."""
    said: dict[str, Any] = msgspec.to_builtins(run.manifest)
    asked = {name: value for name, value in said.pop("asked").items() if name not in ("first", "end")}
    kept = ("format", "source", "time_ms", "image", "rules", "brokers", "scenarios")
    yield json_line({**{name: said[name] for name in kept}, "stored": run.stored, "asked": asked}, opening)
    for rows in run.play(0):
        yield from (json_line(msgspec.to_builtins(row)) for row in rows)


def _lines(run: Fleet, limit: int) -> Iterator[str]:
    image = run.image
    for _ in run.play(max(limit, 0)):
        pass
    manifest = run.manifest
    if first := not_forecast(image):
        yield first
    there = f", {run.stored:,} of them before" if run.stored else ""
    yield plain(f"{image.provenance.source}: {counted(manifest.scenarios, 'scenario')} played in virtual time{there}")
    yield f"assumed: rules of Kafka {manifest.rules} and later; a broker that comes back was away for 15 min"
    yield f"computed {run.engine}; {manifest.hurting:,} hurt"
    yield ""
    worst = manifest.worst[:limit]
    width = max(map(cells, ("scenario", *(plain(_named(row)) for row in worst))))
    yield f"{'scenario':<{width}}  {'  '.join(HEADS)}"
    for row in worst:
        name = plain(_named(row))
        yield f"{name}{' ' * (width - cells(name))}  {row.error or _figures(row)}"
    if manifest.scenarios > len(worst):
        yield f"… {manifest.scenarios - len(worst):,} more, none of them worse: --limit lists more"


def _named(row: FleetRow) -> str:
    return row.text if row.controller is None else f"{row.text} (controller b{row.controller})"


def _figures(row: FleetRow) -> str:
    figures = (
        f"{row.lost:,}", f"{row.offline_after:,}", f"{row.under_min_after:,}", f"{row.leaderless_s:,.1f}",
        f"{row.longest_s:,.1f}", f"{row.under_min_s:,.1f}", f"{row.moved:,}",
    )  # fmt: skip
    return "  ".join(figure.rjust(len(head)) for figure, head in zip(figures, HEADS, strict=True))
