"""What must be true once everything is mended, everybody is back and there was time: nothing is left undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.context import ControllerContext
from model.hosts.virtual.world import Process
from tests.simulation.holes import is_lost, lost_connection, may_have_strays
from tests.simulation.violation import promise
from tests.simulation.znodes import names, partition_state, partitions, topics, znode

if TYPE_CHECKING:
    from tests.simulation.history import History


def check_ending(history: History) -> None:
    """All of it. Raises ViolationError."""
    cluster = history.cluster
    promise(cluster.at_rest, "it does not come to rest")
    promise(cluster.brokers == history.scenario.brokers, f"only {cluster.brokers} run")
    promise(len(cluster.controllers) == 1, f"controllers at the end: {cluster.controllers}")
    processes = [cluster.process(broker) for broker in cluster.brokers]
    idle = [process.id for process in processes if process.controller.idle]
    promise(idle == list(cluster.brokers), f"only {idle} have nothing left to do")
    context = cluster.process(cluster.controllers[0]).controller.context
    promise(tuple(sorted(context.live)) == cluster.brokers, f"the controller knows of {sorted(context.live)}")
    lost = {name for name, replicas in partitions(cluster.zookeeper) if is_lost(history, name, replicas)}
    _check_work(history, context, lost)
    for name, replicas in partitions(cluster.zookeeper):
        if name not in lost:
            _check_partition(history, context, name, replicas)
    for process in processes:
        _check_broker(history, process, lost)


def _check_work(history: History, context: ControllerContext, lost: set[TopicPartition]) -> None:
    """Deletions, reassignments and elections that were asked for are done, but for what moves `lost` partitions."""
    state = history.cluster.zookeeper
    there = topics(state)
    wanted = history.operation.wanted | history.promises.spared
    promise(set(there) == wanted, f"topics {set(there)}, wanted {wanted}")
    promise(set(context.topics.by_name) == set(there), f"the controller knows {set(context.topics.by_name)}")
    promise(not names(state, "/admin/delete_topics"), "markers of deletion are left")
    promise(bool(lost) or znode(state, "/admin/reassign_partitions") is None, "the znode of reassignments is left")
    promise(znode(state, "/admin/preferred_replica_election") is None, "the znode of preferred elections is left")
    promise(not names(state, "/log_dir_event_notification"), "log dir events are left")
    adding = {TopicPartition(name, number) for name, topic in there.items() for number in topic.adding_replicas}
    removing = {TopicPartition(name, number) for name, topic in there.items() for number in topic.removing_replicas}
    moving = (adding | removing | context.reassigning) - lost
    promise(not moving, f"still being reassigned: {sorted(moving)}")
    promise(not context.deletion.queued, f"still being deleted: {context.deletion}")


def _check_partition(
    history: History, context: ControllerContext, name: TopicPartition, replicas: tuple[int, ...]
) -> None:
    """It has a leader, everybody is in sync, and the controller knows it as it is."""
    found = partition_state(history.cluster.zookeeper, name)
    promise(found is not None, f"{name} never got a state")
    if found is None:
        return
    state, version = found
    promise(state.leader != NO_LEADER, f"{name} has no leader, and its ISR {state.isr} is live")
    waits = history.is_stuck(name, state.leader) and lost_connection(history)
    promise(set(state.isr) >= set(replicas) or waits, f"{name}: ISR {state.isr} of replicas {replicas}")
    # A controller that dies while it drops what an overridden reassignment had added leaves them in the ISR, in Kafka.
    strangers = set(state.isr) - set(replicas)
    promise(not strangers or name in history.operation.overridden, f"{name}: {strangers} of its ISR are no replicas")
    known = context.topics.partition(name)
    leadership = None if known is None else known.leadership
    promise(known is not None and known.assignment.replicas == replicas, f"{name}: {known} is not {replicas}")
    truth = (state.leader, state.leader_epoch, state.isr, version)
    led = None if leadership is None else leadership.state
    mine = None if led is None else (led.leader, led.leader_epoch, led.isr, led.partition_epoch)
    promise(mine == truth, f"{name}: the controller knows {mine}, it is {truth}")


def _check_broker(history: History, process: Process, lost: set[TopicPartition]) -> None:
    """It leads and follows what it should, and knows who leads what."""
    state = history.cluster.zookeeper
    broker, there = process.broker, topics(state)
    excused = bool(lost) or may_have_strays(history, process)
    held, metadata = dict(broker.held.items()), broker.metadata
    assigned = {name for name, replicas in partitions(state) if broker.id in replicas} - lost
    everything = {name for name, _ in partitions(state)}
    promise(broker.live_brokers == history.cluster.brokers, f"broker {broker.id} knows of {broker.live_brokers}")
    for what, found, wanted in (("holds", set(held), assigned), ("knows of", set(metadata), everything)):
        is_right = found >= wanted if excused else found == wanted
        promise(is_right, f"broker {broker.id} {what} {sorted(found)}, not {sorted(wanted)}")
    for name in sorted(everything):
        found = partition_state(state, name)
        if found is None:
            continue
        truth = (found[0].leader, found[0].leader_epoch)
        told = (metadata[name].state.leader, metadata[name].state.leader_epoch)
        promise(told == truth, f"broker {broker.id} believes {name} to be {told}, it is {truth}")
        replica = held.get(name)
        is_stray = replica is not None and replica.topic_id != there[name.topic].topic_id and excused
        if replica is not None and name in assigned and not is_stray:
            mine = (replica.state.leader, replica.state.leader_epoch)
            promise(mine == truth, f"broker {broker.id} serves {name} as {mine}, it is {truth}")
