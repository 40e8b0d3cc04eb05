"""Records of the metadata log as they were written, the last of them: who wrote what, and who led the quorum when.

Records without a meaning for the cluster (NoOp, the bounds of transactions) are none of them, nor those of a
transaction that was aborted. Values only: whoever shows one hides nothing more, as secrets are gone by then.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

MOST_RECORDS: Final = 20_000
"""Kept at most: some 25 MB where all are changes of partitions."""
MOST_TERMS: Final = 1_000
"""Elections and sets of voters that are kept beside them."""
LEADER_CHANGE, VOTERS = "LeaderChange", "KRaftVoters"
"""Kinds of control records: who was elected, who votes."""


class Logged(msgspec.Struct, frozen=True, gc=False):
    """One record. `kind` is Kafka's name for it without `Record`; `path` where the tree of metadata has what it is
    about, empty where it has no place there; `time_ms` is its batch's."""

    offset: int
    epoch: int
    time_ms: int
    kind: str
    version: int
    path: str
    fields: Mapping[str, Any]

    @property
    def is_of_quorum(self) -> bool:
        return self.kind in (LEADER_CHANGE, VOTERS)


class Journal:
    """Records by offset, each once. For one thread at a time."""

    def __init__(self, most: int = MOST_RECORDS) -> None:
        self._kept: deque[Logged] = deque(maxlen=most)
        self._terms: deque[Logged] = deque(maxlen=MOST_TERMS)
        self._records: tuple[Logged, ...] | None = ()
        self.dropped = 0
        """How many there were once."""

    @property
    def records(self) -> tuple[Logged, ...]:
        """Oldest first: the very same object for as long as nothing comes."""
        if self._records is None:
            self._records = tuple(self._kept)
        return self._records

    @property
    def terms(self) -> tuple[Logged, ...]:
        """Elections and sets of voters, oldest first."""
        return tuple(self._terms)

    def take(self, records: Sequence[Logged]) -> None:
        """Records behind those that are known, or from before them; those that are known already change nothing."""
        if records and self._kept and records[0].offset < self._kept[0].offset:
            self._precede(records)
        last = self._kept[-1].offset if self._kept else -1
        for record in records:
            if record.offset > last:
                self.dropped += len(self._kept) == self._kept.maxlen
                self._kept.append(record)
                if record.is_of_quorum:
                    self._terms.append(record)
                self._records = None

    def _precede(self, records: Sequence[Logged]) -> None:
        """As far as there is room."""
        first = self._kept[0].offset
        older = [record for record in records if record.offset < first]
        room = (self._kept.maxlen or 0) - len(self._kept)
        terms = [record for record in older if record.is_of_quorum]
        self._terms.extendleft(reversed(terms[max(len(terms) - MOST_TERMS + len(self._terms), 0) :]))
        self._kept.extendleft(reversed(older[max(len(older) - room, 0) :]))
        self.dropped += max(len(older) - room, 0)
        self._records = None

    def forget(self) -> None:
        """All of it: what comes is of another cluster."""
        self.__init__(self._kept.maxlen or 0)
