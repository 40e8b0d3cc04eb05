"""A long metadata log cut into stretches, each with the cluster as it was where the stretch begins.

One walk through the log keeps nothing but what all records have said, and hands that on; what takes long, an image for
each change, is others' work, stretch by stretch. However long the log is, memory holds one cluster.
"""

import pickle
from collections.abc import Iterator
from typing import Final

import msgspec

from model.log.records import RecordBatch
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.recordings.folder import DAY_MS, RecordingError, said
from model.sources.metadata_log.log_files import ALL, MetadataLog, Resumed, Until, replayed

EARLIEST_MS: Final = 1_293_840_000_000
LATEST_MS: Final = 4_102_444_800_000
"""2011, when Kafka came, and 2100: other times mean nothing, such as 0 in snapshots that no record led to."""
MOST_MS: Final = 20 * 365 * DAY_MS
"""Each day begins with a whole image: a time that is made up must not make a million of them."""
LULL_MS: Final = 100
"""Cut is where nothing was written for so long: moments of the same ms are told one ms apart."""

BEFORE_MS: Final = 2
"""From where a stretch begins to its first moment: an image is so for 1 ms at least, and what changes it is later."""


class RisingTimes(msgspec.Struct):
    """Never earlier than before: leaders' clocks differ. 0: not known yet."""

    first_ms: int = 0
    at_ms: int = 0

    def go_on(self, at: RecordPlace) -> None:
        """Raises RecordingError for a time that is too far from the first one."""
        if not EARLIEST_MS <= at.time_ms < LATEST_MS:
            return
        self.first_ms = self.first_ms or at.time_ms
        if at.time_ms - self.first_ms > MOST_MS:
            years = MOST_MS // (365 * DAY_MS)
            raise RecordingError(f"offset {at.offset} is of {said(at.time_ms)}, {years} years and more after the first")
        self.at_ms = max(self.at_ms, at.time_ms)


class LogStretch(msgspec.Struct, frozen=True):
    """Records from one place to another, and all that those before it said."""

    number: int
    since: bytes = b""
    """`Resumed`, pickled; empty: it begins where the log does."""
    times: RisingTimes = msgspec.field(default_factory=RisingTimes)
    """As they are where it begins."""
    end_offset: int | None = None
    """The first offset that is not of it; None: it goes on to the end."""
    end_ms: int = 0
    """Until when it is known that nothing more was written, where it has an end."""


def stretches(log: MetadataLog, size: int, until: Until = ALL) -> Iterator[LogStretch]:
    """All of them that far, in order, of so many bytes or more each. Raises MetadataLogError, RecordingError.

    Remarks are the log's, once all are told.
    """
    replay, times, at = Replay(0), RisingTimes(), RecordPlace()
    begun, read = LogStretch(0), 0
    for source, batch in log.walk(replay):
        if not until.has(RecordPlace(batch.base_offset, time_ms=batch.max_timestamp)):
            if not begun.number + read:
                raise log.lacking(until, batch.max_timestamp)
            begun = msgspec.structs.replace(begun, end_offset=batch.base_offset, end_ms=times.at_ms)
            break
        if read >= size and not replay.is_in_transaction and _is_lull(times, batch):
            end_ms = batch.max_timestamp - BEFORE_MS
            yield msgspec.structs.replace(begun, end_offset=batch.base_offset, end_ms=end_ms)
            since = pickle.dumps(Resumed(replay, at, batch.position), pickle.HIGHEST_PROTOCOL)
            begun, read = LogStretch(begun.number + 1, since, RisingTimes(times.first_ms, end_ms)), 0
        at = replayed(source, batch, replay, log.begins_at, until)
        times.go_on(at)
        read += batch.end - batch.position
    if until.offset is not None:
        begun = msgspec.structs.replace(begun, end_offset=until.offset + 1, end_ms=times.at_ms)
    yield begun
    if replay.is_in_transaction:
        log.remarks.append("the transaction at its end is not complete, and not shown")
    if replay.trouble:
        log.remarks.append(replay.trouble)


def _is_lull(times: RisingTimes, batch: RecordBatch) -> bool:
    return bool(times.at_ms) and times.at_ms + LULL_MS <= batch.max_timestamp < LATEST_MS
