"""What happened in a virtual cluster, as records in order. Facts only: nothing is decided or summed up here.

A drill's timeline and the screens show these same values; `model.drills.sentences` says them in words.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from model.controller.events_and_commands import AnswerRequest, BrokerAnswer, BrokerRequest, RequestReceived
from model.znodes.paths import CONTROLLER_EPOCH
from model.zookeeper import Answer, Check, Code, Create, Delete, Multi, SetData, Write

OPERATOR: Final = -2
"""Who wrote or asked, where otherwise a broker's id stands: a person or a tool."""


def _kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


class JournalRecord(msgspec.Struct, frozen=True, tag_field="what", tag=_kebab):
    """`at_ms`: virtual time since the start. The tag is the record's name in a drill's document."""

    at_ms: float


class Transaction(JournalRecord, frozen=True):
    """ZooKeeper was asked to write. `by` is a broker or OPERATOR; `znode_writes` takes it apart."""

    by: int
    zxid: int
    write: Write | Multi
    answer: Answer


class SessionOpened(JournalRecord, frozen=True):
    """A broker has a new ZooKeeper session."""

    broker: int
    session: int


class SessionEnded(JournalRecord, frozen=True):
    """A session and its ephemeral znodes are gone: closed by the broker, or `expired`. Now the others can know.

    `controller`: `/controller` was among them, so that there is no controller now.
    """

    broker: int
    session: int
    expired: bool
    controller: bool


class ConnectionLost(JournalRecord, frozen=True):
    """A broker lost its connection to ZooKeeper, and what was on its way; the session lives on for a while."""

    broker: int
    session: int


class ControllerElected(JournalRecord, frozen=True, tag="controller-moved"):
    """A broker is the controller from now on, as far as it knows; `old` was it before, None: nobody.

    Every broker that lives tries to create `/controller`, and the first one wins: in reality any of `candidates` may
    be it, `broker` is it here.
    """

    broker: int
    epoch: int
    old: int | None
    candidates: tuple[int, ...]

    @property
    def is_race(self) -> bool:
        """Whether it could have been another broker."""
        return len(self.candidates) > 1


class ControllerResigned(JournalRecord, frozen=True):
    """A broker knows that it is not the controller any more."""

    broker: int
    epoch: int


class Reasoned(JournalRecord, frozen=True):
    """A sentence of a controller that says what it decided and by which rule. `by` None: KRaft's controller."""

    by: int | None
    why: str


class RequestSent(JournalRecord, frozen=True, gc=False):
    """A controller sent a request; `exchange` names it in the records that follow, and again if it is repeated."""

    sender: int
    receiver: int
    exchange: int
    request: BrokerRequest

    @property
    def kind(self) -> str:
        """Kafka's name of the request: LeaderAndIsr, UpdateMetadata, StopReplica."""
        return type(self.request).__name__.removesuffix("Request")

    @property
    def partitions(self) -> int:
        return len(self.request.partitions)


class RequestServed(JournalRecord, frozen=True):
    """The receiver did what it was told, or refused, and its answer is on the way."""

    sender: int
    receiver: int
    exchange: int
    request: BrokerRequest
    answer: BrokerAnswer


class RequestAnswered(JournalRecord, frozen=True):
    """The sender has the answer."""

    sender: int
    receiver: int
    exchange: int


class RequestLost(JournalRecord, frozen=True):
    """The request or its answer got lost; it is sent again once the receiver can be reached."""

    sender: int
    receiver: int
    exchange: int


class RequestsDropped(JournalRecord, frozen=True):
    """What waited to be sent is not sent any more: the receiver is gone, or the sender resigned."""

    sender: int
    receiver: int
    exchanges: tuple[int, ...]


class ControllerAsked(JournalRecord, frozen=True):
    """A broker (AlterPartition, ControlledShutdown) or an operator asked; its number is in the request.

    `controller` None: KRaft's controller.
    """

    by: int
    controller: int | None
    request: RequestReceived


class ControllerAnswered(JournalRecord, frozen=True):
    """The controller answered; whether that arrives is another matter."""

    by: int
    controller: int
    answer: AnswerRequest


class BrokerBooted(JournalRecord, frozen=True, tag="broker-returned"):
    """A broker's process started."""

    broker: int


class BrokerCrashed(JournalRecord, frozen=True, tag="broker-killed"):
    """kill -9, or it never got as far as registering. A session it has lives on until it times out."""

    broker: int


class BrokerStopped(JournalRecord, frozen=True):
    """A broker left by itself and closed its session; `controlled`: it led nothing any more."""

    broker: int
    controlled: bool


class BrokerPaused(JournalRecord, frozen=True):
    """SIGSTOP, a long garbage collection."""

    broker: int


class BrokerResumed(JournalRecord, frozen=True):
    """SIGCONT."""

    broker: int


class LinkCut(JournalRecord, frozen=True):
    """Nothing passes between these two; ZOOKEEPER is -1."""

    ends: tuple[int, int]


class LinkMended(JournalRecord, frozen=True):
    """They reach each other again."""

    ends: tuple[int, int]


class WritePart(msgspec.Struct, frozen=True, gc=False):
    """One part of a transaction that was to change a znode.

    `version` is the znode's after a write that was applied, else the expected one (-1: any). `error` is NONE or
    ZooKeeper's reason; parts that only failed with another one have RUNTIME_INCONSISTENCY. `fenced_by` is the
    version of `/controller_epoch` that the transaction was conditional on.
    """

    verb: str
    path: str
    data: bytes
    version: int
    error: str
    fenced_by: int | None = None


def znode_writes(transaction: Transaction) -> Iterator[WritePart]:
    """What a transaction wrote, or failed to write, znode by znode."""
    write, answer = transaction.write, transaction.answer
    if not isinstance(write, Multi):
        yield _written(write, answer, None)
        return
    checks = (part for part in write.parts if isinstance(part, Check) and part.path == CONTROLLER_EPOCH)
    fence = next((check.version for check in checks), None)
    for part, each in zip(write.parts, answer.parts or (answer,) * len(write.parts), strict=True):
        if not isinstance(part, Check):
            # What came before the part that failed was taken back, too.
            yield _written(part, each if answer.ok or not each.ok else _TAKEN_BACK, fence)


def _written(part: Write, answer: Answer, fenced_by: int | None) -> WritePart:
    error = "NONE" if answer.ok else answer.code.name
    match part:
        case Create(path, data):
            return WritePart("create", answer.path or path, data, answer.version, error, fenced_by)
        case SetData(path, data, version):
            return WritePart("set", path, data, answer.version if answer.ok else version, error, fenced_by)
        case Delete(path, version):
            return WritePart("delete", path, b"", version, error, fenced_by)


_TAKEN_BACK: Final = Answer(Code.RUNTIME_INCONSISTENCY)
