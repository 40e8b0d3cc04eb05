"""What can happen to a member of a ZooKeeper consumer group. Facts only."""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.commands import AskZooKeeper
from model.controller.zookeeper import Answer


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, `at_ms` since the epoch."""

    at_ms: int = 0


class MemberStarted(Event, frozen=True):
    """The process runs, and its first ZooKeeper session is open."""


class ZooKeeperAnswered(Event, frozen=True):
    """All answers to a question, in the order of its requests."""

    asked: AskZooKeeper
    answers: tuple[Answer, ...]


class WatchFired(Event, frozen=True):
    """A one-shot watch has fired and is gone. `deleted`: so is the znode."""

    path: str
    deleted: bool = False


class TimerFired(Event, frozen=True):
    """The time of a `StartTimer` is up."""

    timer: str


class RecordsConsumed(Event, frozen=True):
    """How far the application has come: the next offset to consume, by partition."""

    offsets: Mapping[TopicPartition, int]


class FetchingStopped(Event, frozen=True):
    """Nothing is fetched or handed to the application any more, and all that was has been told."""


class CallbackReturned(Event, frozen=True):
    """The application is done with a `CallBack`."""


class CommitRequested(Event, frozen=True):
    """The application commits: these offsets, or all that it has consumed."""

    offsets: Mapping[TopicPartition, int] | None = None


class SessionExpired(Event, frozen=True):
    """ZooKeeper has ended the session: its ephemeral znodes are gone."""


class SessionEstablished(Event, frozen=True):
    """A new session is open."""


class LeaveRequested(Event, frozen=True):
    """The application shuts the consumer down."""
