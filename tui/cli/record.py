"""`kdrill snapshot` and `kdrill record`: a cluster as it is now in a file, and what changes of it from now on."""

import asyncio
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model.cluster.cluster_image import ClusterImage
from model.recordings.folder import RecordingError
from model.sources.feed import Moment
from tui.cli.following import follow, run
from tui.cli.options import takes_source
from tui.cli.output import Duration, tell
from tui.engine.messages import Opening

if TYPE_CHECKING:
    from model.recordings.recorder import Recorder

TICK_S = 1.0
STOPPED = 128


@click.command()
@takes_source
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="FILE.json or FILE.json.zst")
def snapshot(opening: Opening, output: Path) -> None:
    """Save the cluster as it is now (kdrill.snapshot/1).

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.

    Secrets are left out. The file is written atomically; an existing one is replaced.

    \b
    Example: kdrill snapshot zk://zk1:2181/kafka -o before-upgrade.json.zst
    """
    from model.cluster.snapshot_file import SnapshotError, write_snapshot  # noqa: PLC0415 - takes numpy

    def save(moment: Moment) -> bool:
        write_snapshot(output, moment.image, moment.findings.found)
        image = moment.image
        known = image.group_count
        groups = "groups unknown" if known is None else f"{known} groups"
        counts = f"{len(image.topics):,} topics, {image.partition_count:,} partitions, {groups}"
        tell(f"{output}: {len(image.brokers)} brokers, {counts}", head="")
        return False

    try:
        run(follow(opening, save))
    except SnapshotError as error:
        raise click.ClickException(str(error)) from None


@click.command()
@takes_source
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="the folder of recordings")
@click.option("--for", "lasts_s", type=Duration(), help="stop after this time: 90s, 10m, 2h, 7d")
@click.option("--every", "every_s", type=Duration(), help="record at most this often; default: every change")
@click.option("--as", "cluster", help="name of the cluster in the recording; default: its configured name, or its id")
def record(opening: Opening, output: Path, lasts_s: float | None, every_s: float | None, cluster: str | None) -> int:
    """Record what changes in a cluster (kdrill.recording/1), until Ctrl-C, SIGTERM or --for.

    DIR gets Parquet files by cluster and day, secrets left out. One DIR can hold several clusters and months. A crash
    loses at most the last ten seconds. Afterwards, DIR and DIR@2026-11-20T12:03:58Z work as a SOURCE, as snapshots
    do.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], or a cluster's
    name in the configuration.

    \b
    Example: kdrill record zk://zk1:2181/kafka -o recordings
             kdrill status recordings@2026-11-20T12:03:58Z
             kdrill history recordings
    """
    recording = Recording(output, cluster or opening.name, every_s or 0.0)
    try:
        with recording:
            run(_record(opening, recording, lasts_s))
    except RecordingError as error:
        raise click.ClickException(str(error)) from None
    except SystemExit as end:  # a signal: that is how a recording ends
        if not (isinstance(end.code, int) and end.code > STOPPED and recording.begun.is_set()):
            raise
    tell(recording.summary(), head="")
    return 0


class Recording:
    """What `record` keeps: the recorder, begun with the first image, and the moment that waits for its turn."""

    def __init__(self, output: Path, cluster: str, every_s: float) -> None:
        self._output, self._cluster, self._every_s = output, cluster, every_s
        self._recorder: Recorder | None = None
        self._waiting: ClusterImage | None = None
        self._taken_s = 0.0
        self._is_live = True
        self.begun = asyncio.Event()
        """Set once there is anything to keep."""

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None:
            self._take_waiting()
            self._recorder.close(_now_ms() if self._is_live else 0)

    def see(self, moment: Moment) -> bool:
        """Takes a moment, now or when its turn comes."""
        if moment.status.phase == "snapshot":
            raise RecordingError(f"{moment.image.provenance.source}: this never changes: record a live cluster")
        self._is_live = moment.status.phase != "stale"
        self._waiting = moment.image
        if time.monotonic() - self._taken_s >= self._every_s:
            self._take_waiting()
        return True

    def tick(self) -> None:
        """Once a second; while the source is stale nobody knows whether anything changes."""
        if time.monotonic() - self._taken_s >= self._every_s:
            self._take_waiting()
        if self._recorder is not None and self._is_live:
            self._recorder.tick(_now_ms())
        elif self._recorder is not None:
            self._recorder.save()

    def _take_waiting(self) -> None:
        image, self._waiting = self._waiting, None
        if image is None:
            return
        if self._recorder is None:
            from model.recordings.recorder import Recorder  # noqa: PLC0415 - Arrow, which no snapshot needs

            name = self._cluster or image.cluster_id or image.provenance.source.removeprefix("zk://")
            self._recorder = Recorder(self._output, name, secrets.token_hex(4))
        self._recorder.take(image, _now_ms())
        self._taken_s = time.monotonic()
        if not self.begun.is_set():  # only now a reader finds it
            self.begun.set()
            tell(f"recording {image.provenance.source} into {self._recorder.path}; Ctrl-C stops it", head="")

    def summary(self) -> str:
        """What has been recorded, in one line."""
        assert self._recorder is not None
        return f"{self._recorder.path}: {self._recorder.moments:,} moments recorded"


async def _record(opening: Opening, recording: Recording, lasts_s: float | None) -> None:
    """Follows until the time is up, which begins with the recording."""
    works = [_tick(recording), follow(opening, recording.see)]
    tasks = [asyncio.create_task(work) for work in (works if lasts_s is None else [*works, _last(recording, lasts_s)])]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _last(recording: Recording, lasts_s: float) -> None:
    await recording.begun.wait()
    await asyncio.sleep(lasts_s)


async def _tick(recording: Recording) -> None:
    while True:
        await asyncio.sleep(TICK_S)
        recording.tick()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
