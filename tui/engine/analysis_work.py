"""How each kind of question becomes an analysis.

Sizes of partitions are known where the source is a snapshot that says so (`size_bytes`); no other source knows. Groups
that are made up, so many consumers that read the topics that match, are put into a copy of the cluster's image: they
have what range gives them, so that a death moves what it would move; they have read nothing, so no lag is known.

A recording is read part by part, the newest first: figures are there at once, and grow. The first part is one alone,
and then come more and more at a time, so that an engine has something to divide. So are fleets played.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

import msgspec

from model.analyses import AnalysisError
from model.analyses.drills.results import DrillParameters
from model.analyses.drills.sweep import DRILLS
from model.analyses.engine_costs import EngineCosts, Work, takes_long
from model.analyses.fleets.fleet import (
    FIRST_MS,
    FLEET,
    NOTHING,
    FleetArrays,
    FleetResult,
    FleetRow,
    fleet_arrays,
    waves,
)
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, Generator, pairs_step
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.history import waves as waves_of_days
from model.analyses.history.results import HistoryParameters, parameters_of
from model.analyses.history.tables import HistoryTables, merged
from model.analyses.image_arrays import arrays_of, racks_of
from model.analyses.previews.group_arrays import Staged, previewed, stage
from model.analyses.previews.kernel import FIRST_PARTITIONS, PREVIEWS
from model.analyses.previews.kernel import waves as waves_of_groups
from model.analyses.previews.lab import Lab
from model.analyses.previews.result import PreviewParameters, PreviewResult
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.cluster.image_parts import CLASSIC, ZOOKEEPER, GroupImage, Member
from model.cluster.snapshot_file import SnapshotError, read_document
from model.consumers.assignors.group import NOBODY
from model.planning.layout import Sizes, measured, sizes_of
from model.planning.optimum.problem import Objective, Placement, PlacementProblem
from model.planning.optimum.solving import solve
from model.planning.plan import applied
from model.planning.planner import plan
from model.planning.request import NewBroker, PlanError, PlanRequest
from model.recordings.folder import RecordingError
from model.sources.addresses import parse_source
from model.sources.source import SourceError
from spark_tasks.engines import Engines, OnProgress
from spark_tasks.spark_client import IN_PROCESS, EngineResult
from spark_tasks.worker import Waves
from tui.engine.forecast_played import forecast_played
from tui.engine.history.pages import HistorySoFar
from tui.engine.jobs import AnalysisAnswer
from tui.engine.planned import kept_plan, planned
from tui.engine.questions import (
    DeathsQuestion,
    ForecastQuestion,
    HistoryQuestion,
    MadeUp,
    PlanQuestion,
    PreviewQuestion,
    Question,
    SweepQuestion,
)
from tui.engine.sheets import duration_text


def known_sizes(source: str) -> Sizes | None:
    """The sizes in the file that a source's name names; None where it has none, or is no file (any more)."""
    try:
        path = parse_source(source)
        if isinstance(path, Path) and path.is_file():
            return sizes_of(read_document(path), source)
    except (SourceError, SnapshotError, ValueError):
        return None
    return None


def with_made_up(image: ClusterImage, wanted: MadeUp) -> ClusterImage:
    """The image with the group as brokers would coordinate it, and as one in ZooKeeper. Raises AnalysisError."""
    name, zookeeper_name = wanted.keys
    known = {key for key, _ in image.every_group()}
    if taken := known & {name, zookeeper_name}:
        raise AnalysisError(f"there is a real group {min(taken)}: make up another one")
    members = _members(wanted, image)
    bare = msgspec.structs.replace(
        image,
        classic_groups={
            **image.classic_groups,
            name: GroupImage(name, members, kind=CLASSIC, state="Stable", protocol_type="consumer", protocol="range"),
        },
        groups={
            **image.groups,
            zookeeper_name: GroupImage(zookeeper_name, members, kind=ZOOKEEPER, protocol="zk-range"),
        },
    )
    return msgspec.structs.replace(
        bare,
        classic_groups={**bare.classic_groups, name: _assigned(bare, name)},
        groups={**bare.groups, zookeeper_name: _assigned(bare, zookeeper_name)},
    )


def _members(wanted: MadeUp, image: ClusterImage) -> dict[str, Member]:
    topics = [
        topic
        for topic in image.topics
        if topic not in INTERNAL_TOPICS and any(fnmatchcase(topic, pattern) for pattern in wanted.patterns)
    ]
    digits = len(str(wanted.consumers))
    return {
        f"consumer-{number:0{digits}}": Member(dict.fromkeys(topics, 1)) for number in range(1, wanted.consumers + 1)
    }


def _assigned(image: ClusterImage, key: str) -> GroupImage:
    """The group with what its own strategy deals it."""
    group = image.group(key)
    assert group is not None
    compared = Lab(stage(image, [key])).compare(group.protocol, group.protocol)
    each = zip(compared.topic.tolist(), compared.partition.tolist(), compared.left.tolist(), strict=True)
    owners = {
        TopicPartition(compared.topics[topic], partition): compared.members[owner]
        for topic, partition, owner in each
        if owner != NOBODY
    }
    return msgspec.structs.replace(group, owners=owners)


