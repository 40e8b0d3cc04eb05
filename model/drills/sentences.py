"""A timeline in lines that people read: what follows each other and is of one kind becomes one line.

It bounds every line and counts the rest; what is in it must still be made fit to print, for topics name themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from model.cluster.ids import NO_LEADER
from model.cluster.texts import brokers, counted, listed, replicas
from model.drills.timeline import (
    AnyRow,
    BrokerFellSilent,
    BrokerFenced,
    BrokerKilled,
    BrokerLeft,
    BrokerReturned,
    BrokerStopped,
    ControllerMoved,
    MetadataLearnt,
    MetadataWritten,
    QuorumShrank,
    Reasoned,
    RequestSent,
    SessionClosed,
    SessionEnded,
    SessionExpired,
    ShutdownAsked,
    StateWritten,
    WriteRefused,
    ZnodeWritten,
)

MOST = 4
"""A line names this many things; the rest is counted."""


class TimelineLine(msgspec.Struct, frozen=True):
    """What happened from `at_ms` to `until_ms`, and how many rows of the timeline that is."""

    at_ms: float
    until_ms: float
    rows: int
    text: str


def timeline_lines(rows: Sequence[AnyRow]) -> Iterator[TimelineLine]:
    """The rows in lines, in order."""
    for _, group in groupby(rows, key=_kind):
        some = list(group)
        yield TimelineLine(some[0].at_ms, some[-1].at_ms, len(some), _TELL[type(some[0])](some))


def _kind(row: AnyRow) -> object:
    """Rows that follow each other and have the same one are told together; sentences stand alone."""
    match row:
        case StateWritten(by=by):
            return StateWritten, by
        case ZnodeWritten(by=by, verb=verb, path=path):
            return ZnodeWritten, by, verb, path.rpartition("/")[0]
        case WriteRefused(by=by, error=error):
            return WriteRefused, by, error
        case RequestSent(by=by):
            return RequestSent, by
        case BrokerFenced(stopped=stopped):
            return BrokerFenced, stopped
        case (
            BrokerKilled() | ShutdownAsked() | SessionEnded() | BrokerReturned() | MetadataWritten() | MetadataLearnt()
        ):
            return type(row)
        case BrokerStopped(controlled=controlled):
            return BrokerStopped, controlled
        case _:
            return id(row)


def _killed(rows: Sequence[BrokerKilled]) -> str:
    return f"{_capital(brokers(row.broker for row in rows))} died; ZooKeeper does not know yet"


def _silent(rows: Sequence[BrokerFellSilent]) -> str:
    return f"{_capital(brokers(row.broker for row in rows))} died; the controller does not know yet"


def _asked(rows: Sequence[ShutdownAsked]) -> str:
    return f"{brokers(row.broker for row in rows)} asked {_who(rows[0].controller)} for a controlled shutdown"


def _stopped(rows: Sequence[BrokerStopped]) -> str:
    how = "led nothing any more and left" if rows[0].controlled else "gave up asking, and left without a successor"
    return f"{brokers(row.broker for row in rows)} {how}"


def _left(rows: Sequence[BrokerLeft]) -> str:
    how = "led nothing any more and left" if rows[0].controlled else "left, and nobody in sync could take over"
    return f"{brokers(row.broker for row in rows)} {how}"


def _ended(rows: Sequence[SessionEnded]) -> str:
    controllers = [row.broker for row in rows if row.controller]
    office = f"; broker {controllers[0]} was the controller: the office is free" if controllers else ""
    whose = "session of" if len(rows) == 1 else "sessions of"
    how = "expired" if isinstance(rows[0], SessionExpired) else "closed"
    return f"the {whose} {brokers(row.broker for row in rows)} {how}{office}"


def _fenced(rows: Sequence[BrokerFenced]) -> str:
    how = "the shutdown is done" if rows[0].stopped else "no heartbeat came in time"
    return f"{brokers(row.broker for row in rows)} {'is' if len(rows) == 1 else 'are'} fenced: {how}"


def _returned(rows: Sequence[BrokerReturned]) -> str:
    return f"{brokers(row.broker for row in rows)} started again"


def _moved(rows: Sequence[ControllerMoved]) -> str:
    (row,) = rows
    before = "nobody" if row.old is None else f"broker {row.old}"
    if row.is_race:
        who = f"one of {brokers(row.candidates)} is the controller"
        return f"{who} after {before}, epoch {row.epoch}: a race, played as if b{row.new} had won it"
    return f"broker {row.new} is the controller after {before}, epoch {row.epoch}"


def _shrank(rows: Sequence[QuorumShrank]) -> str:
    (row,) = rows
    some = row.candidates
    who = f"one of {listed(some)}, whichever wins" if len(some) > 1 else f"controller {some[0]}" if some else "nobody"
    return f"{row.text}; the active controller is {who}"


def _states(rows: Sequence[StateWritten]) -> str:
    texts = listed(map(_state, rows), MOST)
    return f"{_who(rows[0].by)} wrote {counted(len(rows), 'partition state')}: {texts}"


def _state(row: StateWritten) -> str:
    after = row.after
    leader = _change(_leader(-1 if row.before is None else row.before.leader), _leader(after.leader))
    isr = _change("" if row.before is None else replicas(row.before.isr), replicas(after.isr))
    unclean = ", unclean" if row.unclean else ""
    version = "" if row.by is None else f" v{after.version}"
    return f"{row.partition}{version} leader {leader} isr {isr} epoch {after.leader_epoch}{unclean}"


def _znodes(rows: Sequence[ZnodeWritten]) -> str:
    return f"b{rows[0].by} {_DID[rows[0].verb]} {listed((row.path for row in rows), MOST)}"


def _metadata(rows: Sequence[MetadataWritten]) -> str:
    return f"{_who(None)} wrote {listed(dict.fromkeys(row.place for row in rows), MOST)}"


def _refused(rows: Sequence[WriteRefused]) -> str:
    return f"b{rows[0].by} could not write {listed((row.path for row in rows), MOST)}: {rows[0].error}"


def _requests(rows: Sequence[RequestSent]) -> str:
    parts: list[str] = []
    for kind in dict.fromkeys(row.kind for row in rows):
        some = [row for row in rows if row.kind == kind]
        parts.append(f"{kind} ({_sizes(some)}) to {brokers(row.to for row in some)}")
    return f"b{rows[0].by} sent {'; '.join(parts)}"


def _learnt(rows: Sequence[MetadataLearnt]) -> str:
    return f"{brokers(row.to for row in rows)} learnt of {_sizes(rows)} from the metadata log"


def _sizes(rows: Sequence[RequestSent] | Sequence[MetadataLearnt]) -> str:
    sizes = sorted({row.partitions for row in rows})
    size = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,}-{sizes[-1]:,}"
    return f"{size} {'partition' if sizes == [1] else 'partitions'}"


def _reasoned(rows: Sequence[Reasoned]) -> str:
    (row,) = rows
    return f"{_who(row.by)}: {row.why}"


def _who(controller: int | None) -> str:
    return "the controller" if controller is None else f"b{controller}"


def _leader(broker: int) -> str:
    return "none" if broker == NO_LEADER else str(broker)


def _change(before: str, after: str) -> str:
    return after if before == after else f"{before}>{after}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_DID = {"create": "created", "set": "set", "delete": "deleted"}
_TELL: dict[type, Callable[[Any], str]] = {
    BrokerKilled: _killed,
    BrokerFellSilent: _silent,
    ShutdownAsked: _asked,
    BrokerStopped: _stopped,
    BrokerLeft: _left,
    SessionExpired: _ended,
    SessionClosed: _ended,
    BrokerFenced: _fenced,
    BrokerReturned: _returned,
    ControllerMoved: _moved,
    QuorumShrank: _shrank,
    StateWritten: _states,
    ZnodeWritten: _znodes,
    MetadataWritten: _metadata,
    WriteRefused: _refused,
    RequestSent: _requests,
    MetadataLearnt: _learnt,
    Reasoned: _reasoned,
}
