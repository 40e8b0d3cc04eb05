"""Why something in a drill happened: the controller's own words where it has some, else Kafka's or ZooKeeper's rule.

A controller speaks after its write is done, and sends requests after it has spoken; these words are found again here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

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

DEATH = "Killed, it closes nothing: its session lives on until it times out, and all others count on it until then."
EXPIRY = "Its ephemeral znode in /brokers/ids went with the session: watches tell the controller, which acts now."
VACANCY = "/controller went with the session, too: whoever creates it first is the next controller."
RETURN = "It registers once its old registration is over; only then does the controller know."
SILENCE = "Killed, it says nothing: all others count on it until broker.session.timeout.ms pass without a heartbeat."
FENCED = "Only the active controller fences. A fenced broker leads nothing; it stays registered."
REGISTERED = "It registers with the controller, and is unfenced once it has caught up with the metadata log."
LEARNT = "Nobody sends it to them: each broker fetches the metadata log from the active controller."
SHUTDOWN = "Told to stop, it asks the controller first: what it leads gets other leaders while it still serves."
STOPPED = "Nothing waits for it any more, so it ends by itself."
GIVEN_UP = "It asked as often as controlled.shutdown.max.retries says; nobody else in sync could lead what it leads."
OFFICE = "The first to create /controller wins; with the epoch raised, all that the one before still does is refused."
MAJORITY = "A majority of the voters elects the active controller, and only that one elects leaders and changes ISRs."
REFUSALS: Mapping[str, str] = {
    "NODE_EXISTS": "It is there already: another one was faster, or made it before.",
    "NO_NODE": "It is not there: there was nothing to change.",
    "BAD_VERSION": "Somebody wrote it in between: the version is another one by now.",
    "RUNTIME_INCONSISTENCY": "Another part of the same transaction failed: all of it or nothing is written.",
}
"""ZooKeeper's name of an error → what it means here."""


def reasons(rows: Sequence[AnyRow], first: int, end: int) -> tuple[str, ...]:
    """Why rows `first` to `end`, which are of one kind, happened; empty where nobody said."""
    row = rows[first]
    if isinstance(row, StateWritten | ZnodeWritten):
        return tuple(_said_after(rows, end, row.by))
    if isinstance(row, RequestSent):
        return tuple(_said_before(rows, first, row.by))
    rule = _RULES.get(type(row))
    return () if rule is None else tuple(dict.fromkeys(text for one in rows[first:end] for text in rule(one)))


def _said_after(rows: Sequence[AnyRow], end: int, by: int | None) -> Iterator[str]:
    """The next words of a writer, unless somebody dies or comes before: they are about that then."""
    for row in rows[end:]:
        if isinstance(row, BrokerKilled | SessionEnded | BrokerReturned):
            return
        if isinstance(row, Reasoned) and row.by == by:
            yield row.why
            return


def _said_before(rows: Sequence[AnyRow], first: int, by: int) -> list[str]:
    """All words of a sender since it sent something the last time."""
    said: list[str] = []
    for row in reversed(rows[:first]):
        if isinstance(row, RequestSent) and row.by == by:
            break
        if isinstance(row, Reasoned) and row.by == by:
            said.append(row.why)
    return said[::-1]


_RULES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    BrokerKilled: lambda _: (DEATH,),
    BrokerFellSilent: lambda _: (SILENCE,),
    BrokerFenced: lambda _: (FENCED,),
    MetadataWritten: lambda row: (REGISTERED,) if row.place.startswith("/brokers/") else (),
    MetadataLearnt: lambda _: (LEARNT,),
    SessionExpired: lambda row: (EXPIRY, VACANCY) if row.controller else (EXPIRY,),
    ShutdownAsked: lambda _: (SHUTDOWN,),
    BrokerStopped: lambda row: (STOPPED if row.controlled else GIVEN_UP,),
    BrokerLeft: lambda row: (STOPPED,) if row.controlled else (),
    SessionClosed: lambda row: (EXPIRY, VACANCY) if row.controller else (EXPIRY,),
    BrokerReturned: lambda _: (RETURN,),
    ControllerMoved: lambda _: (OFFICE,),
    QuorumShrank: lambda _: (MAJORITY,),
    WriteRefused: lambda row: (REFUSALS[row.error],) if row.error in REFUSALS else (),
    Reasoned: lambda row: (row.why,),
}