RANDOM_SETS = (3, 1_000)
"""Size and number of the random sets."""


MOST_PAIRS = 64 * 63 // 2
"""So many are listed, the worst first: every cell of the largest heat map."""


OnPart = Callable[[EngineResult, str], None]
"""Is handed a result that is not whole yet, and how far it is; empty where that is told apart."""


async def worked_out(
    question: Question, image: ClusterImage, engines: Engines, tag: str, told: OnProgress, part: OnPart
) -> EngineResult:
    """The result, who worked it out, and what it took; what takes long is handed over in parts meanwhile.

    Raises what the analysis or its engine raises.
    """
    if isinstance(question, SweepQuestion) and question.fleet:
        return await _fleet(question, image, engines, tag, part)
    if isinstance(question, HistoryQuestion):
        return await history_read(question, engines, tag, told, part)
    if isinstance(question, PreviewQuestion):
        return await _preview(question, image, engines, tag, part)
    if isinstance(question, ForecastQuestion):
        sizes = measured(image) or await asyncio.to_thread(known_sizes, image.provenance.source)
        planned = await _as_planned(question.plan, image, engines, tag, told) if question.plan else None

        def known(result: Any, engine: str, note: str) -> None:
            part(EngineResult(result, engine, 0.0), note)

        return await forecast_played(question, image, sizes, planned, engines, tag, known)
    return await _WORK[type(question)](question, image, engines, tag, told)


RANDOM_SEQUENCES = 200


def fleet_of(question: SweepQuestion, image: ClusterImage) -> FleetParameters:
    """What is played for a question: of very many pairs, one in so many."""
    kinds: tuple[Generator, ...] = tuple(each for each in GENERATORS if question.fleet in ("all", each))
    return FleetParameters(
        generators=kinds, unclean=question.unclean, count=RANDOM_SEQUENCES, seed=question.seed, every=pairs_step(image)
    )


async def _fleet(
    question: SweepQuestion, image: ClusterImage, engines: Engines, tag: str, part: OnPart
) -> EngineResult:
    """Wave after wave, for rows that grow."""
    run = Waves(engines, tag, question.engine, first=FIRST_MS, apart=True)
    try:
        arrays, asked, total = await asyncio.to_thread(_staged_fleet, question, image)
        rows, whole = tuple[FleetRow, ...](), FleetResult((), total, asked.every)
        part(run.so_far(whole), f"0 of {total:,} played")
        async for wave, found in run.over(FLEET, arrays, waves(arrays.stage, asked, run.budget)):
            rows = (*rows, *found.rows)
            whole = msgspec.structs.replace(whole, rows=rows)
            part(run.so_far(whole), f"{len(rows):,} of {total:,} played, {_about(run.left_s(wave.left))} left")
        return run.so_far(whole)
    finally:
        await asyncio.shield(run.close())


def _staged_fleet(question: SweepQuestion, image: ClusterImage) -> tuple[FleetArrays, FleetParameters, int]:
    """What is played, and how many scenarios that is. Raises AnalysisError where there is none."""
    arrays, asked = fleet_arrays(image), fleet_of(question, image)
    if total := len(arrays.stage.scenarios(asked)):
        return arrays, asked, total
    raise AnalysisError(NOTHING)


def _about(seconds: float) -> str:
    return "about " + duration_text(round(1_000 * max(seconds, 1)))


async def _sweep(
    question: SweepQuestion, image: ClusterImage, engines: Engines, tag: str, told: OnProgress
) -> EngineResult:
    arrays = await asyncio.to_thread(arrays_of, image)
    size, count = RANDOM_SETS
    parameters = DrillParameters(
        kind=question.kind, racks=racks_of(image), unclean=question.unclean, size=size, count=count
    )
    if question.kind == "pairs":
        parameters = msgspec.structs.replace(parameters, listed=MOST_PAIRS)
    return await engines.run(DRILLS, arrays, parameters, tag=tag, told=told, kind=question.engine)


async def _deaths(
    question: DeathsQuestion, image: ClusterImage, engines: Engines, tag: str, told: OnProgress
) -> EngineResult:
    """Scenarios of single brokers, and of racks of several."""
    arrays = await asyncio.to_thread(arrays_of, image)
    asked = DrillParameters(kind="brokers", racks=racks_of(image), unclean=question.unclean)
    singles = await engines.run(DRILLS, arrays, asked, tag=tag, told=told)
    asked = msgspec.structs.replace(asked, kind="racks")
    racks = await engines.run(DRILLS, arrays, asked, tag=tag, told=told)
    several = (one for one in racks.result.listed if len(one.kill) > 1)
    return msgspec.structs.replace(racks, result=(*singles.result.listed, *several))


