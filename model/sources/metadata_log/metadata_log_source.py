"""A node's metadata log on disk as a source: the cluster at its end, at an offset or at a time; and the past.

It is what one node has. A record counts once a majority has it, and which records these are no file tells: those at the
end may never have counted. So the status says how far it goes, and in which epoch.
"""

import threading
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Final

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance, records_of
from model.hosts.process import crash_line, uncollected
from model.metadata_log.journal import MOST_RECORDS, Logged
from model.metadata_log.topics import RecordPlace
from model.recordings.folder import said
from model.recordings.playback import Stretch
from model.sources.addresses import MetadataLogName
from model.sources.file_source import END_MS
from model.sources.metadata_log.log_files import LogStep, MetadataLog, MetadataLogError, Until
from model.sources.source import FactBatch, Sink, SourceError, SourceStatus

FIRST_BYTES: Final = 1 << 20
"""Of a snapshot, read at once."""
MANY: Final = 10_000
"""Facts that are told together."""
FAREWELL_S: Final = 1.0

_UNTOLD: Final[tuple[r.ClusterRecord, ...]] = (r.ZnodeUnreadable(path="/consumers", reason=r.UNTOLD),)
"""Brokers keep groups in a topic of their own."""


class MetadataLogSource:
    """Raises SourceError where it cannot be read, or knows nothing of the time or offset that is asked for.

    A snapshot of more than some MB is read in a thread once it is open, and told in parts; so what is wrong behind its
    beginning is told then: the source closes.
    """

    def __init__(self, name: MetadataLogName) -> None:
        self._name = name
        self._at = RecordPlace()
        self._facts: list[r.ClusterRecord] = [*_UNTOLD]
        self._logged: deque[Logged] = deque(maxlen=MOST_RECORDS)
        self._has_quorum = self._is_read = self._is_closed = False
        self._thread: threading.Thread | None = None
        try:
            self._log = MetadataLog(name.path, MOST_RECORDS)
            self._parts = self._log.parts(Until(name.offset, name.at_ms))
            with uncollected():
                self._begin()
        except MetadataLogError as error:
            raise SourceError(str(error)) from None
        self._times = array("q")

    def _begin(self) -> None:
        """Reads all, or the beginning of a large snapshot."""
        delta = ClusterDelta(EMPTY)
        for step in self._parts:
            if step.is_anew:
                delta, self._facts = ClusterDelta(EMPTY), [*_UNTOLD]
                continue
            self._see(step)
            self._facts += step.facts
            if FIRST_BYTES <= step.read < step.size:
                return
            if not step.read:
                delta.replay_all(self._facts)
                self._facts = []
        self._end()
        image = delta.apply(Provenance(self.name, self._at.offset, self._at.time_ms, complete=True))
        self._facts = [*records_of(image)]

    def _see(self, step: LogStep) -> None:
        self._at = step.at
        self._logged.extend(step.logged)
        self._has_quorum |= any(isinstance(fact, r.QuorumDescribed) for fact in step.facts[-1:])

    def _end(self) -> None:
        self._is_read = True
        wanted, found = self._name.offset, self._at.offset
        if wanted is not None and found < wanted:
            raise MetadataLogError(f"{self._name.path}: ends at offset {found}, before {wanted}")

    @property
    def name(self) -> str:
        return str(self._name)

    def open(self, sink: Sink) -> None:
        with uncollected():
            self._tell(sink, 0 if self._is_read else 1)
        if not self._is_read:
            self._thread = threading.Thread(target=self._read_on, args=(sink,), name="metadata-log", daemon=True)
            self._thread.start()

    def _tell(self, sink: Sink, part: int, *, is_anew: bool = False) -> None:
        """What was read since the last time; `is_anew`: nothing holds that was told before."""
        facts, at, logged = self._facts, self._at, tuple(self._logged)
        self._facts = []
        self._logged.clear()
        if self._is_read and not self._has_quorum:
            facts.append(r.ZnodeUnreadable(path="/controller", reason=r.UNTOLD))
        sink.take(
            FactBatch(
                tuple(facts), at.offset, at.time_ms, listing=self._is_read, part=part, fresh=is_anew, logged=logged
            )
        )
        if self._is_read:
            reason = f"metadata log on disk, last record {said(at.time_ms)}"
            warning = "; ".join((self._standing(), *self._log.remarks))
            sink.report(SourceStatus("snapshot", at.time_ms, reason, verified_ms=at.time_ms, warning=warning))

    def _read_on(self, sink: Sink) -> None:
        """The rest of a large snapshot, and what follows it."""
        part, is_anew = 1, False
        try:
            for step in self._parts:
                if self._is_closed:
                    return
                if step.is_anew:
                    part, is_anew = 0, True
                    self._facts, self._has_quorum = [*_UNTOLD], False
                    continue
                self._see(step)
                self._facts += step.facts
                if step.read or len(self._facts) > MANY:
                    part += 1
                    with uncollected():
                        self._tell(sink, part, is_anew=is_anew)
                    is_anew = False
                if step.read:
                    sink.report(SourceStatus("loading", done=step.read, total=step.size))
            self._end()
            self._tell(sink, part + 1, is_anew=is_anew)
        except MetadataLogError as error:
            sink.report(SourceStatus("closed", reason=str(error)))
        except Exception as error:
            sink.report(SourceStatus("closed", reason=f"{self._name.path}: {crash_line(error)}"))

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

    def _moments(self) -> Iterator[tuple[int, LogStep]]:
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
        self._is_closed = True
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(FAREWELL_S)
