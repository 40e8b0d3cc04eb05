"""A drill that was played, as a row of moments: what had happened, who was dead, how every partition fared.

Made once for a drill. Only partitions that something happens to are in it; it draws nothing.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.surroundings import MIN_ISR, at_least_one, surroundings
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.image_records import state_in
from model.cluster.records import PartitionState
from model.drills.drill import Drill
from model.drills.outcomes import PartitionOutcome
from model.drills.sentences import told
from model.drills.timeline import (
    AnyRow,
    BrokerFellSilent,
    BrokerFenced,
    BrokerKilled,
    BrokerReturned,
    BrokerStopped,
    ControllerMoved,
    MetadataLearnt,
    QuorumShrank,
    RequestSent,
    SessionClosed,
    SessionEnded,
    SessionExpired,
    ShutdownAsked,
    StateWritten,
)

SIGNS: Mapping[type, str] = {
    BrokerKilled: "K",
    BrokerFellSilent: "K",
    ShutdownAsked: "D",
    SessionExpired: "x",
    SessionClosed: "x",
    BrokerFenced: "x",
    ControllerMoved: "*",
    QuorumShrank: "*",
    StateWritten: "w",
    RequestSent: "r",
    MetadataLearnt: "r",
    BrokerReturned: "U",
}
"""What a moment is, in one letter; anything else is a dot."""

MARKS = "KDxU*"
"""The letters of the moments that are worth a jump."""


class Scene(msgspec.Struct, frozen=True):
    """One moment: rows `first` to `end` of the timeline, which follow each other and are of one kind."""

    first: int
    end: int
    at_ms: float
    until_ms: float
    sign: str
    text: str


class Counts(msgspec.Struct, frozen=True):
    """How the cluster stands. `leaderless` lost their leader and have no other; `longest_ms` is the longest so far."""

    leaderless: int
    under_replicated: int
    under_min_isr: int
    unclean: int
    longest_ms: float


@dataclass(frozen=True, eq=False)
class Film:
    """`scenes` in order of time, `counts` after each, and the number of leaders of each broker after each."""

    drill: Drill
    scenes: tuple[Scene, ...]
    counts: tuple[Counts, ...]
    brokers: tuple[int, ...]
    leaders: NDArray[np.int64]  # [scene, broker]
    history: Mapping[TopicPartition, tuple[tuple[int, ...], tuple[PartitionState, ...]]]
    """Partition → the timeline's rows in which its state was written, and the states."""

    @property
    def partitions(self) -> tuple[PartitionOutcome, ...]:
        """Those that something happens to, the worst first."""
        return self.drill.affected

    def scene(self, moment: int) -> int:
        """The number of the scene at a moment; the last one if there is none so late, or for -1."""
        last = len(self.scenes) - 1
        return last if moment < 0 else min(moment, last)

    def state(self, partition: TopicPartition, moment: int) -> PartitionState | None:
        """A partition's state as it is written at this moment; None if it has none."""
        rows, states = self.history.get(partition, ((), ()))
        place = bisect_right(rows, self.scenes[moment].end - 1)
        return states[place - 1] if place else state_in(self.drill.before, partition)

    def happened(self, moment: int) -> tuple[AnyRow, ...]:
        """All that had happened by this moment."""
        return tuple(self.drill.timeline.rows[: self.scenes[moment].end])

    def dead(self, moment: int) -> frozenset[int]:
        """Brokers whose process is gone at this moment."""
        gone: set[int] = set()
        for row in self._of_brokers:
            if row.at_ms <= self.scenes[moment].until_ms:
                gone.discard(row.broker) if isinstance(row, BrokerReturned) else gone.add(row.broker)
        return frozenset(gone)

    def started(self, moment: int) -> frozenset[int]:
        """Brokers that have been started by this moment."""
        return frozenset(row.broker for row in self.happened(moment) if isinstance(row, BrokerReturned))

    def registered(self, moment: int) -> frozenset[int]:
        """Brokers that the others take for alive at this moment."""
        alive = set(self.drill.before.brokers)
        for row in self.happened(moment):
            if isinstance(row, SessionEnded):
                alive.discard(row.broker)
            elif isinstance(row, BrokerReturned):
                alive.add(row.broker)
        return frozenset(alive)

    def controllers(self, moment: int) -> frozenset[int]:
        """Who may have the office at this moment: more than one where it was a race."""
        office = self.drill.before.controller.broker
        some = frozenset[int]() if office is None else frozenset({office})
        for row in self.happened(moment):
            if isinstance(row, ControllerMoved) or (isinstance(row, QuorumShrank) and row.moves):
                some = frozenset(row.candidates)
            elif isinstance(row, SessionEnded) and row.controller:
                some = frozenset[int]()
        return some

    @property
    def _of_brokers(self) -> Iterator[BrokerKilled | BrokerStopped | BrokerReturned]:
        for row in self.drill.timeline.rows:
            if isinstance(row, BrokerKilled | BrokerStopped | BrokerReturned):
                yield row


