"""What happens in the demo cluster, one small change at a time: a table of steps, taken in turn for ever.

Pure and deterministic: the same state, number and time give the same change. It carries nothing out.
"""

from collections.abc import Callable
from dataclasses import replace

from model.sandbox.demo.scenery import consumer
from model.sandbox.demo.state import LIVE_BROKERS, DemoGroup, DemoPartition, DemoState
from model.sandbox.demo.tree import (
    CLUSTER,
    DemoCommand,
    EndSession,
    InSession,
    broker_session,
    election,
    membership,
    ownership_changes,
    partition_state,
)
from model.sandbox.znode_writes import DeleteZnode, WriteZnode
from model.znodes import paths
from model.znodes.codec import encode
from model.znodes.consumers import ConsumerOffset

Change = tuple[DemoState, list[DemoCommand]]
Step = Callable[[DemoState, int, int], Change]


def next_change(state: DemoState, number: int, now_ms: int) -> Change:
    """The state after step `number`, and the writes that bring it about."""
    return STEPS[number % len(STEPS)](state, number, now_ms)


def commit_offsets(state: DemoState, number: int, now_ms: int) -> Change:
    """The owners of a group's partitions commit what they have read."""
    position = number // 2 % len(state.groups)
    group = state.groups[position]
    owners = group.owners()
    offsets = tuple(
        offset + 37 + (number * 31 + partition * 17) % 200 if partition in owners else offset
        for partition, offset in enumerate(group.offsets)
    )
    commands: list[DemoCommand] = [
        InSession(
            owner.consumer_id,
            (WriteZnode(paths.offset_path(group.name, group.topic, each), encode(ConsumerOffset(offsets[each]))),),
        )
        for each, (owner, _) in owners.items()
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
    newcomer = consumer(before.name, len(before.consumers) + 1, now_ms)
    after = replace(before, consumers=(*before.consumers, newcomer))
    joins = InSession(newcomer.consumer_id, (membership(after, newcomer),))
    return _with_group(state, 0, after), [joins, *ownership_changes(before, after)]


def move_controller(state: DemoState, number: int, now_ms: int) -> Change:
    """The controller resigns, and the next broker is elected."""
    position = LIVE_BROKERS.index(state.controller) + 1
    after = replace(
        state,
        controller=LIVE_BROKERS[position % len(LIVE_BROKERS)],
        controller_epoch=state.controller_epoch + 1,
        elected_ms=now_ms,
    )
    return after, [InSession(broker_session(state.controller), (DeleteZnode("/controller"),)), election(after)]


STEPS: tuple[Step, ...] = (
    commit_offsets,
    shrink_isr,
    commit_offsets,
    move_leader,
    commit_offsets,
    expand_isr,
    commit_offsets,
    consumer_leaves,
    commit_offsets,
    elect_preferred,
    commit_offsets,
    consumer_joins,
    commit_offsets,
    move_controller,
)
"""Each change is undone by a later one, so that the cluster stays as healthy as it began."""


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
    return after, [InSession(CLUSTER, (WriteZnode(path, partition_state(partition)),))]


def _with_group(state: DemoState, position: int, group: DemoGroup) -> DemoState:
    return replace(state, groups=(*state.groups[:position], group, *state.groups[position + 1 :]))
