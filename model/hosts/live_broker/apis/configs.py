"""Configurations of topics and brokers: followed in ZooKeeper while the broker runs, described and altered on request.

DescribeConfigs, AlterConfigs and IncrementalAlterConfigs: any broker answers. Source: `kafka.server.ConfigHelper`,
`ZkAdminManager`, `kafka.zk.AdminZkClient.changeEntityConfig` (3.9). What `/config` says is followed as
`kafka.common.ZkNodeChangeNotificationListener` and `kafka.server.ConfigHandler` (3.9) do; it is applied elsewhere.
Notifications older than the start are not read: everything is read then, and again with each new session. Log levels
are this process's own, by the names of its loggers, and last as long as it does (KIP-412).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from model.broker.settings.catalogue import ALL_TOPIC_KEYS, key_in_files
from model.broker.settings.dynamic_configs import (
    Alteration,
    ConfigEntry,
    ConfigSource,
    Operation,
    SettingsInLayers,
    altered,
    broker_config_problem,
    topic_config_problem,
)
from model.controller import Refusal
from model.controller.topic_validation import topic_name_problem
from model.hosts.live_broker.apis.config_stores import CHANGES, PREFIX, Config, ConfigStore, config_in
from model.hosts.live_broker.parts import AskZooKeeper, wall_clock_ms
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Api, Request
from model.znodes.configs import DEFAULT_ENTITY, decode_config_change
from model.znodes.paths import config_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Answer, Code, Delete, GetChildren, GetData, ZnodeChanged

NOTICE_KEPT_MS = 15 * 60 * 1000


class Applies(Protocol):
    """Who is told. An empty configuration: nothing is set any more."""

    def topic_config(self, topic: str, config: Config) -> None: ...

    def broker_config(self, default: Config, own: Config) -> None: ...

    def quota_config(self, entity: str, config: Config) -> None:
        """`entity`: its path below `/config`, as `users/u/clients/<default>`."""
        ...


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
        entities = [*await self._below("topics"), *await self._below("clients"), *await self._below("users")]
        users = [each for each in entities if each.startswith("users/")]
        of_users = [client for user in users for client in await self._below(f"{user}/clients")]
        await self._apply((self._default, self._own, *entities, *of_users))

    async def _below(self, entity: str) -> list[str]:
        (found,) = await self._zookeeper((GetChildren(config_path(entity)),))
        return [f"{entity}/{name}" for name in found.names]

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            (listed,) = await self._zookeeper((GetChildren(CHANGES, watch=True),))
            new = [name for name in _changes(listed) if name > self._last]
            answers = await self._zookeeper([GetData(f"{CHANGES}/{name}") for name in new])
            await self._apply(filter(None, map(_entity, answers)))
            self._last = max((self._last, *new))
            await self._remove_old(_changes(listed))

    async def _remove_old(self, names: Iterable[str]) -> None:
        """Notices that everybody must have read by now, as `ZkNodeChangeNotificationListener` does."""
        paths = [f"{CHANGES}/{name}" for name in names]
        answers = await self._zookeeper([GetData(path) for path in paths])
        before_ms = wall_clock_ms() - NOTICE_KEPT_MS
        ages = zip(paths, answers, strict=True)
        old = [path for path, answer in ages if answer.stat is not None and answer.stat.ctime_ms < before_ms]
        if old:
            await self._zookeeper([Delete(path) for path in old])

    async def _apply(self, entities: Iterable[str]) -> None:
        named = list(dict.fromkeys(entities))
        answers = await self._zookeeper([GetData(config_path(entity)) for entity in named])
        for entity, answer in zip(named, answers, strict=True):
            kind, _, name = entity.partition("/")
            if not answer.ok and answer.code is not Code.NO_NODE:
                continue  # the session is gone: with the next one everything is read again
            if kind == "topics":
                self._applies.topic_config(name, config_in(answer))
            elif kind in ("users", "clients"):
                self._applies.quota_config(entity, config_in(answer))
            elif entity in (self._own, self._default):
                self._brokers[entity] = config_in(answer)
                self._applies.broker_config(self._brokers.get(self._default, {}), self._brokers.get(self._own, {}))


def _changes(listed: Answer) -> list[str]:
    return sorted(name for name in listed.names if name.startswith(PREFIX))


def _entity(answer: Answer) -> str | None:
    try:
        return decode_config_change(answer.data).entity if answer.ok else None
    except UnusablePayloadError:
        return None


TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
"""`org.apache.kafka.common.config.ConfigResource.Type`."""
TYPES = {"BOOLEAN": 1, "STRING": 2, "INT": 3, "SHORT": 4, "LONG": 5, "DOUBLE": 6, "LIST": 7, "CLASS": 8, "PASSWORD": 9}
"""`DescribeConfigsResponse.ConfigType`."""
UNWRITTEN_CONFIG = Refusal("UNKNOWN_SERVER_ERROR", "ZooKeeper did not take the configuration.")
UNKNOWN_TYPE = Refusal("INVALID_REQUEST", "Log levels are altered one by one: IncrementalAlterConfigs.")
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

    def __init__(self, broker: int, store: ConfigStore, layers: Callable[[], SettingsInLayers]) -> None:
        self._broker = str(broker)
        self._store = store
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
            unnameable = topic_name_problem(resource.name) if resource.type == TOPIC else None
            refusal = unnameable or await self._refuse(resource)  # who alters it is told that there is none
            entries = () if refusal else await self._entries(resource)
            wanted = asked.configuration_keys
            told = [each for each in entries if wanted is None or each.name in wanted]
            results.append(
                request.shape("DescribeConfigsResult")(
                    **_outcome(refusal),
                    resource_type=resource.type,
                    resource_name=resource.name,
                    configs=tuple(_entry(request, each) for each in told),
                )
            )
        return request.answer("DescribeConfigsResponse", results=tuple(results))

    async def _entries(self, resource: Resource) -> Sequence[ConfigEntry]:
        layers = self._layers()
        if resource.type == BROKER_LOGGER:
            return log_levels()
        if resource.type == BROKER:
            return layers.describe_broker() if resource.name else layers.describe_default()
        return layers.describe_topic(await self._store.read(resource.entity))

    async def _alter(self, request: Request) -> Entity:
        incremental = request.start.api_key == ApiKey.INCREMENTAL_ALTER_CONFIGS
        times = Counter((asked.resource_type, asked.resource_name) for asked in request.body.resources)
        responses: list[Entity] = []
        for asked in request.body.resources:
            resource = Resource(asked.resource_type, asked.resource_name, _alterations(asked))
            if times[resource.type, resource.name] > 1:
                refusal = Refusal("INVALID_REQUEST", "Each resource must appear at most once.")
            elif resource.type == BROKER_LOGGER:
                refusal = await self._refuse(resource) or (
                    set_log_levels(resource, dry=request.body.validate_only) if incremental else UNKNOWN_TYPE
                )
            else:
                alter = _changed if incremental else _replaced
                refusal = await self._change(resource, alter, dry=request.body.validate_only)
            shape = request.shape("AlterConfigsResourceResponse")
            outcome = _outcome(refusal)
            responses.append(shape(**outcome, resource_type=resource.type, resource_name=resource.name))
        name = "IncrementalAlterConfigsResponse" if incremental else "AlterConfigsResponse"
        return request.answer(name, responses=tuple(responses))

    async def _change(self, resource: Resource, alter: Alter, *, dry: bool) -> Refusal | None:
        refusal = await self._refuse(resource)
        if refusal is not None:
            return refusal
        after = alter(await self._store.read(resource.entity), resource)
        if isinstance(after, Refusal):
            return after
        if resource.type == TOPIC:
            problem = topic_config_problem(self._layers(), after)
        else:
            problem = broker_config_problem(self._layers(), after, of_one=bool(resource.name))
        return problem if problem is not None or dry else await self._write(resource.entity, after)

    async def _write(self, entity: str, config: Config) -> Refusal | None:
        return None if await self._store.write(entity, config) else UNWRITTEN_CONFIG

    async def _refuse(self, resource: Resource) -> Refusal | None:
        name = resource.name
        if resource.type == TOPIC:
            if not name:
                return Refusal("INVALID_REQUEST", "Default topic resources are not allowed.")
            known = await self._store.has_topic(name)
            return None if known else Refusal("UNKNOWN_TOPIC_OR_PARTITION", "There is no such topic.")
        if resource.type not in (BROKER, BROKER_LOGGER):
            return Refusal("INVALID_REQUEST", f"Configurations of resource type {resource.type} are not served here.")
        if name == self._broker or (not name and resource.type == BROKER):
            return None
        if not name.lstrip("-").isdecimal():
            return Refusal("INVALID_REQUEST", f"Broker id must be an integer, but it is: {name}")
        message = f"Unexpected broker id, expected {self._broker} or empty string, but received {name}"
        return Refusal("INVALID_REQUEST", message)


def _changed(config: Config, resource: Resource) -> Config | Refusal:
    return altered(config, ALL_TOPIC_KEYS.get if resource.type == TOPIC else key_in_files, resource.alterations)


def _replaced(_: Config, resource: Resource) -> Config | Refusal:
    return altered({}, ALL_TOPIC_KEYS.get, resource.alterations)


def _outcome(refusal: Refusal | None) -> dict[str, object]:
    if refusal is None:
        return {"error_code": error_code("NONE"), "error_message": None}
    return {"error_code": error_code(refusal.error), "error_message": refusal.message}


ROOT = "root"
LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
"""`org.apache.kafka.common.config.LogLevelConfig`, and Python's numbers."""


