"""Images of a followed cluster → files of its recording. Reads no clock: it is told the time (ms) with every call.

The file under way is written anew, whole, every ten seconds in which something changed, so that a crash loses no more
than that; when it has grown large, the next one is begun.
"""

import fcntl
from pathlib import Path
from typing import IO

import msgspec

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.records import Record
from model.recordings.differences import can_follow, records_between
from model.recordings.folder import DAY_MS, RecordingError, cluster_path, part_path
from model.recordings.format import FORMAT, PartHeader
from model.recordings.part_file import write_part
from model.recordings.rows import Encoder


class Rolling(msgspec.Struct, frozen=True):
    """When files are written and begun."""

    flush_ms: int = 10_000
    """Changes wait no longer than this for a file."""
    heartbeat_ms: int = 60_000
    """As often a file says that nothing has changed."""
    part_rows: int = 50_000
    set_rows: int = 200_000
    """After so many rows, and as many as the image had, another image begins a new set."""
    absent_ms: int = 300_000
    """Who was not told the time for so long does not know what happened meanwhile: a gap."""


ROLLING = Rolling()


class Recorder:
    """Records one cluster into `folder`. Used by one thread; raises RecordingError where a file cannot be written."""

    def __init__(self, folder: Path, cluster: str, session: str, rolling: Rolling = ROLLING) -> None:
        self._folder, self._cluster, self._session, self._rolling = folder, cluster, session, rolling
        self.path = cluster_path(folder, cluster)
        """Where the recording is."""
        self._lock = _locked(self.path)
        self._encoder = Encoder()
        self._image = EMPTY
        self._at_ms = 0
        """Nothing that comes is earlier: moments and claims only go on."""
        self._moment_ms = 0
        self._known_ms = 0
        """When somebody said last what time it is."""
        self._from_ms = 0
        self._set = self._part = -1
        self._image_rows = self._set_rows = 0
        self._is_dirty = False
        self._written_ms = 0
        self.moments = 0
        """Recorded so far, images not counted."""

    def take(self, image: ClusterImage, now_ms: int) -> None:
        """The cluster is like this. Moments are at least 1 ms apart, so that none hides another."""
        seen_ms = image.provenance.time_ms or now_ms
        if self._set < 0:
            self._begin_set(image, seen_ms)
            self._claim(seen_ms)
            return
        self._go_on(max(seen_ms, self._at_ms))
        if not can_follow(self._image, image):
            at_ms = max(seen_ms, self._at_ms + 1)
            self._flush(at_ms)
            self._begin_set(image, at_ms)
            return
        if self._set_rows > max(self._rolling.set_rows, self._image_rows):
            self._flush(self._at_ms)
            self._begin_set(self._image, self._at_ms)
        records = tuple(records_between(self._image, image))
        self._image = image
        if records:
            self._at_ms = max(seen_ms, self._at_ms + 1)
            self._encode(image, records)
            self.moments += 1

    def tick(self, now_ms: int) -> None:
        """Time goes on, and the source still follows; to be called about each second."""
        if self._set < 0:
            return
        self._go_on(now_ms)
        waits_ms = self._rolling.flush_ms if self._is_dirty else self._rolling.heartbeat_ms
        if now_ms - self._written_ms >= waits_ms:
            self._claim(now_ms)

    def save(self) -> None:
        """Writes what is known, when nobody knows whether it is still so."""
        if self._is_dirty:
            self._claim(self._at_ms)

    def close(self, now_ms: int) -> None:
        """Writes what is left; `now_ms` is when it was last known to be so."""
        try:
            if self._set >= 0:
                self._claim(now_ms)
        finally:
            self._lock.close()

    def _go_on(self, now_ms: int) -> None:
        """A day's files begin with what was so at midnight, whoever looked then."""
        if now_ms - self._known_ms > self._rolling.absent_ms:
            self._flush(max(self._known_ms, self._at_ms))
            self._begin_set(self._image, now_ms)
        while (midnight_ms := (self._from_ms // DAY_MS + 1) * DAY_MS) <= now_ms:
            self._flush(max(midnight_ms, self._at_ms))
            self._begin_set(self._image, self._at_ms)
        self._known_ms = max(now_ms, self._known_ms)

    def _begin_set(self, image: ClusterImage, at_ms: int) -> None:
        self._encoder, self._image = Encoder(), image
        self._set, self._part, self._from_ms = self._set + 1, 0, at_ms
        self._at_ms = self._known_ms = at_ms
        self._set_rows = 0
        self._encode(image, tuple(records_between(EMPTY, image)))
        self._image_rows = self._set_rows

    def _encode(self, image: ClusterImage, records: tuple[Record, ...]) -> None:
        before = len(self._encoder)
        self._moment_ms = self._at_ms
        self._encoder.moment(self._at_ms, image.provenance, records)
        self._set_rows += len(self._encoder) - before
        self._is_dirty = True

    def _claim(self, now_ms: int) -> None:
        """Writes what was so until now; the last moment was so for 1 ms at least."""
        self._flush(max(now_ms, self._at_ms, self._moment_ms + 1))

    def _flush(self, until_ms: int) -> None:
        header = PartHeader(
            format=FORMAT,
            cluster=self._cluster,
            source=self._image.provenance.source,
            session=self._session,
            image_set=self._set,
            part=self._part,
            from_ms=self._from_ms,
            until_ms=until_ms,
        )
        names = (self._folder, self._cluster, self._session, self._set, self._part, self._from_ms)
        write_part(part_path(*names), self._encoder.table(), header)
        self._at_ms = self._written_ms = until_ms
        self._is_dirty = False
        if len(self._encoder) > self._rolling.part_rows:
            self._encoder.forget_rows()
            self._part, self._from_ms = self._part + 1, until_ms


def _locked(path: Path) -> IO[str]:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RecordingError(f"{path}: another kdrill is recording here; record into another folder") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror or error}") from None
    return lock
