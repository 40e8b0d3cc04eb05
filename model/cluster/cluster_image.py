"""The cluster at one moment, as an immutable value.

Parts that did not change between two images are the very same object, so a reader compares by identity first.
Holds facts only: what looks wrong is derived by `model.cluster.findings`.
"""

from collections.abc import Iterator, Mapping

import msgspec

from model.cluster.group_image import CLASSIC, GroupImage
from model.cluster.ids import TopicPartition
from model.cluster.kafka_generations import KafkaGeneration
from model.cluster.log_dirs import LogDir
from model.cluster.quorum import Quorum
from model.cluster.topic_image import TopicImage

_TOO = f" ({CLASSIC})"


class BrokerImage(msgspec.Struct, frozen=True):
    """A broker's registration. `epoch` is its broker epoch (czxid, KIP-380) or None before Kafka 2.2.

    `fenced` and `in_controlled_shutdown` are KRaft's; None: nobody told.
    """

    id: int
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    epoch: int | None = None
    registered_ms: int = 0
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None


class ControllerImage(msgspec.Struct, frozen=True):
    """Who controls. `broker` None: nobody; `epoch` None: the cluster never had a controller."""

    broker: int | None = None
    epoch: int | None = None
    since_ms: int = 0


class AdminImage(msgspec.Struct, frozen=True):
    """Work asked of the controller through znodes and not yet done."""

    reassignments: Mapping[TopicPartition, tuple[int, ...]] = {}
    preferred_election: tuple[TopicPartition, ...] = ()
    delete_topics: frozenset[str] = frozenset()


class Provenance(msgspec.Struct, frozen=True):
    """Where an image comes from: source, highest zxid in it (-1 none), when it was seen, whether it is whole."""

    source: str = ""
    zxid: int = -1
    time_ms: int = 0
    complete: bool = False
    asks_brokers: bool = True
    """False: of a ZooKeeper alone, which does not know the groups that brokers coordinate."""


class ClusterImage(msgspec.Struct, frozen=True):
    """All that is known of a cluster. Mappings are never written to."""

    provenance: Provenance = Provenance()
    cluster_id: str | None = None
    generation: KafkaGeneration = "unknown"
    controller: ControllerImage = ControllerImage()
    brokers: Mapping[int, BrokerImage] = {}
    """Those that live: registered and not fenced."""
    fenced: Mapping[int, BrokerImage] = {}
    """Those that are registered and fenced, as far as the controllers of KRaft tell."""
    topics: Mapping[str, TopicImage] = {}
    groups: Mapping[str, GroupImage] = {}
    """Those whose members register in ZooKeeper, by name."""
    classic_groups: Mapping[str, GroupImage] = {}
    """Those that brokers coordinate, by name."""
    log_ends: Mapping[TopicPartition, int] = {}
    """Log end offsets, as far as they are known: of what groups read."""
    configs: Mapping[str, Mapping[str, str]] = {}
    admin: AdminImage = AdminImage()
    quorum: Quorum | None = None
    """Of a KRaft cluster."""
    log_dirs: Mapping[int, tuple[LogDir, ...]] = {}
    """By broker, as far as brokers were asked."""
    offline_replicas: Mapping[TopicPartition, tuple[int, ...]] = {}
    """On brokers that live."""
    differences: Mapping[str, str] = {}
    """Subject → what its brokers tell and ZooKeeper does not."""
    unreadable: Mapping[str, str] = {}
    """Path → reason of each znode whose payload could not be used."""

    def topic_config(self, topic: str) -> Mapping[str, str]:
        """A topic's own settings, without the brokers' defaults."""
        return self.configs.get(f"topics/{topic}", {})

    def every_group(self) -> Iterator[tuple[str, GroupImage]]:
        """Groups of both kinds, each with a key: its name, or `NAME (classic)` where there are two of that name."""
        yield from self.groups.items()
        for name, group in self.classic_groups.items():
            yield f"{name}{_TOO}" if name in self.groups else name, group

    def group(self, key: str) -> GroupImage | None:
        """The group of a key as `every_group` says it."""
        known = self.groups.get(key) or self.classic_groups.get(key)
        return known or self.classic_groups.get(key.removesuffix(_TOO))

    @property
    def unconfirmed_brokers(self) -> tuple[int, ...]:
        """Of the brokers, those that only old metadata names: no active controller counts them, and they are silent."""
        return () if self.quorum is None else self.quorum.unconfirmed

    @property
    def partition_count(self) -> int:
        """Partitions over all topics."""
        return sum(len(topic) for topic in self.topics.values())


EMPTY = ClusterImage()
