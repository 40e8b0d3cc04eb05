"""What a member of a ZooKeeper consumer group wants done. A host does it, in order, and decides nothing."""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import ZooKeeperRequest

BACKOFF = "rebalance-backoff"
AUTO_COMMIT = "auto-commit"
REGISTRATION = "registration"


class Command(msgspec.Struct, frozen=True):
    """Something to do."""


class AskZooKeeper(Command, frozen=True):
    """Send these requests pipelined and tell all answers at once, with the question itself.

    `offsets` is what a commit is about.
    """

    stage: Stage
    number: int
    requests: tuple[ZooKeeperRequest, ...]
    offsets: Mapping[TopicPartition, int] = {}


class StopFetching(Command, frozen=True):
    """Fetch no more, throw away what the application has not taken, and tell FetchingStopped; also if nothing runs."""


class Position(msgspec.Struct, frozen=True, gc=False):
    """Where a thread goes on in a partition; offset -1: where `auto.offset.reset` says."""

    thread: str
    offset: int


class StartFetching(Command, frozen=True):
    """Fetch these partitions from their leaders."""

    positions: Mapping[TopicPartition, Position]


class StartTimer(Command, frozen=True):
    """Tell TimerFired after this time; replaces a running timer of the same name."""

    timer: str
    after_ms: int


class CallBack(Command, frozen=True):
    """Let the application have its say, then tell CallbackReturned.

    Before partitions are released: those. Before fetching starts: all owners in the group, as this member sees it.
    """

    before: str
    """`release` or `start`."""
    owners: Mapping[TopicPartition, str]


class CloseSession(Command, frozen=True):
    """End the ZooKeeper session, which deletes the member's znodes, and then the process."""


class GiveUp(Command, frozen=True):
    """The consumer could not join: the application gets an exception (ConsumerRebalanceFailedException)."""

    why: str
