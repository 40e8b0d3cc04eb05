"""What `kdrill plan` does once its options make sense: plan or score, write files, show.

With `--each-broker`: what it costs to remove each broker in turn, as a table or a kdrill.plans/1 object. What cannot
be read or written is one line.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from model.analyses import AnalysisError
from model.analyses.image_arrays import racks_of
from model.analyses.plans import (
    EACH_BROKER_FORMAT,
    PLANS,
    DrillFigures,
    EachBrokerParameters,
    EachBrokerResult,
    WithoutBroker,
    Worst,
    figures_of,
    plan_arrays,
)
from model.cluster.cluster_image import ClusterImage
from model.cluster.snapshot_file import SnapshotError, read_document
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.interchange.tool_files import election_text
from model.interchange.topics_text import is_topics_text
from model.planning import documents
from model.planning.documents import document_of
from model.planning.layout import Sizes, measured, sizes_of
from model.planning.optimum.solving import solve
from model.planning.plan import Plan, applied
from model.planning.planner import Solve, plan, read_moves, score
from model.planning.request import PlanError, PlanRequest
from model.sources.addresses import parse_source
from spark_tasks.spark_client import Engine, EngineResult
from tui.cli.following import image_of
from tui.cli.options import compute
from tui.cli.output import json_line, progress, tell, write
from tui.cli.plan_text import bytes_text, lines
from tui.engine.messages import Opening
from tui.engine.text import plain

Options = Mapping[str, Any]
"""Those of the command by name, and `has_goal`: whether they say what is to be planned."""


def drills_of(image: ClusterImage, plan: Plan) -> tuple[DrillFigures, DrillFigures] | None:
    """Before and after; None where there are brokers or partitions that no drill can be made of."""
    try:
        return figures_of(image), figures_of(applied(image, plan))
    except AnalysisError:
        return None


def sizes_for(source: str, file: Path | None) -> Sizes | None:
    """From the file, or else from the snapshot that the source is. Raises click.ClickException."""
    if file is not None:
        found = _sizes_in(file)
        if found is None:
            raise click.ClickException(f"{file}: a snapshot without sizes (size_bytes)")
        return found
    named = parse_source(source) if source else None
    if not isinstance(named, Path) or not named.is_file() or is_topics_text(read_file(named)):
        return None
    return _sizes_in(named)


def write_plan(
    plan: Plan, output: Path | None, rollback: Path | None, *, as_batches: bool, is_bare: bool = False
) -> Iterator[Path]:
    """The plan and its rollback, and with `as_batches` each batch in a file of its own, too; yields what it wrote.

    `is_bare`: nothing but the moves.
    """
    for path, make in ((output, documents.forward), (rollback, documents.rollback)):
        if path is None:
            continue
        yield _written(path, make(plan, is_bare=is_bare))
        for batch in plan.batches if as_batches else ():
            digits = len(str(len(plan.batches)))
            numbered = path.with_name(f"{path.stem}-{batch.number:0{digits}}{path.suffix}")
            yield _written(numbered, make(plan, plan.changes[batch.first : batch.end], is_bare=is_bare))


def write_election(plan: Plan, path: Path) -> bool:
    """The partitions to which the plan gives another preferred leader, for Kafka's election tool; False where none."""
    names = [change.name for change in plan.changes if change.before[:1] != change.after[:1]]
    if names:
        write(path, election_text(names))
    return bool(names)


def read_file(path: Path) -> bytes:
    """A file's content. Raises click.ClickException."""
    try:
        return read_whole(path, MOST_FACTS)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be read: {error.strerror or error}") from None


