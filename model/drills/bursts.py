"""Scenarios on one copy of a cluster, burst by burst: what was played once up to a moment of rest is not played again.

A burst is an act, and those that begin before the cluster is at rest again. How long a cluster has been at rest changes
nothing but its clock, as no timer runs in a drill. So bursts that follow the same bursts take the same course, whenever
they begin; what happens in one is counted from its beginning. Fractions of a ms are kept: znodes have whole ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from model.cluster.ids import TopicPartition
from model.drills.drill import LONGEST_MS, acts_of, begin, is_due
from model.drills.rows import AnyRow
from model.drills.scenario import Act, Deed, Scenario
from model.drills.setup import ClusterSetup
from model.drills.timeline import Outage, TimelineBuilder
from model.hosts.virtual.scheduled_events import microseconds
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.hosts.virtual.world import Moment

T = TypeVar("T")
LONGEST_US = microseconds(LONGEST_MS)


class Burst(NamedTuple):
    """What happened in one. Times of rows and outages are those of a clock at which it began at `from_us`."""

    rows: Sequence[AnyRow]
    ended: Sequence[Outage]
    """Outages that ended in it."""
    leaderless: Mapping[TopicPartition, float]
    """Who has no leader when it is over, and since when."""
    from_us: int
    rest_us: int
    """How long after its beginning the cluster was at rest again."""


_Key = tuple[int | str | tuple[int, ...], ...]


class Rest(Generic[T]):
    """A cluster that is at rest again, and what the bursts so far come to."""

    __slots__ = ("at_us", "builder", "last_us", "moment", "next", "rest_us", "sum")

    def __init__(self, moment: Moment, builder: TimelineBuilder, at_us: int, total: T) -> None:
        self.moment = moment
        self.builder = builder
        self.at_us = at_us
        self.sum = total
        self.rest_us = self.last_us = 0
        """After the beginning of the last burst: when it was over, and when the last act of it began."""
        self.next: dict[_Key, Rest[T]] = {}
        """By what was done: what follows."""


class Played(NamedTuple, Generic[T]):
    """A scenario that was played: what its bursts come to, and when each of them began."""

    sum: T
    begun_us: tuple[int, ...]
    end_us: int


class Bursts(Generic[T]):
    """One cluster that is set up, and all that was played on it, as far as it is remembered."""

    def __init__(self, setup: ClusterSetup, nothing: T, count: Callable[[T, Burst], T]) -> None:
        """count: what bursts come to, with one more."""
        self._setup = setup
        self._nothing = nothing
        self._count = count
        self.remembered = 0
        """Rows that the bursts had which are remembered: what memory they take grows with them."""
        self._start = self._started()

    def play(self, scenario: Scenario) -> Played[T] | None:
        """None: it is not over within LONGEST_MS, or does not begin at once. Then only a whole drill can tell."""
        acts, rest = acts_of(scenario), self._start
        if acts[0].after_ms is not None:
            return None
        at_us, begun = 0, list[int]()
        while acts:
            if begun:
                after_ms = acts[0].after_ms
                at_us += rest.rest_us if after_ms is None else rest.last_us + microseconds(after_ms)
            found = self._known(rest, acts, at_us) or self._played(rest, acts, at_us)
            if found is None or at_us + found[0].rest_us > LONGEST_US:
                return None
            begun.append(at_us)
            rest, acts = found[0], acts[found[1] :]
        return Played(rest.sum, tuple(begun), at_us + rest.rest_us)

    def forget(self) -> None:
        """Remember nothing. Whoever plays scenarios that begin alike one after the other loses little."""
        self._start.next.clear()
        self.remembered = 0

    def _started(self) -> Rest[T]:
        cluster = self._setup.reset()
        builder = TimelineBuilder(self._setup.image, self._setup.assumptions.start_ms, self._setup.znodes)
        return Rest(cluster.snapshot(), builder, 0, self._nothing)

    def _known(self, rest: Rest[T], acts: Sequence[Act], at_us: int) -> tuple[Rest[T], int] | None:
        """The burst that begins now, if it was played before, and how many acts are in it."""
        for count, key in _keys(acts, at_us):
            found = rest.next.get(key)
            if found is not None:
                after_ms = acts[count].after_ms if count < len(acts) else None
                if after_ms is None or found.last_us + microseconds(after_ms) >= found.rest_us:
                    return found, count
        return None

    def _played(self, rest: Rest[T], acts: Sequence[Act], at_us: int) -> tuple[Rest[T], int] | None:
        cluster = self._setup.cluster
        cluster.restore(rest.moment)
        from_us = rest.at_us + (at_us - rest.at_us) % 1_000
        if from_us > rest.at_us:
            cluster.run_until(from_us / 1_000)
        count, last_us = self._burst(cluster, acts)
        if not cluster.at_rest:
            return None
        builder, now_us = rest.builder.going_on(), microseconds(cluster.now_ms)
        builder.take(cluster.journal)
        cluster.forget()
        burst = Burst(*builder.told(), from_us, now_us - from_us)
        found = Rest(cluster.snapshot(), builder.going_on(), now_us, self._count(rest.sum, burst))
        found.rest_us, found.last_us = burst.rest_us, last_us - from_us
        rest.next[next(key for number, key in _keys(acts, at_us) if number == count)] = found
        self.remembered += len(burst.rows)
        return found, count

    def _burst(self, cluster: VirtualCluster, acts: Sequence[Act]) -> tuple[int, int]:
        """Acts until the cluster is at rest: how many, and when the last of them began."""
        count, last_ms = 0, cluster.now_ms
        for act in acts:
            while count and act.deed is Deed.START and not cluster.at_rest and _traces(cluster, act):
                _pass(cluster, cluster.next_ms)
            last_ms = cluster.now_ms
            begin(self._setup, act)
            count += 1
            after_ms = acts[count].after_ms if count < len(acts) else None
            _pass(cluster, last_ms + (LONGEST_MS if after_ms is None else after_ms))
            if after_ms is None or cluster.at_rest:
                break
            cluster.run_until(last_ms + after_ms)
        return count, microseconds(last_ms)


def _keys(acts: Sequence[Act], at_us: int) -> Iterator[tuple[int, _Key]]:
    """What tells bursts apart that begin now, by how many acts are in them."""
    key: _Key = (at_us % 1_000, acts[0].deed, acts[0].brokers)
    yield 1, key
    for number, act in enumerate(acts[1:], 2):
        if act.after_ms is None:
            return
        key = (*key, microseconds(act.after_ms), act.deed, act.brokers)
        yield number, key


def _pass(cluster: VirtualCluster, until_ms: float) -> None:
    while is_due(cluster, until_ms):
        cluster.step()


def _traces(cluster: VirtualCluster, act: Act) -> bool:
    return any(map(cluster.has_left_traces, act.brokers))
