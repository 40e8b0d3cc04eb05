"""What a cluster will tell of new partitions once they are there: live replicas in sync, the first of them leading."""

from collections.abc import Collection

from model.actions.basis import Replicas
from model.cluster.ids import NO_LEADER
from model.cluster.records import PartitionState, PartitionStatesWritten


def states_of_new(topic: str, added: Replicas, live: Collection[int]) -> PartitionStatesWritten:
    """Of the partitions `added` to a topic, by the brokers that are `live`."""
    return PartitionStatesWritten(topic=topic, states=tuple(_state(*each, live) for each in added.items()))


def _state(partition: int, replicas: tuple[int, ...], live: Collection[int]) -> PartitionState:
    in_sync = tuple(broker for broker in replicas if broker in live)
    return PartitionState(
        partition=partition,
        leader=in_sync[0] if in_sync else NO_LEADER,
        leader_epoch=0,
        isr=in_sync or replicas,
        controller_epoch=0,
        version=0,
    )
