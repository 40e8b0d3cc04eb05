"""How `kdrill history` reads metadata logs of KRaft: by Spark, where a task is a stretch of a log; of a quorum that
lives, as a copy.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from model.cluster.texts import counted
from model.recordings.folder import RecordingError
from model.sources.addresses import CONTROLLERS_SCHEME, MetadataLogName, parse_controllers_address, parse_metadata_log
from model.sources.source import SourceError
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
    # Decoding logs takes a while to load, and only they need it.
    from model.analyses.history.log_history import LOG_HISTORY, cut, log_history_of  # noqa: PLC0415
    from model.sources.metadata_log.log_files import Until  # noqa: PLC0415

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


def logs_of(folders: Sequence[Path], kept: Path) -> dict[Path, MetadataLogName]:
    """Those that are metadata logs, by what was typed; that of a quorum that lives is copied below `kept`.

    Raises RecordingError for what is only another SOURCE.
    """
    found: dict[Path, MetadataLogName] = {}
    for folder in folders:
        name = str(folder)
        source = source_of(folder)
        if source and not source.startswith(CONTROLLERS_SCHEME):
            way_out = "kdrill record SOURCE -o DIR does, then history reads DIR"
            raise RecordingError(f"{source}: not recorded yet; {way_out}")
        try:
            log = _copied(source, kept / f"copy-{len(found)}") if source else parse_metadata_log(name)
        except SourceError as error:
            raise RecordingError(str(error)) from None
        if log is not None:
            found[folder] = log
    return found


def source_of(folder: Path) -> str:
    """What was typed, where that is no path: `controllers://…`, `zk://…`; else empty."""
    found = re.fullmatch(r"([a-z]+):/([^/].*)", str(folder))  # a Path has one slash for two
    return f"{found[1]}://{found[2]}" if found else ""


def _copied(source: str, kept: Path) -> MetadataLogName:
    """The log of `controllers://…`, from its start on. It is called so where the cluster's id is not told.

    Raises SourceError.
    """
    from model.sources.quorum.copied_log import copy_log  # noqa: PLC0415 - takes all that follows a quorum

    address = parse_controllers_address(source)
    return MetadataLogName(copy_log(address, kept / str(address).removeprefix(CONTROLLERS_SCHEME)))
