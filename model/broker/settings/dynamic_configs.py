"""Configurations that ZooKeeper holds over a broker's file: their layers, altering them, and what to say beforehand.

Only keys that topics can override can be set on brokers that run. It writes nothing.

Source: `kafka.server.DynamicBrokerConfig` (3.9), KIP-226 (1.1); `kafka.server.ZkAdminManager.incrementalAlterConfigs`,
`alterConfigs` (3.9), KIP-339 (2.3).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.broker.settings.catalogue import KEYS, TOPIC_KEYS, UNSERVED_TOPIC_KEYS, remark_on
from model.broker.settings.keys import LOG_MESSAGE_FORMAT_VERSION
from model.broker.settings.kinds import Key, as_text
from model.broker.settings.settings import Settings, settings_of_topic, topic_defaults
from model.controller.refusal import Refusal

NONE: Mapping[str, str] = MappingProxyType({})
DYNAMIC_KEYS: Mapping[str, Key[object]] = MappingProxyType(
    {key.name: key for key in TOPIC_KEYS.values() if key is not LOG_MESSAGE_FORMAT_VERSION}
)
"""By name."""
_FAMILIES = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
)
"""Keys for the same thing, the strongest first."""


class Source(IntEnum):
    """Where a value comes from, by the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


class Synonym(msgspec.Struct, frozen=True):
    """A value of a key in one layer."""

    name: str
    value: str
    source: Source


class ConfigEntry(msgspec.Struct, frozen=True):
    """A key as DescribeConfigs tells it. `type` is Kafka's name. `synonyms`: all layers that say something, strongest
    first.
    """

    name: str
    value: str | None
    source: Source
    type: str
    read_only: bool
    synonyms: tuple[Synonym, ...]


class SettingsInLayers(msgspec.Struct, frozen=True):
    """`static`: server.properties; `own` and `default` as `/config/brokers/N` and `/config/brokers/<default>` say."""

    static: Settings
    default: Mapping[str, str] = NONE
    own: Mapping[str, str] = NONE

    @property
    def effective(self) -> Settings:
        """What holds. Values that are none, and keys that cannot be set so, are passed over."""
        return self.static.with_values({**_readable(self.default), **_readable(self.own)})

    def describe_broker(self) -> tuple[ConfigEntry, ...]:
        """All keys of the broker that have an effect here."""
        return tuple(self._broker_entry(key) for key in KEYS.values())

    def describe_default(self) -> tuple[ConfigEntry, ...]:
        """What is set for all brokers."""
        return tuple(
            _entry(name, key, (Synonym(name, value, Source.DYNAMIC_DEFAULT_BROKER),), read_only=False)
            for name, value in self.default.items()
            if (key := DYNAMIC_KEYS.get(name)) is not None
        )

    def describe_topic(self, config: Mapping[str, str]) -> tuple[ConfigEntry, ...]:
        """All keys of a topic, and those that are set on it and have no effect here."""
        defaults = topic_defaults(self.effective)
        entries: list[ConfigEntry] = []
        for name, key in TOPIC_KEYS.items():
            given = (Synonym(name, config[name], Source.TOPIC),) if name in config else ()
            entry = _entry(name, key, (*given, *self._synonyms(key)), read_only=False)
            entries.append(entry if given else msgspec.structs.replace(entry, value=defaults[name]))
        others = [name for name in config if name not in TOPIC_KEYS]
        entries += [_unserved(Synonym(name, config[name], Source.TOPIC)) for name in others]
        return tuple(entries)

    def _broker_entry(self, key: Key[object]) -> ConfigEntry:
        return _entry(key.name, key, self._layers_of(key.name), read_only=key.name not in DYNAMIC_KEYS)

    def _synonyms(self, key: Key[object]) -> tuple[Synonym, ...]:
        family = next((each for each in _FAMILIES if key.name in each), (key.name,))
        given = [each for name in family for each in self._layers_of(name) if each.source is not Source.DEFAULT]
        # A default counts only where the key itself has one: hours stand behind ms, which has none.
        return (*given, *(each for each in self._layers_of(key.name) if each.source is Source.DEFAULT))

    def _layers_of(self, name: str) -> tuple[Synonym, ...]:
        static = {name: as_text(value) for name, value in self.static.given.items()}
        default = KEYS[name].default
        layers = (
            (self.own, Source.DYNAMIC_BROKER),
            (self.default, Source.DYNAMIC_DEFAULT_BROKER),
            (static, Source.STATIC_BROKER),
            ({} if default is None else {name: as_text(default)}, Source.DEFAULT),
        )
        return tuple(Synonym(name, layer[name], source) for layer, source in layers if name in layer)


def _entry(name: str, key: Key[object], synonyms: tuple[Synonym, ...], *, read_only: bool) -> ConfigEntry:
    value, source = (synonyms[0].value, synonyms[0].source) if synonyms else (None, Source.DEFAULT)
    return ConfigEntry(name, value, source, key.kind.type, read_only, synonyms)


