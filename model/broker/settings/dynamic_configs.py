"""Configurations that ZooKeeper holds over a broker's file: their layers, altering them, and what is refused.

What may be set on brokers that run is in the catalogue; not all of it has an effect here. It writes nothing.

Source: `kafka.server.DynamicBrokerConfig`, `ConfigHelper`, `ConfigAdminManager` (3.9), KIP-226 (1.1);
`kafka.server.ZkAdminManager.incrementalAlterConfigs`, `alterConfigs` (3.9), KIP-339 (2.3).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.broker.settings.catalogue import (
    ALL_TOPIC_KEYS,
    DYNAMIC_KEYS,
    KEPT_KEYS,
    KEYS,
    OF_LISTENERS_OF_ALL,
    OF_ONE_BROKER,
    RATE_KEYS,
    READ_AT_THE_START,
    UNTOLD_KEYS,
    WITH_PREFIX_ALONE,
    broker_key,
    of_listener,
    remark_on,
)
from model.broker.settings.keys import (
    LOG_CLEANER_ENABLE,
    LOG_CLEANER_MAX_COMPACTION_LAG_MS,
    LOG_CLEANER_MIN_COMPACTION_LAG_MS,
    LOG_RETENTION_BYTES,
    Key,
    as_text,
)
from model.broker.settings.settings import Settings, listener_refusals, settings_of_topic, topic_defaults
from model.controller import Refusal

NONE: Mapping[str, str] = MappingProxyType({})
_FAMILIES = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
)
"""Keys for the same thing, the strongest first."""
_SECOND = {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}


class ConfigSource(IntEnum):
    """Where a value comes from, by the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    LOGGER = 6


