"""What each broker was told of the partitions it holds, looked up when somebody asks."""

from collections.abc import Iterator, Mapping

import msgspec

from model.broker.controller_requests.metadata_image import UNKNOWN_BROKER
from model.broker.controller_requests.served import Standing
from model.broker.partition.partition import FollowerProgress, Leading, Partition
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import stacked
from model.cluster.topic_image import NOBODY
from model.controller.topics import Topics
from model.drills.staging.znodes import controller_of
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.virtual.virtual_broker import VirtualBroker


class ToldPartitions(Mapping[TopicPartition, Partition]):
    """One broker's partitions, as the state znodes say that it was told. `since_ms`: when leaders began, as far as
    anybody knows; all followers in sync were caught up then."""

    def __init__(self, broker: int, topics: Topics, since_ms: int) -> None:
        self._broker = broker
        self._topics = topics
        self._since_ms = since_ms
        self._caught_up = FollowerProgress(log_end=0, fetched_ms=since_ms, caught_up_ms=since_ms)
        self._leading: dict[tuple[int, ...], Leading] = {}
        """By replicas: what is the same for all that it leads."""

    def get(self, key: TopicPartition, default: Partition | None = None) -> Partition | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        topic = self._topics.by_name.get(key.topic)
        partition = None if topic is None else topic.partitions.get(key.partition)
        if topic is None or partition is None or partition.leadership is None:
            return default
        told, broker = partition.leadership, self._broker
        if broker not in partition.assignment.replicas:
            return default
        state, leading = told.state, None
        if state.leader == broker:
            leading = self._leads(partition.assignment.replicas)
            if state.recovering:
                state = msgspec.structs.replace(state, recovering=False)
        return Partition(
            key, broker, state, told.controller_epoch, partition.assignment, topic.topic_id, leading=leading
        )

    def _leads(self, replicas: tuple[int, ...]) -> Leading:
        leading = self._leading.get(replicas)
        if leading is None:
            followers = {follower: self._caught_up for follower in replicas if follower != self._broker}
            leading = self._leading[replicas] = Leading(0, self._since_ms, followers)
        return leading

    def __getitem__(self, key: TopicPartition) -> Partition:
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
    start_ms = image.provenance.time_ms
    return {
        number: VirtualBroker(
            Standing(number, broker.epoch or 0, image.controller.epoch or 0),
            held=PersistentMap(ToldPartitions(number, topics, start_ms)),
            controller=UNKNOWN_BROKER if in_office is None else in_office,
            live_brokers=live,
            joinable=frozenset(behind.get(number, ())),
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