def _unserved(given: Synonym) -> ConfigEntry:
    return ConfigEntry(given.name, given.value, given.source, "STRING", False, (given,))


def _readable(config: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, text in config.items():
        key = DYNAMIC_KEYS.get(name)
        if key is not None:
            try:
                values[name] = key.read(text)
            except ValueError:
                continue
    return values


Config = Mapping[str, str]


class Operation(IntEnum):
    """`org.apache.kafka.clients.admin.AlterConfigOp.OpType`."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Alteration(NamedTuple):
    """One key. `value` is None where nothing is said."""

    name: str
    operation: int
    value: str | None


def altered(
    config: Config, defaults: Config, keys: Mapping[str, Key[object]], alterations: Sequence[Alteration]
) -> Config | Refusal:
    """A configuration after these. `defaults` are what lists are appended to where nothing is set."""
    names = [each.name for each in alterations]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        return Refusal("INVALID_REQUEST", f"Error due to duplicate config keys : {','.join(twice)}")
    empty = [each.name for each in alterations if each.value is None and each.operation != Operation.DELETE]
    if empty:
        return Refusal("INVALID_REQUEST", f"Null value not supported for : {','.join(empty)}")
    after = dict(config)
    for each in alterations:
        refusal = _alter(after, defaults, keys, each)
        if refusal is not None:
            return refusal
    return after


def topic_config_problem(layers: SettingsInLayers, config: Mapping[str, str | None]) -> Refusal | None:
    """Why this cannot be a topic's configuration (`LogConfig.validate`)."""
    for name in config:
        if name not in TOPIC_KEYS and name not in UNSERVED_TOPIC_KEYS:
            return Refusal("INVALID_CONFIG", f"Unknown topic config name: {name}")
    given = {name: value for name, value in config.items() if value is not None}
    refusals = settings_of_topic(layers.effective, given).refusals
    return Refusal("INVALID_CONFIG", f"Invalid value: {refusals[0]}") if refusals else None


def broker_config_problem(config: Config) -> Refusal | None:
    """Why this cannot be set on brokers that run."""
    fixed = sorted(set(config) - set(DYNAMIC_KEYS))
    if fixed:
        return Refusal("INVALID_REQUEST", f"Cannot update these configs dynamically: {', '.join(fixed)}")
    for name, text in config.items():
        try:
            DYNAMIC_KEYS[name].read(text)
        except ValueError as error:
            return Refusal("INVALID_CONFIG", f"Invalid value: {error}")
    return None


def _alter(
    after: dict[str, str], defaults: Config, keys: Mapping[str, Key[object]], each: Alteration
) -> Refusal | None:
    value = each.value or ""
    if each.operation == Operation.SET:
        after[each.name] = value
    elif each.operation == Operation.DELETE:
        after.pop(each.name, None)
    elif each.operation in _ON_LISTS:
        key = keys.get(each.name)
        if key is None or key.kind.type != "LIST":
            name = Operation(each.operation).name
            return Refusal("INVALID_CONFIG", f"Config value {name.lower()} is not allowed for config key: {each.name}")
        words = _words(after.get(each.name, defaults.get(each.name, "")))
        after[each.name] = ",".join(_ON_LISTS[each.operation](words, _words(value)))
    else:
        return Refusal("INVALID_REQUEST", f"Unknown operation {each.operation} for config key: {each.name}")
    return None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


_ON_LISTS: Mapping[int, Callable[[list[str], list[str]], list[str]]] = {
    Operation.APPEND: lambda words, more: words + [word for word in more if word not in words],
    Operation.SUBTRACT: lambda words, less: [word for word in words if word not in less],
}


TAKEN_WHILE_RUNNING = frozenset(
    {
        "advertised.listeners",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "listener.security.protocol.map",
        "listeners",
        "log.cleaner.backoff.ms",
        "num.replica.fetchers",
        "producer.id.expiration.ms",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Beside those that topics can override: `DynamicBrokerConfig.AllDynamicConfigs` (3.9), and the throttles of KIP-73."""


class Said(NamedTuple):
    """`refusals`: values that no broker takes; `remarks`: names that look wrong."""

    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def said_of(kind: str, wanted: Mapping[str, str]) -> Said:
    """Of settings of `topics` or `brokers`; keys of others, and of plug-ins, are the operator's own to know."""
    of_topic = kind == "topics"
    keys = TOPIC_KEYS if of_topic else KEYS
    refusals: list[str] = []
    remarks: list[str] = []
    for name, value in wanted.items():
        key = keys.get(name)
        if key is None:
            remark = remark_on(name, of_topic=of_topic) or ""
            if remark and not remark.endswith("has no effect here") and name not in TAKEN_WHILE_RUNNING:
                remarks.append(remark)
            continue
        try:
            key.read(value, name)
        except ValueError as error:
            refusals.append(str(error))
        if not of_topic and name not in DYNAMIC_KEYS and name not in TAKEN_WHILE_RUNNING:
            remarks.append(f"{name} is read at the start: brokers that run do not take it from here")
    return Said(tuple(refusals), tuple(remarks))
