"""What a replica manager needs of the process around it. Plain values and callables."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from model.controller.zookeeper import Answer, ZooKeeperRequest
from model.hosts.wire.channel import Build
from model.hosts.wire.messages import Entity

AskController = Callable[[Build], Awaitable[Entity]]
"""Asks the controller of now. Raises WireError where there is none, or no answer."""
AskZooKeeper = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]


def wall_clock_ms() -> int:
    """Ms since the epoch."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Surroundings:
    """`listener`: the name of the listener through which brokers talk to each other."""

    ask_controller: AskController
    ask_zookeeper: AskZooKeeper
    listener: str = "PLAINTEXT"
    now_ms: Callable[[], int] = wall_clock_ms
