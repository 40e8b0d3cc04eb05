"""A drill in words: what follows each other and is of one kind becomes one step, a sentence, with the reason for it.

The reason is the controller's own words where it has some, else Kafka's or ZooKeeper's rule. A controller speaks after
its write is done, and sends requests after it has spoken; these words are found again here. Every sentence is bounded
and counts the rest; what is in it must still be made fit to print, for topics name themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from model.cluster.ids import NO_LEADER
from model.cluster.texts import brokers, counted, listed, replicas
from model.drills import rows as kinds
from model.hosts.virtual.journal import (
    BrokerBooted,
    BrokerCrashed,
    BrokerStopped,
    ControllerAsked,
    ControllerElected,
    Reasoned,
    RequestSent,
    SessionEnded,
)

MOST = 4
"""A sentence names this many things; the rest is counted."""

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
CONTROLLER_ELECTED = (
    "The first to create /controller wins; with the epoch raised, all that the one before still does is refused."
)
MAJORITY = "A majority of the voters elects the active controller, and only that one elects leaders and changes ISRs."
REFUSALS: Mapping[str, str] = {
    "NODE_EXISTS": "It is there already: another one was faster, or made it before.",
    "NO_NODE": "It is not there: there was nothing to change.",
    "BAD_VERSION": "Somebody wrote it in between: the version is another one by now.",
    "RUNTIME_INCONSISTENCY": "Another part of the same transaction failed: all of it or nothing is written.",
}
"""ZooKeeper's name of an error → what it means here."""


FOLDER = "The broker stops serving what lies there, and tells the controller by its next heartbeat, at once (KIP-858)."

_RULES: Final[Mapping[type, tuple[str, ...]]] = {
    kinds.MetadataLearnt: (LEARNT,),
    ControllerAsked: (SHUTDOWN,),
    BrokerBooted: (RETURN,),
    ControllerElected: (CONTROLLER_ELECTED,),
    kinds.QuorumShrank: (MAJORITY,),
    kinds.FolderFailed: (FOLDER,),
}


class SentenceRows(msgspec.Struct, frozen=True):
    """Rows `first` to `end` of a timeline, which follow each other and are of one kind, told in one sentence.

    `sign`: what it is, in one letter; a dot for what is no milestone of a drill.
    """

    first: int
    end: int
    at_ms: float
    until_ms: float
    sign: str
    text: str


def steps_of(rows: Sequence[kinds.AnyRow]) -> Iterator[SentenceRows]:
    """The rows as steps, in order."""
    first = 0
    for _, group in groupby(rows, key=_kind):
        some = list(group)
        sign, tell = _WORDS[type(some[0])]
        yield SentenceRows(first, first + len(some), some[0].at_ms, some[-1].at_ms, sign, tell(some))
        first += len(some)


def _kind(row: kinds.AnyRow) -> object:
    """Rows that follow each other and have the same one are told together; sentences stand alone."""
    match row:
        case kinds.StateWritten(by=by):
            return kinds.StateWritten, by
        case kinds.ZnodeWritten(by=by, verb=verb, path=path):
            return kinds.ZnodeWritten, by, verb, path.rpartition("/")[0]
        case kinds.WriteRefused(by=by, error=error):
            return kinds.WriteRefused, by, error
        case RequestSent(sender=sender):
            return RequestSent, sender
        case SessionEnded(expired=expired):
            return type(row), expired
        case (
            BrokerCrashed()
            | ControllerAsked()
            | BrokerBooted()
            | kinds.MetadataWritten()
            | kinds.MetadataLearnt()
            | kinds.VoterFellSilent()
            | kinds.VoterBooted()
        ):
            return type(row)
        case BrokerStopped(controlled=controlled):
            return BrokerStopped, controlled
        case _:
            return id(row)


def reasons(rows: Sequence[kinds.AnyRow], first: int, end: int) -> tuple[str, ...]:
    """Why rows `first` to `end`, which are of one kind, happened; empty where nobody said."""
    row = rows[first]
    if isinstance(row, kinds.StateWritten | kinds.ZnodeWritten):
        return tuple(_said_after(rows, end, row.by))
    if isinstance(row, RequestSent):
        return tuple(_said_before(rows, first, row.sender))
    return tuple(dict.fromkeys(text for one in rows[first:end] for text in _rule(one)))


