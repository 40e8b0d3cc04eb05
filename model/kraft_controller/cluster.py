"""The cluster as a KRaft controller holds it: partitions, brokers, and what is configured. It never changes; records do
it, those of the metadata log that elections depend on.

It stands on an image, and holds only what became different: a drill touches few of many partitions.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from functools import cached_property

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage, state_of
from model.cluster.findings.health import MIN_ISR, at_least_one
from model.cluster.ids import METADATA_VERSION, TopicPartition
from model.cluster.image_parts import KraftMetadata, are_all_cordoned, directory_number
from model.cluster.partition_columns import stacked
from model.cluster.topic_image import Flags, unpadded
from model.kraft_controller.partition_change import (
    ELR_FEATURE,
    LOST,
    MIGRATING,
    NO_LEADER,
    UNASSIGNED,
    Levels,
    PartitionChange,
    Registration,
    applied,
    levels_of,
)


class BrokerRegistration(msgspec.Struct, frozen=True):
    """A broker that is registered."""

    epoch: int = -1
    fenced: bool = False
    in_controlled_shutdown: bool = False
    rack: str | None = None
    directories: tuple[str, ...] = ()
    """Ids of its log directories that work; empty where it does not tell them."""
    cordoned: tuple[str, ...] | None = None
    """Those of them that get no new replicas (KIP-1066, 4.3); None: it has not said."""

    @property
    def takes_replicas(self) -> bool:
        """Whether new ones may be placed on it: not all of its directories are cordoned."""
        return not are_all_cordoned(self.directories, self.cordoned or ())

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in an ISR."""
        return not (self.fenced or self.in_controlled_shutdown)

    def changed_by(self, record: "BrokerChanged") -> "BrokerRegistration":
        """The broker after it. Only the next incarnation ends a controlled shutdown, neither fencing nor unfencing
        (`BrokerRegistration.cloneWith`)."""
        told = {name: value for name in ("fenced", "in_controlled_shutdown", "directories", "cordoned")
                if (value := getattr(record, name)) is not None}  # fmt: skip
        return msgspec.structs.replace(self, **told)


class PartitionChanged(msgspec.Struct, frozen=True, gc=False):
    """A PartitionChangeRecord. `unclean`: its leader may lack records that were acknowledged; `last_known`: only such
    as were lost when it crashed, since it led last."""

    partition: TopicPartition
    before: Registration
    change: PartitionChange
    unclean: bool = False
    last_known: bool = False

    @property
    def after(self) -> Registration:
        return applied(self.before, self.change)


class BrokerRegistered(msgspec.Struct, frozen=True):
    """A RegisterBrokerRecord: a new incarnation is fenced until it has caught up."""

    broker: int
    epoch: int
    fenced: bool = True
    in_controlled_shutdown: bool = False
    rack: str | None = None
    directories: tuple[str, ...] = ()
    cordoned: tuple[str, ...] | None = None


class BrokerChanged(msgspec.Struct, frozen=True):
    """A BrokerRegistrationChangeRecord; None: that stays."""

    broker: int
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    directories: tuple[str, ...] | None = None
    cordoned: tuple[str, ...] | None = None


class BrokerUnregistered(msgspec.Struct, frozen=True):
    """An UnregisterBrokerRecord. Replica lists and ELRs keep it."""

    broker: int


class TopicCreated(msgspec.Struct, frozen=True):
    """A TopicRecord."""

    topic: str


class PartitionCreated(msgspec.Struct, frozen=True):
    """A PartitionRecord."""

    partition: TopicPartition
    registration: Registration


class TopicRemoved(msgspec.Struct, frozen=True):
    """A RemoveTopicRecord: its partitions and settings go with it, without records of their own."""

    topic: str


class ConfigWritten(msgspec.Struct, frozen=True):
    """A ConfigRecord, of `topics/NAME`, `brokers/ID` or `brokers/<default>`; None takes the setting away."""

    entity: str
    key: str
    value: str | None


class ElrCleared(msgspec.Struct, frozen=True):
    """A ClearElrRecord, of all topics where none is named: no change of a partition, yet it raises partition epochs."""

    topic: str = ""


class FeatureWritten(msgspec.Struct, frozen=True):
    """A FeatureLevelRecord."""

    feature: str
    level: int


MetadataRecord = (
    PartitionChanged
    | BrokerRegistered
    | BrokerChanged
    | BrokerUnregistered
    | TopicCreated
    | PartitionCreated
    | TopicRemoved
    | ConfigWritten
    | ElrCleared
    | FeatureWritten
)


DirectoriesOf = Callable[[TopicPartition], tuple[str, ...]]
"""Of a partition's replicas, the ids of the directories that hold them."""
UNCLEAN_KEY = "unclean.leader.election.enable"
EVERY_BROKER = "brokers/<default>"