def film_of(drill: Drill) -> Film:
    """Everything that the screens look up, worked out once."""
    rows = drill.timeline.rows
    scenes = tuple(_scenes(drill))
    history: dict[TopicPartition, tuple[list[int], list[PartitionState]]] = {}
    for number, row in enumerate(rows):
        if isinstance(row, StateWritten):
            numbers, states = history.setdefault(row.partition, ([], []))
            numbers.append(number)
            states.append(row.after)
    brokers = tuple(sorted(drill.summary.leaders_by_broker))
    return Film(
        drill,
        scenes,
        tuple(_counts(drill, scenes)),
        brokers,
        _leaders(drill, scenes, brokers),
        {name: (tuple(numbers), tuple(states)) for name, (numbers, states) in history.items()},
    )


def _scenes(drill: Drill) -> Iterator[Scene]:
    first = 0
    for one in told(drill.timeline.rows):
        sign = SIGNS.get(type(drill.timeline.rows[first]), ".")
        yield Scene(first, first + one.rows, one.at_ms, one.until_ms, sign, one.text)
        first += one.rows


def _leaders(drill: Drill, scenes: tuple[Scene, ...], brokers: tuple[int, ...]) -> NDArray[np.int64]:
    places = {broker: place for place, broker in enumerate(brokers)}
    now = np.array([drill.summary.leaders_by_broker[broker][0] for broker in brokers], np.int64)
    leaders = np.empty((len(scenes), len(brokers)), np.int64)
    for number, scene in enumerate(scenes):
        for row in drill.timeline.rows[scene.first : scene.end]:
            if isinstance(row, StateWritten):
                for leader, by in ((NO_LEADER if row.before is None else row.before.leader, -1), (row.after.leader, 1)):
                    if leader in places:
                        now[places[leader]] += by
        leaders[number] = now
    return leaders


def _counts(drill: Drill, scenes: tuple[Scene, ...]) -> Iterator[Counts]:
    outages = drill.timeline.outages
    began = np.array([one.from_ms for one in outages])
    ended = np.array([math.inf if one.to_ms is None else one.to_ms for one in outages])
    before, unclean = drill.summary.before, 0
    under_replicated, under_min_isr = before.under_replicated, before.under_min_isr
    default = surroundings(drill.before).min_isr
    for scene in scenes:
        for row in drill.timeline.rows[scene.first : scene.end]:
            if isinstance(row, StateWritten):
                was, now = (_unwell(drill.before, default, row.topic, state) for state in (row.before, row.after))
                under_replicated += now[0] - was[0]
                under_min_isr += now[1] - was[1]
                unclean += row.unclean
        at_ms = scene.until_ms
        leaderless = int(((began <= at_ms) & (at_ms < ended)).sum())
        longest = float(np.max(np.minimum(ended, at_ms) - began, initial=0.0))
        yield Counts(leaderless, under_replicated, under_min_isr, unclean, longest)


def _unwell(image: ClusterImage, default: int, topic: str, state: PartitionState | None) -> tuple[bool, bool]:
    """Whether a partition is under-replicated, and whether it is led with fewer in sync than writes may need."""
    known = image.topics.get(topic)
    row = None if known is None or state is None else known.row_of.get(state.partition)
    if known is None or state is None or row is None:
        return False, False
    expected = int((known.replicas[row] >= 0).sum()) - len(known.adding.get(state.partition, ()))
    least = at_least_one(image.topic_config(topic).get(MIN_ISR), default)
    return len(state.isr) < expected, state.leader != NO_LEADER and len(state.isr) < least
