"""A demo cluster as writes in ZooKeeper: the first tree, and small changes, in turn for ever by its plan.

It carries nothing out, and is deterministic: the same state, number and time give the same change. Writes are in the
sessions that real Kafka would use. Ephemeral znodes belong to the session of their broker or consumer, so that ending
the session is the death of that broker or consumer.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from model.sandbox.demo.plan import DemoPlan
from model.sandbox.demo.state import (
    DemoConsumer,
    DemoGroup,
    DemoPartition,
    DemoState,
    consumed,
    new_consumer,
)
from model.znodes import paths
from model.znodes.catalogue import ZnodeKind
from model.znodes.cluster import (
    BrokerRegistration,
    ClusterId,
    ControllerEpoch,
    ControllerRegistration,
    FinalizedFeatures,
    ProducerIdBlock,
)
from model.znodes.codec import encode
from model.znodes.configs import AclEntry, ConfigChange, EntityConfig, ResourceAcls
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.topics import RECOVERING, IsrChange, LeaderIsrAndControllerEpoch, PartitionEntry, TopicAssignment
from model.zookeeper.operations import Create, Delete, SetData, Write

CLUSTER = "cluster"
"""The session that writes what is nobody's: it owns no ephemeral znode."""


@dataclass(frozen=True)
class InSession:
    """Write in this session, opening it if need be."""

    session: str
    writes: tuple[Write, ...]


@dataclass(frozen=True)
class EndSession:
    """Close this session: its owner is gone."""

    session: str


DemoCommand = InSession | EndSession


def opening_commands(state: DemoState, now_ms: int) -> list[DemoCommand]:
    """The whole tree, into an empty root."""
    commands: list[DemoCommand] = [InSession(CLUSTER, tuple(_with_parents(_persistent(state))))]
    commands += [
        InSession(broker_session(broker), _registration(state.plan, broker, now_ms))
        for broker in state.plan.live_brokers
    ]
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
        Create("/controller", encode(controller), ephemeral=True),
        SetData("/controller_epoch", encode(ControllerEpoch(state.controller_epoch))),
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


def membership(group: DemoGroup, consumer: DemoConsumer) -> Create:
    """A consumer joins its group."""
    registration = ConsumerRegistration(
        subscription={group.topic: consumer.threads}, pattern="static", timestamp=str(consumer.joined_ms)
    )
    return Create(paths.member_path(group.name, consumer.consumer_id), encode(registration), ephemeral=True)


def ownership_changes(before: DemoGroup | None, after: DemoGroup) -> Iterator[DemoCommand]:
    """What the consumers of a group do in a rebalance: first let go, then take. Those who left have let go already."""
    old, new = before.owners() if before else {}, after.owners()
    moved = {partition for partition in old.keys() | new.keys() if old.get(partition) != new.get(partition)}
    for consumer in after.consumers:
        released = sorted(partition for partition in moved & old.keys() if old[partition][0] == consumer)
        path = [paths.owner_path(after.name, after.topic, partition) for partition in released]
        yield InSession(consumer.consumer_id, tuple(Delete(each) for each in path))
    for consumer in after.consumers:
        taken = sorted(partition for partition in moved & new.keys() if new[partition][0] == consumer)
        creates = (
            Create(
                paths.owner_path(after.name, after.topic, partition),
                encode(PartitionOwner(new[partition][1])),
                ephemeral=True,
            )
            for partition in taken
        )
        yield InSession(consumer.consumer_id, tuple(creates))


def _registration(plan: DemoPlan, broker: int, now_ms: int) -> tuple[Write, ...]:
    """Created empty and then written, as brokers do since 2.2: the data version of a live broker is 1."""
    host = f"kafka-{broker}.example"
    registration = BrokerRegistration(
        listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
        endpoints=(f"PLAINTEXT://{host}:9092",),
        rack=plan.rack_of(broker),
        jmx_port=9999,
        port=9092,
        host=host,
        version=5,
        timestamp=str(now_ms),
    )
    path = paths.broker_path(broker)
    return Create(path, ephemeral=True), SetData(path, encode(registration))