class Synonym(msgspec.Struct, frozen=True):
    """A value of a key in one layer; None for a secret."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(msgspec.Struct, frozen=True):
    """A key as DescribeConfigs tells it. `type` is Kafka's name. `synonyms`: all layers that say something, strongest
    first. `remark`: for a key without effect.
    """

    name: str
    value: str | None
    source: ConfigSource
    type: str
    read_only: bool
    synonyms: tuple[Synonym, ...]
    is_sensitive: bool = False
    remark: str | None = None


class SettingsInLayers(msgspec.Struct, frozen=True):
    """`static`: server.properties; `own` and `default` as `/config/brokers/N` and `/config/brokers/<default>` say,
    without what `usable_config` leaves out.
    """

    static: Settings
    default: Mapping[str, str] = NONE
    own: Mapping[str, str] = NONE

    @property
    def effective(self) -> Settings:
        """What holds. Keys without effect are passed over."""
        values: dict[str, object] = {}
        for layer in (self.default, self.own):
            for name, text in layer.items():
                key = KEYS.get(name) or RATE_KEYS.get(name)
                if key is not None and name not in READ_AT_THE_START:
                    values[name] = key.read(text)
        return self.static.with_values(values)

    def value(self, name: str) -> str | None:
        """What is set for a key of brokers, by whatever layer, or its default, as text."""
        key = broker_key(name)
        for layer in (self.own, self.default):
            if name in layer:
                return _as_read(key, layer[name])
        family = next((each for each in _FAMILIES if name in each), (name,))
        is_overruled = any(each in layer for each in family for layer in (self.own, self.default))
        if name in self.static.given and not is_overruled:
            return as_text(self.static.given[name])
        return None if key is None or key.default is None else as_text(key.default)

    def describe_broker(self) -> tuple[ConfigEntry, ...]:
        """All keys of the broker that Kafka tells of, and whatever else is set on it."""
        known = [name for name in (*KEYS, *KEPT_KEYS) if name not in UNTOLD_KEYS]
        names = dict.fromkeys((*known, *self.static.given, *self.default, *self.own))
        return tuple(self._broker_entry(name) for name in names)

    def describe_default(self) -> tuple[ConfigEntry, ...]:
        """What is set for all brokers."""
        entries: list[ConfigEntry] = []
        for name in self.default:
            entry = self._broker_entry(name)
            synonyms = tuple(each for each in entry.synonyms if each.source is ConfigSource.DYNAMIC_DEFAULT_BROKER)
            value = None if entry.is_sensitive else self.default[name]
            source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
            entries.append(msgspec.structs.replace(entry, value=value, source=source, synonyms=synonyms))
        return tuple(entries)

    def describe_topic(self, config: Mapping[str, str]) -> tuple[ConfigEntry, ...]:
        """All keys of a topic, and whatever else is set on it."""
        defaults = topic_defaults(self.effective)
        entries: list[ConfigEntry] = []
        for name in dict.fromkeys((*ALL_TOPIC_KEYS, *config)):
            key = ALL_TOPIC_KEYS.get(name)
            given = (Synonym(name, config[name], ConfigSource.TOPIC),) if name in config else ()
            behind = () if key is None or (key.name == name and not broker_key(name)) else self._synonyms(key.name)
            entry = _entry(name, key, (*given, *behind), remark_on(name, of_topic=True))
            if not given and key is not None:
                value = defaults[name] if name in defaults else self._kept_default(key)
                entry = msgspec.structs.replace(entry, value=value)
            entries.append(entry)
        return tuple(entries)

    def _kept_default(self, key: Key[object]) -> str | None:
        value = self.value(key.name) if key.in_files else as_text(key.default)
        return _IN_MS.get(key.name) if value is None else value

    def _broker_entry(self, name: str) -> ConfigEntry:
        remark = remark_on(name)
        if name in READ_AT_THE_START and (name in self.own or name in self.default):
            remark = f"{name} is kept, and these brokers go on listening as their files say"
        entry = _entry(name, broker_key(name), self._synonyms(name), remark, name not in DYNAMIC_KEYS)
        return entry if entry.is_sensitive else msgspec.structs.replace(entry, value=self.value(name))

    def _synonyms(self, name: str) -> tuple[Synonym, ...]:
        family = next((each for each in _FAMILIES if name in each), _SECOND.get(name, (name,)))
        base = of_listener(name)
        names = family if base is None else (name, base)
        static = {each: as_text(self.static.given[each]) for each in names if each in self.static.given}
        keys = {each: broker_key(each) for each in names if of_listener(each) is None}
        defaults = {each: as_text(key.default) for each, key in keys.items() if key and key.default is not None}
        layers = (
            (self.own, ConfigSource.DYNAMIC_BROKER),
            (self.default, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (static, ConfigSource.STATIC_BROKER),
            ({each: text for each, text in defaults.items() if each not in RATE_KEYS}, ConfigSource.DEFAULT),
        )
        found = [Synonym(each, layer[each], source) for layer, source in layers for each in names if each in layer]
        first = next((at for at, each in enumerate(found) if each.name == name), len(found))
        return tuple(found[first:])  # what stands before the first of that name is left out


_IN_MS = {"log.flush.interval.ms": str(2**63 - 1), "log.roll.jitter.ms": "0"}
"""What topics have where neither the key nor its synonyms say anything."""


def _as_read(key: Key[object] | None, text: str) -> str:
    """As Java would write what it read; what nobody checked, as of a key of one listener, as it is."""
    try:
        return text if key is None else as_text(key.read(text))
    except ValueError:
        return text


def _entry(
    name: str, key: Key[object] | None, synonyms: tuple[Synonym, ...], remark: str | None, read_only: bool = False
) -> ConfigEntry:
    type_ = "UNKNOWN" if key is None else key.kind.type
    is_sensitive = key is None or type_ == "PASSWORD"
    if is_sensitive:
        synonyms = tuple(msgspec.structs.replace(each, value=None) for each in synonyms)
    value, source = (synonyms[0].value, synonyms[0].source) if synonyms else (None, ConfigSource.DEFAULT)
    return ConfigEntry(name, value, source, type_, read_only, synonyms, is_sensitive, remark)


def usable_config(config: Mapping[str, str], *, of_one: bool) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """What of a znode holds, and a line for each key that is passed over (`DynamicBrokerConfig.removeInvalidProps`)."""
    usable: dict[str, str] = {}
    refusals: list[str] = []
    for name, text in config.items():
        problem = broker_config_problem(SettingsInLayers(Settings()), {name: text}, of_one=of_one, alone=True)
        if problem is None:
            usable[name] = text
        else:
            refusals.append(problem.message)
    return usable, tuple(refusals)


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


KeyOf = Callable[[str], Key[object] | None]


def altered(config: Config, key_of: KeyOf, alterations: Sequence[Alteration]) -> Config | Refusal:
    """A configuration after these. Where a list is not set, the default of its key is appended to."""
    names = [each.name for each in alterations]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        return Refusal("INVALID_REQUEST", f"Error due to duplicate config keys : {','.join(twice)}")
    empty = [each.name for each in alterations if each.value is None and each.operation != Operation.DELETE]
    if empty:
        return Refusal("INVALID_REQUEST", f"Null value not supported for : {','.join(empty)}")
    after = dict(config)
    for each in alterations:
        refusal = _alter(after, key_of, each)
        if refusal is not None:
            return refusal
    return after


def topic_config_problem(layers: SettingsInLayers, config: Mapping[str, str | None]) -> Refusal | None:
    """Why this cannot be a topic's configuration (`LogConfig.validate`)."""
    for name, text in config.items():
        key = ALL_TOPIC_KEYS.get(name)
        if key is None:
            return Refusal("INVALID_CONFIG", f"Unknown topic config name: {name}")
        try:
            key.read(text or "", name)
        except ValueError as error:
            if text is not None:
                return Refusal("INVALID_CONFIG", f"Invalid value: {error}")
    of_topic = settings_of_topic(layers.effective, {name: text for name, text in config.items() if text is not None})
    least, most = (
        of_topic.settings[LOG_CLEANER_MIN_COMPACTION_LAG_MS],
        of_topic.settings[LOG_CLEANER_MAX_COMPACTION_LAG_MS],
    )
    if least > most:
        message = f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        return Refusal("INVALID_CONFIG", message)
    return None


