"""A broker's settings as a value: what was given, defaults, what topics override, listeners, and each part's share.

It reads no files. The log's share is text: `topic_defaults`.

Source: `LogConfig`, `ServerTopicConfigSynonyms`, `KafkaConfig.effectiveAdvertisedListeners`,
`getInterBrokerListenerNameAndSecurityProtocol` (3.9); KIP-103 (listener names, 0.10.2).
"""

import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar, cast

import msgspec

from model.broker.life import ShutdownSettings
from model.broker.partition import ReplicationSettings, replication_rules_of
from model.broker.settings import keys
from model.broker.settings.catalogue import TOPIC_KEYS, remark_on
from model.broker.settings.keys import (
    ADVERTISED_LISTENERS,
    INTER_BROKER_LISTENER_NAME,
    LISTENER_SECURITY_PROTOCOL_MAP,
    LISTENERS,
    Key,
    as_text,
)
from model.cluster.ids import release_numbers
from model.controller.generations import ControllerSettings, generation_of

T = TypeVar("T")

_HOUR_MS = 60 * 60 * 1000
_MINUTE_MS = 60 * 1000


class Settings(msgspec.Struct, frozen=True):
    """`given`: values by the names of keys, as their kinds read them. `settings[KEY]` has the type of the key."""

    given: Mapping[str, object] = MappingProxyType({})

    def __getitem__(self, key: Key[T]) -> T:
        """What was given, or the default."""
        return cast(T, self.given.get(key.name, key.default))

    def with_values(self, values: Mapping[str, object]) -> "Settings":
        """With more values, by the names of keys."""
        return Settings({**self.given, **values}) if values else self

    @property
    def retention_ms(self) -> int:
        """How long records are kept: log.retention.ms, else .minutes, else .hours. -1: for ever."""
        in_ms, minutes = self[keys.LOG_RETENTION_MS], self[keys.LOG_RETENTION_MINUTES]
        if in_ms is not None:
            return max(in_ms, -1)
        hours = self[keys.LOG_RETENTION_HOURS]
        longest = minutes * _MINUTE_MS if minutes is not None else hours * _HOUR_MS
        return -1 if longest < 0 else longest

    @property
    def roll_ms(self) -> int:
        """After how long a segment is closed: log.roll.ms, else .hours."""
        in_ms = self[keys.LOG_ROLL_MS]
        return self[keys.LOG_ROLL_HOURS] * _HOUR_MS if in_ms is None else in_ms

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """Where logs lie: log.dirs, else log.dir."""
        return self[keys.LOG_DIRS] or (self[keys.LOG_DIR],)


class TopicSettings(NamedTuple):
    """`refusals`: values that are none, which keep what the broker is set to. `remarks`: keys without effect."""

    settings: Settings
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def settings_of_topic(broker: Settings, config: Mapping[str, str]) -> TopicSettings:
    """The broker's settings with a topic's configuration over them, as `/config/topics/…` has it."""
    values: dict[str, object] = {}
    refusals: list[str] = []
    for name, text in config.items():
        key = TOPIC_KEYS.get(name)
        if key is not None:
            try:
                values[key.name] = key.read(text, name)
            except ValueError as error:
                refusals.append(str(error))
    remarks = [remark for name in config if (remark := remark_on(name, of_topic=True))]
    return TopicSettings(broker.with_values(values), tuple(refusals), tuple(remarks))


def topic_defaults(broker: Settings) -> dict[str, str]:
    """The configuration that a topic without any has, by the names of topics, as text."""
    derived = {"retention.ms": broker.retention_ms, "segment.ms": broker.roll_ms}
    return {name: as_text(derived.get(name, broker[key])) for name, key in TOPIC_KEYS.items()}


def message_format(broker: Settings, topic: Settings) -> int:
    """The magic of what is appended to a topic's logs (`LogConfig.recordVersion`).

    From inter.broker.protocol.version 3.0 on it is 2. Before, message.format.version says it, of the topic or of the
    broker, unless it is newer than the protocol.
    """
    protocol = release_numbers(broker[keys.INTER_BROKER_PROTOCOL_VERSION])
    if protocol >= (3,):
        return 2
    name = keys.LOG_MESSAGE_FORMAT_VERSION.name
    given = [release_numbers(str(each.given[name])) for each in (topic, broker) if name in each.given]
    release = next((each for each in given if each <= protocol), protocol)
    return sum(release >= since for since in ((0, 10), (0, 11)))


_LISTENER = re.compile(r"([A-Za-z0-9_-]+)://(\[[0-9A-Fa-f:.%]+\]|[^\s:,/\[\]]*):(\d{1,5})")
ANY_ADDRESS = "0.0.0.0"
LOOPBACK = "127.0.0.1"


class Listener(NamedTuple):
    """One of them. An empty host listens everywhere, and is told as the machine's own name."""

    name: str
    host: str
    port: int


def listeners_of(settings: Settings) -> tuple[Listener, ...]:
    """Where to listen. Raises ValueError with a line for the user.

    Where `listeners` is not given, this machine alone is served, unlike Kafka, which then listens everywhere.
    """
    listeners = _parse(LISTENERS, settings[LISTENERS])
    if LISTENERS.name in settings.given:
        return listeners
    return tuple(listener._replace(host=LOOPBACK) for listener in listeners)


