"""An image as the znodes that it was read from, for a ZooKeeper in memory, and the release's rules that it tells of.

The few znodes of brokers, controller, settings and pending work are made at once. Those below `/brokers/topics` are
worked out when somebody asks for one: there may be a million of them. Consumer groups are left out: no controller
looks at them. What an image does not know of a znode, or a controller never asks for, is 0: transactions and times.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from model.cluster.cluster_image import BrokerImage, ClusterImage, state_of
from model.cluster.ids import NO_STATE, KafkaGeneration
from model.cluster.topic_image import TopicImage, rows_of
from model.controller.generations import LATEST, ControllerSettings, Generation, default_settings, generation_of
from model.controller.topics import Partition, Topic, Topics
from model.hosts.memory_zookeeper.persistent_map import NO_NAMES, Names
from model.hosts.memory_zookeeper.state import Planted, planted_nodes
from model.hosts.memory_zookeeper.tree import StoredZnode
from model.znodes import paths
from model.znodes.cluster import (
    BrokerRegistration,
    ClusterId,
    ControllerEpoch,
    ControllerRegistration,
    FinalizedFeatures,
)
from model.znodes.configs import EntityConfig
from model.znodes.paths import (
    broker_path,
    config_path,
    delete_topic_path,
    partition_path,
    partition_state_path,
    partitions_path,
    topic_path,
)
from model.znodes.topics import (
    RECOVERING,
    LeaderIsrAndControllerEpoch,
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)
from model.zookeeper import Stat

UNCLEAN_KEY = "unclean.leader.election.enable"


def rules_of(image: ClusterImage) -> Generation:
    """The rules of the newest release that the cluster's payloads could be of."""
    if image.generation == "2.x" and any(topic.topic_id is not None for topic in image.topics.values()):
        return generation_of("2.8")
    release = {"0.8": "0.8.2", "0.9-1.x": "1.1", "2.x": "2.6"}.get(image.generation)
    return LATEST if release is None else generation_of(release)


def settings_of(image: ClusterImage, broker: int, *, unclean: bool | None = None) -> ControllerSettings:
    """A controller's settings: what is set for all brokers, else Kafka's defaults; no leaders go back by themselves.

    unclean: whether a leader may be elected that is not in sync; None: as the cluster has it.
    """
    settings = default_settings(broker, rules_of(image), auto_leader_rebalance_enable=False)
    if unclean is None:
        default = image.configs.get("brokers/<default>", {}).get(UNCLEAN_KEY)
        unclean = settings.unclean_leader_election_enable if default is None else default.strip().lower() == "true"
    return msgspec.structs.replace(settings, unclean_leader_election_enable=unclean)


