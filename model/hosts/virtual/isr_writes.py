"""Leaders that write their ISRs into ZooKeeper themselves, as they did up to 2.6, and from 0.9 on tell the controller.

Source: `kafka.cluster.Partition.updateIsr`, `kafka.utils.ReplicationUtils.updateLeaderAndIsr`,
`ReplicaManager.maybePropagateIsrChanges` (0.8.0 to 2.6). Notifications are written at once here; Kafka gathers them for
some seconds. A write under a version that is not the newest is given up until the next LeaderAndIsr.
"""

from collections.abc import Iterable

import msgspec

from model.controller.events import ProposedIsr
from model.controller.zookeeper import ISR_CHANGES
from model.hosts.memory_zookeeper.operations import Create, SetData
from model.hosts.virtual.connections import lose_connection
from model.hosts.virtual.happenings import LeaderWrites
from model.hosts.virtual.isr_changes import asked
from model.hosts.virtual.network import ZOOKEEPER
from model.hosts.virtual.process import UNCONNECTED, Process
from model.hosts.virtual.questions import transact
from model.hosts.virtual.world import World
from model.hosts.zookeeper.values import Stat
from model.znodes.admin import PartitionEntry
from model.znodes.catalogue import ZnodeKind
from model.znodes.notifications import IsrChange
from model.znodes.partition_state import LeaderIsrAndControllerEpoch
from model.znodes.paths import partition_state_path, sequential_path


def writes_isrs(process: Process) -> bool:
    """Whether brokers of this generation write ISRs themselves."""
    return process.controller.context.settings.forms.leaders_write_isrs


def set_out(world: World, process: Process, wanted: tuple[ProposedIsr, ...]) -> None:
    """The writes are on their way."""
    if process.connection != UNCONNECTED:
        process = world.put(process.replace(broker=asked(process.broker, wanted)))
        writes = LeaderWrites(process.id, process.number, wanted)
        if not world.carry(process.id, ZOOKEEPER, world.assumptions.zookeeper_write_ms / 2, writes):
            given_up = process.broker.pending.difference(proposal.partition for proposal in wanted)
            world.put(process.replace(broker=process.broker.replace(pending=given_up)))
            lose_connection(world, process.id)


def write(world: World, process: Process, due: LeaderWrites) -> bool:
    """Write them; whether any was written."""
    written = [proposal for proposal in due.wanted if _write(world, process.id, proposal)]
    if written and ISR_CHANGES in process.controller.context.settings.forms.paths:
        _notify(world, process, written)
    return bool(written)


def _write(world: World, broker: int, proposal: ProposedIsr) -> bool:
    process = world.processes[broker]
    name, mine = proposal.partition, process.broker
    held = mine.leads(name)
    now = None if held is None else (held.state.leader_epoch, held.state.partition_epoch)
    if held is None or now != (proposal.leader_epoch, proposal.partition_epoch):
        return False  # A LeaderAndIsr or an earlier write overtook it.
    payload = LeaderIsrAndControllerEpoch(
        controller_epoch=mine.controller_epoch,
        leader=mine.id,
        leader_epoch=proposal.leader_epoch,
        isr=proposal.isr,
    )
    path = partition_state_path(name.topic, name.partition)
    write = SetData(path, payload.to_bytes(), proposal.partition_epoch)
    result = transact(world, process.session, write, broker).result
    if not isinstance(result, Stat):
        mine = mine.replace(pending=mine.pending - {name}, stuck=mine.stuck | {name})
        world.put(world.processes[broker].replace(broker=mine))
        return False
    state = msgspec.structs.replace(held.state, isr=proposal.isr, partition_epoch=result.version)
    complete = set(held.assignment.replicas) <= set(proposal.isr)
    mine = mine.replace(
        replicas=mine.replicas.changed({name: msgspec.structs.replace(held, state=state)}),
        behind=mine.behind - {name} if complete else mine.behind | {name},
        pending=mine.pending - {name},
    )
    world.put(world.processes[broker].replace(broker=mine))
    return True


def _notify(world: World, process: Process, written: Iterable[ProposedIsr]) -> None:
    names = [proposal.partition for proposal in written]
    entries = tuple(PartitionEntry(topic=name.topic, partition=name.partition) for name in names)
    path = sequential_path(ZnodeKind.ISR_CHANGE)
    transact(
        world, process.session, Create(path, IsrChange(partitions=entries).to_bytes(), sequential=True), process.id
    )
