"""What is asked to read the metadata log from its start on, beside the observer that follows its end: what came before.

FETCH at offset 0 is answered by the newest snapshot, wherever the log starts. So the first question is for offset 1, as
if the record before it were of the present epoch, which a leader cannot refute: a batch that holds offset 1 comes
whole, and what is missing is at most the first leader's election. A log that starts later starts where a snapshot ends:
of which epoch that is, a FETCH at the start tells, since records come for the right one only. A controller that is
asked for a snapshot that is not there writes a stack trace into its log. Sources: `KafkaMetadataLog`
(`deleteBeforeSnapshot`), `ReplicatedLog.validateOffsetAndEpoch` (4.3), and what 3.9.1 and 4.4.0 answered.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from model.observer.follow import MOST_PIECES
from model.observer.messages import (
    Answer,
    BatchesCommitted,
    FetchLog,
    FetchSnapshot,
    Handed,
    LogFetched,
    LogPosition,
    SnapshotFetched,
    SnapshotRead,
)
from model.observer.observed_log import GarbledError, check_snapshot, fetched_batches
from model.observer.state import Download

MOST_OFFSETS: Final = 4_000_000
"""A log that is longer is not read from its start: with a NoOp each half second these are three weeks."""
MOST_SNAPSHOT_BYTES: Final = 64 << 20
"""Of the snapshot that a log starts with: a second image of half a million partitions would be kept for it."""
MOST_EPOCHS: Final = 32
"""So many epochs are tried for that snapshot's."""


class NoPastError(Exception):
    """What was before is not known; the message is one clause."""


Stage = Literal["first", "start", "epoch", "snapshot", "log"]


class PastReading(msgspec.Struct, frozen=True):
    """How far it has come, and what to ask next."""

    epoch: int
    """The present leader's."""
    until: int
    """The offset behind the last record that is wanted: it is committed."""
    question: FetchLog | FetchSnapshot
    stage: Stage = "first"
    end: LogPosition = LogPosition()
    """Of what was handed on."""
    tried: int = 0
    download: Download | None = None


class PastRead(NamedTuple):
    """`reading` None: it is at its end."""

    reading: PastReading | None
    handed: tuple[Handed, ...] = ()


def begin(epoch: int, until: int, cluster_id: str | None = None) -> PastReading:
    """Below `until`, all of which the leader of `epoch` has committed."""
    return PastReading(epoch, until, FetchLog(epoch, LogPosition(1, epoch), cluster_id=cluster_id))


def read_on(reading: PastReading, answer: Answer) -> PastRead:
    """What an answer brings. Raises NoPastError where nothing more will come, GarbledError for what no leader says."""
    if not isinstance(answer, LogFetched | SnapshotFetched):
        raise NoPastError(getattr(answer, "why", "the answer to another question"))
    error = answer.top_error if answer.top_error != "NONE" else answer.error
    if error != "NONE":
        raise NoPastError(f"the leader answers {error}")
    if isinstance(answer, SnapshotFetched):
        return _piece(reading, answer)
    if answer.diverging is not None:
        raise NoPastError(f"its log diverges at {answer.diverging}")
    return _STAGES[reading.stage](reading, answer)


def _first(reading: PastReading, answer: LogFetched) -> PastRead:
    """Offset 1 was asked for."""
    start = _log_start(reading, answer)
    if reading.until - start > MOST_OFFSETS:
        many = f"{reading.until - start:,} records"
        raise NoPastError(f"it has {many}, more than the {MOST_OFFSETS:,} that are read")
    if start:
        return _ask(reading, LogPosition(start + 1, reading.epoch), "start")
    if answer.snapshot is not None:
        raise NoPastError("its start cannot be read")
    return _log(reading, answer)


def _log_start(reading: PastReading, answer: LogFetched) -> int:
    if answer.log_start >= reading.until:
        raise NoPastError(f"the log starts at {answer.log_start}, behind what was wanted of it")
    return max(answer.log_start, 0)


