"""What `/config` says of topics and brokers, followed while the broker runs. It applies nothing itself.

Source: `kafka.common.ZkNodeChangeNotificationListener`, `kafka.server.ConfigHandler` (3.9). Notifications older than
the start are not read: everything is read then, and again with each new session.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Protocol

from model.controller.zookeeper import Answer, Children, Code, Read
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.hosts.zookeeper.values import ZnodeChanged
from model.znodes.configs import DEFAULT_ENTITY, decode_config, decode_config_change
from model.znodes.paths import config_path
from model.znodes.reasons import UnusablePayloadError

CHANGES = "/config/changes"
PREFIX = "config_change_"
Config = Mapping[str, str]


class Applies(Protocol):
    """Who is told. An empty configuration: nothing is set any more."""

    def topic_config(self, topic: str, config: Config) -> None: ...

    def broker_config(self, default: Config, own: Config) -> None: ...


class DynamicConfigs:
    """For one event loop. `run` ends with its task only."""

    def __init__(self, broker: int, zookeeper: AskZooKeeper, applies: Applies) -> None:
        self._own = f"brokers/{broker}"
        self._default = f"brokers/{DEFAULT_ENTITY}"
        self._zookeeper = zookeeper
        self._applies = applies
        self._news = asyncio.Event()
        self._last = ""
        self._brokers: dict[str, Config] = {}

    def watched(self, changed: ZnodeChanged) -> None:
        """A watch fired."""
        if changed.path == CHANGES:
            self._news.set()

    async def load(self) -> None:
        """Read everything, and watch from now on. To be called at the start and with each new session."""
        (changes,) = await self._zookeeper((Children(CHANGES, watch=True),))
        self._last = max(_changes(changes), default="")
        topics, *_ = await self._zookeeper((Children(config_path("topics")),))
        entities = [f"topics/{name}" for name in topics.names]
        await self._apply((self._default, self._own, *entities))

    async def run(self) -> None:
        """Apply what changes."""
        while True:
            await self._news.wait()
            self._news.clear()
            (listed,) = await self._zookeeper((Children(CHANGES, watch=True),))
            new = [name for name in _changes(listed) if name > self._last]
            answers = await self._zookeeper([Read(f"{CHANGES}/{name}") for name in new])
            await self._apply(filter(None, map(_entity, answers)))
            self._last = max((self._last, *new))

    async def _apply(self, entities: Iterable[str]) -> None:
        named = list(dict.fromkeys(entities))
        answers = await self._zookeeper([Read(config_path(entity)) for entity in named])
        for entity, answer in zip(named, answers, strict=True):
            kind, _, name = entity.partition("/")
            if not answer.ok and answer.code is not Code.NO_NODE:
                continue  # the session is gone: with the next one everything is read again
            if kind == "topics":
                self._applies.topic_config(name, config_in(answer))
            elif entity in (self._own, self._default):
                self._brokers[entity] = config_in(answer)
                self._applies.broker_config(self._brokers.get(self._default, {}), self._brokers.get(self._own, {}))


def config_in(answer: Answer) -> Config:
    """The configuration in a znode; empty for none, and for one that cannot be read."""
    try:
        return decode_config(answer.data).config if answer.ok else {}
    except UnusablePayloadError:
        return {}


def _changes(listed: Answer) -> list[str]:
    return sorted(name for name in listed.names if name.startswith(PREFIX))


def _entity(answer: Answer) -> str | None:
    try:
        return decode_config_change(answer.data).entity if answer.ok else None
    except UnusablePayloadError:
        return None