class KraftCluster:
    """Partitions are told in the order of the image: Kafka's own, of hash tables, matters to no outcome."""

    def __init__(
        self,
        image: ClusterImage,
        *,
        unclean: bool = False,
        levels: Levels | None = None,
        directories: DirectoriesOf | None = None,
    ) -> None:
        """`unclean`: every topic may elect a leader that is not in sync, whatever is set. `directories`: those of
        the image, which has only numbers for them; None: they do not matter."""
        self.levels = levels_of(image) if levels is None else levels
        self._image = image
        self._is_unclean = unclean
        self._directories_of = directories
        self._columns = stacked(tuple(image.topics.values()))
        metadata = image.metadata or KraftMetadata()
        self.brokers: dict[int, BrokerRegistration] = {
            each.id: BrokerRegistration(
                -1 if each.epoch is None else each.epoch,
                fenced=each.id in image.fenced,
                in_controlled_shutdown=bool(each.in_controlled_shutdown),
                rack=each.rack,
                directories=metadata.log_dirs.get(each.id, ()),
                cordoned=metadata.cordoned.get(each.id),
            )
            for each in (*image.brokers.values(), *image.fenced.values())
        }
        self.configs: Mapping[str, Mapping[str, str]] = image.configs
        """Entity, `topics/NAME` or `brokers/ID`, → what is set."""
        self.topics: frozenset[str] = frozenset(image.topics)
        self._anew: frozenset[str] = frozenset()
        """Topics that were removed or created since the image: of those it says nothing any more."""
        self._changed: dict[TopicPartition, Registration] = {}

    def after(self, records: Iterable[MetadataRecord]) -> "KraftCluster":
        """The cluster once these are written."""
        made = copy(self)
        made.__dict__.pop("active", None)
        made.brokers, made._changed = dict(self.brokers), dict(self._changed)
        for record in records:
            match record:
                case PartitionChanged(partition, before, change):
                    made._changed[partition] = applied(made._changed.get(partition, before), change)
                case PartitionCreated(partition, registration):
                    made._changed[partition] = registration
                case ElrCleared(topic):
                    which = [name for name in made._with_elr() if not topic or name.topic == topic]
                    made._changed.update({name: made.partition(name).without_elr() for name in which})
                case BrokerRegistered(broker, epoch, fenced, leaving, rack, directories, cordoned):
                    made.brokers[broker] = BrokerRegistration(epoch, fenced, leaving, rack, directories, cordoned)
                case BrokerUnregistered(broker):
                    made.brokers.pop(broker, None)
                case BrokerChanged(broker):
                    made.brokers[broker] = made.brokers[broker].changed_by(record)
                case _:
                    made._set(record)
        return made

    def _set(self, record: TopicCreated | TopicRemoved | ConfigWritten | FeatureWritten) -> None:
        match record:
            case TopicCreated(topic) | TopicRemoved(topic):
                gone = self._partitions_of(topic)
                self._changed = {name: each for name, each in self._changed.items() if name not in gone}
                exists = isinstance(record, TopicCreated)
                self.topics = self.topics | {topic} if exists else self.topics - {topic}
                self._anew |= {topic}
                self.configs = {entity: each for entity, each in self.configs.items() if entity != f"topics/{topic}"}
            case ConfigWritten(entity, key, value):
                others = {name: each for name, each in self.configs.get(entity, {}).items() if name != key}
                self.configs = {**self.configs, entity: others if value is None else others | {key: value}}
            case FeatureWritten(feature, level):
                if feature == METADATA_VERSION:
                    self.levels = self.levels._replace(metadata_version=level)
                elif feature == ELR_FEATURE:
                    self.levels = self.levels._replace(elr=level > 0)

    def is_active(self, broker: int) -> bool:
        """Whether it may lead."""
        return broker in self.active

    @cached_property
    def active(self) -> frozenset[int]:
        """Who may lead."""
        return frozenset(broker for broker, each in self.brokers.items() if each.is_active)

    def partition(self, name: TopicPartition) -> Registration:
        """Raises KeyError where there is none."""
        if (changed := self._changed.get(name)) is not None:
            return changed
        if name.topic in self._anew:
            raise KeyError(name)
        topic = self._image.topics[name.topic]
        row = topic.row_of[name.partition]
        state = state_of(topic, row)
        return Registration(
            replicas=unpadded(topic.replicas[row]),
            isr=state.isr,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.version,
            removing=topic.removing.get(name.partition, ()),
            adding=topic.adding.get(name.partition, ()),
            elr=state.elr or (),
            last_known_elr=state.last_known_elr or (),
            recovering=state.recovering,
            directories=() if self._directories_of is None else self._directories_of(name),
        )

    def find(self, name: TopicPartition) -> Registration | None:
        """None where there is none."""
        try:
            return self.partition(name)
        except KeyError:
            return None

    def partitions(self, topic: str) -> list[TopicPartition]:
        """Of a topic, in ascending order; none where there is no such topic."""
        return sorted(self._partitions_of(topic)) if topic in self.topics else []

    def _partitions_of(self, topic: str) -> set[TopicPartition]:
        known = self._image.topics.get(topic) if topic not in self._anew else None
        before = {TopicPartition(topic, number) for number in (() if known is None else known.row_of)}
        return before | {name for name in self._changed if name.topic == topic}

    def is_acceptable(self, broker: int, state: Registration, active: Collection[int]) -> bool:
        """Whether it may lead: one of `active` whose directory of the partition works (3.7 and later)."""
        return broker in active and (not state.directories or self.has_directory(broker, state.directory(broker)))

    def has_directory(self, broker: int, directory: str) -> bool:
        """Whether the directory works: as long as the broker tells of none, any does."""
        registered = self.brokers.get(broker)
        if registered is None or directory == LOST:
            return False
        return directory in (UNASSIGNED, MIGRATING) or directory in registered.directories or not registered.directories

    def new_directory(self, broker: int) -> str:
        """Where a replica lies that it is to have: its only directory, and which of several it says later."""
        registered = self.brokers.get(broker)
        if registered is None or len(registered.directories) > 1:
            return UNASSIGNED
        return registered.directories[0] if registered.directories and self.levels.keeps_directories else MIGRATING

    def with_folders(self, broker: int, folders: Mapping[str, Iterable[TopicPartition]]) -> "KraftCluster":
        """The cluster where it is known what the broker has in which of its log folders; paths stand for their ids."""
        made = self.after(())
        if broker in self.brokers and not set(self.brokers[broker].directories) & set(folders):
            made.brokers[broker] = msgspec.structs.replace(self.brokers[broker], directories=tuple(folders))
        for folder, names in folders.items():
            for name in names:
                if (state := self.find(name)) is not None and broker in state.replicas:
                    known = {each: state.directory(each) for each in state.replicas} | {broker: folder}
                    made._changed[name] = msgspec.structs.replace(state, directories=tuple(known.values()))
        return made

    def in_directory(self, broker: int, directory: str) -> list[TopicPartition]:
        """Partitions whose replica the broker has there."""
        columns = self._columns
        width = min(columns.replicas.shape[1], columns.directories.shape[1])
        there = columns.directories[:, :width] == directory_number(directory)
        found = self._named((there & (columns.replicas[:, :width] == broker)).any(axis=1))
        return self._now(found, lambda each: each.directory(broker) == directory)

    def with_in_isr(self, broker: int) -> list[TopicPartition]:
        """Partitions whose ISR has the broker."""
        found = self._named((self._columns.isr == broker).any(axis=1))
        return self._now(found, lambda each: broker in each.isr)

    def with_in_elr(self, broker: int) -> list[TopicPartition]:
        """Partitions whose ELR has the broker."""
        found = self._named((self._columns.elr == broker).any(axis=1))
        return self._now(found, lambda each: broker in each.elr)

    def with_replica_on(self, broker: int) -> list[TopicPartition]:
        """Partitions that the broker is to have."""
        found = self._named((self._columns.replicas == broker).any(axis=1))
        return self._now(found, lambda each: broker in each.replicas)

    def led_by(self, broker: int) -> list[TopicPartition]:
        """Partitions that it leads; NO_LEADER: that nobody does."""
        found = self._named(self._columns.leader == broker)
        return self._now(found, lambda each: each.leader == broker)

    @property
    def leaderless(self) -> list[TopicPartition]:
        return self.led_by(NO_LEADER)

    def min_isr(self, topic: str) -> int:
        """The effective one: no more than partition 0 has replicas."""
        least = at_least_one(self._setting(topic, MIN_ISR))
        first = self.find(TopicPartition(topic, 0))
        return least if first is None else min(least, len(first.replicas))

    def allows_unclean(self, topic: str) -> bool:
        """Whether a leader may be elected that is not in sync."""
        return self._is_unclean or (self._setting(topic, UNCLEAN_KEY) or "").strip().lower() == "true"

    def _setting(self, topic: str, key: str) -> str | None:
        return self.configs.get(f"topics/{topic}", {}).get(key, self.configs.get(EVERY_BROKER, {}).get(key))

    def with_any_elr(self) -> list[tuple[TopicPartition, Registration]]:
        """Partitions with eligible leader replicas, or whose last known leader is kept, and how they are."""
        return [(name, self.partition(name)) for name in self._with_elr()]

    def _with_elr(self) -> list[TopicPartition]:
        columns = self._columns
        found = self._named(np.logical_or((columns.elr >= 0).any(axis=1), (columns.last_known_elr >= 0).any(axis=1)))
        return self._now(found, lambda each: bool(each.elr or each.last_known_elr))

    def _named(self, flags: Flags) -> list[TopicPartition]:
        return [
            TopicPartition(topic.name, number)
            for topic, rows in self._columns.by_topic(flags)
            for number in self._columns.partitions[rows].tolist()
        ]

    def _now(self, before: Iterable[TopicPartition], fits: Callable[[Registration], bool]) -> list[TopicPartition]:
        """Of those that fitted in the image, and those that changed, the ones that fit now."""
        changed, anew = self._changed, self._anew
        kept = [name for name in before if name not in changed and name.topic not in anew]
        return sorted([*kept, *(name for name, each in changed.items() if fits(each))])
