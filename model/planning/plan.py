"""A plan as a value: what changes, what it costs, what becomes better, and what it is at most worse than the best.

Rows are in the order in which they are to be run; batches are slices of them.
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.planning.balance import Balance
from model.planning.cost import Cost
from model.planning.request import PlanRequest
from model.planning.standing import Standing


class Change(msgspec.Struct, frozen=True, gc=False):
    """The replicas of one partition, preferred leader first. `bytes` of one replica, None: unknown."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    bytes: int | None = None

    @property
    def name(self) -> TopicPartition:
        """The partition."""
        return TopicPartition(self.topic, self.partition)

    @property
    def added(self) -> tuple[int, ...]:
        """Brokers that get a copy."""
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removed(self) -> tuple[int, ...]:
        """Brokers that lose theirs."""
        return tuple(broker for broker in self.before if broker not in self.after)


class Bound(msgspec.Struct, frozen=True):
    """What no plan for the same wish can fall below that is as good in all that counts more (`Placement`).

    `bytes` None: it was not about them.
    """

    moves: int
    bytes: int | None
    leader_changes: int
    method: str
    """How it is known, in words."""
    is_proven: bool = True
    """The plan that it was found with meets it, and nothing is better."""


class Batch(msgspec.Struct, frozen=True):
    """Changes [first, end) of the plan, to be run together. `bytes` copied, None: unknown."""

    number: int
    first: int
    end: int
    moves: int
    bytes: int | None
    busiest_replicas: int
    """The most replicas that one broker receives or sends in it."""
    busiest_bytes: int | None
    """The most bytes that one broker receives or sends in it."""


class Pace(msgspec.Struct, frozen=True):
    """A throttle and the time it makes the plan take, batch after batch."""

    rate: int
    """Bytes/s that a broker may send, and receive, for it."""
    seconds: float
    given: str
    """Which of the two was given: `rate`, `time`, or `nothing` where the rate is assumed."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Changes for one cluster at one moment."""

    source: str
    cluster_id: str | None
    zxid: int
    time_ms: int
    request: PlanRequest
    maker: str
    """`kdrill`, or the name of the file that it was read from."""
    changes: tuple[Change, ...]
    cost: Cost
    bound: Bound | None
    """None: nothing was asked for that a bound could be known of."""
    standing: Standing | None = None
    """Of a plan that was read and is held against our own."""
    before: Balance
    after: Balance
    batches: tuple[Batch, ...]
    pace: Pace | None
    """None: nothing is copied, or no size is known."""
    sizes: str
    """Where the sizes of partitions come from; empty: none is known."""
    objectives: tuple[str, ...]
    """In the order in which they count; none where there is no bound."""
    notes: tuple[str, ...]
