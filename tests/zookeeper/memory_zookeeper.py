"""A server in memory with the sessions of its clients, for hosts and tests: it holds the state and carries the mail.

All decisions are in state.py. Time comes from outside; nothing expires by itself.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from model.hosts.memory_zookeeper.state import (
    OperationResult,
    ServerState,
    answer,
    disconnect,
    end_session,
    new_server,
    open_session,
)
from model.zookeeper import Answer, Operation, ZnodeChanged


class Reply(msgspec.Struct, frozen=True):
    """The answer to an operation and the newest transaction it saw: for a write its own."""

    zxid: int
    answer: Answer


Message = ZnodeChanged | Reply
"""What a client receives, in order: what happened before it was answered comes before the answer."""


class Snapshot(msgspec.Struct, frozen=True):
    """A moment to go back to."""

    state: ServerState
    unread: Mapping[int, tuple[Message, ...]]
    """What each session was sent and did not take yet."""


class MemoryZooKeeper:
    """One server. Sessions are known by their ids, so that they outlive a restored snapshot."""

    def __init__(self, now_ms: Callable[[], int], state: ServerState | None = None) -> None:
        """now_ms: the time of writes, in ms since the epoch, UTC. Without `state` the server is new."""
        self._now_ms = now_ms
        self._state = state or new_server()
        self._mail: dict[int, list[Message]] = {}

    @property
    def state(self) -> ServerState:
        """The server as a value."""
        return self._state

    def open(self, timeout_ms: int = 18_000) -> "MemorySession":
        """A new session."""
        self._state, session = open_session(self._state, timeout_ms)
        return self.session(session)

    def session(self, session: int) -> "MemorySession":
        """The client's side of a session, open or not."""
        return MemorySession(self, session)

    def ask(self, session: int, operation: Operation) -> Reply:
        """Carry out one operation; its events and then its reply go to the clients."""
        answered = answer(self._state, session, operation, self._now_ms())
        return self._reply(session, answered)

    def close(self, session: int) -> Reply:
        """End a session on its client's wish."""
        answered = end_session(self._state, session)
        return self._reply(session, answered)

    def _reply(self, session: int, answered: OperationResult) -> Reply:
        self._accept(answered)
        reply = Reply(answered.state.zxid, answered.answer)
        self._send(session, reply)
        return reply

    def expire(self, session: int) -> None:
        """End a session whose client was not heard of for its timeout. That client hears no more of anything."""
        self._accept(end_session(self._state, session))
        self._mail.pop(session, None)

    def disconnect(self, session: int) -> None:
        """Lose a client's connection, what was on its way to it, and its watches; the session lives on."""
        self._state = disconnect(self._state, session)
        self._mail.pop(session, None)

    def take(self, session: int) -> tuple[Message, ...]:
        """What the client was sent since it last took something, in order."""
        return tuple(self._mail.pop(session, ()))

    def snapshot(self) -> Snapshot:
        """This moment; costs next to nothing."""
        return Snapshot(self._state, {session: tuple(mail) for session, mail in self._mail.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back, or forth, to a moment; as often as you like."""
        self._state = snapshot.state
        self._mail = {session: list(mail) for session, mail in snapshot.unread.items()}

    def _accept(self, answered: OperationResult) -> None:
        self._state = answered.state
        for event in answered.events:
            self._send(event.session, event.changed)

    def _send(self, session: int, message: Message) -> None:
        self._mail.setdefault(session, []).append(message)


class MemorySession:
    """The client's side of one session."""

    __slots__ = ("_server", "id")

    def __init__(self, server: MemoryZooKeeper, session: int) -> None:
        self._server = server
        self.id: Final = session

    def ask(self, operation: Operation) -> Reply:
        """Carry out one operation."""
        return self._server.ask(self.id, operation)

    def take(self) -> tuple[Message, ...]:
        """Events and replies since the last time, in order."""
        return self._server.take(self.id)

    def close(self) -> Reply:
        """End the session: its ephemeral znodes go."""
        return self._server.close(self.id)
