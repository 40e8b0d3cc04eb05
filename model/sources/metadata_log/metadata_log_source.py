"""A node's metadata log on disk as a source: the cluster at its end, at an offset or at a time; and the past.

It is what one node has. A record counts once a majority has it, and which records these are no file tells: those at the
end may never have counted. So the status says how far it goes, and in which epoch.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance, records_of
from model.hosts.process import uncollected
from model.metadata_log.topics import Place
from model.recordings.folder import said
from model.recordings.playback import Stretch
from model.sources.addresses import MetadataLogName
from model.sources.file_source import END_MS
from model.sources.metadata_log.log_files import MetadataLog, MetadataLogError, Step, Until
from model.sources.source import Batch, Sink, SourceError, SourceStatus

_UNTOLD: Final = (r.ZnodeUnreadable(path="/consumers", reason=r.UNTOLD),)
"""Brokers keep groups in a topic of their own."""


class MetadataLogSource:
    """Raises SourceError where it cannot be read, or knows nothing of the time or offset that is asked for."""

    def __init__(self, name: MetadataLogName) -> None:
        self._name = name
        delta, at = ClusterDelta(EMPTY).replay_all(_UNTOLD), Place()
        try:
            self._log = MetadataLog(name.path)
            with uncollected():
                for step in self._log.steps(Until(name.offset, name.at_ms)):
                    delta.replay_all(step.facts)
                    at = step.at
        except MetadataLogError as error:
            raise SourceError(str(error)) from None
        if name.offset is not None and at.offset < name.offset:
            raise SourceError(f"{name.path}: ends at offset {at.offset}, before {name.offset}")
        self._image = delta.apply(Provenance(self.name, at.offset, at.time_ms, complete=True))
        self._at, self._remarks = at, tuple(self._log.remarks)
        self._times = array("q")

    @property
    def name(self) -> str:
        return str(self._name)

    def open(self, sink: Sink) -> None:
        records = [*records_of(self._image)]
        if self._image.quorum is None:
            records.append(r.ZnodeUnreadable(path="/controller", reason=r.UNTOLD))
        at = self._at
        sink.take(Batch(tuple(records), at.offset, at.time_ms, listing=True))
        reason = f"metadata log on disk, last record {said(at.time_ms)}"
        warning = "; ".join((self._standing(), *self._remarks))
        sink.report(SourceStatus("snapshot", at.time_ms, reason, verified_ms=at.time_ms, warning=warning))

    def _standing(self) -> str:
        """How far it goes, and what is not certain about it."""
        state, at = self._log.quorum_state, self._at
        noted = f", the node knew of epoch {state.epoch}" if state.epoch > at.epoch else ""
        return (
            f"metadata log on disk up to offset {at.offset} of epoch {at.epoch}, {said(at.time_ms)}{noted}: "
            "whether a majority had its last records is not known"
        )

    @property
    def folder(self) -> str:
        """No recording's."""
        return ""

    @property
    def opened_ms(self) -> int:
        return END_MS if (self._name.offset, self._name.at_ms) == (None, None) else self._at.time_ms

    def around(self, at_ms: int, most: int) -> Stretch:
        """Half of `most` moments until a time, and half after it; more of these where those are few."""
        if not self._times:
            self._times = array("q", sorted({moment_ms for moment_ms, _ in self._moments()}))
        times = self._times
        if not times:
            raise SourceError(f"{self._name.path}: nothing happens in what is here")
        middle = max(bisect_right(times, at_ms) - 1, 0)
        start = max(min(middle - most // 2, len(times) - most), 0)
        end = min(start + most, len(times))
        return Stretch(times[start], times[end - 1], end - start, start == 0, end == len(times))

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        """When each moment was, and the cluster then. What was before goes into the first one at once."""
        delta = ClusterDelta(EMPTY).replay_all(_UNTOLD)
        for at_ms, step in self._moments():
            if at_ms > to_ms:
                return
            delta.replay_all(step.facts)
            if at_ms >= from_ms:
                image = delta.apply(Provenance(self.name, step.at.offset, step.at.time_ms, complete=True))
                yield at_ms, image
                delta = ClusterDelta(image)

    def _moments(self) -> Iterator[tuple[int, Step]]:
        """The steps of the whole log that say something, at times that never fall: leaders' clocks differ."""
        at_ms = 0
        try:
            for step in MetadataLog(self._name.path).steps(Until()):
                if step.facts:
                    at_ms = max(at_ms, step.at.time_ms)
                    yield at_ms, step
        except MetadataLogError as error:
            raise SourceError(str(error)) from None

    def close(self) -> None:
        """Nothing is open."""