def _rule(row: kinds.AnyRow) -> Iterator[str]:
    match row:
        case kinds.BrokerFellSilent():
            yield SILENCE
        case BrokerCrashed():
            yield DEATH
        case kinds.BrokerLeft():
            yield from (STOPPED,) if row.controlled else ()
        case BrokerStopped():
            yield STOPPED if row.controlled else GIVEN_UP
        case kinds.BrokerFenced():
            yield FENCED
        case SessionEnded():
            yield from (EXPIRY, VACANCY) if row.controller else (EXPIRY,)
        case kinds.MetadataWritten() if row.place.startswith("/brokers/"):
            yield REGISTERED
        case kinds.WriteRefused() if row.error in REFUSALS:
            yield REFUSALS[row.error]
        case Reasoned():
            yield row.why
        case _:
            yield from _RULES.get(type(row), ())


def _said_after(rows: Sequence[kinds.AnyRow], end: int, by: int | None) -> Iterator[str]:
    """The next words of a writer, unless somebody dies or comes before: they are about that then."""
    for row in rows[end:]:
        if isinstance(row, BrokerCrashed | SessionEnded | BrokerBooted):
            return
        if isinstance(row, Reasoned) and row.by == by:
            yield row.why
            return


def _said_before(rows: Sequence[kinds.AnyRow], first: int, sender: int) -> list[str]:
    """All words of a sender since it sent something the last time."""
    said: list[str] = []
    for row in reversed(rows[:first]):
        if isinstance(row, RequestSent) and row.sender == sender:
            break
        if isinstance(row, Reasoned) and row.by == sender:
            said.append(row.why)
    return said[::-1]


def _killed(rows: Sequence[BrokerCrashed]) -> str:
    return f"{_capital(brokers(row.broker for row in rows))} failed; ZooKeeper does not know yet"


def _silent(rows: Sequence[kinds.BrokerFellSilent]) -> str:
    return f"{_capital(brokers(row.broker for row in rows))} failed; the controller does not know yet"


def _voters(rows: Sequence[kinds.VoterFellSilent]) -> str:
    return f"{'controller' if len(rows) == 1 else 'controllers'} {listed(row.voter for row in rows)} failed"


def _voters_back(rows: Sequence[kinds.VoterBooted]) -> str:
    return f"{'controller' if len(rows) == 1 else 'controllers'} {listed(row.voter for row in rows)} started again"


def _folder(rows: Sequence[kinds.FolderFailed]) -> str:
    (row,) = rows
    return f"log folder {row.path} of b{row.broker} failed, with {counted(row.partitions, 'replica')} in it"


def _asked(rows: Sequence[ControllerAsked]) -> str:
    return f"{brokers(row.by for row in rows)} asked {_who(rows[0].controller)} for a controlled shutdown"


def _stopped(rows: Sequence[BrokerStopped]) -> str:
    how = "led nothing any more and left" if rows[0].controlled else "gave up asking, and left without a successor"
    return f"{brokers(row.broker for row in rows)} {how}"


def _left(rows: Sequence[kinds.BrokerLeft]) -> str:
    how = "led nothing any more and left" if rows[0].controlled else "left, and nobody in sync could take over"
    return f"{brokers(row.broker for row in rows)} {how}"


def _ended(rows: Sequence[SessionEnded]) -> str:
    controllers = [row.broker for row in rows if row.controller]
    vacancy = f"; broker {controllers[0]} was the controller: nobody is now" if controllers else ""
    whose = "session of" if len(rows) == 1 else "sessions of"
    how = "expired" if rows[0].expired else "closed"
    return f"the {whose} {brokers(row.broker for row in rows)} {how}{vacancy}"


def _fenced(rows: Sequence[kinds.BrokerFenced]) -> str:
    how = "no heartbeat came in time" if rows[0].expired else "the shutdown is done"
    return f"{brokers(row.broker for row in rows)} {'is' if len(rows) == 1 else 'are'} fenced: {how}"


