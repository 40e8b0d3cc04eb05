"""A snapshot file as a source: tells everything once, and nothing ever changes."""

from pathlib import Path

from model.cluster.image_records import records_of
from model.cluster.snapshot_file import SnapshotError, read_snapshot
from model.sources.source import Batch, Sink, SourceError, SourceStatus


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
        sink.take(Batch(records, provenance.zxid, taken_ms, listing=True))
        reason = f"taken of {provenance.source}" if provenance.source else ""
        sink.report(SourceStatus("snapshot", since_ms=taken_ms, reason=reason, verified_ms=taken_ms))

    def close(self) -> None:
        """Nothing is open."""
