"""How the demo cluster is written into ZooKeeper: its state as writes, in the sessions that real Kafka would use.

It carries nothing out. Ephemeral znodes belong to the session of their broker or consumer, so that ending the session
is the death of that broker or consumer.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from model.sandbox.demo.scenery import CLUSTER_ID, RACKS, TOPIC_BEING_DELETED, TOPICS
from model.sandbox.demo.state import LIVE_BROKERS, DemoConsumer, DemoGroup, DemoPartition, DemoState
from model.sandbox.znode_writes import CreateZnode, DeleteZnode, WriteZnode, ZnodeWrite
from model.znodes import paths
from model.znodes.admin import PartitionEntry
from model.znodes.brokers import BrokerRegistration
from model.znodes.catalogue import ZnodeKind
from model.znodes.cluster import ClusterId, FinalizedFeatures, ProducerIdBlock
from model.znodes.codec import encode
from model.znodes.configs import ConfigChange, EntityConfig
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.controller import ControllerEpoch, ControllerRegistration
from model.znodes.notifications import IsrChange
from model.znodes.partition_state import RECOVERING, LeaderIsrAndControllerEpoch
from model.znodes.security import AclEntry, ResourceAcls
from model.znodes.topics import TopicAssignment

CLUSTER = "cluster"
"""The session that writes what is nobody's: it owns no ephemeral znode."""


@dataclass(frozen=True)
class InSession:
    """Write in this session, opening it if need be."""

    session: str
    writes: tuple[ZnodeWrite, ...]


@dataclass(frozen=True)
class EndSession:
    """Close this session: its owner is gone."""

    session: str


DemoCommand = InSession | EndSession


def opening_commands(state: DemoState, now_ms: int) -> list[DemoCommand]:
    """The whole tree, into an empty root."""
    commands: list[DemoCommand] = [InSession(CLUSTER, tuple(_with_parents(_persistent(state))))]
    commands += [InSession(broker_session(broker), _registration(broker, now_ms)) for broker in LIVE_BROKERS]
    commands.append(election(state))
    for group in state.groups:
        commands += [InSession(each.consumer_id, (membership(group, each),)) for each in group.consumers]
        commands += ownership_changes(None, group)
    return commands


def broker_session(broker: int) -> str:
    """The name of the session that holds a broker's registration."""
    return f"broker-{broker}"


def election(state: DemoState) -> InSession:
    """A controller takes over: kafka.zk.KafkaZkClient.registerControllerAndIncrementControllerEpoch (2.1)."""
    controller = ControllerRegistration(
        version=2, broker_id=state.controller, timestamp=str(state.elected_ms), kraft_controller_epoch=-1
    )
    writes = (
        CreateZnode("/controller", encode(controller), ephemeral=True),
        WriteZnode("/controller_epoch", encode(ControllerEpoch(state.controller_epoch))),
    )
    return InSession(broker_session(state.controller), writes)


def partition_state(partition: DemoPartition) -> bytes:
    """The payload of the partition's `state`."""
    state = LeaderIsrAndControllerEpoch(
        controller_epoch=partition.controller_epoch,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=RECOVERING if partition.recovering else 0,
    )
    return encode(state)[:30] if partition.unreadable else encode(state)


def membership(group: DemoGroup, consumer: DemoConsumer) -> CreateZnode:
    """A consumer joins its group."""
    registration = ConsumerRegistration(
        subscription={group.topic: consumer.threads}, pattern="static", timestamp=str(consumer.joined_ms)
    )
    return CreateZnode(paths.member_path(group.name, consumer.consumer_id), encode(registration), ephemeral=True)


def ownership_changes(before: DemoGroup | None, after: DemoGroup) -> Iterator[DemoCommand]:
    """What the consumers of a group do in a rebalance: first let go, then take. Those who left have let go already."""
    old, new = before.owners() if before else {}, after.owners()
    moved = {partition for partition in old.keys() | new.keys() if old.get(partition) != new.get(partition)}
    for consumer in after.consumers:
        released = sorted(partition for partition in moved & old.keys() if old[partition][0] == consumer)
        path = [paths.owner_path(after.name, after.topic, partition) for partition in released]
        yield InSession(consumer.consumer_id, tuple(DeleteZnode(each) for each in path))
    for consumer in after.consumers:
        taken = sorted(partition for partition in moved & new.keys() if new[partition][0] == consumer)
        creates = (
            CreateZnode(
                paths.owner_path(after.name, after.topic, partition),
                encode(PartitionOwner(new[partition][1])),
                ephemeral=True,
            )
            for partition in taken
        )
        yield InSession(consumer.consumer_id, tuple(creates))


