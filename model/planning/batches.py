"""Cuts a plan into batches that brokers can bear, and puts its changes in the order in which they are run.

Within a batch a broker receives, and sends, no more than a limit; a change beyond it goes alone. And no broker ever
holds more replicas, or leads more partitions, than it does before or after the plan and a limit more: a copy counts
from the batch that makes it, and is gone with the end of the batch that removes it. Where nothing can go on under
that rule the next change goes all the same. Who copies from whom is said by the caller.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from model.planning.plan import PlanBatch, ReplicaChange
from model.planning.request import Batching

Key = tuple[str, int]
"""What about a broker is counted, and the broker."""


class Sent(msgspec.Struct, frozen=True):
    """A change and the broker that its copies come from, None where nobody is left who could send."""

    change: ReplicaChange
    sender: int | None
    urgent: bool = False
    """It brings replicas away from brokers that are dead."""


def in_batches(changes: Sequence[Sent], batching: Batching) -> tuple[tuple[ReplicaChange, ...], tuple[PlanBatch, ...]]:
    """The changes in the order of their batches, and the batches."""
    if batching.count is None:
        return _cut(changes, batching.replicas, batching.bytes)
    limit = max(-(-max(_traffic(changes).values(), default=1) // batching.count), 1)
    while len((found := _cut(changes, limit, None))[1]) > batching.count:
        limit += max(limit // 10, 1)
    return found


def _cut(
    changes: Sequence[Sent], most_replicas: int, most_bytes: int | None
) -> tuple[tuple[ReplicaChange, ...], tuple[PlanBatch, ...]]:
    load = _Load([sent.change for sent in changes], most_replicas)
    left = [_job(sent) for sent in sorted(changes, key=_by_relief(changes))]
    ordered: list[ReplicaChange] = []
    batches: list[PlanBatch] = []
    while left:
        traffic, later = _Traffic(most_replicas, most_bytes), list[_Job]()
        for job in left:
            if load.bears(job) and traffic.bears(job):
                load.arrive(job.change)
                traffic.add(job)
            else:
                later.append(job)
        if len(later) == len(left):  # everybody waits for somebody: the most urgent goes all the same
            load.arrive(left[0].change)
            traffic.add(left[0])
            later = later[1:]
        for change in traffic.changes:
            load.leave(change)
        batches.append(traffic.batch(len(batches) + 1, len(ordered)))
        ordered += traffic.changes
        left = later
    return tuple(ordered), tuple(batches)


class _Job(NamedTuple):
    """A change and what it asks of brokers, counted once: each is looked at for many batches."""

    change: ReplicaChange
    copies: tuple[tuple[Key, int], ...]
    """What brokers receive and send."""
    gains: tuple[Key, ...]
    """Who holds or leads one more."""


def _job(sent: Sent) -> _Job:
    change = sent.change
    gains = [("held", broker) for broker in change.added]
    if change.after[0] != change.before[0]:
        gains.append(("led", change.after[0]))
    return _Job(change, tuple(_traffic([sent]).items()), tuple(gains))


def _by_relief(changes: Sequence[Sent]) -> Callable[[Sent], tuple[bool, int, str, int]]:
    """Dead brokers' replicas first, then from the brokers that lose most; then by name, so that it is repeatable."""
    lost = Counter(broker for sent in changes for broker in sent.change.removed)
    lost.subtract(broker for sent in changes for broker in sent.change.added)

    def key(sent: Sent) -> tuple[bool, int, str, int]:
        relief = max((lost[broker] for broker in sent.change.removed), default=0)
        return not sent.urgent, -relief, sent.change.topic, sent.change.partition

    return key


def _traffic(changes: Sequence[Sent]) -> Counter[Key]:
    """How many replicas each broker receives and sends. Zero is not counted."""
    counts: Counter[Key] = Counter()
    for sent in changes:
        counts.update(("to", broker) for broker in sent.change.added)
        if sent.sender is not None and sent.change.added:
            counts["from", sent.sender] += len(sent.change.added)
    return counts


class _Load:
    """What brokers hold and lead, beside what they may. Only changes count: the rest stays the same."""

    def __init__(self, changes: Sequence[ReplicaChange], slack: int) -> None:
        self._held: Counter[Key] = Counter()
        final: Counter[Key] = Counter()
        for change in changes:
            self._held.update(("held", broker) for broker in change.before)
            self._held["led", change.before[0]] += 1
            final.update(("held", broker) for broker in change.after)
            final["led", change.after[0]] += 1
        self._most = {key: max(self._held[key], final[key]) + slack for key in self._held.keys() | final.keys()}

    def bears(self, job: _Job) -> bool:
        """Whether nobody gets more than it may."""
        return all(self._held[key] < self._most[key] for key in job.gains)

    def arrive(self, change: ReplicaChange) -> None:
        self._held.update(("held", broker) for broker in change.added)
        self._held["led", change.after[0]] += 1

    def leave(self, change: ReplicaChange) -> None:
        self._held.subtract(("held", broker) for broker in change.removed)
        self._held["led", change.before[0]] -= 1


class _Traffic:
    """What one batch makes brokers receive and send."""

    def __init__(self, most_replicas: int, most_bytes: int | None) -> None:
        self.changes: list[ReplicaChange] = []
        self._most_replicas, self._most_bytes = most_replicas, most_bytes
        self._replicas: Counter[Key] = Counter()
        self._bytes: Counter[Key] = Counter()

    def bears(self, job: _Job) -> bool:
        """Whether it stays within the limits; what is beyond them alone goes where its brokers have nothing else."""
        size = job.change.bytes or 0
        for key, copies in job.copies:
            if not (present := self._replicas[key]):
                continue
            if present + copies > self._most_replicas:
                return False
            if self._most_bytes is not None and self._bytes[key] + copies * size > self._most_bytes:
                return False
        return True

    def add(self, job: _Job) -> None:
        """The change goes with this batch."""
        self.changes.append(job.change)
        for key, copies in job.copies:
            self._replicas[key] += copies
            self._bytes[key] += copies * (job.change.bytes or 0)

    def batch(self, number: int, first: int) -> PlanBatch:
        knows_sizes = all(change.bytes is not None for change in self.changes)
        return PlanBatch(
            number=number,
            first=first,
            end=first + len(self.changes),
            moves=sum(len(change.added) for change in self.changes),
            bytes=sum(len(c.added) * (c.bytes or 0) for c in self.changes) if knows_sizes else None,
            busiest_replicas=max(self._replicas.values(), default=0),
            busiest_bytes=max(self._bytes.values(), default=0) if knows_sizes else None,
        )
