"""What each broker was told of the partitions it holds, looked up when somebody asks."""

from collections.abc import Iterator, Mapping

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import stacked
from model.cluster.topic_image import NOBODY
from model.controller.topics import Topics
from model.drills.staging.znodes import controller_of
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.virtual.virtual_broker import Replica, VirtualBroker


class ToldReplicas(Mapping[TopicPartition, Replica]):
    """One broker's replicas, as the state znodes say that it was told."""

    def __init__(self, broker: int, topics: Topics) -> None:
        self._broker = broker
        self._topics = topics

    def get(self, key: TopicPartition, default: Replica | None = None) -> Replica | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        topic = self._topics.by_name.get(key.topic)
        partition = None if topic is None else topic.partitions.get(key.partition)
        if topic is None or partition is None or partition.leadership is None:
            return default
        if self._broker not in partition.assignment.replicas:
            return default
        return Replica(partition.leadership.state, partition.assignment, topic.topic_id)

    def __getitem__(self, key: TopicPartition) -> Replica:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, TopicPartition) and self.get(key) is not None

    def __iter__(self) -> Iterator[TopicPartition]:
        for copy in self._topics.on_brokers((self._broker,)):
            if copy.partition in self:
                yield copy.partition

    def __len__(self) -> int:
        return sum(1 for _ in self)


def brokers_of(image: ClusterImage, topics: Topics, *, growing: bool) -> dict[int, VirtualBroker]:
    """Every live broker. `growing`: ISRs may grow, and leaders know which of theirs lack somebody."""
    live = tuple(sorted(image.brokers))
    behind = _behind(image) if growing else {}
    in_office = controller_of(image)
    return {
        number: VirtualBroker(
            number,
            epoch=broker.epoch or 0,
            controller=NOBODY if in_office is None else in_office,
            controller_epoch=image.controller.epoch or 0,
            replicas=PersistentMap(ToldReplicas(number, topics)),
            live_brokers=live,
            behind=frozenset(behind.get(number, ())),
        )
        for number, broker in image.brokers.items()
    }


def _behind(image: ClusterImage) -> dict[int, list[TopicPartition]]:
    """By leader, the partitions with a replica that is not in the ISR."""
    columns = stacked(tuple(image.topics.values()))
    found: dict[int, list[TopicPartition]] = {}
    for topic, rows in columns.by_topic((~columns.in_isr & (columns.replicas != NOBODY)).any(axis=1)):
        for leader, number in zip(columns.leader[rows].tolist(), columns.partitions[rows].tolist(), strict=True):
            found.setdefault(leader, []).append(TopicPartition(topic.name, number))
    return found
