"""`kdrill drill --fleet`: every scenario of some kinds played in virtual time, and how long each would hurt.

Wave after wave, where each is done sooner, in this process or on Spark. For people, the worst ones first; as JSON
lines, a manifest and then a line for each scenario as it comes, in the order of their numbers: `kdrill.fleet/1`. With
`--store` they are kept as Parquet, and what is there already is not played again.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from model.analyses.analysis import Wave
from model.analyses.fleets.fleet import FIRST_MS, FLEET, NOTHING, fleet_arrays, waves
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, FleetResult, FleetRow, Generator, left_out
from model.analyses.fleets.store import (
    MOST_WORST,
    STORED_FLEET,
    CountedRows,
    FleetStore,
    Manifest,
    StoreError,
    counted,
    hash_of,
    missing,
    stored_parts,
    with_counted,
)
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted as so_many
from model.drills.voters import not_forecast, rules_since
from spark_tasks.spark_client import IN_PROCESS, Engine, EngineResult
from tui.cli.output import json_line, put
from tui.cli.waved import played
from tui.engine.messages import Opening
from tui.engine.text import cells, plain

EVERY = "every"
MOST_SEQUENCES, SEQUENCES = 1_000_000, 1_000
NUMBERED = {"pair": "pair:K, as in pair:10, one pair in ten", "random": "random:N, as in random:1000"}
HEADS = ("lost", "offline", "under min", "no leader s", "longest s", "refused s", "moved")


def wanted(text: str, seed: int, *, unclean: bool) -> FleetParameters:
    """`single,pair:10,random:1000` as parameters; `every` is all there are. Raises click.UsageError."""
    kinds: list[Generator] = []
    count, step = 0, 1
    for word in (part.strip() for part in text.split(",")):
        name, colon, number = word.partition(":")
        if word == EVERY:
            kinds = list(GENERATORS)
            count = count or SEQUENCES
            continue
        if name not in GENERATORS or (colon and name not in NUMBERED):
            raise click.UsageError(
                f"--fleet: {word!r} is none of {', '.join(GENERATORS[:-1])}, pair:K, random:N and {EVERY}"
            )
        if colon or name == "random":
            given = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 0
            if not 1 <= given <= MOST_SEQUENCES:
                raise click.UsageError(f"--fleet: {word!r} is not {NUMBERED[name]} (at most {MOST_SEQUENCES:,})")
            count, step = (given, step) if name == "random" else (count, given)
        kinds.append(cast(Generator, name))
    ordered: tuple[Generator, ...] = tuple(each for each in GENERATORS if each in kinds)
    return FleetParameters(generators=ordered, unclean=unclean, count=count, seed=seed, every=step)


class FleetCommand:
    """One run of the command."""

    def __init__(self, image: ClusterImage, asked: FleetParameters, engine: Engine, folder: Path | None) -> None:
        """Raises click.ClickException."""
        self.image = image
        self._asked = asked
        self._engine = engine
        self._arrays = fleet_arrays(image)
        self._total = len(self._arrays.stage.scenarios(asked))
        if not self._total:
            raise click.ClickException(NOTHING)
        seen = image.provenance
        self.manifest = Manifest(
            source=seen.source,
            time_ms=seen.time_ms,
            image=hash_of(self._arrays),
            rules=rules_since(image),
            brokers=tuple(sorted(image.brokers)),
            asked=asked,
            scenarios=self._total,
        )
        self._played: EngineResult | None = None
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
    def engine(self) -> str:
        """Where it was played, and why there."""
        return self._played.where if self._played is not None else IN_PROCESS

    def play(self, most: int = MOST_WORST, *, tells: bool = False) -> Iterator[Sequence[FleetRow]]:
        """The rows of each wave, where it `tells` them or keeps them nowhere; the manifest has the worst of all, `most`
        of them. Raises click.ClickException. A KeyboardInterrupt ends it, and what is at it, at once."""
        store, todo = self._store, missing(self.manifest.done, range(self._total))
        if not todo:
            return

        def parts(most: Callable[[], float]) -> Iterator[Wave]:
            cut = waves(self._arrays.stage, self._asked, most, todo)
            return cut if store is None else (stored_parts(part, store.folder, tells=tells) for part in cut)

        analysis = FLEET if store is None else STORED_FLEET
        apart = store is not None  # Arrow, which writes parts, aborts where its thread ends with the program
        try:
            for came in played(self._engine, analysis, self._arrays, parts, first=FIRST_MS, apart=apart):
                self._take(came.result, most)
                self._played = came.run.so_far(None)
                came.tell(f"{self.done:,} of {self._total:,} played")
                yield came.result.rows
        except StoreError as error:
            raise click.ClickException(f"--store: {error}") from None
        except OSError as error:
            raise click.ClickException(f"--store: {error.filename}: {error.strerror or error}") from None

    @property
    def done(self) -> int:
        """Scenarios that were played so far, or stored before."""
        return sum(end - begin for begin, end in self.manifest.done)

    def _take(self, found: FleetResult | CountedRows, most: int) -> None:
        if isinstance(found, FleetResult):
            self.manifest = with_counted(self.manifest, counted(found.rows, most), most)
        elif self._store is not None:
            self._store.count(found)
            self.manifest = self._store.manifest


def fleet(
    opening: Opening,
    run: FleetCommand,
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


def _json_lines(opening: Opening, run: FleetCommand) -> Iterator[str]:
    """Those that are stored already are not told again."""
    said: dict[str, Any] = msgspec.to_builtins(run.manifest)
    asked = {name: value for name, value in said.pop("asked").items() if name not in ("first", "end")}
    kept = ("format", "source", "time_ms", "image", "rules", "brokers", "scenarios")
    yield json_line({**{name: said[name] for name in kept}, "stored": run.stored, "asked": asked}, opening)
    for rows in run.play(0, tells=True):
        yield from (json_line(msgspec.to_builtins(row)) for row in rows)


def _lines(run: FleetCommand, limit: int) -> Iterator[str]:
    """After an interruption those of what was played by then, and then it goes on being one."""
    image, interrupted = run.image, None
    try:
        for _ in run.play(max(limit, 0)):
            pass
    except KeyboardInterrupt as error:
        if not run.done:
            raise
        interrupted = error
    manifest = run.manifest
    if first := not_forecast(image):
        yield first
    there = f", {run.stored:,} of them before" if run.stored else ""
    of = f"interrupted: {run.done:,} of " if interrupted is not None else ""
    yield plain(
        f"{image.provenance.source}: {of}{so_many(manifest.scenarios, 'scenario')} played in virtual time{there}"
    )
    yield f"assumed: rules of Kafka {manifest.rules} and later; a broker that comes back was away for 15 min"
    if said := left_out(manifest.asked.every):
        yield f"sampled: {said}"
    yield f"computed {run.engine}; {manifest.hurting:,} hurt"
    yield ""
    worst = manifest.worst[:limit]
    width = max(map(cells, ("scenario", *(plain(_named(row)) for row in worst))))
    yield f"{'scenario':<{width}}  {'  '.join(HEADS)}"
    for row in worst:
        name = plain(_named(row))
        yield f"{name}{' ' * (width - cells(name))}  {row.error or _figures(row)}"
    if run.done > len(worst):
        yield f"… {run.done - len(worst):,} more, none of them worse: --limit lists more"
    if interrupted is not None:
        raise interrupted


def _named(row: FleetRow) -> str:
    return row.text if row.controller is None else f"{row.text} (controller b{row.controller})"


def _figures(row: FleetRow) -> str:
    figures = (
        f"{row.lost:,}", f"{row.offline_after:,}", f"{row.under_min_after:,}", f"{row.leaderless_s:,.1f}",
        f"{row.longest_s:,.1f}", f"{row.under_min_s:,.1f}", f"{row.moved:,}",
    )  # fmt: skip
    return "  ".join(figure.rjust(len(head)) for figure, head in zip(figures, HEADS, strict=True))
