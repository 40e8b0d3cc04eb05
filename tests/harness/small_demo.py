"""A small demo cluster: tests know its topics, and what is wrong with it, by name. Six brokers, 126 partitions."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

from model.sandbox.demo.state import DemoPlan, DemoState, DemoTopic, Incident, Reading
from model.sandbox.demo.tree import (
    Change,
    committed,
    consumer_joins,
    consumer_leaves,
    elect_preferred,
    expand_isr,
    move_controller,
    move_leader,
    shrink_isr,
)


def commit_offsets(state: DemoState, number: int, now_ms: int) -> Change:
    """The owners of a group's partitions commit what they have read, whatever the time."""
    position = number // 2 % len(state.groups)
    group = state.groups[position]
    owners = group.owners()
    offsets = tuple(
        offset + 37 + (number * 31 + partition * 17) % 200 if partition in owners else offset
        for partition, offset in enumerate(group.offsets)
    )
    return committed(state, position, offsets)


def _reading(name: str, topic: str, partitions: int, *, hosts: int, abandoned: frozenset[int] = frozenset()) -> Reading:
    offsets = tuple(180_000 + crc32(f"{name}-{partition}".encode()) % 20_000 for partition in range(partitions))
    return replace(Reading(name, (topic,), hosts, abandoned), begins_at=offsets)


SMALL = DemoPlan(
    cluster_id="kdrill-demo-cluster-00",
    racks={"rack-a": (1, 4), "rack-b": (2, 5), "rack-c": (3, 6)},
    dead_broker=5,
    controller=4,
    controller_epoch=7,
    topic_being_deleted="legacy-events",
    topics=(
        DemoTopic("orders", 12, {"min.insync.replicas": "2", "retention.ms": "604800000"}),
        DemoTopic("payments", 12, {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}),
        DemoTopic("shipments", 9, {"min.insync.replicas": "2"}, on_dead_broker=True),
        DemoTopic("returns", 6),
        DemoTopic("customers", 6, {"cleanup.policy": "compact"}),
        DemoTopic("inventory", 6, {"cleanup.policy": "compact"}),
        DemoTopic("prices", 6, {"cleanup.policy": "compact,delete"}),
        DemoTopic("clicks", 18, {"retention.ms": "86400000", "compression.type": "lz4"}),
        DemoTopic("page-views", 12, {"retention.ms": "86400000"}),
        DemoTopic("search-queries", 6, on_dead_broker=True),
        DemoTopic("fraud-scores", 9, {"unclean.leader.election.enable": "true"}),
        DemoTopic("audit-log", 3, {"min.insync.replicas": "2", "retention.ms": "-1"}),
        DemoTopic("dead-letters", 6, on_dead_broker=True, replication_factor=1),
        DemoTopic("legacy-events", 3, on_dead_broker=True),
        DemoTopic("__consumer_offsets", 12, {"cleanup.policy": "compact", "segment.bytes": "104857600"}),
    ),
    readings=(
        # Six threads for twelve partitions.
        _reading("billing", "payments", 12, hosts=3, abandoned=frozenset({11})),
        # Four threads for three partitions: one is idle.
        _reading("audit-archiver", "audit-log", 3, hosts=2),
    ),
    incidents={
        ("payments", 4): (Incident.ALONE, 0),  # under its min.insync.replicas
        ("orders", 7): (Incident.SLOW_FOLLOWER, 0),
        ("page-views", 5): (Incident.OFF_PREFERRED, 0),
        ("fraud-scores", 4): (Incident.UNCLEAN, 0),
        ("inventory", 5): (Incident.UNREADABLE, 0),
        ("clicks", 3): (Incident.MOVING, 0),
    },
    steps=(
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
    ),
)
"""Each change is undone by a later one, so that the cluster stays as healthy as it began."""
