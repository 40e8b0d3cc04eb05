"""How `kdrill history` has Spark read the metadata logs of KRaft's nodes: a task is a stretch of a log."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from model.analyses.history.log_history import LOG_HISTORY, cut, log_history_of
from model.cluster.texts import counted
from model.sources.addresses import MetadataLogName
from model.sources.metadata_log.log_files import Until
from spark_tasks.spark_client import Engine, EngineResult
from tui.cli.options import compute
from tui.cli.output import tell


def by_spark(
    logs: Sequence[MetadataLogName],
    kept: Path,
    clusters: Sequence[str],
    period: tuple[int, int],
    engine: Engine,
    *,
    drills: bool,
) -> Iterator[tuple[str, EngineResult]]:
    """What was read, in words, and what it tells, a log at a time; `kept` is a folder for what takes room.

    Raises RecordingError, AnalysisError, click.ClickException.
    """
    for number, log in enumerate(logs):
        place = kept / f"log-{number}"
        place.mkdir()
        found = cut(log.path, place, *period, until=Until(log.offset, log.at_ms))
        for remark in found.remarks:
            tell(f"{log}: {remark}")
        if clusters and found.parameters.cluster not in clusters:
            continue
        outcome = compute(engine, LOG_HISTORY, found.arrays, found.parameters)
        result = log_history_of(outcome.result, found.arrays, found.parameters, drills=drills)
        size, count = (
            found.parameters.size_bytes / 1e6,
            counted(len(found.parameters.stretches), "stretch", "stretches"),
        )
        yield f"metadata log of {size:,.1f} MB in {count}", msgspec.structs.replace(outcome, result=result)
