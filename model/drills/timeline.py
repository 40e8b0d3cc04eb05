"""What happened in a drill, as the records of its journal; and what the cluster looked like at any moment.

What the journal has as transactions is here as what was written over what, state by state. Times are virtual, in ms
since the death of the victims. On KRaft, some records have classes of their own: what was played with ZooKeeper's rules
is told there in KRaft's words.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerRequest
from model.hosts.virtual import journal


class StateWritten(journal.Record, frozen=True, gc=False):
    """A partition's state was written. `before` None: it was made. `unclean`: its leader was not in sync.

    `by` is None where KRaft's controller wrote it.
    """

    by: int | None
    topic: str
    before: r.PartitionState | None
    after: r.PartitionState
    unclean: bool

    @property
    def partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.after.partition)


class ZnodeWritten(journal.Record, frozen=True):
    """Another znode was created, set or deleted; `says` is what that tells of the cluster.

    `before` and `after` are what it held: None where there was no znode, or is none any more.
    """

    by: int
    verb: str
    path: str
    version: int
    before: bytes | None
    after: bytes | None
    says: tuple[r.Record, ...]


class WriteRefused(journal.Record, frozen=True):
    """ZooKeeper refused a write; `error` is its name of the reason."""

    by: int
    verb: str
    path: str
    error: str


class QuorumShrank(journal.Record, frozen=True):
    """Voters of a KRaft quorum died. `candidates` may be the active controller now: several are in a race.

    `unnoticed`: brokers that died with the majority. Nobody fences them, and nobody leads in their place.
    `moves`: the active controller is another one, or gone.
    """

    unnoticed: tuple[int, ...]
    text: str
    moves: bool
    candidates: tuple[int, ...]


class BrokerFellSilent(journal.BrokerCrashed, frozen=True, tag="broker-killed"):
    """A broker of a KRaft cluster died; its controller does not know yet."""


class BrokerLeft(journal.BrokerStopped, frozen=True, tag="broker-stopped"):
    """A broker left a KRaft cluster, which has no retries of a controlled shutdown to count."""


class BrokerFenced(journal.SessionEnded, frozen=True):
    """KRaft's controller fenced a broker: `expired`, no heartbeat for broker.session.timeout.ms, or it stopped."""


class MetadataWritten(journal.Record, frozen=True):
    """KRaft's controller wrote something else; `says` is what that tells of the cluster, `place` where it stands."""

    place: str
    says: tuple[r.Record, ...]


class MetadataLearnt(journal.Record, frozen=True, gc=False):
    """A broker of a KRaft cluster read in the metadata log what a request would tell it."""

    receiver: int
    request: BrokerRequest

    @property
    def partitions(self) -> int:
        return len(self.request.partitions)


AnyRow = (
    journal.BrokerCrashed
    | journal.BrokerStopped
    | journal.BrokerBooted
    | journal.ControllerAsked
    | journal.SessionEnded
    | journal.ControllerElected
    | QuorumShrank
    | StateWritten
    | ZnodeWritten
    | MetadataWritten
    | WriteRefused
    | journal.RequestSent
    | MetadataLearnt
    | journal.Reasoned
)
"""What a drill's rows are. A ControllerAsked is one for a controlled shutdown."""


class Outage(msgspec.Struct, frozen=True, gc=False):
    """Nobody led a partition: from the death of its leader until another one took its first request, or None: never."""

    partition: TopicPartition
    from_ms: float
    to_ms: float | None
    leader: int = -1
    """Who leads it after that."""

    def lasted_ms(self, until_ms: float) -> float:
        """How long, looking at it at `until_ms`."""
        return (until_ms if self.to_ms is None else self.to_ms) - self.from_ms


class Timeline:
    """The rows in order of time, the outages by partition, and the cluster before all of it. It never changes."""

    def __init__(
        self, before: ClusterImage, rows: Sequence[AnyRow], outages: Sequence[Outage], end_ms: float, start_ms: int
    ) -> None:
        """end_ms: when nothing happened any more. start_ms: when it began, in ms since the epoch, UTC."""
        self.before = before
        self.rows = rows
        self.outages = outages
        self.end_ms = end_ms
        self.start_ms = start_ms

    def until(self, at_ms: float) -> Sequence[AnyRow]:
        return self.rows[: bisect_right(self._times, at_ms)]

    def image_at(self, at_ms: float) -> ClusterImage:
        """The cluster as it was known then. Parts that nothing had happened to are those of `before`."""
        delta = ClusterDelta(self.before).replay_all(_records(self.until(at_ms)))
        seen = self.before.provenance
        return delta.apply(msgspec.structs.replace(seen, time_ms=self.start_ms + int(at_ms)))

    @cached_property
    def after(self) -> ClusterImage:
        """The cluster when nothing happened any more."""
        return self.image_at(self.end_ms)

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Who may be the controller in the end, in ascending order: several where a race decided it."""
        elected = [row for row in self.rows if isinstance(row, QuorumShrank) and row.moves]
        if elected:
            return elected[-1].candidates
        moves = [row for row in self.rows if isinstance(row, journal.ControllerElected)]
        controller = self.after.controller.broker
        if not moves or moves[-1].broker != controller:
            return () if controller is None else (controller,)
        return tuple(broker for broker in moves[-1].candidates if broker in self.after.brokers)

    def outage_percentile(self, percent: float) -> float | None:
        """So many percent of the partitions that were led again waited at most this long, in ms; None: none was."""
        waits = [one.to_ms - one.from_ms for one in self.outages if one.to_ms is not None]
        return float(np.percentile(waits, percent, method="inverted_cdf")) if waits else None

    @cached_property
    def _times(self) -> list[float]:
        return [row.at_ms for row in self.rows]


def _records(rows: Sequence[AnyRow]) -> Iterator[r.Record]:
    for row in rows:
        if isinstance(row, StateWritten):
            yield r.PartitionStatesWritten(topic=row.topic, states=(row.after,))
        elif isinstance(row, ZnodeWritten | MetadataWritten):
            yield from row.says
        elif isinstance(row, QuorumShrank):
            yield from (r.BrokerLost(broker=broker) for broker in row.unnoticed)
            if row.moves:
                known = len(row.candidates) == 1
                yield r.ControllerElected(broker=row.candidates[0]) if known else r.ControllerLost()
        elif isinstance(row, journal.SessionEnded):
            yield r.BrokerLost(broker=row.broker)
            if row.controller:
                yield r.ControllerLost()
