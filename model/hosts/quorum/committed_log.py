"""What the committed part of a voter's log comes to, whoever leads; snapshots are made of it.

The log is cut behind them. Reading begins with the newest one; all is read in pieces, so that Raft need not wait long.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from model.hosts.quorum.control_batches import snapshot_parts
from model.hosts.quorum.quorum_voter import QuorumVoter
from model.kraft_controller.compacted import CompactedLog
from model.log.records import Record, RecordBatch, records_of, scan
from model.metadata_log.topics import RecordPlace
from model.observer.messages import LogPosition
from model.raft.messages import LogCleaned, SnapshotMade
from model.raft.retention import Retention

_AT_ONCE: Final = 500
"""Records that are read without a pause: a few ms."""
_CLEAN_S: Final = 60.0
_LOGGER = logging.getLogger(__name__)


class SnapshotSettings(msgspec.Struct, frozen=True):
    """Keys of `metadata.log.`, with Kafka's defaults."""

    max_record_bytes_between_snapshots: int = 20 << 20
    max_snapshot_interval_ms: int = 3_600_000
    """0: only because of bytes."""
    retention: Retention = Retention()


class CommittedLog:
    """Of one voter; `run` until it is cancelled."""

    def __init__(self, voter: QuorumVoter, settings: SnapshotSettings) -> None:
        self.records = CompactedLog()
        self.read_to = -1
        """What is below is in `records`; -1: nothing is read yet."""
        self._voter = voter
        self._disk = voter.disk
        self._settings = settings
        self._mark = 0
        self._news = asyncio.Event()
        self._progress = asyncio.Event()
        self._last = (0, 0)
        """Epoch and time of the last batch."""
        self._bytes = 0
        self._since_s = time.monotonic()
        self._writing: asyncio.Task[None] | None = None

    def committed(self, high_watermark: int) -> None:
        """What is below may be read."""
        self._mark = high_watermark
        self._news.set()

    async def reaches(self, offset: int) -> None:
        """Until all below this offset is read."""
        while self.read_to < offset:
            self._progress.clear()
            await self._progress.wait()

    async def run(self) -> None:
        clean_s = time.monotonic() + _CLEAN_S
        while True:
            self._news.clear()
            if not self._disk.start <= self.read_to:
                await self._load()
            await self._read()
            self._snapshot_if_due()
            if time.monotonic() >= clean_s:
                self._clean()
                clean_s = time.monotonic() + _CLEAN_S
            await self._news.wait()

    async def _load(self) -> None:
        """Begins with the newest snapshot, or with nothing."""
        newest = max(self._disk.snapshots.ids(), default=LogPosition())
        loaded, self._last, self.read_to = CompactedLog(), (newest.epoch, 0), -1
        if newest.offset:
            data = self._disk.snapshots.whole(newest)
            for number, (value, _) in enumerate(values_of(data)):
                loaded.take(value, newest.offset - 1)
                if not number % _AT_ONCE:
                    await asyncio.sleep(0)
        self.records = loaded
        self._reached(newest.offset)
        self._begin_anew()

    async def _read(self) -> None:
        """Whole batches up to what is committed; the log may be replaced by a snapshot meanwhile."""
        while self._disk.start <= self.read_to < self._mark:
            data, count = self._disk.records(self.read_to, self._mark), 0
            for batch in scan(data):
                if not isinstance(batch, RecordBatch) or batch.base_offset != self.read_to:
                    break
                self._take(data, batch)
                count += batch.count
                if count >= _AT_ONCE:
                    break
            if not count:
                return
            await asyncio.sleep(0)

    def _take(self, data: bytes, batch: RecordBatch) -> None:
        if not batch.is_control:
            for record in records_of(data, batch):
                if isinstance(record, Record):
                    self.records.take(record.value, record.offset)
        self._last, self._bytes = (batch.partition_leader_epoch, batch.max_timestamp), self._bytes + batch.size
        self._reached(batch.next_offset)

    def _reached(self, offset: int) -> None:
        self.read_to = offset
        self._progress.set()

    def _begin_anew(self) -> None:
        self._bytes, self._since_s = 0, time.monotonic()

    # Snapshots.

    def _snapshot_if_due(self) -> None:
        settings, passed_ms = self._settings, (time.monotonic() - self._since_s) * 1000
        is_late = 0 < settings.max_snapshot_interval_ms <= passed_ms and self._bytes > 0
        is_due = is_late or self._bytes >= settings.max_record_bytes_between_snapshots
        if not is_due or self.records.is_in_transaction or self._writing is not None:
            return
        self._begin_anew()
        if self.records.trouble:
            _LOGGER.error("no snapshot is made: %s", self.records.trouble)
            return
        snapshot = LogPosition(self.read_to, self._last[0])
        parts = snapshot_parts(
            snapshot, self._voter.node.log.voters_at(snapshot.offset), self.records.records(), self._last[1]
        )
        self._writing = asyncio.get_running_loop().create_task(self._write(snapshot, parts))
        self._writing.add_done_callback(self._written)

    async def _write(self, snapshot: LogPosition, parts: Iterator[bytes]) -> None:
        await asyncio.to_thread(self._disk.snapshots.write, snapshot, parts)
        if snapshot.offset > self._disk.start:
            self._voter.tell(SnapshotMade(snapshot))
            _LOGGER.info("snapshot %d-%d", snapshot.offset, snapshot.epoch)
        else:  # another one was read from the leader meanwhile
            self._disk.snapshots.path(snapshot).unlink()
        self._clean()

    def _written(self, work: asyncio.Task[None]) -> None:
        """Without its snapshot a log only grows: what failed is said, and tried again when the next one is due."""
        self._writing = None
        if not work.cancelled() and work.exception() is not None:
            _LOGGER.error("no snapshot was made", exc_info=work.exception())

    def _clean(self) -> None:
        start = self._disk.clean(self._settings.retention, time.time_ns() // 1_000_000)
        if start is not None:
            self._voter.tell(LogCleaned(start))
            _LOGGER.info("the log begins at %d", start.offset)


def values_of(data: bytes) -> Iterator[tuple[bytes | None, RecordPlace]]:
    """The records of data batches, and where they stand."""
    for batch in scan(data):
        if isinstance(batch, RecordBatch) and not batch.is_control:
            for record in records_of(data, batch):
                if isinstance(record, Record):
                    yield record.value, RecordPlace(record.offset, batch.partition_leader_epoch, record.timestamp)
