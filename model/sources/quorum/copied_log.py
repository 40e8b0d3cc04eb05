"""A copy of a living quorum's metadata log, as the files of a node: what reads a node's folder reads it, too."""

import asyncio
from pathlib import Path
from typing import BinaryIO

from model.hosts.observing.observing import Observing
from model.hosts.observing.reading_past import read_past
from model.hosts.wire.connection import PLAINTEXT, Security
from model.log.checkpoints import write_meta_properties
from model.log.records import Record, encode_batch
from model.metadata_log.encoder import encode_record
from model.observer.messages import BatchesCommitted, Handed, LogBatch, SnapshotRead
from model.observer.observed_log import GarbledError
from model.observer.past import NoPastError, begin
from model.observer.state import ObserverStatus
from model.sources.addresses import METADATA_LOG, ControllersAddress
from model.sources.kafka.kafka_source import CONNECT_S
from model.sources.source import SourceError


def copy_log(
    address: ControllersAddress, folder: Path, security: Security = PLAINTEXT, connect_s: float = CONNECT_S
) -> Path:
    """All that is committed now, from the log's start on, into a log directory; the log's folder there.

    Raises SourceError where nobody leads for `connect_s`, or the log cannot be read from its start.
    """
    return asyncio.run(_copied(address, folder, security, connect_s))


async def _copied(address: ControllersAddress, folder: Path, security: Security, connect_s: float) -> Path:
    standing = await _live(address, security, connect_s)
    assert standing.at is not None
    log = folder / METADATA_LOG
    log.mkdir(parents=True)
    if standing.cluster_id is not None:
        write_meta_properties(folder, {"version": "1", "cluster.id": standing.cluster_id})
    reading = begin(standing.epoch, standing.high_watermark, standing.cluster_id)
    with _LogFiles(log) as files:
        try:
            await read_past(standing.at, reading, files.take, security)
        except (NoPastError, GarbledError) as error:
            raise SourceError(f"{address}: its log cannot be read from its start: {error}") from None
    return log


class _UntilLive:
    def __init__(self) -> None:
        self.found = asyncio.get_running_loop().create_future()

    def take(self, handed: Handed) -> None:
        """The end of the log; it is read from its start later."""

    def stand(self, standing: ObserverStatus) -> None:
        if not self.found.done() and standing.phase != "stale":
            self.found.set_result(standing)


async def _live(address: ControllersAddress, security: Security, connect_s: float) -> ObserverStatus:
    """Who leads, in which epoch, and what is committed. Raises SourceError."""
    follows = _UntilLive()
    observing = asyncio.create_task(Observing(address.controllers, follows, security).run())
    try:
        async with asyncio.timeout(connect_s):
            standing: ObserverStatus = await follows.found
    except TimeoutError:
        raise SourceError(f"{address}: no controller that leads answered within {connect_s:g} s") from None
    finally:
        observing.cancel()
        await asyncio.gather(observing, return_exceptions=True)
    if standing.phase != "live":
        raise SourceError(f"{address}: {standing.reason}")
    return standing


class _LogFiles:
    """The snapshot that a log starts with, if it does, and its batches in one segment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segment: BinaryIO | None = None

    def __enter__(self) -> "_LogFiles":
        return self

    def __exit__(self, *error: object) -> None:
        if self._segment is not None:
            self._segment.close()

    def take(self, handed: Handed) -> None:
        match handed:
            case SnapshotRead(snapshot, data):
                name = f"{snapshot.offset:020}-{snapshot.epoch:010}.checkpoint"
                (self._folder / name).write_bytes(data)
            case BatchesCommitted(batches):
                for batch in batches:
                    self._append(batch)
            case _:
                pass

    def _append(self, batch: LogBatch) -> None:
        if self._segment is None:
            is_without_first = batch.base_offset == 1
            start = 0 if is_without_first else batch.base_offset
            self._segment = (self._folder / f"{start:020}.log").open("wb")
            if is_without_first:  # the first leader's election, which nobody is told: something has to be there
                nothing = Record(0, batch.timestamp_ms, value=encode_record("NoOpRecord", 0, {}))
                self._segment.write(encode_batch([nothing], leader_epoch=batch.epoch))
        self._segment.write(batch.data)
