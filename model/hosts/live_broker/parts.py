"""What a broker is made of beside its life, and what its parts need of the process around them.

A broker has replicas or none, and the APIs that come with them. The metadata cache is what controllers said of the
cluster; it asks nobody. Plain values and callables.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from model.broker.life import LifeEvent
from model.broker.metadata import MetadataImage
from model.broker.metadata_log import LocalChanges
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.hosts.wire.connection import Build
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request
from model.zookeeper import Answer, ZooKeeperRequest


class MetadataCache:
    """`image` is what was said last. Empty until the first controller speaks. Kafka 3.9 `ZkMetadataCache`."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self._news = asyncio.Event()

    def learn(self, image: MetadataImage) -> None:
        """Take in another image, and wake those who wait for news."""
        self.image = image
        self._news.set()
        self._news = asyncio.Event()

    async def wait_until(self, condition: Callable[[MetadataImage], bool], timeout_s: float) -> bool:
        """Wait until that is so, or for so long; returns whether it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not condition(self.image):
                    await self._news.wait()
        return condition(self.image)


AskController = Callable[[Build], Awaitable[Entity]]
"""Asks the controller of now. Raises WireError where there is none, or no answer."""
AskZooKeeper = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]


def wall_clock_ms() -> int:
    """Ms since the epoch."""
    return time.time_ns() // 1_000_000


TopicConfig = Callable[[str], Mapping[str, str] | None]
"""A topic's own configuration; None for a topic that was not told of yet."""


async def no_zookeeper(requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
    """Of a broker in KRaft mode: whoever asks it has lost the way."""
    raise RuntimeError(f"there is no ZooKeeper to ask: {requests[:1]}")


@dataclass(frozen=True)
class BrokerSurroundings:
    """`listener`: the name of the listener through which brokers talk to each other."""

    ask_controller: AskController
    ask_zookeeper: AskZooKeeper
    listener: str = "PLAINTEXT"
    now_ms: Callable[[], int] = wall_clock_ms
    topic_config: TopicConfig | None = None
    """In KRaft mode; None: ZooKeeper is asked."""
    log_dir_failed: Callable[[Path], None] | None = None
    """In KRaft mode; None: the controller is told by ZooKeeper."""


class ConsumerQuotas(Protocol):
    """What consumers may fetch."""

    def fetched(self, request: Request, response: Entity) -> bool:
        """Whether the consumer may have this answer now; if not, `request.mute_ms` says how long it has to wait."""
        ...

    def most_bytes(self, request: Request) -> int | None:
        """What one fetch may have at most; None: no bound."""
        ...


class NoQuotas:
    """For brokers whose clients have none."""

    def fetched(self, request: Request, response: Entity) -> bool:
        return True

    def most_bytes(self, request: Request) -> int | None:
        return None


class ManagedReplicas(Protocol):
    """The part of a ReplicaManager that the broker's life has to do with."""

    @property
    def metadata(self) -> MetadataCache:
        """What controllers said of the cluster."""
        ...

    async def load(self, *, recover: bool) -> None: ...

    def registered(self, broker_epoch: int) -> None: ...

    def shut_down_soon(self) -> None: ...

    async def close(self) -> None: ...

    async def abandon(self) -> None: ...

    def mark_clean_shutdown(self) -> None: ...

    def apply_topic_config(self, topic: str, config: Mapping[str, str]) -> None: ...

    def apply_broker_settings(self, settings: Settings) -> None: ...

    def places(self) -> Mapping[TopicPartition, Path]:
        """The log dir that each replica lies in."""
        ...

    async def take_metadata(self, image: MetadataImage, changes: LocalChanges, *, is_first: bool) -> None:
        """In KRaft mode: know the cluster as the metadata log has it, and do what follows."""
        ...


async def _nothing() -> None:
    """For parts that have nothing to start or to end."""


@dataclass(frozen=True)
class Parts:
    """`was_clean`: whether the last stop was an orderly one. `start` and `close`: of what stands on the replicas."""

    replicas: ManagedReplicas
    apis: Mapping[int, Api]
    was_clean: bool = True
    start: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing


@dataclass(frozen=True)
class PartsContext:
    """What parts are made for. `create_topic` makes an internal topic: the name of the error for now.

    `on_disks_failed` is told when no log dir is left.
    """

    broker: int
    settings: Settings
    surroundings: BrokerSurroundings
    create_topic: Callable[[str], Awaitable[str]]
    on_disks_failed: Callable[[], None]
    quotas: ConsumerQuotas


class BrokerKind(NamedTuple):
    """`make` may raise OSError and the errors of `model.log`. Without logs no topics are placed here."""

    make: Callable[[PartsContext], Parts]
    keeps_logs: bool


class Ready(msgspec.Struct, frozen=True):
    """`listeners`: the host and port that are listened on, by the name of the listener."""

    broker_id: int
    broker_epoch: int
    listeners: Mapping[str, str]


class BrokerAssembly(Protocol):
    """The parts of a broker put together; each method is a step of its life. Which one is next is not decided here."""

    broker: int

    @property
    def failures(self) -> tuple[asyncio.Event, ...]:
        """Each means that there is no going on."""
        ...

    @property
    def was_clean(self) -> bool:
        """Whether the last stop was an orderly one."""
        ...

    @property
    def ready(self) -> Ready:
        """What is told once it serves."""
        ...

    async def load(self, *, recover: bool) -> None: ...

    async def register(self, on_listening: Callable[[Mapping[str, str]], None]) -> None:
        """Listen, and register: what comes of that is told elsewhere."""
        ...

    async def settle(self, broker_epoch: int) -> None:
        """After each registration: be ready to serve."""
        ...

    async def ask_to_shut_down(self) -> LifeEvent:
        """Ask the controller once."""
        ...

    async def stop_serving(self) -> None: ...

    async def abandon(self) -> None: ...

    def mark_clean_shutdown(self) -> None: ...

    async def close(self) -> None: ...
