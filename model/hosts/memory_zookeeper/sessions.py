"""Who is connected and which ephemeral znodes are whose. It measures no time: somebody else says who expired."""

from collections.abc import Iterable

import msgspec

from model.hosts.memory_zookeeper.closing_order import closing_order
from model.hosts.memory_zookeeper.draft import Change
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.zookeeper.values import EventKind


class Session(msgspec.Struct, frozen=True):
    """One session, open."""

    timeout_ms: int
    ephemerals: PersistentMap[str, int]
    """Its ephemeral znodes, and when each came, as a number that grows."""
    alive: int = 0
    """How many of them there are."""
    most: int = 0
    """How many there ever were at once."""
    born: int = 0
    """How many it ever had."""

    def closing_order(self) -> list[str]:
        """Its ephemeral znodes in the order in which the server deletes them when the session ends."""
        by_age = sorted(self.ephemerals.items(), key=lambda item: item[1])
        return closing_order([path for path, _ in by_age], self.most)


Sessions = PersistentMap[int, Session]


def new_session(timeout_ms: int) -> Session:
    """A session that owns nothing yet."""
    return Session(timeout_ms, PersistentMap())


def follow(sessions: Sessions, changes: Iterable[Change]) -> Sessions:
    """The sessions after these changes of their ephemeral znodes."""
    for change in changes:
        session = sessions.get(change.owner) if change.owner else None
        if session is None or change.kind is EventKind.DATA_CHANGED:
            continue
        sessions = sessions.changed({change.owner: _after(session, change)})
    return sessions


def _after(session: Session, change: Change) -> Session:
    born, alive = session.born, session.alive
    if change.kind is EventKind.DELETED:
        return Session(
            session.timeout_ms, session.ephemerals.changed({change.path: None}), alive - 1, session.most, born
        )
    ephemerals = session.ephemerals.changed({change.path: born})
    return Session(session.timeout_ms, ephemerals, alive + 1, max(session.most, alive + 1), born + 1)