def _with_parents(creates: Iterable[Create]) -> Iterator[Create]:
    made = {"/", ""}
    for create in creates:
        steps = create.path.split("/")
        for depth in range(2, len(steps)):
            if (parent := "/".join(steps[:depth])) not in made:
                made.add(parent)
                yield Create(parent)
        if create.path not in made:
            made.add(create.path)
            yield create


def _persistent(state: DemoState) -> Iterator[Create]:
    yield from _cluster_znodes(state)
    by_topic: dict[str, list[DemoPartition]] = {topic.name: [] for topic in state.plan.topics}
    for partition in state.partitions.values():
        by_topic[partition.topic].append(partition)
    for topic in state.plan.topics:
        yield Create(paths.config_path(f"topics/{topic.name}"), encode(EntityConfig(config=topic.config)))
        yield Create(paths.topic_path(topic.name), _assignment(by_topic[topic.name]))
        for each in by_topic[topic.name]:
            yield Create(paths.partition_state_path(topic.name, each.number), partition_state(each))
    for group in state.groups:
        yield Create(paths.members_path(group.name))
        yield Create(f"/consumers/{group.name}/owners/{group.topic}")
        for number, offset in enumerate(group.offsets):
            yield Create(paths.offset_path(group.name, group.topic, number), encode(ConsumerOffset(offset)))


def _cluster_znodes(state: DemoState) -> Iterator[Create]:
    block = ProducerIdBlock(broker=state.controller, block_start="5000", block_end="5999")
    yield Create("/latest_producer_id_block", encode(block))
    for path in paths.PATHS_AT_BROKER_START:
        yield Create(path)
    yield Create("/cluster/id", encode(ClusterId(cluster_id=state.plan.cluster_id)))
    yield Create("/feature", encode(FinalizedFeatures(features={}, version=2, status=1)))
    yield Create("/controller_epoch", encode(ControllerEpoch(state.controller_epoch - 1)))
    yield Create(paths.delete_topic_path(state.plan.topic_being_deleted))
    quota = EntityConfig(config={"producer_byte_rate": "1048576"})
    yield Create(paths.config_path("clients/mobile-app"), encode(quota))
    change = ConfigChange(version=2, entity_path="clients/mobile-app")
    yield Create(paths.sequential_path(ZnodeKind.CONFIG_CHANGE), encode(change), sequential=True)
    slow = IsrChange(partitions=(PartitionEntry(topic="payments", partition=4),))
    yield Create(paths.sequential_path(ZnodeKind.ISR_CHANGE), encode(slow), sequential=True)
    allowed = AclEntry(principal="User:billing", permission_type="Allow", operation="Read", host="*")
    yield Create(paths.acl_path("Topic", "payments"), encode(ResourceAcls(acls=(allowed,))))


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


Change = tuple[DemoState, list[DemoCommand]]


def next_change(state: DemoState, number: int, now_ms: int) -> Change:
    """The state after step `number`, and the writes that bring it about."""
    return state.plan.steps[number % len(state.plan.steps)](state, number, now_ms)


def commit_offsets(state: DemoState, number: int, now_ms: int) -> Change:
    """The owners of a group's partitions commit what they have read; one group after the other."""
    position = number // 2 % len(state.groups)
    group, reading = state.groups[position], state.plan.readings[position]
    elapsed_ms = now_ms - state.began_ms
    owned = group.owners()
    offsets = tuple(
        max(offset, consumed(reading, group.topic, partition, elapsed_ms)) if partition in owned else offset
        for partition, offset in enumerate(group.offsets)
    )
    return committed(state, position, offsets)


