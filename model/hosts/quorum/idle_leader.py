"""A leader that has nothing to write but that it lives, as Kafka's does every `metadata.max.idle.interval.ms`."""

import asyncio
import time
from typing import Final

from model.hosts.quorum.control_batches import data_batch
from model.hosts.quorum.quorum_voter import QuorumVoter

IDLE_MS: Final = 500
NO_OP: Final = b"\x01\x14\x00\x00"
"""A NoOpRecord of version 0, framed."""


class IdleLeader:
    """Proposes a NoOp in each interval while its voter leads."""

    def __init__(self, voter: QuorumVoter) -> None:
        self._voter = voter
        self._epoch = 0
        self._start = 0
        self._alarm: asyncio.TimerHandle | None = None

    def leads(self, epoch: int, start: int) -> None:
        self._epoch, self._start = epoch, start

    def steps_down(self) -> None:
        self._epoch = 0
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def committed(self, high_watermark: int) -> None:
        if self._epoch and self._alarm is None and high_watermark >= self._start:
            self._arm()

    def _arm(self) -> None:
        self._alarm = asyncio.get_running_loop().call_later(IDLE_MS / 1000, self._write)

    def _write(self) -> None:
        self._arm()
        self._voter.propose(self._epoch, ((1, data_batch([NO_OP], time.time_ns() // 1_000_000)),))
