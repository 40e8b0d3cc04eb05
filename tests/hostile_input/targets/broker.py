"""A living broker that is sent broken requests over a real socket; afterwards it answers a good client as before."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
import tempfile
import traceback
from functools import cache
from pathlib import Path
from random import Random

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import API_VERSIONS_KEY, shapes
from tests.harness.live_brokers import PATIENCE_S, Cluster
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.shown import check_shown
from tests.hostile_input.target import Target
from tests.hostile_input.targets.wire_frames import request

_LOGGER = "model"


class _Log(logging.Handler):
    """What the broker logs. A traceback is a defect of ours, and a log is read on a terminal."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.defects: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        try:
            check_shown(record.getMessage())
        except AssertionError as error:
            self.defects.append(str(error))
        if record.exc_info:
            places = traceback.extract_tb(record.exc_info[2])[-3:]
            where = " > ".join(f"{Path(place.filename).name}:{place.lineno}" for place in places)
            self.defects.append(f"{record.exc_info[1]!r} at {where}")


class _Broker:
    """One broker with one partition, on an event loop that runs while it is asked."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kdrill-hostile-broker-")
        self._loop = asyncio.new_event_loop()
        self._log = _Log()
        logging.getLogger(_LOGGER).addHandler(self._log)
        self._loop.run_until_complete(self._start())

    async def _start(self) -> None:
        self._cluster = Cluster(Path(self._folder.name))
        await self._cluster.start(1)
        await self._cluster.create("orders", (1,))
        self._port = self._cluster.nodes[1].port
        self._client = await Connection.open("127.0.0.1", self._port, "good")
        self.versions = self._client.versions

    def send(self, frames: bytes) -> None:
        """Writes to a connection of its own, and asks as a good client; then the connection ends."""
        self._loop.run_until_complete(self._send(frames))
        found, self._log.defects = self._log.defects, []
        assert not found, found[0]

    async def _send(self, frames: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        with contextlib.suppress(OSError):
            writer.write(frames)
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.002):  # not for the verdict: whoever answers at once is heard
                    await reader.read(1 << 16)
        answer = await self._client.ask(shapes(API_VERSIONS_KEY, 0, "request").ApiVersionsRequest(), PATIENCE_S)
        assert {each.api_key for each in answer.api_keys} == self.versions.keys()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@cache
def _broker() -> _Broker:
    return _Broker()


def make(random: Random) -> bytes:
    """One to three frames of requests that the broker serves, sound by their schemas or broken."""
    parts: list[bytes] = []
    for _ in range(random.choice((1, 1, 1, 3))):
        key, (lowest, highest) = random.choice(sorted(_broker().versions.items()))
        data = request(random, key, random.randint(lowest, highest))
        data = broken(random, data) if random.random() < 0.4 else data
        size = len(data) if random.random() < 0.95 else random.choice((-1, 0, 1 << 30, len(data) + 1))
        parts.append(struct.pack(">i", size) + data)
    return b"".join(parts)


def judge(case: bytes, _folder: Path) -> None:
    """No request is without an answer by a defect, and a good client is served."""
    _broker().send(case)


TARGET = Target("broker", make, judge)