def committed(state: DemoState, position: int, offsets: tuple[int, ...]) -> Change:
    """The owners of the partitions of a group, which is named by its place, write these offsets."""
    group = state.groups[position]
    commands: list[DemoCommand] = [
        InSession(
            owner.consumer_id,
            (SetData(paths.offset_path(group.name, group.topic, each), encode(ConsumerOffset(offsets[each]))),),
        )
        for each, (owner, _) in group.owners().items()
    ]
    return _with_group(state, position, replace(group, offsets=offsets)), commands


def shrink_isr(state: DemoState, number: int, now_ms: int) -> Change:
    """A follower falls behind."""
    partition = _pick(state, number, lambda each: each.is_in_sync)
    slow = [broker for broker in partition.isr if broker != partition.leader][-1]
    return _write(state, replace(partition, isr=tuple(broker for broker in partition.isr if broker != slow)))


def expand_isr(state: DemoState, number: int, now_ms: int) -> Change:
    """A follower has caught up."""
    partition = _pick(state, number, lambda each: not each.is_in_sync)
    missing = [broker for broker in partition.replicas if broker not in partition.isr]
    return _write(state, replace(partition, isr=(*partition.isr, *missing)))


def move_leader(state: DemoState, number: int, now_ms: int) -> Change:
    """A leader hands over to the next broker in sync."""
    partition = _pick(state, number, lambda each: each.is_in_sync and each.leader == each.replicas[0])
    return _elect(state, partition, partition.replicas[1])


def elect_preferred(state: DemoState, number: int, now_ms: int) -> Change:
    """A preferred replica takes its place again."""
    partition = _pick(state, number, lambda each: each.is_in_sync and each.leader != each.replicas[0])
    return _elect(state, partition, partition.replicas[0])


def consumer_leaves(state: DemoState, number: int, now_ms: int) -> Change:
    """The last consumer of the first group dies, and the others share its partitions."""
    before = state.groups[0]
    after = replace(before, consumers=before.consumers[:-1])
    commands = [EndSession(before.consumers[-1].consumer_id), *ownership_changes(before, after)]
    return _with_group(state, 0, after), commands


def consumer_joins(state: DemoState, number: int, now_ms: int) -> Change:
    """A consumer joins the first group, and the others give it a share."""
    before = state.groups[0]
    newcomer = new_consumer(before.name, len(before.consumers) + 1, now_ms)
    after = replace(before, consumers=(*before.consumers, newcomer))
    joins = InSession(newcomer.consumer_id, (membership(after, newcomer),))
    return _with_group(state, 0, after), [joins, *ownership_changes(before, after)]


def move_controller(state: DemoState, number: int, now_ms: int) -> Change:
    """The controller resigns, and the next broker is elected."""
    live = state.plan.live_brokers
    position = live.index(state.controller) + 1
    after = replace(
        state,
        controller=live[position % len(live)],
        controller_epoch=state.controller_epoch + 1,
        elected_ms=now_ms,
    )
    return after, [InSession(broker_session(state.controller), (Delete("/controller"),)), election(after)]


def _pick(state: DemoState, number: int, suits: Callable[[DemoPartition], bool]) -> DemoPartition:
    steady = [each for each in state.partitions.values() if len(each.replicas) > 1 and not each.is_incident]
    suitable = [each for each in steady if suits(each)]
    return suitable[number * 7919 % len(suitable)]


def _elect(state: DemoState, partition: DemoPartition, leader: int) -> Change:
    elected = replace(partition, leader=leader, leader_epoch=partition.leader_epoch + 1)
    return _write(state, replace(elected, controller_epoch=state.controller_epoch))


def _write(state: DemoState, partition: DemoPartition) -> Change:
    path = paths.partition_state_path(partition.topic, partition.number)
    after = replace(state, partitions={**state.partitions, (partition.topic, partition.number): partition})
    return after, [InSession(CLUSTER, (SetData(path, partition_state(partition)),))]


def _with_group(state: DemoState, position: int, group: DemoGroup) -> DemoState:
    return replace(state, groups=(*state.groups[:position], group, *state.groups[position + 1 :]))