def _returned(rows: Sequence[BrokerBooted]) -> str:
    return f"{brokers(row.broker for row in rows)} started again"


def _moved(rows: Sequence[ControllerElected]) -> str:
    (row,) = rows
    before = "nobody" if row.old is None else f"broker {row.old}"
    if row.is_race:
        who = f"one of {brokers(row.candidates)} is the controller"
        return f"{who} after {before}, epoch {row.epoch}: a race, played as if b{row.broker} had won it"
    return f"broker {row.broker} is the controller after {before}, epoch {row.epoch}"


def _shrank(rows: Sequence[kinds.QuorumShrank]) -> str:
    (row,) = rows
    some = row.candidates
    who = f"one of {listed(some)}, whichever wins" if len(some) > 1 else f"controller {some[0]}" if some else "nobody"
    return f"{row.text}; the active controller is {who}"


def _states(rows: Sequence[kinds.StateWritten]) -> str:
    texts = listed(map(_state, rows), MOST)
    return f"{_who(rows[0].by)} wrote {counted(len(rows), 'partition state')}: {texts}"


def _state(row: kinds.StateWritten) -> str:
    after = row.after
    leader = _change(_leader(-1 if row.before is None else row.before.leader), _leader(after.leader))
    isr = _change("" if row.before is None else replicas(row.before.isr), replicas(after.isr))
    unclean = ", unclean" if row.unclean else ""
    version = "" if row.by is None else f" v{after.version}"
    return f"{row.partition}{version} leader {leader} isr {isr} epoch {after.leader_epoch}{unclean}"


def _znodes(rows: Sequence[kinds.ZnodeWritten]) -> str:
    return f"b{rows[0].by} {_DID[rows[0].verb]} {listed((row.path for row in rows), MOST)}"


def _metadata(rows: Sequence[kinds.MetadataWritten]) -> str:
    return f"{_who(None)} wrote {listed(dict.fromkeys(row.place for row in rows), MOST)}"


def _refused(rows: Sequence[kinds.WriteRefused]) -> str:
    return f"b{rows[0].by} could not write {listed((row.path for row in rows), MOST)}: {rows[0].error}"


def _requests(rows: Sequence[RequestSent]) -> str:
    parts: list[str] = []
    for kind in dict.fromkeys(row.kind for row in rows):
        some = [row for row in rows if row.kind == kind]
        parts.append(f"{kind} ({_sizes(some)}) to {brokers(row.receiver for row in some)}")
    return f"b{rows[0].sender} sent {'; '.join(parts)}"


def _learnt(rows: Sequence[kinds.MetadataLearnt]) -> str:
    return f"{brokers(row.receiver for row in rows)} learnt of {_sizes(rows)} from the metadata log"


def _sizes(rows: Sequence[RequestSent] | Sequence[kinds.MetadataLearnt]) -> str:
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
_WORDS: Final[Mapping[type, tuple[str, Callable[[Any], str]]]] = {
    BrokerCrashed: ("K", _killed),
    kinds.BrokerFellSilent: ("K", _silent),
    ControllerAsked: ("D", _asked),
    BrokerStopped: (".", _stopped),
    kinds.BrokerLeft: (".", _left),
    SessionEnded: ("x", _ended),
    kinds.BrokerFenced: ("x", _fenced),
    BrokerBooted: ("U", _returned),
    ControllerElected: ("*", _moved),
    kinds.QuorumShrank: ("*", _shrank),
    kinds.VoterFellSilent: ("K", _voters),
    kinds.VoterBooted: ("U", _voters_back),
    kinds.FolderFailed: ("K", _folder),
    kinds.StateWritten: ("w", _states),
    kinds.ZnodeWritten: (".", _znodes),
    kinds.MetadataWritten: (".", _metadata),
    kinds.WriteRefused: (".", _refused),
    RequestSent: ("r", _requests),
    kinds.MetadataLearnt: ("r", _learnt),
    Reasoned: (".", _reasoned),
}
"""A step's sign and its sentence, by what it is."""
