"""A broker's settings in their layers: what its file says, and what ZooKeeper says over it while the broker runs.

Source: `kafka.server.DynamicBrokerConfig` (3.9), KIP-226 (1.1). Only keys that topics can override can be set so here.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import msgspec

from model.broker.settings.catalogue import KEYS, TOPIC_KEYS
from model.broker.settings.key import Key
from model.broker.settings.kinds import as_text
from model.broker.settings.settings import Settings
from model.broker.settings.topic_settings import topic_defaults

NONE: Mapping[str, str] = MappingProxyType({})
DYNAMIC_KEYS: Mapping[str, Key[object]] = MappingProxyType({key.name: key for key in TOPIC_KEYS.values()})
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