def advertised_listeners_of(settings: Settings) -> tuple[Listener, ...]:
    """What clients and other brokers are told; without advertised.listeners the same. Raises ValueError."""
    advertised = settings[ADVERTISED_LISTENERS]
    return listeners_of(settings) if advertised is None else _parse(ADVERTISED_LISTENERS, advertised)


def inter_broker_listener_of(settings: Settings) -> str:
    """The name of the listener that other brokers use: by default the one of plain text."""
    return settings[INTER_BROKER_LISTENER_NAME] or "PLAINTEXT"


def quorum_addresses(settings: Settings) -> tuple[tuple[str, int], ...]:
    """Where controllers are to be found: `controller.quorum.bootstrap.servers`, else the voters that are named.

    Raises ValueError with a line for the user.
    """
    places = settings[keys.CONTROLLER_QUORUM_BOOTSTRAP_SERVERS]
    voters = [place.partition("@")[2] for place in settings[keys.CONTROLLER_QUORUM_VOTERS]]
    return tuple(_address(place) for place in places or voters)


def _address(place: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= 65_535:
        raise ValueError(f"{keys.CONTROLLER_QUORUM_BOOTSTRAP_SERVERS.name} takes HOST:PORT, with commas, not {place!r}")
    return host.strip("[]"), int(port)


def protocols_of(settings: Settings) -> dict[str, str]:
    """listener.security.protocol.map taken apart: protocols by listener."""
    pairs = settings[LISTENER_SECURITY_PROTOCOL_MAP].split(",")
    return {name.strip(): protocol.strip() for name, _, protocol in (pair.partition(":") for pair in pairs)}


def listener_refusals(settings: Settings) -> tuple[str, ...]:
    """What is wrong with them, a sentence each."""
    try:
        listening, advertised = listeners_of(settings), advertised_listeners_of(settings)
    except ValueError as error:
        return (str(error),)
    protocols, between = protocols_of(settings), inter_broker_listener_of(settings)
    refusals = [
        f"listener {each.name} has the protocol {protocols.get(each.name)}: only PLAINTEXT is served here "
        f"(listener.security.protocol.map)"
        for each in listening
        if protocols.get(each.name) != "PLAINTEXT"
    ]
    names = {each.name for each in listening}
    refusals += [
        f"advertised.listeners has {each.name}, which listeners has not"
        for each in advertised
        if each.name not in names
    ]
    if between not in {each.name for each in advertised}:
        refusals.append(f"inter.broker.listener.name is {between}, which no advertised listener has")
    if any(each.host == ANY_ADDRESS for each in advertised):
        refusals.append(f"advertised.listeners cannot have {ANY_ADDRESS}: nobody can connect to it, name a host")
    return tuple(refusals)


def _parse(key: Key[str] | Key[str | None], text: str) -> tuple[Listener, ...]:
    found: list[Listener] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _LISTENER.fullmatch(part)
        if match is None or not -1 <= int(match[3]) <= 65_535:
            raise ValueError(f"{key.name} takes NAME://HOST:PORT, with commas, not {part[:80]!r}")
        found.append(Listener(match[1].upper(), match[2].strip("[]"), int(match[3])))
    if not found:
        raise ValueError(f"{key.name} is empty: it takes NAME://HOST:PORT, as PLAINTEXT://:9092")
    twice = [name for name, times in Counter(each.name for each in found).items() if times > 1]
    if twice:
        raise ValueError(f"{key.name} names {twice[0]} twice")
    return tuple(found)


def replication_settings(settings: Settings) -> ReplicationSettings:
    """For the rules of replication, of a broker or of one topic. Raises ValueError for what is no release of Kafka.

    inter.broker.protocol.version names the release whose rules hold.
    """
    return ReplicationSettings(
        rules=replication_rules_of(settings[keys.INTER_BROKER_PROTOCOL_VERSION]),
        replica_lag_time_max_ms=settings[keys.REPLICA_LAG_TIME_MAX_MS],
        replica_lag_max_messages=settings[keys.REPLICA_LAG_MAX_MESSAGES],
        min_insync_replicas=settings[keys.MIN_INSYNC_REPLICAS],
    )


def shutdown_settings(settings: Settings) -> ShutdownSettings:
    """For the end of the broker's life."""
    return ShutdownSettings(
        controlled_shutdown_enable=settings[keys.CONTROLLED_SHUTDOWN_ENABLE],
        controlled_shutdown_max_retries=settings[keys.CONTROLLED_SHUTDOWN_MAX_RETRIES],
        controlled_shutdown_retry_backoff_ms=settings[keys.CONTROLLED_SHUTDOWN_RETRY_BACKOFF_MS],
    )


def controller_settings(settings: Settings, broker_id: int) -> ControllerSettings:
    """For the controller in this broker, which has its id by now. Raises ValueError as `replication_settings`."""
    return ControllerSettings(
        broker_id=broker_id,
        generation=generation_of(settings[keys.INTER_BROKER_PROTOCOL_VERSION]),
        unclean_leader_election_enable=settings[keys.UNCLEAN_LEADER_ELECTION_ENABLE],
        delete_topic_enable=settings[keys.DELETE_TOPIC_ENABLE],
        auto_leader_rebalance_enable=settings[keys.AUTO_LEADER_REBALANCE_ENABLE],
        leader_imbalance_check_interval_ms=1_000 * settings[keys.LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS],
        leader_imbalance_per_broker_percentage=settings[keys.LEADER_IMBALANCE_PER_BROKER_PERCENTAGE],
    )
