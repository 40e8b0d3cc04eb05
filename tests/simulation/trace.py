"""A history as lines to read: the acts, and every record of the journal between them."""

from __future__ import annotations

from collections.abc import Iterator

from model.hosts.virtual import journal
from model.hosts.virtual.journal import JournalRecord, Transaction, znode_writes
from tests.simulation.history import History, played
from tests.simulation.violation import ViolationError


def tell(history: History, kind: str) -> Iterator[str]:
    """A new history, played: its lines, and what broke in it if something did."""
    failure = ""
    try:
        played(history, kind)
    except ViolationError as violation:
        failure = str(violation)
    yield from lines(history)
    if failure:
        yield failure


def lines(history: History) -> Iterator[str]:
    """In order of time."""
    yield str(history.scenario)
    acts = list(history.acts_done)
    for record in history.cluster.journal:
        while acts and acts[0][0] <= record.at_ms:
            at_ms, name = acts.pop(0)
            yield f"{at_ms:12.3f} ---- {name}"
        for text in _texts(record):
            yield f"{record.at_ms:12.3f} {text}"


def _texts(record: JournalRecord) -> Iterator[str]:
    if isinstance(record, Transaction):
        for write in znode_writes(record):
            what = f"{write.verb} {write.path} v{write.version} {write.data.decode()}"
            yield f"{record.by} {what}{'' if write.error == 'NONE' else ' ' + write.error}"
    elif isinstance(record, journal.RequestSent | journal.RequestServed):
        answer = f" {record.answer}" if isinstance(record, journal.RequestServed) else ""
        verb = type(record).__name__.removeprefix("Request").lower()
        yield f"{record.sender}->{record.receiver} {verb} {record.exchange} {_request(record.request)}{answer}"
    elif not isinstance(record, journal.RequestAnswered):
        yield f"{type(record).__name__} {' '.join(str(getattr(record, name)) for name in record.__struct_fields__[1:])}"


def _request(request: object) -> str:
    partitions = getattr(request, "partitions", ())
    return f"{type(request).__name__} {[str(entry.partition) + ' ' + _state(entry) for entry in partitions]}"


def _state(entry: object) -> str:
    state = getattr(entry, "state", None)
    return "" if state is None else f"l{state.leader} e{state.leader_epoch} {list(state.isr)} v{state.partition_epoch}"
