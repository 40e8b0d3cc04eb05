"""All that can be due in a virtual cluster. Facts of the near future; what comes of them is in `virtual_cluster`.

A process is named by its broker's id and its `number`, which counts boots: what was meant for the process before this
one finds nobody.
"""

import msgspec

from model.broker.commands import ProposeIsr
from model.controller.commands import AnswerRequest, BrokerAnswer, BrokerRequest
from model.controller.events import Event, RequestReceived
from model.zookeeper.operations import Answer, ZooKeeperRequest
from model.zookeeper.znodes import ZnodeChanged


class Timer(msgspec.Struct, frozen=True, gc=False):
    """A timer that runs."""

    started_us: int
    after_ms: int


class ScheduledEvent(msgspec.Struct, frozen=True):
    """Something that is due."""


class SessionTimesOut(ScheduledEvent, frozen=True):
    """Nobody was heard of for the session timeout, if it is still that silence."""

    session: int
    silent_since_us: int


class QuestionArrives(ScheduledEvent, frozen=True):
    """Requests of a question reach ZooKeeper, whatever became of the process that asked."""

    broker: int
    number: int
    session: int
    connection: int
    question: int
    requests: tuple[ZooKeeperRequest, ...]


class RequestArrives(ScheduledEvent, frozen=True):
    """A controller's request reaches a broker, whichever process has its address now."""

    sender: int
    sender_number: int
    receiver: int
    exchange: int
    attempt: int
    broker_epoch: int
    request: BrokerRequest


class ControllerIsAsked(ScheduledEvent, frozen=True):
    """A request to the controller reaches a broker."""

    asker: int
    asker_number: int
    controller: int
    request: RequestReceived


class ForProcess(ScheduledEvent, frozen=True):
    """Something for one process alone: it waits while the process is paused, and comes to nothing if it is gone."""

    broker: int
    number: int


class AnswersArrive(ForProcess, frozen=True):
    """ZooKeeper's answers to part of a question."""

    connection: int
    question: int
    answers: tuple[Answer, ...]
    zxid: int


class WatchFires(ForProcess, frozen=True):
    """ZooKeeper tells of a change."""

    connection: int
    changed: ZnodeChanged


class Reconnects(ForProcess, frozen=True):
    """The process tries to reach ZooKeeper again: with the session it has, if it has one."""


class ChannelTries(ForProcess, frozen=True):
    """A controller tries again to send to a broker."""

    receiver: int
    attempt: int


class AnswerArrives(ForProcess, frozen=True):
    """A broker's answer reaches the controller that sent the request."""

    receiver: int
    exchange: int
    attempt: int
    answer: BrokerAnswer


class TimerFires(ForProcess, frozen=True):
    """A timer of a controller is up, unless another one of this name runs by now."""

    timer: str
    run: Timer


class LeaderLooks(ForProcess, frozen=True):
    """A leader looks which followers are in sync and which lag."""


class LeaderWrites(ForProcess, frozen=True):
    """A leader's writes of ISRs reach ZooKeeper (up to 2.6)."""

    wanted: tuple[ProposeIsr, ...]


class FollowerLags(ForProcess, frozen=True):
    """A follower has not fetched from this leader for replica.lag.time.max.ms, if it is still that silence."""

    follower: int
    silent_since_us: int


class ControllerReplies(ForProcess, frozen=True):
    """The controller's answer, or None: the connection broke before there was one."""

    request: RequestReceived
    answer: AnswerRequest | None


class ControllerIsTold(ForProcess, frozen=True):
    """An event that nothing in a virtual cluster brings about, told from outside."""

    event: Event


class ShutdownGoesOn(ForProcess, frozen=True):
    """A broker that shuts down asks the controller, once more."""