def log_levels() -> tuple[ConfigEntry, ...]:
    """The level of each logger of this process."""
    loggers = [logging.getLogger(), *map(logging.getLogger, sorted(logging.root.manager.loggerDict))]
    return tuple(
        ConfigEntry(each.name, _level_name(each.getEffectiveLevel()), ConfigSource.LOGGER, "UNKNOWN", False, ())
        for each in loggers
    )


def _level_name(level: int) -> str:
    return next((name for name, least in reversed(LEVELS.items()) if level >= least), "TRACE")


def set_log_levels(resource: Resource, *, dry: bool) -> Refusal | None:
    """Change the levels of loggers of this process; nothing is changed where one alteration is refused."""
    for each in resource.alterations:
        if each.operation not in (Operation.SET, Operation.DELETE):
            return Refusal("INVALID_REQUEST", f"A log level can be set or deleted: {each.name}")
        if each.name != ROOT and each.name not in logging.root.manager.loggerDict:
            return Refusal("INVALID_CONFIG", f"Logger {each.name} does not exist!")
        if each.operation == Operation.SET and each.value not in LEVELS:
            return Refusal("INVALID_CONFIG", f"A log level is one of {', '.join(LEVELS)}, not {each.value}")
        if each.operation == Operation.DELETE and each.name == ROOT:
            return Refusal("INVALID_REQUEST", "Removing the log level of the root logger is not allowed")
    for each in () if dry else resource.alterations:
        logger = logging.getLogger(None if each.name == ROOT else each.name)
        logger.setLevel(LEVELS.get(each.value or "", logging.NOTSET))
    return None


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
        is_default=entry.source is ConfigSource.DEFAULT,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=synonyms,
        config_type=TYPES.get(entry.type, 0),
        documentation=entry.remark if getattr(request.body, "include_documentation", False) else None,
    )
