"""The partitions that one fetcher follows: how far it is with each, and which of it the leader's session knows.

Kafka 3.9 `PartitionStates` of `AbstractFetcherThread`, `FetchSessionHandler` (KIP-227). Only what differs from
what the leader knows goes into a request, so that a partition without news costs nothing.
"""

from collections.abc import Iterable
from itertools import chain

from model.broker.replication.fetch_state import FetchState
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.fetch_sessions import NO_SESSION, next_epoch


class FollowedPartitions:
    """`due`: those whose state the leader was not asked with yet."""

    def __init__(self) -> None:
        self.states: dict[TopicPartition, FetchState] = {}
        self.due: dict[TopicPartition, None] = {}
        self.session_id = NO_SESSION
        self.session_epoch = 0
        self._known: dict[TopicPartition, FetchState] = {}
        self._removed: set[TopicPartition] = set()

    def __bool__(self) -> bool:
        return bool(self.states)

    def set(self, state: FetchState) -> None:
        """Go on like this."""
        if self.states.get(state.partition) != state:
            self.states[state.partition] = state
            self.ask_again(state.partition)

    def ask_again(self, name: TopicPartition) -> None:
        """Something that the leader is told with a request has changed."""
        self.due[name] = None

    def remove(self, name: TopicPartition) -> None:
        """Follow this one no more."""
        self.states.pop(name, None)
        self.due.pop(name, None)
        self._removed.add(name)

    def due_states(self) -> list[FetchState]:
        """The states that are due."""
        return [self.states[name] for name in self.due]

    def begin_request(self, fetches: Iterable[FetchState]) -> list[TopicPartition]:
        """A request goes out with these; returns those that the leader is to forget: stopped, waiting or truncating."""
        fetched = {state.partition: state for state in fetches}
        gone = [name for name in chain(self._removed, self.due) if name not in fetched]
        forgotten = [name for name in dict.fromkeys(gone) if self._known.pop(name, None) is not None]
        self._removed.clear()
        self._known.update(fetched)
        for name in fetched:
            del self.due[name]
        return forgotten

    def asked(self, name: TopicPartition) -> FetchState | None:
        """The state that the leader answers for."""
        return self._known.get(name)

    @property
    def fetches_something(self) -> bool:
        """Whether the leader's session has anything in it."""
        return bool(self._known)

    def end_request(self, session_id: int) -> None:
        """The leader has answered and gave, or goes on with, a session; 0: it keeps none."""
        if session_id == NO_SESSION:
            self.forget_session()
        else:
            self.session_epoch = 1 if session_id != self.session_id else next_epoch(self.session_epoch)
            self.session_id = session_id

    def forget_session(self) -> None:
        """The next request names everything."""
        self.session_id, self.session_epoch = NO_SESSION, 0
        self._known = {}
        self._removed.clear()
        self.due = dict.fromkeys(self.states)
