"""A drill's rows as they are on KRaft: what was played with ZooKeeper's rules, in KRaft's words.

What KRaft has no like of is left out: requests that nobody sends, znodes that nobody has, who stands in for the
controller. Sources: KIP-631 (brokers register and send heartbeats; the active controller fences who is silent for
broker.session.timeout.ms), KIP-500 (brokers learn by fetching the metadata log).
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from model.cluster.places import metadata_place
from model.drills.timeline import (
    AnyRow,
    BrokerFellSilent,
    BrokerFenced,
    BrokerKilled,
    BrokerLeft,
    BrokerStopped,
    ControllerMoved,
    MetadataLearnt,
    MetadataWritten,
    Reasoned,
    RequestSent,
    SessionClosed,
    SessionEnded,
    ShutdownAsked,
    StateWritten,
    WriteRefused,
    ZnodeWritten,
)

_STRATEGY = re.compile(r"^[A-Z]\w+ elected ")
"""Names of elections are those of `kafka.controller.PartitionStateMachine`."""
_TAKING_OVER = re.compile(r"/controller|^Read \d")
"""What a broker says that comes into office, where all brokers had died: KRaft's controllers are there already."""
_OFFICE = ("/controller", "/controller_epoch")


def kraft_rows(rows: Iterable[AnyRow], controller: int | None) -> Iterator[AnyRow]:
    """The rows; `controller` is the broker that played the controller."""
    for row in rows:
        match row:
            case BrokerKilled():
                yield BrokerFellSilent(row.at_ms, row.broker)
            case BrokerStopped():
                yield BrokerLeft(row.at_ms, row.broker, row.controlled)
            case SessionEnded():
                yield BrokerFenced(row.at_ms, row.broker, controller=False, stopped=isinstance(row, SessionClosed))
            case ShutdownAsked():
                yield ShutdownAsked(row.at_ms, row.broker, None)
            case StateWritten():
                yield msgspec.structs.replace(row, by=None)
            case ZnodeWritten() if row.says and row.path not in _OFFICE:
                yield MetadataWritten(row.at_ms, metadata_place(row.path), row.says)
            case RequestSent() if row.partitions:
                yield MetadataLearnt(row.at_ms, row.to, row.request)
            case ControllerMoved():
                controller = row.new
            case Reasoned() if row.by == controller and not _TAKING_OVER.search(row.why):
                yield Reasoned(row.at_ms, None, _STRATEGY.sub("Elected ", row.why))
            case ZnodeWritten() | WriteRefused() | RequestSent() | Reasoned():
                pass
            case _:
                yield row
