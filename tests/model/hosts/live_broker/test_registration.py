"""A broker whose log dir failed ends unless a controller has heard of it in time (log.dir.failure.timeout.ms)."""

from __future__ import annotations

import asyncio
import uuid

from kio.schema.broker_heartbeat.v1.response import BrokerHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.static.primitive import i32Timedelta

from model.hosts.live_broker.registration import BrokerLifecycle
from model.hosts.wire.connection import Build
from model.hosts.wire.names import UnavailableError
from tests.harness.waiting import PATIENCE_S

LATE_MS = 300


class Controller:
    """Answers heartbeats once it is there."""

    def __init__(self) -> None:
        self.is_there = asyncio.Event()
        self.beats = 0

    async def ask(self, _: Build) -> BrokerHeartbeatResponse:
        if not self.is_there.is_set():
            raise UnavailableError("nobody is there")
        self.beats += 1
        return BrokerHeartbeatResponse(
            throttle_time=i32Timedelta.resolution * 0,  # type: ignore[arg-type]
            error_code=ErrorCode.none,
            is_caught_up=True,
            is_fenced=False,
            should_shut_down=False,
        )


async def test_nobody_hears_of_it_in_time() -> None:
    lifecycle = BrokerLifecycle(Controller().ask, lambda: 0, 50, LATE_MS)
    lifecycle.start()
    lifecycle.log_dir_failed(uuid.uuid4())
    await asyncio.wait_for(lifecycle.failed.wait(), PATIENCE_S)
    await lifecycle.close()


async def test_one_answer_is_enough() -> None:
    controller = Controller()
    controller.is_there.set()
    lifecycle = BrokerLifecycle(controller.ask, lambda: 0, 50, LATE_MS)
    lifecycle.log_dir_failed(uuid.uuid4())
    lifecycle.start()
    while controller.beats < 1:
        await asyncio.sleep(0.01)
    controller.is_there.clear()
    await asyncio.sleep(2 * LATE_MS / 1000)
    assert not lifecycle.failed.is_set()
    await lifecycle.close()