class TopicZnodes:
    """One topic's znodes."""

    def __init__(self, image: TopicImage, topic: Topic | None, version: int, *, keeps: bool) -> None:
        """topic: the same as a controller holds it, which is quicker to read; None if no assignment names a broker.
        keeps: states are worked out once."""
        self._image = image
        self._partitions: Mapping[int, Partition] = {} if topic is None else topic.partitions
        self._version = version
        self._kept: dict[int, StoredZnode] | None = {} if keeps else None

    def paths(self) -> Iterator[str]:
        """Every path, parents before children."""
        name = self._image.name
        yield topic_path(name)
        if self._stated:
            yield partitions_path(name)
        for number in self._stated:
            yield partition_path(name, number)
            yield partition_state_path(name, number)

    def node(self, names: list[str]) -> StoredZnode | None:
        """The znode at these names below the topic's; None if there is none."""
        if len(names) == 3:  # all but a few
            return self._state(_number(names[1])) if names[0] == "partitions" and names[2] == "state" else None
        match names:
            case []:
                return self._assignment
            case ["partitions"]:
                return _folder(list(map(str, self._stated))) if self._stated else None
            case ["partitions", number]:
                return _folder(["state"]) if _number(number) in self._stated else None
            case _:
                return None

    def _state(self, number: int) -> StoredZnode | None:
        kept = self._kept
        node = None if kept is None else kept.get(number)
        if node is None and (node := self._worked_out(number)) and kept is not None:
            kept[number] = node
        return node

    def _worked_out(self, number: int) -> StoredZnode | None:
        known = self._partitions.get(number)
        if known is None or known.leadership is None:
            return self._orphan(number)
        state = known.leadership.state
        payload = LeaderIsrAndControllerEpoch(
            controller_epoch=known.leadership.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            leader_recovery_state=RECOVERING if state.recovering else 0,
        )
        return _state_node(payload, state.partition_epoch)

    def _orphan(self, number: int) -> StoredZnode | None:
        """The state of a partition that no assignment names."""
        row = self._stated.get(number)
        if row is None:
            return None
        state = state_of(self._image, row)
        payload = LeaderIsrAndControllerEpoch(
            controller_epoch=state.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            leader_recovery_state=RECOVERING if state.recovering else 0,
        )
        return _state_node(payload, state.version)

    @cached_property
    def _assignment(self) -> StoredZnode:
        topic = self._image
        rows = zip(topic.partitions.tolist(), rows_of(topic.replicas), strict=True)
        replicas = {partition: brokers for partition, brokers in rows if brokers}
        payload = TopicAssignment(
            partitions=replicas,
            topic_id=topic.topic_id,
            adding_replicas=topic.adding,
            removing_replicas=topic.removing,
            version=self._version,
        )
        data = payload.to_bytes() if replicas else b""
        children = 1 if self._stated else 0
        return StoredZnode(data, _stat(len(data), children=children), Names(["partitions"]) if children else NO_NAMES)

    @cached_property
    def _stated(self) -> dict[int, int]:
        """Partitions with a state znode, and their rows."""
        rows = zip(self._image.partitions.tolist(), self._image.version.tolist(), strict=True)
        return {partition: row for row, (partition, version) in enumerate(rows) if version != NO_STATE}


def _number(name: str) -> int:
    return int(name) if name.isascii() and name.isdigit() else -1


def _state_node(payload: LeaderIsrAndControllerEpoch, version: int) -> StoredZnode:
    data = payload.to_bytes()
    return StoredZnode(data, _stat(len(data), version=version))


def _folder(names: list[str]) -> StoredZnode:
    return StoredZnode(b"", _stat(0, children=len(names)), Names(names))


def _stat(length: int, *, children: int = 0, version: int = 0) -> Stat:
    return Stat(0, 0, 0, 0, version, children, 0, 0, length, children, 0)


REGISTRATION_VERSIONS: Mapping[str, int] = {"0.8": 1, "0.9-1.x": 4}
"""Kafka generation → version of a broker's payload, where it is not 5."""

MOST_KEPT = 50_000
"""Partitions. The states of so many take some 30 MB, and drills of small clusters ask for the same ones again."""

_BELOW_TOPICS = f"{paths.TOPICS}/"


class ClusterZnodes(Mapping[str, StoredZnode]):
    """Every znode by path; `owners` are the brokers' sessions, `topics` those of the image as controllers hold them."""

    def __init__(self, image: ClusterImage, owners: Mapping[int, int], topics: Topics) -> None:
        version, known = rules_of(image).forms.topic_version, topics.by_name
        keeps = image.partition_count <= MOST_KEPT
        self._topics = {
            name: TopicZnodes(topic, known.get(name), version, keeps=keeps) for name, topic in image.topics.items()
        }
        self._few = planted_nodes(dict(_few(image, owners)))
        if self._topics:
            stat = Stat(0, 0, 0, 0, 0, len(self._topics), 0, 0, 0, len(self._topics), 0)
            self._few[paths.TOPICS] = StoredZnode(b"", stat, Names(list(self._topics)))

    def get(self, key: str, default: StoredZnode | None = None) -> StoredZnode | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not key.startswith(_BELOW_TOPICS):
            return self._few.get(key, default)
        name, *below = key[len(_BELOW_TOPICS) :].split("/")
        topic = self._topics.get(name)
        found = None if topic is None else topic.node(below)
        return default if found is None else found

    def __getitem__(self, key: str) -> StoredZnode:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        yield from self._few
        for topic in self._topics.values():
            yield from topic.paths()

    def __len__(self) -> int:
        return self._length

    @cached_property
    def _length(self) -> int:
        return sum(1 for _ in self)


