"""The replicas of this broker as they are now: values of the pure core by partition, beside their open logs.

Whatever happens to one is put here, and told to those who wait. It decides nothing and sends nothing.
"""

import logging
from collections.abc import Callable, Iterable

from model.broker.controller_requests.metadata_image import MetadataImage
from model.broker.controller_requests.served import Standing
from model.broker.log_positions import LogPositions
from model.broker.partition.conditions import Conditions
from model.broker.partition.high_watermark import follow_high_watermark
from model.broker.partition.partition import Partition
from model.broker.serving.leader_epoch_check import find_partition
from model.broker.settings.fault_keys import KDRILL_FAULT_FOLDER
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.live_broker.replicas.news import News, NewsBoard
from model.hosts.live_broker.replicas.settings_by_topic import SettingsByTopic
from model.hosts.live_broker.replicas.space_limit import SpaceLimit
from model.log.partition_log import PartitionLog

_LOGGER = logging.getLogger(__name__)


class HeldReplicas:
    """`partitions` are those this broker serves, `offline` those in failed log dirs."""

    def __init__(self, broker: int, settings: Settings, log_dirs: LogDirs, now_ms: Callable[[], int]) -> None:
        self.broker = broker
        self.log_dirs = log_dirs
        self.now_ms = now_ms
        self.settings = SettingsByTopic(settings)
        self.metadata = MetadataCache()
        self.standing = Standing(broker)
        self.partitions: dict[TopicPartition, Partition] = {}
        self.offline: frozenset[TopicPartition] = frozenset()
        self.news = NewsBoard()
        self.space = SpaceLimit(settings[KDRILL_FAULT_FOLDER], self._used_bytes)
        self._live: tuple[MetadataImage, frozenset[int]] = (self.metadata.image, frozenset())

    def find(self, name: TopicPartition) -> Partition | str:
        """The partition, or Kafka's name of the error."""
        found = self.partitions.get(name)
        if found is not None and not self.offline:
            return found
        known = (name,) if self.metadata.image.partition(name) is not None else ()
        return find_partition(name, self.partitions, self.offline, known)

    def log(self, name: TopicPartition) -> PartitionLog | None:
        """The open log of a partition."""
        held = self.log_dirs.logs.get(name)
        return None if held is None else held.log

    def _used_bytes(self) -> int:
        return sum(held.log.size_bytes for held in self.log_dirs.logs.values())

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
            self._live = (image, image.live_brokers)
        return Conditions(
            self.now_ms() if now_ms is None else now_ms, self._live[1], self.settings.of(topic).replication
        )

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
        """These are not served any more."""
        for name in names:
            self.partitions.pop(name, None)
            self.news.tell(name, News.CHANGED)

    def tell_reasons(self, reasons: Iterable[str]) -> None:
        """The sentences of decisions, for the operator."""
        for reason in reasons:
            _LOGGER.info("%s", reason)
