"""Clusters of worked cases, as the metadata log has them, and what a controller writes told in short.

R replicas, I ISR, E ELR, K last known ELR, l leader, rm and ad removing and adding, RS recovering, D directories.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.cluster.cluster_image import EMPTY
from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import (
    BrokerRegistered,
    ConfigWritten,
    KraftCluster,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
)
from model.kraft_controller.decide import KraftEvent, decide
from model.kraft_controller.partition_change import Levels, PartitionChange, Registration

SHORT = {"leader": "l", "isr": "I", "replicas": "R", "removing": "rm", "adding": "ad", "elr": "E",
         "last_known_elr": "K", "recovering": "RS", "directories": "D"}  # fmt: skip
FULL = {short: name for name, short in SHORT.items()}
RELEASES_OF_4 = ((4, 0), (4, 1), (4, 3), (4, 4))
"""Those with whose real classes the cases C to I were run."""


def part(*replicas: int, **fields: Any) -> Registration:
    """All in sync and led by the first, unless said."""
    lists: dict[str, Any] = {
        FULL.get(name, name): tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    usual: dict[str, Any] = {"replicas": replicas, "isr": replicas, "leader": replicas[0]}
    return Registration(**(usual | lists))


def made(
    levels: Levels,
    topics: dict[str, list[Registration]],
    brokers: Iterable[BrokerRegistered],
    configs: dict[str, dict[str, str]] | None = None,
) -> KraftCluster:
    """Topics with the partitions 0 to n - 1."""
    records: list[MetadataRecord] = [*brokers]
    for topic, partitions in topics.items():
        records.append(TopicCreated(topic))
        records += [PartitionCreated(TopicPartition(topic, number), each) for number, each in enumerate(partitions)]
    for entity, config in (configs or {}).items():
        records += [ConfigWritten(entity, key, value) for key, value in config.items()]
    return KraftCluster(EMPTY, levels=levels).after(records)


def active(*brokers: int) -> list[BrokerRegistered]:
    """Epochs are a hundred times the id."""
    return [BrokerRegistered(broker, 100 * broker, fenced=False) for broker in brokers]


def after(found: KraftCluster, *events: KraftEvent) -> KraftCluster:
    for event in events:
        found = found.after(decide(found, event).records)
    return found


def told(records: Iterable[MetadataRecord]) -> list[object]:
    """Records; those of partitions as their number and what they set."""
    return [_told(each) for each in records]


def _told(record: MetadataRecord) -> object:
    if not isinstance(record, PartitionChanged):
        return record
    return record.partition.partition, short(record.change)


def short(change: PartitionChange) -> dict[str, Any]:
    found = {SHORT[name]: getattr(change, name) for name in PartitionChange.__struct_fields__}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.items() if value is not None
    }