def registration_of(broker: BrokerImage, generation: KafkaGeneration) -> bytes:
    """A broker's payload. Listeners go by their names, for an image does not say which protocol they speak.

    A broker that was dead in the image has none, and a host without a name.
    """
    fields = BrokerRegistration(
        endpoints=broker.endpoints,
        rack=broker.rack,
        version=REGISTRATION_VERSIONS.get(generation, 5),
        timestamp=str(broker.registered_ms),
    )
    plain = next((listener for listener in fields.listeners if listener.security_protocol == "PLAINTEXT"), None)
    host, port = ("", -1) if plain is None else (plain.host, plain.port)
    return BrokerRegistration(
        endpoints=broker.endpoints,
        rack=broker.rack,
        host=host if plain is not None or not broker.endpoints else None,
        port=port,
        version=fields.version,
        timestamp=fields.timestamp,
    ).to_bytes()


def controller_of(image: ClusterImage) -> int | None:
    """The controller's broker; None where there is none, or one that does not live."""
    broker = image.controller.broker
    return broker if broker in image.brokers else None


def _few(image: ClusterImage, owners: Mapping[int, int]) -> Iterator[tuple[str, Planted]]:
    forms = rules_of(image).forms
    for path in (*forms.paths, paths.TOPICS, paths.DELETIONS):
        yield path, Planted()
    if image.cluster_id is not None:
        yield paths.CLUSTER_ID, Planted(ClusterId(cluster_id=image.cluster_id).to_bytes())
    if forms.feature_version is not None:
        features = FinalizedFeatures(features={}, version=forms.feature_version, status=1)
        yield paths.FEATURE, Planted(features.to_bytes())
    for number, broker in image.brokers.items():
        data, epoch = registration_of(broker, image.generation), broker.epoch
        version = 0 if epoch is None else 1
        planted = Planted(data, owners[number], version, czxid=epoch or 0, time_ms=broker.registered_ms)
        yield broker_path(number), planted
    yield from _controller_znodes(image, owners, forms.controller_version)
    for entity, config in image.configs.items():
        yield config_path(entity), Planted(EntityConfig(config=config).to_bytes())
    yield from _pending_work(image)


def _controller_znodes(image: ClusterImage, owners: Mapping[int, int], version: int) -> Iterator[tuple[str, Planted]]:
    controller, broker = image.controller, controller_of(image)
    if broker is not None:
        payload = ControllerRegistration(
            version=version,
            broker_id=broker,
            timestamp=str(controller.since_ms),
            kraft_controller_epoch=-1 if version > 1 else None,
        )
        yield paths.CONTROLLER, Planted(payload.to_bytes(), owners[broker], time_ms=controller.since_ms)
    if controller.epoch is not None:
        # Made with 0 and raised by one by every controller: its version is its number.
        yield paths.CONTROLLER_EPOCH, Planted(ControllerEpoch(controller.epoch).to_bytes(), version=controller.epoch)


def _pending_work(image: ClusterImage) -> Iterator[tuple[str, Planted]]:
    for topic in image.admin.delete_topics:
        yield delete_topic_path(topic), Planted()
    moves = tuple(
        ReassignmentEntry(topic=name.topic, partition=name.partition, replicas=target)
        for name, target in image.admin.reassignments.items()
    )
    if moves:
        yield paths.REASSIGNMENTS, Planted(PartitionReassignment(partitions=moves).to_bytes())
    asked = tuple(PartitionEntry(topic=name.topic, partition=name.partition) for name in image.admin.preferred_election)
    if asked:
        yield paths.PREFERRED_ELECTION, Planted(PreferredReplicaElection(partitions=asked).to_bytes())
