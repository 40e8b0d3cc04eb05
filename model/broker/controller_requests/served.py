"""What comes of a controller's request: the answer, and what is different afterwards. Values only."""

import msgspec

from model.broker.commands import Command
from model.broker.partition.partition import Partition
from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer


class Standing(msgspec.Struct, frozen=True):
    """What a broker knows of itself and of who rules it. Epoch -1: of no broker, of no controller yet."""

    broker: int
    broker_epoch: int = -1
    controller_epoch: int = -1
    shutting_down: bool = False
    """Then it follows nobody any more."""


class Served(msgspec.Struct, frozen=True):
    """Partitions that are not named stay as they are. The answer is sent after the commands were carried out."""

    answer: BrokerAnswer
    standing: Standing
    changed: tuple[Partition, ...] = ()
    removed: tuple[TopicPartition, ...] = ()
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()
