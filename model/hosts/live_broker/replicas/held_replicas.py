"""The replicas of this broker as they are now: values of the pure core by partition, beside their open logs.

Whatever happens to one is put here, and passed on to those who wait for news of it. What each topic is set to, the
broker's settings with the topic's own configuration over them, is kept here as well. It decides nothing and sends
nothing.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import MetadataImage
from model.broker.partition import Conditions, LogPositions, Partition, ReplicationSettings, follow_high_watermark
from model.broker.quotas import QuotaMeter, ThrottledReplicas, throttled_replicas
from model.broker.serving import find_partition
from model.broker.settings.keys import (
    ALTER_LOG_DIRS_QUOTA_WINDOW_NUM,
    ALTER_LOG_DIRS_QUOTA_WINDOW_SIZE_SECONDS,
    FOLLOWER_THROTTLED_RATE,
    FOLLOWER_THROTTLED_REPLICAS,
    KDRILL_FAULT_FOLDER,
    LEADER_THROTTLED_RATE,
    LEADER_THROTTLED_REPLICAS,
    PRODUCER_ID_EXPIRATION_MS,
    REPLICA_ALTER_LOG_DIRS_RATE,
    REPLICATION_QUOTA_WINDOW_NUM,
    REPLICATION_QUOTA_WINDOW_SIZE_SECONDS,
    Key,
)
from model.broker.settings.settings import (
    Settings,
    message_format,
    replication_settings,
    settings_of_topic,
    topic_defaults,
)
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.live_broker.replicas.log_dirs import LogDirs, SpaceLimit
from model.log.partition_log import PartitionLog
from model.log.settings import LogSettings, log_settings


class News(Enum):
    """What happened to a partition."""

    GREW = "the leader's log has more records"
    COMMITTED = "the high watermark or the log's start has moved"
    CHANGED = "it has another role, another ISR, or is gone"


class ReplicaListener(Protocol):
    """Somebody who waits. Told on the event loop, in the middle of things: to take note, and act later."""

    def hear(self, name: TopicPartition, news: News) -> None: ...


class NewsBoard:
    """Listeners by partition."""

    def __init__(self) -> None:
        self._listeners: dict[TopicPartition, dict[ReplicaListener, None]] = {}

    def listen(self, name: TopicPartition, listener: ReplicaListener) -> None:
        self._listeners.setdefault(name, {})[listener] = None

    def leave(self, name: TopicPartition, listener: ReplicaListener) -> None:
        listeners = self._listeners.get(name)
        if listeners is not None:
            listeners.pop(listener, None)
            if not listeners:
                del self._listeners[name]

    def listeners(self, name: TopicPartition) -> tuple[ReplicaListener, ...]:
        """Who would hear of a partition."""
        return tuple(self._listeners.get(name, ()))

    def tell(self, name: TopicPartition, news: News) -> None:
        for listener in self.listeners(name):
            listener.hear(name, news)


_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class PartsOfTopic:
    """What the parts of a broker are set to for one topic."""

    settings: Settings
    log: LogSettings
    replication: ReplicationSettings
    leader_throttled: ThrottledReplicas
    """Of the partitions that this broker leads."""
    follower_throttled: ThrottledReplicas


class SettingsByTopic:
    """Topics without a configuration of their own share one value. `id` is this broker's."""

    def __init__(self, broker: Settings, id: int) -> None:
        self.broker = broker
        self._id = id
        self._configs: dict[str, Mapping[str, str]] = {}
        self._default = _parts(broker, self._id, {})
        self._own: dict[str, PartsOfTopic] = {}

    def of(self, topic: str) -> PartsOfTopic:
        return self._own.get(topic, self._default)

    def knows(self, topic: str) -> bool:
        """Whether the configuration of a topic was told."""
        return topic in self._configs

    def configure(self, topic: str, config: Mapping[str, str]) -> bool:
        """Take in a topic's configuration; returns whether it differs from before."""
        if self._configs.get(topic) == config:
            return False
        had_none = not self._configs.get(topic)
        self._configs[topic] = dict(config)
        self._own.pop(topic, None)
        if config:
            self._own[topic] = _parts(self.broker, self._id, config, topic)
        return not (had_none and not config)

    def forget(self, topic: str) -> None:
        self._configs.pop(topic, None)
        self._own.pop(topic, None)

    def set_broker(self, broker: Settings) -> None:
        self.broker = broker
        self._default = _parts(broker, self._id, {})
        self._own = {
            topic: _parts(broker, self._id, config, topic) for topic, config in self._configs.items() if config
        }


def _parts(broker: Settings, broker_id: int, config: Mapping[str, str], topic: str = "") -> PartsOfTopic:
    read = settings_of_topic(broker, config)
    for line in (*read.refusals, *read.remarks):
        _LOGGER.warning("topic %s: %s", topic, line)
    log = log_settings(topic_defaults(read.settings))
    log = replace(
        log,
        producer_id_expiration_ms=broker[PRODUCER_ID_EXPIRATION_MS],
        message_format=message_format(broker, read.settings),
    )
    leader, follower = read.settings[LEADER_THROTTLED_REPLICAS], read.settings[FOLLOWER_THROTTLED_REPLICAS]
    throttled = throttled_replicas(leader, broker_id), throttled_replicas(follower, broker_id)
    return PartsOfTopic(read.settings, log, replication_settings(read.settings), *throttled)


