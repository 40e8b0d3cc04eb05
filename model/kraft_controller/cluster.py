"""The cluster as a KRaft controller holds it: partitions, brokers, and what is configured. It never changes.

It stands on an image, and holds only what became different: a drill touches few of many partitions.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property

import msgspec

from model.cluster.cluster_image import ClusterImage, state_of
from model.cluster.findings.health import MIN_ISR, at_least_one
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import stacked
from model.cluster.topic_image import Flags, unpadded
from model.kraft_controller.levels import Levels, levels_of
from model.kraft_controller.partition_change import NO_LEADER, PartitionChange, Registration, applied

UNCLEAN_KEY = "unclean.leader.election.enable"
EVERY_BROKER = "brokers/<default>"


class BrokerRegistration(msgspec.Struct, frozen=True):
    """A broker that is registered."""

    epoch: int = -1
    fenced: bool = False
    in_controlled_shutdown: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in an ISR."""
        return not (self.fenced or self.in_controlled_shutdown)


class PartitionChanged(msgspec.Struct, frozen=True, gc=False):
    """A PartitionChangeRecord. `unclean`: its leader may lack records that were acknowledged."""

    partition: TopicPartition
    before: Registration
    change: PartitionChange
    unclean: bool = False

    @property
    def after(self) -> Registration:
        return applied(self.before, self.change)


class BrokerRegistered(msgspec.Struct, frozen=True):
    """A RegisterBrokerRecord: a new incarnation, fenced until it has caught up."""

    broker: int
    epoch: int


class BrokerChanged(msgspec.Struct, frozen=True):
    """A BrokerRegistrationChangeRecord; None: that stays."""

    broker: int
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None


class BrokerUnregistered(msgspec.Struct, frozen=True):
    """An UnregisterBrokerRecord. Replica lists and ELRs keep it."""

    broker: int


MetadataRecord = PartitionChanged | BrokerRegistered | BrokerChanged | BrokerUnregistered


class KraftCluster:
    """Partitions are told in the order of the image: Kafka's own, of hash tables, matters to no outcome."""

    def __init__(self, image: ClusterImage, *, unclean: bool = False, levels: Levels | None = None) -> None:
        """`unclean`: every topic may elect a leader that is not in sync, whatever is configured."""
        self.levels = levels_of(image) if levels is None else levels
        self._image = image
        self._is_unclean = unclean
        self._columns = stacked(tuple(image.topics.values()))
        live = {each.id: BrokerRegistration(_epoch(each.epoch)) for each in image.brokers.values()}
        fenced = {each.id: BrokerRegistration(_epoch(each.epoch), fenced=True) for each in image.fenced.values()}
        self.brokers: Mapping[int, BrokerRegistration] = live | fenced
        self._changed: Mapping[TopicPartition, Registration] = {}

    def after(self, records: Iterable[MetadataRecord]) -> "KraftCluster":
        """The cluster once these are written."""
        brokers, changed = dict(self.brokers), dict(self._changed)
        for record in records:
            match record:
                case PartitionChanged():
                    changed[record.partition] = applied(changed.get(record.partition, record.before), record.change)
                case BrokerRegistered():
                    brokers[record.broker] = BrokerRegistration(record.epoch, fenced=True)
                case BrokerUnregistered():
                    brokers.pop(record.broker, None)
                case BrokerChanged():
                    told = {name: value for name in ("fenced", "in_controlled_shutdown")
                            if (value := getattr(record, name)) is not None}  # fmt: skip
                    if record.fenced is not None:
                        told["in_controlled_shutdown"] = False
                    brokers[record.broker] = msgspec.structs.replace(brokers[record.broker], **told)
        made = copy(self)
        made.__dict__.pop("active", None)
        made.brokers, made._changed = brokers, changed
        return made

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
        )

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
        first = TopicPartition(topic, 0)
        known = self._image.topics[topic].row_of
        return min(least, len(self.partition(first).replicas)) if 0 in known else least

    def allows_unclean(self, topic: str) -> bool:
        """Whether a leader may be elected that is not in sync."""
        return self._is_unclean or (self._setting(topic, UNCLEAN_KEY) or "").strip().lower() == "true"

    def _setting(self, topic: str, key: str) -> str | None:
        return self._image.topic_config(topic).get(key, self._image.configs.get(EVERY_BROKER, {}).get(key))

    def _named(self, flags: Flags) -> list[TopicPartition]:
        return [
            TopicPartition(topic.name, number)
            for topic, rows in self._columns.by_topic(flags)
            for number in self._columns.partitions[rows].tolist()
        ]

    def _now(self, before: Iterable[TopicPartition], fits: Callable[[Registration], bool]) -> list[TopicPartition]:
        """Of those that fitted in the image, and those that changed, the ones that fit now."""
        changed = self._changed
        kept = [name for name in before if name not in changed]
        return sorted([*kept, *(name for name, each in changed.items() if fits(each))])


def _epoch(epoch: int | None) -> int:
    return -1 if epoch is None else epoch
