"""What a broker is made of, beside its life: replicas or none, and the APIs that come with them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from model.broker.settings.settings import Settings
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.live_broker.replicas.surroundings import Surroundings
from model.hosts.wire.server import Api


class Replicas(Protocol):
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


async def _nothing() -> None:
    """For parts that have nothing to start or to end."""


@dataclass(frozen=True)
class Parts:
    """`was_clean`: whether the last stop was an orderly one. `start` and `close`: of what stands on the replicas."""

    replicas: Replicas
    apis: Mapping[int, Api]
    was_clean: bool = True
    start: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing


@dataclass(frozen=True)
class Place:
    """What parts are made for. `create_topic` makes an internal topic: the name of the error for now.

    `on_disks_failed` is told when no log dir is left.
    """

    broker: int
    settings: Settings
    surroundings: Surroundings
    create_topic: Callable[[str], Awaitable[str]]
    on_disks_failed: Callable[[], None]


class Furnish(NamedTuple):
    """`make` may raise OSError and the errors of `model.log`. Without logs no topics are placed here."""

    make: Callable[[Place], Parts]
    keeps_logs: bool