async def _preview(
    question: PreviewQuestion, image: ClusterImage, engines: Engines, tag: str, part: OnPart
) -> EngineResult:
    """Wave after wave, for groups that grow."""
    staged = await asyncio.to_thread(_staged, image, question)
    run, parameters = Waves(engines, tag, question.engine, first=FIRST_PARTITIONS), PreviewParameters((), True, 1)
    whole, every = PreviewResult(()), len(staged.groups)
    async for wave, found in run.over(PREVIEWS, staged.arrays, waves_of_groups(staged.arrays, parameters, run.budget)):
        whole = PreviewResult((*whole.groups, *found.groups))
        if wave.left:
            note = f"{len(whole.groups):,} of {every:,} groups, {_about(run.left_s(wave.left))} left"
            part(run.so_far((staged, whole)), note)
    return run.so_far((staged, whole))


def _staged(image: ClusterImage, question: PreviewQuestion) -> Staged:
    """Every group that strategies apply to; one that is made up comes first."""
    if question.made_up is None:
        return stage(image)
    there = with_made_up(image, question.made_up)
    return stage(there, (*question.made_up.keys, *previewed(image)))


async def _plan(
    question: PlanQuestion, image: ClusterImage, engines: Engines, tag: str, told: OnProgress
) -> EngineResult:
    del engines, tag
    ended, began_s = threading.Event(), time.perf_counter()

    def solved(problem: PlacementProblem, objective: Objective) -> Placement:
        return solve(problem, objective, told=told, ended=ended.is_set)

    told("looking for the best plan")
    try:
        sizes = measured(image) or await asyncio.to_thread(known_sizes, image.provenance.source)
        made = await asyncio.to_thread(plan, image, request_of(question, image), sizes, solved)
        shown = await asyncio.to_thread(planned, image, made)
        return EngineResult(shown, IN_PROCESS, time.perf_counter() - began_s)
    except asyncio.CancelledError:
        ended.set()
        raise


async def _as_planned(
    question: PlanQuestion, image: ClusterImage, engines: Engines, tag: str, told: OnProgress
) -> ClusterImage:
    """The cluster when the plan is carried out, but for the batches that were left out."""
    made = await _plan(question, image, engines, tag, told)
    kept = kept_plan(AnalysisAnswer(question, image, made.result))
    return image if kept is None else await asyncio.to_thread(applied, image, kept)


def request_of(question: PlanQuestion, image: ClusterImage) -> PlanRequest:
    """The wish as the planner takes it. Raises PlanError where it is about a group that reads nothing."""
    return PlanRequest(
        remove=question.remove,
        add=tuple(NewBroker(broker, rack or None) for broker, rack in question.add),
        replication_factor=question.replication_factor,
        reach=question.reach,
        by=question.by,
        tolerance_percent=question.tolerance_percent,
        topics=_topics_of(question.topics_of, image) if question.topics_of else question.topics,
    )


def _topics_of(key: str, image: ClusterImage) -> tuple[str, ...]:
    names = stage(image, [key]).groups[0].topics if image.group(key) else ()
    if topics := tuple(escape(name) for name in names if name in image.topics):
        return topics
    raise PlanError(f"the group {key} reads no topic that is there, so there is nothing to plan")


_WORK: Mapping[type[Any], Callable[..., Awaitable[EngineResult]]] = {
    SweepQuestion: _sweep,
    DeathsQuestion: _deaths,
    PlanQuestion: _plan,
}


async def history_read(
    question: HistoryQuestion, engines: Engines, tag: str, told: OnProgress, part: OnPart
) -> EngineResult:
    """The result, and what it took in all. Raises AnalysisError, JobCancelled, JobFailed."""
    parameters = await asyncio.to_thread(_recorded, question.folder)
    apart = takes_long(EngineCosts(), Work(HISTORY.name, sum(day.size_bytes for day in parameters.days)))
    run = Waves(engines, tag, question.engine, first=0.0, apart=apart)
    try:
        return await _history(run, parameters, told, part)
    finally:
        await asyncio.shield(run.close())


async def _history(run: Waves, parameters: HistoryParameters, told: OnProgress, part: OnPart) -> EngineResult:
    days, tables, read = parameters.days, HistoryTables(), 0
    told(_progress(0, len(days), None))
    async for wave, found in run.over(HISTORY, {}, waves_of_days(parameters, run.budget)):
        tables = await asyncio.to_thread(merged, [tables, found])
        read += len(wave.parameters.days)
        if read < len(days):
            so_far = await asyncio.to_thread(history_of, tables, msgspec.structs.replace(parameters, drills=False))
            part(run.so_far(HistorySoFar(so_far, read, len(days))), "")
            told(_progress(read, len(days), run.left_s(wave.left)))
    whole = await asyncio.to_thread(history_of, tables, parameters)
    return run.so_far(HistorySoFar(whole, len(days), len(days)))


def _recorded(folder: str) -> HistoryParameters:
    try:
        return parameters_of([Path(folder).expanduser().absolute()])
    except RecordingError as error:
        raise AnalysisError(str(error)) from None


def _progress(done: int, every: int, left_s: float | None) -> str:
    left = "" if left_s is None else f", about {left_s:,.0f} s left"
    return f"reading, {done:,} of {every:,} parts{left}"