class ReplicationThrottle:
    """What this broker sends to followers, fetches as one (KIP-73), or moves between its log dirs (KIP-113).

    `rate` is the key of the bound, in bytes a second. Kafka 3.9 `ReplicationQuotaManager`, which counts for followers
    in sync, too, and holds back only the others.
    """

    def __init__(self, settings: SettingsByTopic, now_ms: Callable[[], int], rate: Key[int]) -> None:
        self._settings = settings
        self._now_ms = now_ms
        self._rate = rate
        num, size_s = REPLICATION_QUOTA_WINDOW_NUM, REPLICATION_QUOTA_WINDOW_SIZE_SECONDS
        if rate is REPLICA_ALTER_LOG_DIRS_RATE:
            num, size_s = ALTER_LOG_DIRS_QUOTA_WINDOW_NUM, ALTER_LOG_DIRS_QUOTA_WINDOW_SIZE_SECONDS
        self._meter = QuotaMeter(settings.broker[num], 1_000 * settings.broker[size_s])

    def covers(self, name: TopicPartition) -> bool:
        """Whether the partition's replica here is throttled; every move is."""
        parts = self._settings.of(name.topic)
        return name.partition in (
            parts.leader_throttled if self._rate is LEADER_THROTTLED_RATE else parts.follower_throttled
        )

    def record(self, size: int) -> None:
        """So many bytes of partitions that are covered."""
        self._meter = self._meter.recorded(size, self._now_ms())

    @property
    def is_exceeded(self) -> bool:
        now_ms = self._now_ms()
        self._meter = self._meter.purged(now_ms)
        return self._meter.replication_rate(now_ms) > self._settings.broker[self._rate]


class HeldReplicas:
    """`partitions` are those this broker serves, `offline` those in failed log dirs."""

    def __init__(self, broker: int, settings: Settings, log_dirs: LogDirs, now_ms: Callable[[], int]) -> None:
        self.broker = broker
        self.log_dirs = log_dirs
        self.now_ms = now_ms
        self.settings = SettingsByTopic(settings, broker)
        self.sending = ReplicationThrottle(self.settings, now_ms, LEADER_THROTTLED_RATE)
        self.fetching = ReplicationThrottle(self.settings, now_ms, FOLLOWER_THROTTLED_RATE)
        self.moving = ReplicationThrottle(self.settings, now_ms, REPLICA_ALTER_LOG_DIRS_RATE)
        self.metadata = MetadataCache()
        self.epochs = BrokerEpochs(broker)
        self.partitions: dict[TopicPartition, Partition] = {}
        self.offline: frozenset[TopicPartition] = frozenset()
        self.news = NewsBoard()
        self.space = SpaceLimit(settings[KDRILL_FAULT_FOLDER], self._used_bytes)
        self._live: tuple[MetadataImage, frozenset[int], Mapping[int, int]] = (self.metadata.image, frozenset(), {})

    def find(self, name: TopicPartition) -> Partition | str:
        """The partition, or Kafka's name of the error."""
        found = self.partitions.get(name)
        if found is not None and not self.offline:
            return found
        known = (name,) if self.metadata.image.partition(name) is not None else ()
        return find_partition(name, self.partitions, self.offline, known)

    def log(self, name: TopicPartition) -> PartitionLog | None:
        held = self.log_dirs.logs.get(name)
        return None if held is None else held.log

    def _used_bytes(self) -> int:
        return sum(held.log.size_bytes for _, held in self.log_dirs.all_logs)

    def positions(self, name: TopicPartition) -> LogPositions | None:
        """What the decisions know of a log; None where there is none."""
        held = self.log_dirs.logs.get(name)
        if held is None:
            return None
        log = held.log
        return LogPositions(log.start_offset, log.end_offset, log.epochs, log.high_watermark, held.topic_id)

    def conditions(self, topic: str, now_ms: int | None = None) -> Conditions:
        """What the rules of a topic's partitions depend on, now."""
        image = self.metadata.image
        if self._live[0] is not image:
            self._live = (image, image.live_brokers, image.broker_epochs)
        _, live, epochs = self._live
        at_ms = self.now_ms() if now_ms is None else now_ms
        return Conditions(at_ms, live, self.settings.of(topic).replication, epochs)

    def put(self, partition: Partition) -> None:
        """The partition is like this from now on."""
        name = partition.partition
        before = self.partitions.get(name)
        if before is partition:
            return
        self.partitions[name] = partition
        moved = before is None or before.high_watermark != partition.high_watermark
        if moved:
            log = self.log(name)
            if log is not None:
                log.set_high_watermark(partition.high_watermark)
        if before is None or before.state is not partition.state or before.leads != partition.leads:
            self.news.tell(name, News.CHANGED)
        elif moved:
            self.news.tell(name, News.COMMITTED)

    def log_was_cut(self, name: TopicPartition) -> None:
        """After a truncation or a restart of a log: the high watermark does not lie beyond its end."""
        partition, positions = self.partitions.get(name), self.positions(name)
        if partition is not None and positions is not None:
            self.put(follow_high_watermark(partition, partition.high_watermark, positions))

    def remove(self, names: Iterable[TopicPartition]) -> None:
        for name in names:
            self.partitions.pop(name, None)
            self.news.tell(name, News.CHANGED)

    def tell_reasons(self, reasons: Iterable[str]) -> None:
        """The sentences of decisions, for the operator."""
        for reason in reasons:
            _LOGGER.info("%s", reason)
