"""Configurations of topics and brokers: followed in ZooKeeper while the broker runs, described and altered on request.

DescribeConfigs, AlterConfigs and IncrementalAlterConfigs: any broker answers. Source: `kafka.server.ConfigHelper`,
`ZkAdminManager`, `kafka.zk.AdminZkClient.changeEntityConfig` (3.9). What `/config` says is followed as
`kafka.common.ZkNodeChangeNotificationListener` and `kafka.server.ConfigHandler` (3.9) do; it is applied elsewhere.
Notifications older than the start are not read: everything is read then, and again with each new session.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from model.broker.settings.catalogue import TOPIC_KEYS
from model.broker.settings.dynamic_configs import (
    DYNAMIC_KEYS,
    Alteration,
    ConfigEntry,
    Operation,
    SettingsInLayers,
    Source,
    altered,
    broker_config_problem,
    topic_config_problem,
)
from model.broker.settings.settings import topic_defaults
from model.controller.refusal import Refusal
from model.hosts.live_broker.parts import AskZooKeeper
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Api, Request
from model.znodes.configs import DEFAULT_ENTITY, ConfigChange, EntityConfig, decode_config, decode_config_change
from model.znodes.paths import config_path, topic_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper.operations import Answer, Code, Create, Exists, GetChildren, GetData, SetData, ZnodeChanged

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
        if changed.path == CHANGES:
            self._news.set()

    async def load(self) -> None:
        """Read everything, and watch from now on. To be called at the start and with each new session."""
        (changes,) = await self._zookeeper((GetChildren(CHANGES, watch=True),))
        self._last = max(_changes(changes), default="")
        topics, *_ = await self._zookeeper((GetChildren(config_path("topics")),))
        entities = [f"topics/{name}" for name in topics.names]
        await self._apply((self._default, self._own, *entities))

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            (listed,) = await self._zookeeper((GetChildren(CHANGES, watch=True),))
            new = [name for name in _changes(listed) if name > self._last]
            answers = await self._zookeeper([GetData(f"{CHANGES}/{name}") for name in new])
            await self._apply(filter(None, map(_entity, answers)))
            self._last = max((self._last, *new))

    async def _apply(self, entities: Iterable[str]) -> None:
        named = list(dict.fromkeys(entities))
        answers = await self._zookeeper([GetData(config_path(entity)) for entity in named])
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


TOPIC, BROKER = 2, 4
"""`org.apache.kafka.common.config.ConfigResource.Type`."""
TYPES = {"BOOLEAN": 1, "STRING": 2, "INT": 3, "SHORT": 4, "LONG": 5, "DOUBLE": 6, "LIST": 7}
"""`DescribeConfigsResponse.ConfigType`."""
FINE = ("NONE", None)
UNWRITTEN_CONFIG = Refusal("UNKNOWN_SERVER_ERROR", "ZooKeeper did not take the configuration.")
Alter = Callable[[Config, "Resource"], Config | Refusal]


class Resource(NamedTuple):
    """What is asked about. `entity`: its path below `/config`."""

    type: int
    name: str
    alterations: Sequence[Alteration] = ()

    @property
    def entity(self) -> str:
        return f"topics/{self.name}" if self.type == TOPIC else f"brokers/{self.name or DEFAULT_ENTITY}"


class ConfigRequests:
    """`layers` are this broker's settings as they are now."""

    def __init__(self, broker: int, zookeeper: AskZooKeeper, layers: Callable[[], SettingsInLayers]) -> None:
        self._broker = str(broker)
        self._zookeeper = zookeeper
        self._layers = layers

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.DESCRIBE_CONFIGS: Api(0, 4, self._describe),
            ApiKey.ALTER_CONFIGS: Api(0, 2, self._alter),
            ApiKey.INCREMENTAL_ALTER_CONFIGS: Api(0, 1, self._alter),
        }

    async def _describe(self, request: Request) -> Entity:
        results: list[Entity] = []
        for asked in request.body.resources:
            resource = Resource(asked.resource_type, asked.resource_name)
            refusal = await self._refuse(resource)
            entries = () if refusal else await self._entries(resource)
            wanted = asked.configuration_keys
            told = [each for each in entries if wanted is None or each.name in wanted]
            error, message = FINE if refusal is None else (refusal.error, refusal.message)
            results.append(
                request.shape("DescribeConfigsResult")(
                    error_code=error_code(error),
                    error_message=message,
                    resource_type=resource.type,
                    resource_name=resource.name,
                    configs=tuple(_entry(request, each) for each in told),
                )
            )
        return request.answer("DescribeConfigsResponse", results=tuple(results))

    async def _entries(self, resource: Resource) -> Sequence[ConfigEntry]:
        layers = self._layers()
        if resource.type == BROKER:
            return layers.describe_broker() if resource.name else layers.describe_default()
        (config,) = await self._zookeeper((GetData(config_path(resource.entity)),))
        return layers.describe_topic(config_in(config))

    async def _alter(self, request: Request) -> Entity:
        incremental = request.start.api_key == ApiKey.INCREMENTAL_ALTER_CONFIGS
        responses: list[Entity] = []
        for asked in request.body.resources:
            resource = Resource(asked.resource_type, asked.resource_name, _alterations(asked))
            alter = self._changed if incremental else self._replaced
            refusal = await self._change(resource, alter, dry=request.body.validate_only)
            error, message = FINE if refusal is None else (refusal.error, refusal.message)
            responses.append(
                request.shape("AlterConfigsResourceResponse")(
                    error_code=error_code(error),
                    error_message=message,
                    resource_type=resource.type,
                    resource_name=resource.name,
                )
            )
        name = "IncrementalAlterConfigsResponse" if incremental else "AlterConfigsResponse"
        return request.answer(name, responses=tuple(responses))

    async def _change(self, resource: Resource, alter: Alter, *, dry: bool) -> Refusal | None:
        refusal = await self._refuse(resource)
        if refusal is not None:
            return refusal
        (found,) = await self._zookeeper((GetData(config_path(resource.entity)),))
        after = alter(config_in(found), resource)
        if isinstance(after, Refusal):
            return after
        problem = (
            topic_config_problem(self._layers(), after) if resource.type == TOPIC else broker_config_problem(after)
        )
        return problem if problem is not None or dry else await self._write(resource.entity, after)

    def _changed(self, config: Config, resource: Resource) -> Config | Refusal:
        of_topic = resource.type == TOPIC
        keys = TOPIC_KEYS if of_topic else DYNAMIC_KEYS
        defaults = topic_defaults(self._layers().effective) if of_topic else {}
        return altered(config, defaults, keys, resource.alterations)

    def _replaced(self, config: Config, resource: Resource) -> Config | Refusal:
        return altered({}, {}, {}, resource.alterations)

    async def _write(self, entity: str, config: Config) -> Refusal | None:
        path, payload = config_path(entity), EntityConfig(version=1, config=config).to_bytes()
        (written,) = await self._zookeeper((SetData(path, payload),))
        if written.code is Code.NO_NODE:
            (written,) = await self._zookeeper((Create(path, payload),))
        notice = ConfigChange(version=2, entity_path=entity).to_bytes()
        (noticed,) = await self._zookeeper((Create(f"{CHANGES}/{PREFIX}", notice, sequential=True),))
        return None if written.ok and noticed.ok else UNWRITTEN_CONFIG

    async def _refuse(self, resource: Resource) -> Refusal | None:
        if resource.type == TOPIC:
            (topic,) = await self._zookeeper((Exists(topic_path(resource.name)),))
            return None if topic.ok else Refusal("UNKNOWN_TOPIC_OR_PARTITION", "There is no such topic.")
        if resource.type != BROKER:
            return Refusal("INVALID_REQUEST", f"Configurations of resource type {resource.type} are not served here.")
        if resource.name in ("", self._broker):
            return None
        message = f"Unexpected broker id, expected {self._broker} or empty string, but received {resource.name}"
        return Refusal("INVALID_REQUEST", message)


def _alterations(asked: Any) -> tuple[Alteration, ...]:
    return tuple(
        Alteration(each.name, getattr(each, "config_operation", Operation.SET), each.value) for each in asked.configs
    )


def _entry(request: Request, entry: ConfigEntry) -> Entity:
    synonyms: tuple[Entity, ...] = ()
    if getattr(request.body, "include_synonyms", False):
        shape = request.shape("DescribeConfigsSynonym")
        synonyms = tuple(shape(name=each.name, value=each.value, source=each.source) for each in entry.synonyms)
    return shaped(
        request.shape("DescribeConfigsResourceResult"),
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=entry.source is Source.DEFAULT,
        config_source=entry.source,
        is_sensitive=False,
        synonyms=synonyms,
        config_type=TYPES.get(entry.type, 0),
        documentation=None,
    )
