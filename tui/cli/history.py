"""`kdrill history`: what recordings tell of days and months of clusters.

For people it is printed in 80 columns: each cluster's figures, the largest first.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypeVar

import click
import msgspec

from model.analyses import AnalysisError
from model.analyses.history.history import HISTORY, history_of, waves
from model.analyses.history.results import (
    FOREVER_MS,
    HISTORY_FORMAT,
    ClusterHistory,
    HistoryParameters,
    HistoryResult,
    WorstMoment,
    parameters_of,
)
from model.analyses.history.tables import merged
from model.cluster.texts import counted
from model.recordings.folder import RecordingError, parse_time, said
from model.sources.addresses import MetadataLogName
from spark_tasks.spark_client import Engine, EngineResult
from tui.cli.log_history import by_spark, logs_of, source_of
from tui.cli.options import takes_engine
from tui.cli.output import Duration, json_line, tell
from tui.engine.glyphs import ASCII
from tui.engine.history.hours import cell_text, grid_of, took
from tui.engine.history.queries import CHURN, LOST
from tui.engine.text import cells, fit, plain

MOST_ROWS = 5
_INDENT = 18
_NAME = 22
_MAP = 42
"""Cells of a heat map, so that lines keep within 80."""

T = TypeVar("T")


def lines(result: HistoryResult, *, everything: bool = False, is_ascii: bool = False) -> Iterator[str]:
    """The result as text; lists are cut unless `everything` is set."""
    for number, cluster in enumerate(result.clusters):
        if number:
            yield ""
        for text in _cluster(cluster, everything, is_ascii):
            yield text.translate(ASCII) if is_ascii else text


def _cluster(of: ClusterHistory, everything: bool, is_ascii: bool) -> Iterator[str]:
    yield plain(of.cluster)
    gaps = f", {counted(of.gaps, 'gap')}" if of.gaps else ""
    yield _fact("recorded", f"{_second(of.from_ms)} to {_second(of.to_ms)}{gaps}")
    yield _fact("", f"{took(of.observed_ms)} known, {counted(of.moments, 'moment')} of change")
    yield from _leaders(of, everything)
    yield from _leaderless(of, everything)
    yield from _hours(of, everything, is_ascii)
    yield from _groups(of, everything)
    yield from _controllers(of, everything)
    yield from _worst(of.worst)
    yield from _moments(of.moments_by_hour, everything)


def _leaders(of: ClusterHistory, everything: bool) -> Iterator[str]:
    yield _fact("leader changes", f"{of.leader_changes:,} in {counted(len(of.topics), 'topic')}")
    for one in _some(of.topics, everything):
        yield _row(one.topic, f"{one.changes:>8,}  on {counted(one.partitions, 'partition')}")
    yield from _more(of.topics, everything)
    if of.partitions:
        names = [f"{plain(one.topic)}-{one.partition} {one.changes:,}x" for one in _some(of.partitions, everything)]
        for head, text in zip(["flapping most", *[""] * len(names)], names, strict=False):
            yield _fact(head, fit(text, 60).rstrip())


def _leaderless(of: ClusterHistory, everything: bool) -> Iterator[str]:
    lost = of.leaderless
    if not lost.outages:
        yield _fact("leaderless", "never")
        return
    still = f", {lost.still:,} to the end" if lost.still else ""
    total = f"{took(lost.total_ms)} in all, {took(round(lost.mean_ms))} on average"
    yield _fact("leaderless", f"{lost.outages:,} times{still}: {total}")
    for one in _some(lost.topics, everything):
        times = f"{took(one.total_ms):>11} in {one.outages:,}, longest {took(one.longest_ms)}"
        yield _row(one.topic, times)
    yield from _more(lost.topics, everything)
    for number, one in enumerate(_some(lost.longest, everything)):
        lasted = f"{took(one.to_ms - one.from_ms):>11} from {_second(one.from_ms)}"
        yield _row(f"{one.topic}-{one.partition}", lasted, "" if number else "longest")
    if not everything and lost.outages > MOST_ROWS:
        yield _fact("", f"… {lost.outages - MOST_ROWS:,} more: --all")


def _hours(of: ClusterHistory, everything: bool, is_ascii: bool) -> Iterator[str]:
    """Both measures, each a heat map of brokers by time; who has most comes first."""
    left, joined, lost = (sum(getattr(hour, name) for hour in of.hours) for name in ("left", "joined", "lost"))
    heads = {
        LOST: ("leadership", f"{lost:,} times lost"),
        CHURN: ("ISR churn", f"{left:,} times out, {joined:,} times back in"),
    }
    for measure, (head, total) in heads.items():
        grid = grid_of(of, measure, _MAP)
        yield _fact(head, f"{total}" + (f"; a cell is {cell_text(grid.step_ms)}" if grid.most else ""))
        rows = sorted(range(len(grid.brokers)), key=lambda row: (-grid.totals[row], grid.brokers[row]))
        rows = [row for row in rows if grid.totals[row]]
        if rows:
            yield _fact("", f"{'broker':>6} {'times':>9}  from {said(grid.from_ms)[:16]}Z")
        for row in _some(rows, everything):
            name, count = grid.brokers[row], grid.totals[row]
            yield _fact("", f"{name:>6} {count:>9,}  {grid.drawn(row, is_ascii=is_ascii)}")
        yield from _more(rows, everything)


def _groups(of: ClusterHistory, everything: bool) -> Iterator[str]:
    if not of.groups:
        yield _fact("rebalances", "none")
        return
    total = sum(one.rebalances for one in of.groups)
    storms = f", {counted(len(of.storms), 'storm')}" if of.storms else ""
    yield _fact("rebalances", f"{total:,} in {counted(len(of.groups), 'group')}{storms}")
    for one in _some(of.groups, everything):
        stormy = f", {counted(one.storms, 'storm')}" if one.storms else ""
        yield _row(one.group, f"{one.rebalances:>8,}  {one.moved:,} moved{stormy}")
    yield from _more(of.groups, everything)
    for number, storm in enumerate(_some(of.storms, everything)):
        lasted = f"{storm.rebalances:,} in {took(storm.to_ms - storm.from_ms)}, {said(storm.from_ms)[:16]}Z"
        yield _row(storm.group, lasted, "" if number else "storms")
    yield from _more(of.storms, everything)


def _controllers(of: ClusterHistory, everything: bool) -> Iterator[str]:
    yield _fact("controller", counted(len(of.controllers), "change") if of.controllers else "no change")
    for one in of.controllers if everything else of.controllers[-MOST_ROWS:]:
        was, now = ("nobody" if broker is None else f"broker {broker}" for broker in (one.before, one.after))
        yield _fact("", f"{_second(one.at_ms)}  {was} → {now}")


def _worst(worst: WorstMoment | None) -> Iterator[str]:
    if worst is None:
        yield _fact("worst moment", "none: nothing was ever offline or under-replicated")
        return
    counts = f"{worst.offline:,} offline, {worst.under_replicated:,} under-replicated"
    yield _fact("worst moment", f"{said(worst.at_ms)}: {counts}")
    drill = worst.drill
    if drill is not None and drill.note:
        yield _fact("", f"no drill: {drill.note}")
    elif drill is not None and drill.kill is None:
        yield _fact("", "any one more failure then would have done no harm")
    elif drill is not None:
        yield _fact("", f"{drill.hurting:,} of {drill.scenarios:,} brokers would have done harm by failing then, too;")
        more = f"{drill.newly_offline:,} more offline, {drill.newly_under_min_isr:,} more under min ISR"
        yield _fact("", f"broker {drill.kill} most: {more}")
    yield _fact("", f"kdrill {plain(quote(worst.source))}")  # to be copied: never cut


def _moments(moments: Sequence[WorstMoment], everything: bool) -> Iterator[str]:
    """The next worst after the worst one, at most one an hour."""
    others = moments[1:]
    for number, one in enumerate(_some(others, everything)):
        counts = f"{one.offline:,} offline, {one.under_replicated:,} under-replicated"
        yield _fact("" if number else "also bad", f"{said(one.at_ms):<24}  {counts}")
    yield from _more(others, everything)


def _second(at_ms: int) -> str:
    return said(at_ms // 1000 * 1000)


def _fact(name: str, text: str) -> str:
    return f"  {name:<{_INDENT - 2}}{text}".rstrip()


def _row(name: str, text: str, head: str = "") -> str:
    name = plain(name)
    name = fit(name, _NAME) if cells(name) > _NAME else f"{name}{' ' * (_NAME - cells(name))}"
    return _fact(head, f"{name} {text}")


def _some(rows: Sequence[T], everything: bool) -> Sequence[T]:
    return rows if everything else rows[:MOST_ROWS]


def _more(rows: Sequence[object], everything: bool) -> Iterator[str]:
    if not everything and len(rows) > MOST_ROWS:
        yield _fact("", f"… {len(rows) - MOST_ROWS:,} more: --all")


Command = Callable[..., Any]


class Time(click.ParamType):
    """A day or a time in ISO 8601, UTC where no offset is given → ms since epoch."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Raises click.BadParameter."""
        try:
            return parse_time(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time: write 2026-11-20 or 2026-11-20T12:03:58Z", param, ctx)


def takes_period(command: Command) -> Command:
    """`--from`, `--to`, `--last`, which the command gets as `period`: from the first to before the second, ms."""

    @click.option("--from", "from_ms", type=Time(), help="from this time: 2026-11-20 or 2026-11-20T12:03:58Z")
    @click.option("--to", "to_ms", type=Time(), default=None, help="up to this time")
    @click.option("--last", "last_s", type=Duration(), help="only the last 24h, 30d, …")
    @wraps(command)
    def with_period(from_ms: int | None, to_ms: int | None, last_s: float | None, **others: Any) -> Any:
        if last_s is not None and from_ms is not None:
            raise click.UsageError("--from and --last exclude each other")
        if last_s is not None:
            from_ms = time.time_ns() // 1_000_000 - round(last_s * 1000)
        period = (from_ms or 0, FOREVER_MS if to_ms is None else to_ms)
        if period[0] >= period[1]:
            raise click.UsageError("--from is not before --to")
        return command(period=period, **others)

    return with_period


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option("--cluster", "clusters", multiple=True, help="only this cluster; may be repeated")
@takes_period
@click.option("--no-drill", is_flag=True, help="no drill on the worst moment")
@click.option("--all", "everything", is_flag=True, help="list every topic, broker, group and outage")
@click.option("--ascii", "is_ascii", is_flag=True, envvar="KDRILL_ASCII", show_envvar=True, help="draw with ASCII only")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.history/1 object")
@takes_engine
def history(
    folders: tuple[Path, ...],
    clusters: tuple[str, ...],
    period: tuple[int, int],
    no_drill: bool,
    everything: bool,
    is_ascii: bool,
    as_json: bool,
    engine: Engine,
) -> int:
    """What happened in recorded clusters: leader flaps, leaderships lost and ISR churn by broker and hour, rebalance
    storms, time without a leader, the worst moments and what a drill says about the worst one.

    DIR is what kdrill record wrote, or a KRaft node's folder __cluster_metadata-0, which DIR@TIME or DIR@OFFSET ends
    earlier, or controllers://host:port, whose log is read from its start. Times are UTC. With --spark-master the
    workers read the files, so DIR must be visible to them.

    \b
    Example: kdrill history recordings --last 30d
             kdrill history recordings --cluster prod-eu1 --from 2026-11-01 --to 2026-12-01 --json
             kdrill history /var/lib/kraft/__cluster_metadata-0
    """
    with tempfile.TemporaryDirectory(prefix="kdrill-history-") as kept:
        try:
            found = [*_all_read(folders, Path(kept), clusters, period, engine, drills=not no_drill)]
        except (AnalysisError, RecordingError) as error:
            raise click.ClickException(str(error)) from None
    result = HistoryResult(tuple(cluster for read in found for cluster in read.outcome.result.clusters))
    if not result.clusters:
        raise click.ClickException(f"{', '.join(map(str, folders))}: nothing is recorded of that time")
    if as_json:
        _print_json(folders, period, result, found)
    else:
        for line in lines(result, everything=everything, is_ascii=is_ascii):
            click.echo(line)
        click.echo()
        for read in found:
            click.echo(read.said)
    return 0


class _Read(NamedTuple):
    """What was read, in words, what it tells, and how far it is where somebody interrupted."""

    words: str
    outcome: EngineResult
    partial: str = ""

    @property
    def said(self) -> str:
        told = f", {self.partial}, the newest first" if self.partial else ""
        return f"{self.words}, read in {self.outcome.seconds:,.1f} s, {self.outcome.engine}{told}"


def _all_read(
    folders: Sequence[Path],
    kept: Path,
    clusters: Sequence[str],
    period: tuple[int, int],
    engine: Engine,
    *,
    drills: bool,
) -> Iterator[_Read]:
    """Metadata logs where Spark reads them, and recordings, which they become elsewhere. Raises as `_read` does."""
    logs = logs_of(folders, kept)
    on_spark = {name: log for name, log in logs.items() if engine.wanted == "spark" and kept not in log.path.parents}
    if on_spark:
        for words, outcome in by_spark([*on_spark.values()], kept, clusters, period, engine, drills=drills):
            yield _Read(words, outcome)
    if rest := [folder for folder in folders if folder not in on_spark]:
        recordings = _recordings(rest, logs, kept)
        parameters = parameters_of([*recordings], clusters, *period)
        yield _read(msgspec.structs.replace(parameters, drills=drills), engine, recordings)


def _recordings(folders: Sequence[Path], logs: Mapping[Path, MetadataLogName], kept: Path) -> dict[Path, str]:
    """Recordings to read, and as what they were named; metadata logs become recordings below `kept`.

    Raises RecordingError.
    """
    found: dict[Path, str] = {}
    for number, folder in enumerate(folders):
        if (log := logs.get(folder)) is not None:
            from model.sources.metadata_log.log_files import Until  # noqa: PLC0415
            from model.sources.metadata_log.recorded import record_log  # noqa: PLC0415

            until = Until(log.offset, log.at_ms)
            name = source_of(folder) or str(log.path.absolute())
            found[record_log(log.path, kept / str(number), tell, until=until)] = name
        else:
            found[folder.absolute()] = str(folder.absolute())
    return found


def _named(result: HistoryResult, recordings: Mapping[Path, str]) -> HistoryResult:
    """The result, whose sources are what was named."""

    def named(moment: WorstMoment) -> WorstMoment:
        path, _, when = moment.source.rpartition("@")
        name = recordings.get(Path(path), path)
        return msgspec.structs.replace(moment, source=name if "://" in name else f"{name}@{when}")

    clusters = tuple(
        msgspec.structs.replace(
            each,
            worst=each.worst and named(each.worst),
            moments_by_hour=tuple(map(named, each.moments_by_hour)),
        )
        for each in result.clusters
    )
    return HistoryResult(clusters)


def _read(parameters: HistoryParameters, engine: Engine, recordings: Mapping[Path, str]) -> _Read:
    """Of recordings. Raises AnalysisError, RecordingError, click.ClickException."""
    from tui.cli.waved import computed  # noqa: PLC0415 - takes asyncio

    found = computed(
        engine, HISTORY, {}, parameters, partial(waves, parameters), lambda part: len(part.days), "parts", first=0.0
    )
    read = msgspec.structs.replace(parameters, days=tuple(day for part in found.parts for day in part.days))
    result = _named(history_of(merged(found.results), read), recordings)
    size = sum(day.size_bytes for day in read.days) / 1e6
    words = f"{counted(len(read.days), 'cluster-day')}, {size:,.1f} MB"
    return _Read(words, msgspec.structs.replace(found.outcome, result=result), found.partial)


def _print_json(
    folders: tuple[Path, ...], period: tuple[int, int], result: HistoryResult, found: Sequence[_Read]
) -> None:
    partial = next((read.partial for read in found if read.partial), "")
    provenance = {
        "source": [str(folder) for folder in folders],
        "from_ms": period[0],
        "to_ms": None if period[1] == FOREVER_MS else period[1],
        "engine": ", ".join(dict.fromkeys(read.outcome.engine for read in found)),
        "seconds": round(sum(read.outcome.seconds for read in found), 3),
        **({"partial": partial} if partial else {}),
    }
    click.echo(json_line({"format": HISTORY_FORMAT, **msgspec.to_builtins(result), "provenance": provenance}))
