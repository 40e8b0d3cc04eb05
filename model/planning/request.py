"""What an operator wants of a plan. A value that travels as JSON; it decides nothing."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Reach = Literal["balance", "forced", "racks", "leaders"]
"""How far a plan goes: balance everything; only the moves that must be; also those that mend racks; no data at all."""

By = Literal["count", "bytes"]
AtLeastOne = Annotated[int, Meta(ge=1)]


class NewBroker(msgspec.Struct, frozen=True):
    """A broker to place replicas on. It need not be alive yet; `rack` None: as it says itself, or none."""

    id: int
    rack: str | None = None


class Batching(msgspec.Struct, frozen=True):
    """What one broker may receive, and send, in one batch. `count` asks for that many batches, however large."""

    replicas: AtLeastOne = 20
    bytes: AtLeastOne | None = None
    count: AtLeastOne | None = None


class Throttling(msgspec.Struct, frozen=True):
    """Bytes/s that a broker may send, and receive, for the plan; or how many seconds the plan may take."""

    rate: int | None = None
    seconds: float | None = None


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One wish: which brokers leave, come or are swapped, what else may move, and how the plan is to be cut."""

    remove: tuple[int, ...] = ()
    add: tuple[NewBroker, ...] = ()
    replace: tuple[tuple[int, int], ...] = ()
    """(old, new): the new broker gets what the old one has, place by place."""
    replication_factor: int | None = None
    """Of the chosen topics."""
    reach: Reach = "balance"
    by: By = "count"
    """What "fewest moves" counts and what is balanced first."""
    tolerance_percent: float = 0.0
    """How far from the mean a broker may stay, either way."""
    capacity: int | None = None
    """Bytes that no broker may hold more than."""
    topics: tuple[str, ...] = ()
    """Patterns (`orders-*`) of the topics whose partitions may be touched; none: all."""
    exclude: tuple[str, ...] = ()
    batching: Batching = Batching()
    throttling: Throttling = Throttling()

    def chooses(self, topic: str) -> bool:
        """Whether the partitions of a topic may be touched."""
        wanted = not self.topics or any(fnmatchcase(topic, pattern) for pattern in self.topics)
        return wanted and not any(fnmatchcase(topic, pattern) for pattern in self.exclude)