def _start(reading: PastReading, answer: LogFetched) -> PastRead:
    """A batch at the log's start: the snapshot there is not of a later epoch."""
    if answer.snapshot is not None or len(answer.records) < _EPOCH_END:
        raise NoPastError("the log's start moved")
    start, (_, epoch) = _log_start(reading, answer), _head(answer.records)
    return _ask(reading, LogPosition(start, epoch), "epoch")


def _epoch(reading: PastReading, answer: LogFetched) -> PastRead:
    """Whether the snapshot at the log's start is of the epoch that was asked with."""
    assert isinstance(reading.question, FetchLog)
    at = reading.question.end
    if answer.snapshot is None and answer.records:
        question = FetchSnapshot(reading.epoch, at, 0, reading.question.cluster_id)
        return PastRead(msgspec.structs.replace(reading, question=question, stage="snapshot", download=Download(at)))
    if at.epoch <= 1 or reading.tried >= MOST_EPOCHS:
        raise NoPastError(f"of which epoch the snapshot at offset {at.offset} is cannot be found")
    reading = msgspec.structs.replace(reading, tried=reading.tried + 1)
    return _ask(reading, LogPosition(at.offset, at.epoch - 1), "epoch")


def _piece(reading: PastReading, answer: SnapshotFetched) -> PastRead:
    download = reading.download
    if reading.stage != "snapshot" or download is None:
        raise GarbledError("a piece of a snapshot that nobody asked for")
    end = download.position + len(answer.data)
    if (answer.snapshot, answer.position) != (download.id, download.position) or not answer.data or end > answer.size:
        raise GarbledError(f"another piece of snapshot {download.id} than that from byte {download.position} on")
    if answer.size > MOST_SNAPSHOT_BYTES or len(download.pieces) >= MOST_PIECES:
        size = f"{answer.size:,} bytes"
        raise NoPastError(f"its first snapshot has {size}, more than the {MOST_SNAPSHOT_BYTES:,} that are read")
    download = Download(download.id, (*download.pieces, answer.data), end, answer.size)
    question = reading.question
    if end < answer.size:
        question = FetchSnapshot(reading.epoch, download.id, end, question.cluster_id)
        return PastRead(msgspec.structs.replace(reading, download=download, question=question))
    data = b"".join(download.pieces)
    check_snapshot(data, download.id)
    reading = msgspec.structs.replace(reading, download=None)
    return PastRead(_ask(reading, download.id, "log").reading, (SnapshotRead(download.id, data),))


_EPOCH_AT, _EPOCH_END = 12, 16
"""Bytes of a batch that say its leader's epoch (`DefaultRecordBatch`)."""


def _head(records: bytes) -> tuple[int, int]:
    """First offset and epoch of a batch."""
    return int.from_bytes(records[:8], signed=True), int.from_bytes(records[_EPOCH_AT:_EPOCH_END], signed=True)


def _log(reading: PastReading, answer: LogFetched) -> PastRead:
    if not answer.records or answer.snapshot is not None:
        raise NoPastError("the log's records ended, or its start moved")
    end = reading.end
    if reading.stage == "first":
        end = LogPosition(min(max(_head(answer.records)[0], 0), 1))
    batches = fetched_batches(answer.records, end, reading.epoch)
    if not batches:
        raise GarbledError(f"no whole batch behind offset {end.offset}")
    wanted = tuple(batch for batch in batches if batch.next_offset <= reading.until)
    handed = (BatchesCommitted(wanted, reading.until),) if wanted else ()
    if len(wanted) < len(batches) or wanted[-1].next_offset == reading.until:
        return PastRead(None, handed)
    return PastRead(_ask(reading, LogPosition(wanted[-1].next_offset, wanted[-1].epoch), "log").reading, handed)


def _ask(reading: PastReading, at: LogPosition, stage: Stage) -> PastRead:
    question = FetchLog(reading.epoch, at, cluster_id=reading.question.cluster_id)
    return PastRead(msgspec.structs.replace(reading, question=question, stage=stage, end=at))


_STAGES: Final[Mapping[Stage, Callable[[PastReading, LogFetched], PastRead]]] = {
    "first": _first,
    "start": _start,
    "epoch": _epoch,
    "snapshot": _log,
    "log": _log,
}