def _sizes_in(path: Path) -> Sizes | None:
    data = read_file(path)
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = None  # compressed, or broken: the reader of snapshots knows
    try:
        if not isinstance(document, dict) or "format" in document:
            document = read_document(path, data)
        return sizes_of(document, str(path))
    except (SnapshotError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def _written(path: Path, text: str) -> Path:
    write(path, text)
    return path


def show_each_broker(
    image: ClusterImage, sizes: Sizes | None, request: PlanRequest, engine: Engine, opening: Opening, *, as_json: bool
) -> None:
    """Computes and prints. Raises click.ClickException."""
    if request.add or request.replace or request.replication_factor is not None or request.reach == "leaders":
        raise click.UsageError("--each-broker removes brokers: nothing else can be planned with it")
    if request.topics or request.exclude:
        raise click.UsageError("--each-broker is about all topics: --topic and --exclude make no sense with it")
    parameters = EachBrokerParameters(
        brokers=request.remove,
        racks=racks_of(image),
        reach=request.reach,
        by=request.by,
        tolerance_percent=request.tolerance_percent,
        capacity=request.capacity,
    )
    try:
        arrays = plan_arrays(image, sizes)
    except AnalysisError as error:
        raise click.ClickException(f"{image.provenance.source}: {error}") from None
    outcome = compute(engine, PLANS, arrays, parameters)
    if as_json:
        click.echo(json_line(msgspec.to_builtins(_document(image, parameters, outcome), str_keys=True), opening))
        return
    for line in _lines(image, parameters, outcome):
        click.echo(line)


def _document(image: ClusterImage, parameters: EachBrokerParameters, outcome: EngineResult) -> dict[str, Any]:
    seen = image.provenance
    return {
        "format": EACH_BROKER_FORMAT,
        **msgspec.structs.asdict(outcome.result),
        "provenance": {
            "source": seen.source,
            "zxid": seen.zxid,
            "time_ms": seen.time_ms,
            "parameters": parameters,
            "engine": outcome.engine,
            "seconds": round(outcome.seconds, 3),
        },
    }


def _lines(image: ClusterImage, parameters: EachBrokerParameters, outcome: EngineResult) -> Iterator[str]:
    result: EachBrokerResult = outcome.result
    yield plain(f"{image.provenance.source}: each broker removed in turn ({_REACHES[parameters.reach]})")
    yield f"computed {outcome.engine} in {outcome.seconds:.1f} s"
    yield ""
    yield f"{'':<18}{'if it fails':>11}{'to remove it:':>16}{'':>13}{'without it: spread':>20}"
    yield f"{'broker':<8}{'rack':<10}{'hurt':>11}{'copies':>9}{'bytes':>9}{'leaders':>9}{'replicas':>10}{'leaders':>9}"
    for row in result.brokers:
        yield _row(row)
    yield ""
    yield from _drills(result)
    for one in result.impossible:
        yield plain(f"! broker {one.broker}: {one.reason}")
    for row in result.brokers:
        if row.left:
            yield f"! broker {row.broker} keeps {row.left:,} partitions: being reassigned, or without a live leader"


_REACHES = {"balance": "and rebalanced", "forced": "only what it has", "racks": "and racks fixed", "leaders": ""}


def _row(row: WithoutBroker) -> str:
    size = "" if row.bytes is None else bytes_text(row.bytes)
    return (
        f"  b{row.broker:<5}{plain(row.rack or '-', 9)} {row.hurt_by_death:>11,}{row.moves:>9,}{size:>9}"
        f"{row.leader_changes:>9,}{row.replicas_spread:>10,}{row.leaders_spread:>9,}"
    )


def _hurt(worst: Worst | None) -> str:
    return "-" if worst is None else f"{worst.hurt:,}{'!' * worst.quorum_lost}"


def _drills(result: EachBrokerResult) -> Iterator[str]:
    if result.now.not_forecast:
        yield result.now.not_forecast
    yield f"{'worst drill: hurt':<18}{'broker':>9}{'pair':>9}{'rack':>9}{'chance of loss':>18}"
    for name, found in [("now", result.now), *((f"without b{row.broker}", row.drills) for row in result.brokers)]:
        worst = [_hurt(one) for one in (found.broker, found.pair, found.rack)]
        loss = "unknown" if found.loss is None else f"{100 * found.loss:.3g} %"
        yield f"  {name:<16}{worst[0]:>9}{worst[1]:>9}{worst[2]:>9}{loss:>18}"
    if result.now.not_forecast:
        yield "  !: the quorum loses its majority, so nothing can be elected"


def make(opening: Opening, request: PlanRequest, options: Options, engine: Engine) -> None:
    """Plans or scores, writes files, prints. Raises click.ClickException, click.UsageError (no plan), SourceError."""
    image = image_of(opening)
    sizes = sizes_for(opening.source, options["sizes"]) or measured(image)
    if options["each_broker"]:
        show_each_broker(image, sizes, request, engine, opening, as_json=options["as_json"])
        return
    try:
        made = _made(image, request, sizes, options)
    except PlanError as error:
        raise click.UsageError(str(error)) from None
    _write(made, options)
    _show(made, drills_of(image, made), options, opening)


def _made(image: ClusterImage, request: PlanRequest, sizes: Sizes | None, options: Options) -> Plan:
    file = options["score"]
    with progress() as told:
        solver: Solve = partial(solve, told=told) if told else solve
        if file is None:
            return plan(image, request, sizes, solver)
        moves = read_moves(read_file(file), str(file))
        return score(image, moves, request, str(file), sizes, solver if options["has_goal"] else None)


def _show(made: Plan, drills: tuple[DrillFigures, DrillFigures] | None, options: Options, opening: Opening) -> None:
    if options["as_json"]:
        found = None if drills is None else {"before": drills[0], "after": drills[1]}
        document = msgspec.to_builtins(document_of(made, {"drills": found}), str_keys=True)
        click.echo(json_line(document, opening))
        return
    for line in lines(made, drills, everything=options["everything"]):
        click.echo(line)


def _write(made: Plan, options: Options) -> None:
    output, rollback, election = options["output"], options["rollback"], options["election"]
    if not made.changes:
        tell("nothing to move" + (": no file is written" if output or rollback or election else ""), head="")
        return
    is_bare = options["file_format"] == "topicmappr"
    for path in write_plan(made, output, rollback, as_batches=options["batch_files"], is_bare=is_bare):
        tell(f"{path}: written", head="")
    if election is not None:
        written = write_election(made, election)
        tell(f"{election}: " + ("written" if written else "no leader changes: not written"), head="")