def _registration(broker: int, now_ms: int) -> tuple[ZnodeWrite, ...]:
    """Created empty and then written, as brokers do since 2.2: the data version of a live broker is 1."""
    rack = next(name for name, brokers in RACKS.items() if broker in brokers)
    host = f"kafka-{broker}.example"
    registration = BrokerRegistration(
        listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
        endpoints=(f"PLAINTEXT://{host}:9092",),
        rack=rack,
        jmx_port=9999,
        port=9092,
        host=host,
        version=5,
        timestamp=str(now_ms),
    )
    path = paths.broker_path(broker)
    return CreateZnode(path, ephemeral=True), WriteZnode(path, encode(registration))


def _with_parents(creates: Iterable[CreateZnode]) -> Iterator[CreateZnode]:
    made = {"/", ""}
    for create in creates:
        steps = create.path.split("/")
        for depth in range(2, len(steps)):
            if (parent := "/".join(steps[:depth])) not in made:
                made.add(parent)
                yield CreateZnode(parent)
        if create.path not in made:
            made.add(create.path)
            yield create


def _persistent(state: DemoState) -> Iterator[CreateZnode]:
    yield from _cluster_znodes(state)
    by_topic: dict[str, list[DemoPartition]] = {topic.name: [] for topic in TOPICS}
    for partition in state.partitions.values():
        by_topic[partition.topic].append(partition)
    for topic in TOPICS:
        yield CreateZnode(paths.config_path(f"topics/{topic.name}"), encode(EntityConfig(config=topic.config)))
        yield CreateZnode(paths.topic_path(topic.name), _assignment(by_topic[topic.name]))
        for each in by_topic[topic.name]:
            yield CreateZnode(paths.partition_state_path(topic.name, each.number), partition_state(each))
    for group in state.groups:
        yield CreateZnode(paths.members_path(group.name))
        yield CreateZnode(f"/consumers/{group.name}/owners/{group.topic}")
        for number, offset in enumerate(group.offsets):
            yield CreateZnode(paths.offset_path(group.name, group.topic, number), encode(ConsumerOffset(offset)))


def _cluster_znodes(state: DemoState) -> Iterator[CreateZnode]:
    block = ProducerIdBlock(broker=state.controller, block_start="5000", block_end="5999")
    yield CreateZnode("/latest_producer_id_block", encode(block))
    for path in paths.PATHS_AT_BROKER_START:
        yield CreateZnode(path)
    yield CreateZnode("/cluster/id", encode(ClusterId(cluster_id=CLUSTER_ID)))
    yield CreateZnode("/feature", encode(FinalizedFeatures(features={}, version=2, status=1)))
    yield CreateZnode("/controller_epoch", encode(ControllerEpoch(state.controller_epoch - 1)))
    yield CreateZnode(paths.delete_topic_path(TOPIC_BEING_DELETED))
    quota = EntityConfig(config={"producer_byte_rate": "1048576"})
    yield CreateZnode(paths.config_path("clients/mobile-app"), encode(quota))
    change = ConfigChange(version=2, entity_path="clients/mobile-app")
    yield CreateZnode(paths.sequential_path(ZnodeKind.CONFIG_CHANGE), encode(change), sequential=True)
    slow = IsrChange(partitions=(PartitionEntry(topic="payments", partition=4),))
    yield CreateZnode(paths.sequential_path(ZnodeKind.ISR_CHANGE), encode(slow), sequential=True)
    allowed = AclEntry(principal="User:billing", permission_type="Allow", operation="Read", host="*")
    yield CreateZnode(paths.acl_path("Topic", "payments"), encode(ResourceAcls(acls=(allowed,))))


def _assignment(partitions: list[DemoPartition]) -> bytes:
    digest = hashlib.sha256(partitions[0].topic.encode()).digest()[:16]
    assignment = TopicAssignment(
        partitions={each.number: each.replicas for each in partitions},
        topic_id=base64.urlsafe_b64encode(digest).decode().rstrip("="),
        adding_replicas={each.number: each.adding for each in partitions if each.adding},
        removing_replicas={each.number: each.removing for each in partitions if each.removing},
        version=3,
    )
    return encode(assignment)