def _against_each_other(after: SettingsInLayers) -> Iterator[Refusal | None]:
    settings = after.effective
    if settings.retention_ms == 0:
        yield _refused("log.retention.ms takes 1 or more, or -1 to keep all")
    for name, most in (("ms", settings.retention_ms), ("bytes", settings[LOG_RETENTION_BYTES])):
        local = int(after.value(f"log.local.retention.{name}") or AS_ALL)
        if local != AS_ALL and most != UNLIMITED and (local == UNLIMITED or local > most):
            yield _refused(f"log.local.retention.{name}={local} must not be more than log.retention.{name}={most}")


UNLIMITED, AS_ALL = -1, -2
"""What retention may be: for ever; of the local part, as long as the whole."""
_THREADS = (
    "background.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)
_BUFFER_BYTES = 1 << 20
"""What each thread of the log cleaner needs (`LogCleaner`)."""


def broker_config_problem(
    layers: SettingsInLayers, config: Config, *, of_one: bool, alone: bool = False
) -> Refusal | None:
    """Why this cannot be set on brokers that run: on this one, or on all.

    `layers` are what this broker is set to now. `alone`: without comparing with it.
    """
    fixed = [name for name in config if (name in KEYS or name in KEPT_KEYS) and name not in DYNAMIC_KEYS]
    if fixed:
        return _refused(f"Cannot update these configs dynamically: {', '.join(sorted(fixed))}")
    bare = sorted(name for name in config if name in WITH_PREFIX_ALONE)
    if bare:
        return _refused(f"These can be updated only with a listener's prefix, listener.name.: {', '.join(bare)}")
    for name, text in config.items():
        base = of_listener(name) or name
        key = broker_key(base) if base in DYNAMIC_KEYS or base in RATE_KEYS else None
        try:
            if key is not None:
                key.read(text, name)
        except ValueError as error:
            return _refused(f"Invalid value: {error}")
    of_one_alone = [name for name in config if _is_of_one_broker(name)]
    if of_one_alone and not of_one:
        return _refused(f"These need a broker's id, and cannot be set for all: {', '.join(sorted(of_one_alone))}")
    passwords = [name for name in config if (key := broker_key(name)) is not None and key.kind.type == "PASSWORD"]
    if passwords:
        return Refusal("INVALID_CONFIG", f"No password is kept in ZooKeeper by this broker: {', '.join(passwords)}")
    return None if alone else next(filter(None, _against_now(layers, config, of_one=of_one)), None)


def _is_of_one_broker(name: str) -> bool:
    base = of_listener(name)
    return name in OF_ONE_BROKER if base is None else base not in OF_LISTENERS_OF_ALL


def _refused(message: str) -> Refusal:
    return Refusal("INVALID_REQUEST", message)


def _against_now(layers: SettingsInLayers, config: Config, *, of_one: bool) -> Iterator[Refusal | None]:
    """What the parts that change would refuse (`BrokerReconfigurable.validateReconfiguration`)."""
    own, default = (config, layers.default) if of_one else (layers.own, config)
    after = SettingsInLayers(layers.static, default, own)
    for name in (*_THREADS, *(("log.cleaner.threads",) if layers.static[LOG_CLEANER_ENABLE] else ())):
        now, then = int(layers.value(name) or 0), int(after.value(name) or 0)
        if now != then and not now // 2 <= then <= 2 * now:
            yield _refused(f"{name}={then} must be between half of what it is now and twice that ({now})")
    threads, buffer = (
        int(after.value("log.cleaner.threads") or 0),
        int(after.value("log.cleaner.dedupe.buffer.size") or 0),
    )
    if threads and buffer // threads <= _BUFFER_BYTES:
        yield _refused("log.cleaner.dedupe.buffer.size must be at least 1 MB for each thread of the log cleaner")
    yield from _against_each_other(after)
    listening = {name: after.value(name) for name in sorted(READ_AT_THE_START)}
    if any(name in layer for name in READ_AT_THE_START for layer in (own, default)):
        given = {name: text for name, text in listening.items() if text is not None}
        for line in listener_refusals(layers.static.with_values(given)):
            yield _refused(line)


def _alter(after: dict[str, str], key_of: KeyOf, each: Alteration) -> Refusal | None:
    value = each.value or ""
    if each.operation == Operation.SET:
        after[each.name] = value
    elif each.operation == Operation.DELETE:
        after.pop(each.name, None)
    elif each.operation in _ON_LISTS:
        key = key_of(each.name)
        if key is None:
            return Refusal("UNKNOWN_SERVER_ERROR", f"There is no list to change: {each.name}")
        if key.kind.type != "LIST":
            name = Operation(each.operation).name
            return Refusal("INVALID_CONFIG", f"Config value {name.lower()} is not allowed for config key: {each.name}")
        words = _words(after.get(each.name, as_text(key.default)))
        after[each.name] = ",".join(_ON_LISTS[each.operation](words, _words(value)))
    else:
        return Refusal("UNKNOWN_SERVER_ERROR", f"Unknown operation {each.operation} for config key: {each.name}")
    return None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


_ON_LISTS: Mapping[int, Callable[[list[str], list[str]], list[str]]] = {
    Operation.APPEND: lambda words, more: words + [word for word in more if word not in words],
    Operation.SUBTRACT: lambda words, less: [word for word in words if word not in less],
}
