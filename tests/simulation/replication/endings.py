"""What must be true of records once nothing fails any more, everybody is there, and there was time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cluster.ids import TopicPartition
from tests.simulation.violation import promise
from tests.simulation.znodes import partition_state, partitions

if TYPE_CHECKING:
    from tests.simulation.replication.history import ReplicationHistory


def check_records(history: ReplicationHistory) -> None:
    """Everybody has the same, and all of it is committed."""
    for name, replicas in partitions(history.cluster.zookeeper):
        found = partition_state(history.cluster.zookeeper, name)
        if found is not None and not history.brokers.ledger(name).is_void and set(found[0].isr) == set(replicas):
            _check_partition(history, name, found[0].leader, replicas)


def _check_partition(history: ReplicationHistory, name: TopicPartition, leader: int, replicas: tuple[int, ...]) -> None:
    ledger, running = history.brokers.ledger(name), history.brokers.running
    led = running[leader].held.get(name)
    promise(led is not None and led.leads, f"{name}: broker {leader} does not know that it leads")
    if led is None or history.is_stuck(name, leader):
        return
    log = running[leader].logs[name]
    ledger.check_in_sync()
    for broker in replicas:
        other = running[broker].logs.get(name)
        same = other is not None and other.records == log.records
        promise(same, f"{name}: broker {broker} has other records than its leader {leader}")
    needed = min(history.replication.settings.min_insync_replicas, len(replicas))
    if len(led.state.isr) >= needed:
        promise(led.high_watermark == log.end, f"{name}: {led.high_watermark} of {log.end} are committed")
