"""Files as sources, by what is in them: a snapshot, what `kafka-topics --describe` printed, a moment of a recording.

Each tells everything once, and nothing ever changes.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from model.cluster.cluster_image import ClusterImage, records_of
from model.cluster.snapshot_file import SnapshotError, read_raw, read_snapshot
from model.interchange.tool_files import TextError
from model.interchange.topics_text import is_topics_text, read_topics_text, records_of_text
from model.recordings.folder import RecordingError, said, the_cluster_in
from model.recordings.playback import Stretch, image_at, images, stretch_around
from model.sources.addresses import RecordingName
from model.sources.source import FactBatch, Sink, Source, SourceError, SourceStatus


class SnapshotSource:
    """A kdrill.snapshot/1 file. Raises SourceError where it cannot be read."""

    def __init__(self, path: Path, raw: bytes | None = None) -> None:
        """`raw`: the file's bytes, where they were read already: what comes through a pipe comes once."""
        self._path = path
        try:
            self._image = read_snapshot(path, raw)
        except SnapshotError as error:
            raise SourceError(str(error)) from None

    @property
    def name(self) -> str:
        return str(self._path)

    def open(self, sink: Sink) -> None:
        provenance = self._image.provenance
        records = tuple(records_of(self._image))
        taken_ms = provenance.time_ms
        sink.take(FactBatch(records, provenance.zxid, taken_ms, listing=True))
        reason = f"taken of {provenance.source}" if provenance.source else ""
        sink.report(SourceStatus("snapshot", since_ms=taken_ms, reason=reason, verified_ms=taken_ms))

    def close(self) -> None:
        """Nothing is open."""


def file_source(path: Path) -> Source:
    """The source in a file, or in a pipe, which is read to its end. Raises SourceError where it cannot be used."""
    try:
        raw = read_raw(path)
    except SnapshotError as error:
        raise SourceError(str(error)) from None
    return TopicsTextSource(path, raw) if is_topics_text(raw) else SnapshotSource(path, raw)


class TopicsTextSource:
    """Output of `kafka-topics --describe`, taken for as old as its file. Raises SourceError where it is damaged."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self._path = path
        try:
            self._records = tuple(records_of_text(read_topics_text(raw)))
        except TextError as error:
            raise SourceError(f"{path}: {error}") from None

    @property
    def name(self) -> str:
        return str(self._path)

    def open(self, sink: Sink) -> None:
        printed_ms = self._printed_ms()
        sink.take(FactBatch(self._records, -1, printed_ms, listing=True))
        reason = "printed by kafka-topics --describe"
        sink.report(SourceStatus("snapshot", since_ms=printed_ms, reason=reason, verified_ms=printed_ms))

    def _printed_ms(self) -> int:
        is_kept = self._path.is_file()
        return int(1000 * (self._path.stat().st_mtime if is_kept else time.time()))

    def close(self) -> None:
        """Nothing is open."""


END_MS = 1 << 52
"""Later than anything was recorded."""


class RecordingSource:
    """The image at a recording's time. Raises SourceError where it cannot be read, or nothing is known of that time."""

    def __init__(self, name: RecordingName) -> None:
        self._name = name
        try:
            self._folder = the_cluster_in(name.path)
            self._image = image_at(self._folder, name.at_ms)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    @property
    def name(self) -> str:
        return str(self._name)

    def open(self, sink: Sink) -> None:
        seen = self._image.provenance
        at_ms = self._name.at_ms or seen.time_ms
        sink.take(FactBatch(tuple(records_of(self._image)), seen.zxid, at_ms, listing=True))
        reason = f"recorded of {seen.source}, last change {said(seen.time_ms)}"
        sink.report(SourceStatus("snapshot", since_ms=at_ms, reason=reason, verified_ms=at_ms))

    @property
    def folder(self) -> str:
        """Where this cluster's recording is."""
        return self._folder.path

    @property
    def opened_ms(self) -> int:
        return END_MS if self._name.at_ms is None else self._name.at_ms

    def around(self, at_ms: int, most: int) -> Stretch:
        try:
            return stretch_around(self._folder, at_ms, most)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        try:
            yield from images(self._folder, from_ms, to_ms)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    def close(self) -> None:
        """Nothing is open."""
