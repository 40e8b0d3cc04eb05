"""Voters of ours as processes, and somebody who reads what they have committed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from model.hosts.quorum.raft_requests import request_body
from model.hosts.quorum.raft_responses import reply_value
from model.hosts.quorum.voter_disk import VoterDisk, format_folder
from model.hosts.wire.connection import Connection
from model.hosts.wire.names import WireError
from model.log.records import RecordBatch, scan
from model.observer.messages import NOBODY, Address, LogPosition
from model.raft.messages import Fetch, FetchAnswer, FetchSnapshot, Reply, SnapshotAnswer
from model.raft.raft_log import ReplicaKey, Voter, VoterSet
from tests.harness.host_processes import host
from tests.harness.kafka import free_ports
from tests.harness.logged_process import LoggedProcess
from tests.harness.waiting import PATIENCE_S

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
FETCH, FETCH_SNAPSHOT = 1, 59


def directory_id(node: int) -> str:
    return base64.urlsafe_b64encode(bytes([node]) * 16).decode().rstrip("=")


def voter_set(ports: dict[int, int], kraft_version: int) -> VoterSet:
    """Voters on loopback."""
    return VoterSet.of(
        (
            Voter(ReplicaKey(node, directory_id(node) if kraft_version else None), ("127.0.0.1", port))
            for node, port in ports.items()
        ),
        kraft_version,
    )


class VoterProcess(LoggedProcess):
    """One voter, in a folder that was formatted."""

    def __init__(self, folder: Path, port: int, *options: str) -> None:
        self.address = ("127.0.0.1", port)
        self.folder = folder
        super().__init__(host("quorum", str(folder), "--port", str(port), *options), folder.with_suffix(".log"))

    def batches(self) -> dict[int, bytes]:
        """What its log has, by offset; while it does not run."""
        return log_batches(self.folder)


def log_batches(log_dir: Path) -> dict[int, bytes]:
    """What a voter's log has, by offset; while it does not run."""
    disk = VoterDisk(log_dir, VoterSet(), 0)
    found: dict[int, bytes] = {}
    at = disk.raft_log().base.offset
    while at < disk.end:
        data = disk.records(at)
        for batch in scan(data):
            assert isinstance(batch, RecordBatch)
            found[batch.base_offset], at = data[batch.position : batch.end], batch.next_offset
    disk.close(0)
    return found


def voter_processes(
    folder: Path, ports: dict[int, int], kraft_version: int, *more_options: str
) -> dict[int, VoterProcess]:
    """A new quorum that is not started yet."""
    voters = voter_set(ports, kraft_version)
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    static = ",".join(f"{node}@127.0.0.1:{port}" for node, port in ports.items())
    options = ("--quorum", addresses) if kraft_version else ("--voters", static)
    found: dict[int, VoterProcess] = {}
    for node, port in ports.items():
        log_dir = folder / f"voter-{node}"
        format_folder(log_dir, CLUSTER_ID, ReplicaKey(node, directory_id(node)), voters, [])
        found[node] = VoterProcess(log_dir, port, *options, *more_options)
    return found


@contextlib.contextmanager
def three_voters(folder: Path, kraft_version: int, *more_options: str) -> Iterator[dict[int, VoterProcess]]:
    """A new quorum of three that run; those that still do are killed at the end."""
    found = voter_processes(folder, dict(enumerate(islice(free_ports(), 3), 1)), kraft_version, *more_options)
    for voter in found.values():
        voter.start()
    try:
        yield found
    finally:
        for voter in found.values():
            if voter.running:
                voter.kill()


class Reader:
    """Looks on, as no replica: what it was once told is committed has to stay."""

    def __init__(self, addresses: dict[int, Address]) -> None:
        self._addresses = addresses
        self.committed: dict[int, bytes] = {}
        self.leader, self.epoch = NOBODY, 0
        self._told: Reply | None = None
        self.loaded: tuple[LogPosition, bytes] = LogPosition(), b""
        """The snapshot that was read last, where the log that came next was there no more."""
        self.end = LogPosition()

    async def read(self) -> None:
        """From whoever leads, up to what is committed now; nothing where nobody does."""
        for node in sorted(self._addresses, key=lambda node: node != self.leader):
            try:
                connection = await Connection.open(*self._addresses[node], "reader", 2.0)
            except WireError:
                continue
            try:
                if await self._read_all(connection):
                    return
            except WireError:
                pass
            finally:
                await connection.close()

    async def read_more(self, count: int = 2, epoch: int = 0) -> None:
        """Until so many batches more are committed, by a leader of at least this epoch."""
        wanted, deadline = len(self.committed) + count, time.monotonic() + PATIENCE_S
        while len(self.committed) < wanted or self.epoch < epoch:
            assert time.monotonic() < deadline, f"no {count} more batches behind {self.end}; told was {self._told}"
            await self.read()
            await asyncio.sleep(0.1)

    async def _read_all(self, connection: Connection) -> bool:
        while True:
            reply, records = await self._fetch(connection)
            if reply.known.error != "NONE" or reply.diverging is not None:
                return False
            if reply.snapshot is not None:
                if not await self._load(connection, reply.snapshot):
                    return False
                continue
            before = self.end
            for batch in scan(records):
                if not isinstance(batch, RecordBatch) or batch.next_offset > reply.high_watermark:
                    break
                assert batch.base_offset == self.end.offset
                self.committed[batch.base_offset] = records[batch.position : batch.end]
                self.end = LogPosition(batch.next_offset, batch.partition_leader_epoch)
            if self.end == before:
                return True

    async def _load(self, connection: Connection, snapshot: LogPosition) -> bool:
        version, data, size = connection.newest(FETCH_SNAPSHOT, 1), b"", 1
        while len(data) < size:
            asked = FetchSnapshot(None, ReplicaKey(NOBODY), self.epoch, snapshot, len(data))
            reply, _ = reply_value(await connection.ask(request_body(asked, version), 5.0))
            if not isinstance(reply, SnapshotAnswer) or reply.known.error != "NONE":
                return False
            data, size = data + reply.data, reply.size
        self.loaded, self.end = (snapshot, data), snapshot
        return True

    async def _fetch(self, connection: Connection) -> tuple[FetchAnswer, bytes]:
        version = connection.newest(FETCH, 17)
        while True:
            asked = Fetch(None, ReplicaKey(NOBODY), self.epoch, self.end, max_wait_ms=100)
            reply, records = reply_value(await connection.ask(request_body(asked, version), 5.0))
            self._told = reply
            assert isinstance(reply, FetchAnswer)
            if reply.known.epoch > self.epoch:
                self.epoch, self.leader = reply.known.epoch, reply.known.leader
            elif reply.known.leader != NOBODY:
                self.leader = reply.known.leader
            if reply.known.error != "FENCED_LEADER_EPOCH":
                return reply, records
