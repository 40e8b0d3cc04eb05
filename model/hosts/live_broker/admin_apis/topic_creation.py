"""What a CreateTopics comes to: a topic's assignment, or Kafka's refusal. Pure; it reads and writes nothing.

Source: `kafka.server.ZkAdminManager.createTopics` (3.9). Checks and placement are those of `model.controller`.
"""

from collections.abc import Callable, Collection, Mapping

import msgspec

from model.controller.placement import place
from model.controller.placement_strategies import BrokerMetadata, PlacementRequest
from model.controller.refusal import Refusal
from model.controller.validation import BROKER_DEFAULT, TopicCreation, creation_problem, creation_request_problem

Dice = Callable[[int], int]
"""A number from 0 to below this one."""
Replicas = Mapping[int, tuple[int, ...]]


class WantedTopic(msgspec.Struct, frozen=True):
    """A topic as somebody asks for it; -1 stands for a default, an empty assignment for none."""

    name: str
    partitions: int
    replication_factor: int
    assignment: Replicas
    configs: Mapping[str, str | None]


class TopicDefaults(msgspec.Struct, frozen=True):
    """num.partitions and default.replication.factor."""

    partitions: int = 1
    replication_factor: int = 1


def planned_topic(
    wanted: WantedTopic,
    defaults: TopicDefaults,
    brokers: Collection[BrokerMetadata],
    existing: Collection[str],
    marked_for_deletion: Collection[str],
    dice: Dice,
) -> Replicas | Refusal:
    """The replicas of each partition. Brokers are taken in the order of their ids."""
    refusal = creation_request_problem(
        wanted.name,
        existing,
        partitions=wanted.partitions,
        replication_factor=wanted.replication_factor,
        has_assignment=bool(wanted.assignment),
        configs=wanted.configs,
    )
    if refusal is not None:
        return refusal
    assignment = wanted.assignment or _placed(wanted, defaults, brokers, dice)
    if isinstance(assignment, Refusal):
        return assignment
    creation = TopicCreation(
        topic=wanted.name, assignment=assignment, existing=existing, marked_for_deletion=marked_for_deletion
    )
    return creation_problem(creation) or assignment


def _placed(
    wanted: WantedTopic, defaults: TopicDefaults, brokers: Collection[BrokerMetadata], dice: Dice
) -> Replicas | Refusal:
    partitions, factor = wanted.partitions, wanted.replication_factor
    partitions = defaults.partitions if partitions == BROKER_DEFAULT else partitions
    factor = defaults.replication_factor if factor == BROKER_DEFAULT else factor
    count = max(len(brokers), 1)
    return place(sorted(brokers), PlacementRequest(partitions, factor, dice(count), dice(count)))
