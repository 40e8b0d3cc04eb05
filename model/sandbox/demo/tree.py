"""A demo cluster as writes in ZooKeeper: the first tree, and small changes, in turn for ever by its plan.

It carries nothing out, and is deterministic: the same state, number and time give the same change. Writes are in the
sessions that real Kafka would use. Ephemeral znodes belong to the session of their broker or consumer, so that ending
the session is the death of that broker or consumer.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from model.sandbox.demo.state import (
    ClassicGroup,
    DemoConsumer,
    DemoGroup,
    DemoPartition,
    DemoPlan,
    DemoState,
    DemoStep,
    consumed,
    new_client,
    new_consumer,
    with_incident,
    without_dead_broker,
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
from model.zookeeper import Create, Delete, SetData, Write

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
        for broker in (state.plan.brokers if state.plan.dies_at else state.plan.live_brokers)
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
        timestamp=str(now_ms - plan.age_ms // (40 if broker == plan.new_broker else 1 + broker % 3)),
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
    if not state.plan.deletion_at:
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
    commands: list[DemoCommand] = []
    for step in (*_due(state.plan, number), state.plan.steps[number % len(state.plan.steps)]):
        state, more = step(state, number, now_ms)
        commands += more
    return state, commands


def _due(plan: DemoPlan, number: int) -> Iterator[DemoStep]:
    """What happens once."""
    if not number:  # that was so before all began
        return
    if number == plan.dies_at:
        yield broker_dies
    if number == plan.deletion_at:
        yield ask_deletion
    for key in plan.befalls(number):
        yield partial(befall, key)


def broker_dies(state: DemoState, number: int, now_ms: int) -> Change:
    """A broker's session ends, and the controller elects others where it led."""
    plan = state.plan
    changed = [after for each in state.partitions.values() if (after := without_dead_broker(plan, each)) is not each]
    after, writes = _write(state, *(replace(each, controller_epoch=state.controller_epoch) for each in changed))
    return after, [EndSession(broker_session(plan.dead_broker)), *writes]


def ask_deletion(state: DemoState, number: int, now_ms: int) -> Change:
    """Somebody deletes a topic."""
    return state, [InSession(CLUSTER, (Create(paths.delete_topic_path(state.plan.topic_being_deleted)),))]


def befall(key: tuple[str, int], state: DemoState, number: int, now_ms: int) -> Change:
    """Something goes wrong with a partition, for good."""
    before = state.partitions[key]
    after, commands = _write(state, with_incident(state.plan, before))
    if after.partitions[key].replicas != before.replicas:
        topic = [each for each in after.partitions.values() if each.topic == key[0]]
        commands = [InSession(CLUSTER, (SetData(paths.topic_path(key[0]), _assignment(topic)),)), *commands]
    return after, commands


def commit_offsets(state: DemoState, number: int, now_ms: int) -> Change:
    """The owners of a group's partitions commit what they have read: of every other group, in turn."""
    elapsed_ms = now_ms - state.began_ms
    commands: list[DemoCommand] = []
    for position in range(number // 2 % 2, len(state.groups), 2):
        group, reading = state.groups[position], state.plan.readings[position]
        owned = group.owners()
        offsets = tuple(
            max(offset, consumed(reading, group.topic, partition, elapsed_ms)) if partition in owned else offset
            for partition, offset in enumerate(group.offsets)
        )
        state, more = committed(state, position, offsets)
        commands += more
    return state, commands


def committed(state: DemoState, position: int, offsets: tuple[int, ...]) -> Change:
    """The owners of the partitions of a group, which is named by its place, write these offsets."""
    group = state.groups[position]
    writes: dict[str, list[Write]] = {}
    for each, (owner, _) in group.owners().items():
        path = paths.offset_path(group.name, group.topic, each)
        writes.setdefault(owner.consumer_id, []).append(SetData(path, encode(ConsumerOffset(offsets[each]))))
    commands: list[DemoCommand] = [InSession(name, tuple(own)) for name, own in writes.items()]
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


def client_leaves(state: DemoState, number: int, now_ms: int) -> Change:
    """The last member of the first classic group leaves it, which sets off a rebalance."""
    group = state.classic[0]
    return _with_classic(state, replace(group, clients=group.clients[:-1], is_rebalancing=True))


def client_joins(state: DemoState, number: int, now_ms: int) -> Change:
    """A member joins the first classic group, which sets off a rebalance."""
    group = state.classic[0]
    newcomer = new_client(group.name, len(group.clients) + 1, group.generation)
    return _with_classic(state, replace(group, clients=(*group.clients, newcomer), is_rebalancing=True))


def rebalance_ends(state: DemoState, number: int, now_ms: int) -> Change:
    """The first classic group's members have their shares."""
    return _with_classic(state, state.classic[0].rebalanced())


def _with_classic(state: DemoState, group: ClassicGroup) -> Change:
    return replace(state, classic=(group, *state.classic[1:])), []


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


def _write(state: DemoState, *partitions: DemoPartition) -> Change:
    after = replace(state, partitions={**state.partitions, **{(each.topic, each.number): each for each in partitions}})
    writes = (
        SetData(paths.partition_state_path(each.topic, each.number), partition_state(each)) for each in partitions
    )
    return after, [InSession(CLUSTER, tuple(writes))]


def _with_group(state: DemoState, position: int, group: DemoGroup) -> DemoState:
    return replace(state, groups=(*state.groups[:position], group, *state.groups[position + 1 :]))
