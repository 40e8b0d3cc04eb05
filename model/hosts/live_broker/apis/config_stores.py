"""Where configurations of topics, brokers and clients are kept: in ZooKeeper, or in KRaft's metadata log."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from model.hosts.live_broker.parts import AskZooKeeper
from model.znodes.configs import ConfigChange, EntityConfig, decode_config
from model.znodes.paths import config_path, topic_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Answer, Code, Create, Exists, GetChildren, GetData, SetData

CHANGES = "/config/changes"
PREFIX = "config_change_"
Config = Mapping[str, str]


class ConfigStore(Protocol):
    """Where configurations are kept. Entities are called as below `/config`."""

    async def read(self, entity: str) -> Config:
        """Empty where nothing is set."""
        ...

    async def below(self, entity: str) -> Sequence[str]:
        """The entities right below one, as `users/u` below `users`."""
        ...

    async def has_topic(self, name: str) -> bool: ...

    async def write(self, entity: str, config: Config) -> bool:
        """Whether it was taken."""
        ...


class ConfigsInZooKeeper:
    """Written here, and noticed to all brokers."""

    def __init__(self, zookeeper: AskZooKeeper) -> None:
        self._zookeeper = zookeeper

    async def read(self, entity: str) -> Config:
        (found,) = await self._zookeeper((GetData(config_path(entity)),))
        return config_in(found)

    async def below(self, entity: str) -> Sequence[str]:
        (found,) = await self._zookeeper((GetChildren(config_path(entity)),))
        return [f"{entity}/{name}" for name in found.names]

    async def has_topic(self, name: str) -> bool:
        (topic,) = await self._zookeeper((Exists(topic_path(name)),))
        return topic.ok

    async def write(self, entity: str, config: Config) -> bool:
        return await write_config(self._zookeeper, entity, config)


class LoggedConfigs:
    """As the metadata log has them; what is altered goes to the controller, and not by way of this."""

    def __init__(self, configs: Callable[[], Mapping[str, Config]], topics: Callable[[], Collection[str]]) -> None:
        self._configs = configs
        self._topics = topics

    async def read(self, entity: str) -> Config:
        return self._configs().get(entity, {})

    async def below(self, entity: str) -> Sequence[str]:
        depth = entity.count("/") + 2
        names = ("/".join(each.split("/")[:depth]) for each in self._configs() if each.startswith(f"{entity}/"))
        return sorted(set(names))

    async def has_topic(self, name: str) -> bool:
        return name in self._topics()

    async def write(self, entity: str, config: Config) -> bool:
        return False


def config_in(answer: Answer) -> Config:
    """The configuration in a znode; empty for none, and for one that cannot be read."""
    try:
        return decode_config(answer.data).config if answer.ok else {}
    except UnusablePayloadError:
        return {}


async def write_config(zookeeper: AskZooKeeper, entity: str, config: Config) -> bool:
    """Set an entity's configuration and notify all brokers; whether ZooKeeper took it."""
    path, payload = config_path(entity), EntityConfig(version=1, config=config).to_bytes()
    (written,) = await zookeeper((SetData(path, payload),))
    if written.code is Code.NO_NODE:
        words = entity.split("/")
        parents = [config_path("/".join(words[:end])) for end in range(1, len(words))]
        *_, written = await zookeeper((*(Create(parent) for parent in parents), Create(path, payload)))
    notice = ConfigChange(version=2, entity_path=entity).to_bytes()
    (noticed,) = await zookeeper((Create(f"{CHANGES}/{PREFIX}", notice, sequential=True),))
    return written.ok and noticed.ok
