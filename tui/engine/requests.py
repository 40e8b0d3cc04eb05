"""What an operator asks to be done to a cluster, as values: what options say, not yet held against any cluster.

Light to load: made where the words are typed, turned into proposals by the process that holds the cluster.
"""

from collections.abc import Mapping

import msgspec

from model.actions.reset import Reset
from model.cluster.ids import TopicPartition

Assignment = tuple[tuple[int, ...], ...]
"""Brokers of each partition in turn."""


class CreateTopic(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Without `assignment` the replicas are placed as Kafka places them."""

    topic: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Assignment = ()
    configs: Mapping[str, str] = {}
    ignores_racks: bool = False
    if_not_exists: bool = False


class AddPartitions(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """`topic` is a name or a regular expression; `partitions`: how many there shall be in all."""

    topic: str
    partitions: int
    assignment: Assignment = ()
    ignores_racks: bool = False
    if_exists: bool = False


class DeleteTopics(msgspec.Struct, frozen=True, tag=True):
    """`topic`: names with commas between, or a regular expression."""

    topic: str
    if_exists: bool = False


class RemoveDeleteMarker(msgspec.Struct, frozen=True, tag=True):
    """Of one topic."""

    topic: str


class AlterConfigs(msgspec.Struct, frozen=True, tag=True):
    """Of one entity: `kind` is topics, brokers, clients, users or ips."""

    kind: str
    name: str
    add: Mapping[str, str] = {}
    remove: tuple[str, ...] = ()


class ElectPreferred(msgspec.Struct, frozen=True, tag=True):
    """Of `topic`, or only its `partitions`; or of those `listed`; else wherever another replica leads."""

    topic: str | None = None
    partitions: tuple[int, ...] = ()
    listed: tuple[TopicPartition, ...] | None = None


class ResetOffsets(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Of `topics`, `NAME` or `NAME:0,1` each, else of all that the group has committed; or one `listed` each."""

    group: str
    topics: tuple[str, ...] = ()
    reset: Reset
    listed: tuple[tuple[TopicPartition, int], ...] | None = None


class DeleteGroup(msgspec.Struct, frozen=True, tag=True):
    """With its offsets."""

    group: str


Request = (
    CreateTopic
    | AddPartitions
    | DeleteTopics
    | RemoveDeleteMarker
    | AlterConfigs
    | ElectPreferred
    | ResetOffsets
    | DeleteGroup
)
