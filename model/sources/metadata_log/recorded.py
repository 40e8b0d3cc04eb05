"""A node's metadata log → the recording that `kdrill record` would have written, had it followed from the beginning on.

What tells of months reads recordings. Days begin with a whole image there, so that they can be read side by side. A
long log is recorded in stretches, each by a process of its own, as many at a time as there are cores.
"""

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

import msgspec

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.recordings.folder import RecordingError, cluster_path
from model.recordings.recorder import Recorder, Rolling
from model.sources.metadata_log.log_files import ALL, LogStep, MetadataLog, Until
from model.sources.metadata_log.snapshots import MetadataLogError
from model.sources.metadata_log.stretches import LogStretch, RisingTimes, stretches

STRETCH_BYTES: Final = 8 << 20
"""Of a log, from which on another process takes the next ones."""
MOST_PROCESSES: Final = 16
ALL_BYTES: Final = 1 << 62
"""More than any log has: it is read from its beginning."""
_WHOLE: Final = Rolling(absent_ms=1 << 60)
"""A log says all that changed: what lies long between two changes is no gap."""


class StretchToRecord(msgspec.Struct, frozen=True):
    """What one process is to record: `folder` is for this stretch alone."""

    path: Path
    folder: Path
    cluster: str
    stretch: LogStretch


def record_log(
    path: Path,
    folder: Path,
    note: Callable[[str], object],
    *,
    until: Until = ALL,
    stretch_bytes: int = STRETCH_BYTES,
    processes: int | None = None,
) -> Path:
    """Records a log's past into `folder`; where its cluster's recording is. Raises RecordingError.

    `note` hears what of it could not be used, such as what follows damage, a line each. However long the log is, each
    process holds one image and some changes. `processes`: at most so many beside this one, None: as many as cores.
    """
    most = min(os.cpu_count() or 1, MOST_PROCESSES) if processes is None else processes
    try:
        log = MetadataLog(path, whole_bytes=ALL_BYTES)
        cluster = log.cluster_id or path.resolve().parent.name
        cut = stretches(log, stretch_bytes, until)
        orders = (StretchToRecord(path, folder / f".stretch-{each.number}", cluster, each) for each in cut)
        has_times = [*_carried_out(orders, most)]
        for remark in log.remarks:
            note(f"{path}: {remark}")
        if not any(has_times):
            raise RecordingError("no record has a time")
        for number in range(len(has_times)):
            _take_over(folder / f".stretch-{number}", folder, cluster)
    except MetadataLogError as error:
        raise RecordingError(str(error)) from None
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from None
    return cluster_path(folder, cluster)


def _carried_out(orders: Iterable[StretchToRecord], processes: int) -> Iterator[bool]:
    """Of each whether it has times. A stretch that is the only one is this process's own work."""
    with ThreadPoolExecutor(max(processes, 1), "stretch") as threads:
        running: set[Future[bool]] = set()
        try:
            for order in orders:
                if not processes or order.stretch == LogStretch(0):
                    yield record_stretch(order)
                    continue
                running.add(threads.submit(_in_process, order))
                if len(running) > processes:  # the walk must not run ahead of them: each order holds a cluster
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
            yield from (each.result() for each in running)
        finally:
            for each in running:
                each.cancel()


def _in_process(order: StretchToRecord) -> bool:
    """Raises RecordingError."""
    command = [sys.executable, "-P", "-m", "model.sources.metadata_log"]
    done = subprocess.run(command, input=pickle.dumps(order), capture_output=True, check=False)
    if done.returncode:
        raise RecordingError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return done.stdout == b"True\n"


def record_stretch(order: StretchToRecord) -> bool:
    """Records one stretch into a folder of its own; whether anything there has a time.

    Raises RecordingError, MetadataLogError.
    """
    stretch, times = order.stretch, msgspec.structs.replace(order.stretch.times)
    recorder = Recorder(order.folder, order.cluster, f"{stretch.number:08x}", _WHOLE)
    with contextlib.closing(_Closing(recorder, stretch, times)):
        delta = ClusterDelta(EMPTY)
        for step in _steps(order):
            delta.replay_all(step.facts)
            times.go_on(step.at)
            if step.facts and times.at_ms:
                provenance = Provenance(str(order.path), step.at.offset, times.at_ms, complete=True)
                image = delta.apply(provenance)
                recorder.take(image, times.at_ms)
                delta = ClusterDelta(image)
    return bool(times.at_ms)


def _steps(order: StretchToRecord) -> Iterator[LogStep]:
    log, stretch = MetadataLog(order.path, whole_bytes=ALL_BYTES), order.stretch
    if stretch.since:
        return log.steps_from(pickle.loads(stretch.since), stretch.end_offset)
    return log.steps(Until(None if stretch.end_offset is None else stretch.end_offset - 1))


class _Closing(msgspec.Struct):
    """Ends where the next stretch begins, or at the last record: until then what was recorded last is known to hold."""

    recorder: Recorder
    stretch: LogStretch
    times: RisingTimes

    def close(self) -> None:
        end_ms = self.stretch.end_ms if self.stretch.end_offset is not None else self.times.at_ms
        try:
            self.recorder.tick(end_ms)  # it may be another day by then
        finally:
            self.recorder.close(end_ms)


def _take_over(stretch: Path, folder: Path, cluster: str) -> None:
    """A stretch's files into the folder of all of them. Their names differ by their session."""
    own, whole = cluster_path(stretch, cluster), cluster_path(folder, cluster)
    try:
        for file in own.glob("*/*.parquet"):
            (whole / file.parent.name).mkdir(parents=True, exist_ok=True)
            file.replace(whole / file.parent.name / file.name)
            with contextlib.suppress(OSError):
                file.parent.rmdir()
        (own / ".lock").unlink(missing_ok=True)
        own.rmdir()
        stretch.rmdir()
    except OSError as error:
        raise RecordingError(f"{folder}: cannot be written: {error.strerror or error}") from None
