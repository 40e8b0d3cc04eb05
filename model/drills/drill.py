"""Plays a scenario on a copy of a cluster, and says what it meant. The controller's rules decide; this only waits.

Many scenarios on one copy are played burst by burst: what was played once up to a moment of rest is not played again.
A burst is an act, and those that begin before the cluster is at rest again. How long a cluster has been at rest changes
nothing but its clock, as no timer runs in a drill. So bursts that follow the same bursts take the same course, whenever
they begin; what happens in one is counted from its beginning. Fractions of a ms are kept: znodes have whole ones.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.drills.kraft_play import KraftPlay
from model.drills.outcomes import DrilledPartition, Summary, affected, summary
from model.drills.rows import AnyRow, QuorumShrank
from model.drills.scenario import Act, Deed, Scenario, check, with_voters_changed
from model.drills.setup import ClusterSetup
from model.drills.timeline import DrillTimeline, Outage, TimelineBuilder
from model.drills.voter_change import QuorumChange, voter_change
from model.drills.voters import StillServed, Turnout, is_kraft, served, session_timeout_ms, turnout_after, with_voters
from model.hosts.virtual.scheduled_events import TimingAssumptions, microseconds
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.hosts.virtual.world import WorldMoment

LONGEST_MS = 3_600_000.0
"""A drill that is not at rest after an hour of virtual time ends there."""

STEPS = 100
"""So many things happen between two reports of progress: some ms of work, as a rule."""

DEFAULT = TimingAssumptions(catch_up_ms=None)
"""Nobody starts, and followers that are not in sync stay behind: what they lack is not in any znode."""

RESTARTING = TimingAssumptions()
"""For drills in which brokers start: they catch up soon. Followers that live and are not in sync stay behind."""


class DrillProgress(msgspec.Struct, frozen=True, gc=False):
    """How far a drill is: its virtual time in ms, and how many rows its timeline has."""

    at_ms: float
    rows: int


@dataclass(frozen=True)
class PlayedDrill:
    """A drill that was played. `at_rest`: it was over; else it was still going on after LONGEST_MS."""

    scenario: Scenario
    assumptions: TimingAssumptions
    timeline: DrillTimeline
    at_rest: bool
    voter_change: QuorumChange | None = None
    """What became of the quorum before all else, where voters were added or removed."""

    @property
    def before(self) -> ClusterImage:
        return self.timeline.before

    @property
    def after(self) -> ClusterImage:
        return self.timeline.after

    @cached_property
    def affected(self) -> tuple[DrilledPartition, ...]:
        """Partitions that something happened to, the worst first."""
        return affected(self.timeline)

    @cached_property
    def summary(self) -> Summary:
        return summary(self.timeline, self.affected)

    @cached_property
    def turnout(self) -> Turnout | None:
        """What is left of a KRaft cluster's voters; None where there are none, or they are not known."""
        turnout = turnout_after(self.before, self.scenario.down, self.scenario.started)
        shrank = [row for row in self.timeline.rows if isinstance(row, QuorumShrank)]
        if turnout is None or not shrank:
            return turnout
        return msgspec.structs.replace(turnout, candidates=shrank[-1].candidates)

    @cached_property
    def served(self) -> StillServed | None:
        """What brokers still serve where the voters have no majority any more; None: they have."""
        return served(self.after) if self.turnout is not None and self.turnout.is_lost else None

    @property
    def hurts(self) -> bool:
        """Whether somebody cannot write or read, records are lost, or nothing can be elected."""
        return self.summary.hurts or (self.turnout is not None and self.turnout.is_lost)


def usual(image: ClusterImage, scenario: Scenario) -> TimingAssumptions:
    """What is assumed unless somebody says otherwise."""
    times = RESTARTING if scenario.starts_brokers else DEFAULT
    return msgspec.structs.replace(times, session_timeout_ms=session_timeout_ms(image, times))


def run(image: ClusterImage, scenario: Scenario, assumptions: TimingAssumptions | None = None) -> PlayedDrill:
    """Plays it to its end; `assumptions` None: the usual ones.

    Raises ScenarioError for one that makes no sense on this cluster.
    """
    steps = play(image, scenario, assumptions)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def play(
    image: ClusterImage, scenario: Scenario, assumptions: TimingAssumptions | None = None
) -> Generator[DrillProgress, None, PlayedDrill]:
    """The same in steps: whoever iterates may show how far it is, or stop. Returns the drill."""
    given, image = image, with_voters_changed(image, scenario)
    check(image, scenario)
    times = assumptions or usual(image, scenario)
    if is_kraft(image):
        return _play_on_kraft(image, scenario, times, None if image is given else voter_change(given, image))
    return play_on(ClusterSetup(image, times, unclean=scenario.unclean), scenario)


def _play_on_kraft(
    image: ClusterImage, scenario: Scenario, assumptions: TimingAssumptions, change: QuorumChange | None
) -> Generator[DrillProgress, None, PlayedDrill]:
    """Without a majority of the voters nothing but the deaths happens (`scenario.check`)."""
    times = msgspec.structs.replace(assumptions, start_ms=image.provenance.time_ms)
    played, last_ms = KraftPlay(image, times, unclean=scenario.unclean), 0.0
    turnout = turnout_after(image, scenario.kill)
    decides = turnout is None or not turnout.is_lost
    for number, act in enumerate(acts_of(scenario)):
        until_ms = last_ms + (LONGEST_MS if act.after_ms is None else act.after_ms)
        for _ in played.pass_until(until_ms) if number else ():
            yield DrillProgress(played.now_ms, len(played.rows))
        if act.after_ms is not None:
            played.now_ms = until_ms
        last_ms = played.now_ms
        played.begin(act)
    for _ in played.pass_until(last_ms + LONGEST_MS) if decides else ():
        yield DrillProgress(played.now_ms, len(played.rows))
    told = played.timeline()
    rows = tuple(with_voters(told.rows, image, scenario.kill))
    timeline = DrillTimeline(image, rows, told.outages, told.end_ms, told.start_ms)
    return PlayedDrill(scenario, times, timeline, at_rest=played.at_rest or not decides, voter_change=change)


def play_on(setup: ClusterSetup, scenario: Scenario) -> Generator[DrillProgress, None, PlayedDrill]:
    """The same on a copy that was set up before: many scenarios share the work that an image takes."""
    cluster = setup.reset()
    builder = TimelineBuilder(setup.image, setup.assumptions.start_ms, setup.znodes)
    read, last_ms = 0, 0.0

    def passed(until_ms: float) -> Generator[DrillProgress, None, None]:
        nonlocal read
        while is_due(cluster, until_ms):
            for _ in range(STEPS):
                if not is_due(cluster, until_ms):
                    break
                cluster.step()
            builder.take(cluster.journal[read:])
            read = len(cluster.journal)
            yield DrillProgress(cluster.now_ms, builder.length)

    for number, act in enumerate(acts_of(scenario)):
        if act.after_ms is not None:
            yield from passed(last_ms + act.after_ms)
            cluster.run_until(last_ms + act.after_ms)  # let it be then
        elif number:
            yield from passed(LONGEST_MS)
        while act.deed is Deed.START and not cluster.at_rest and any(map(cluster.has_left_traces, act.brokers)):
            yield from passed(cluster.next_ms)  # nobody starts who still stops, or registers before its session is over
        last_ms = cluster.now_ms
        begin(setup, act)
    yield from passed(LONGEST_MS)
    builder.take(cluster.journal[read:])  # what needed no time
    return PlayedDrill(scenario, setup.assumptions, builder.timeline(cluster.now_ms), cluster.at_rest)


def acts_of(scenario: Scenario) -> tuple[Act, ...]:
    """All that is done, in order: a restart after a time is one more act."""
    if scenario.restart_after_ms is None:
        return scenario.acts
    returns = [Act(Deed.START, act.brokers, after_ms=scenario.restart_after_ms) for act in scenario.acts]
    return tuple(each for pair in zip(scenario.acts, returns, strict=True) for each in pair)


def begin(setup: ClusterSetup, act: Act) -> None:
    """Do to the brokers what is to be done."""
    deeds = {Deed.KILL: setup.cluster.crash, Deed.STOP: setup.cluster.shut_down, Deed.START: setup.start}
    for broker in act.brokers:
        deeds[act.deed](broker)


def is_due(cluster: VirtualCluster, until_ms: float) -> bool:
    """Whether something happens until then."""
    return not cluster.at_rest and cluster.next_ms <= until_ms


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


class SettledCluster(Generic[T]):
    """A cluster that is at rest again, and what the bursts so far come to."""

    __slots__ = ("at_us", "builder", "last_us", "moment", "next", "rest_us", "sum")

    def __init__(self, moment: WorldMoment, builder: TimelineBuilder, at_us: int, total: T) -> None:
        self.moment = moment
        self.builder = builder
        self.at_us = at_us
        self.sum = total
        self.rest_us = self.last_us = 0
        """After the beginning of the last burst: when it was over, and when the last act of it began."""
        self.next: dict[_Key, SettledCluster[T]] = {}
        """By what was done: what follows."""


class PlayedScenario(NamedTuple, Generic[T]):
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

    def play(self, scenario: Scenario) -> PlayedScenario[T] | None:
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
        return PlayedScenario(rest.sum, tuple(begun), at_us + rest.rest_us)

    def forget(self) -> None:
        """Remember nothing. Whoever plays scenarios that begin alike one after the other loses little."""
        self._start.next.clear()
        self.remembered = 0

    def _started(self) -> SettledCluster[T]:
        cluster = self._setup.reset()
        builder = TimelineBuilder(self._setup.image, self._setup.assumptions.start_ms, self._setup.znodes)
        return SettledCluster(cluster.snapshot(), builder, 0, self._nothing)

    def _known(self, rest: SettledCluster[T], acts: Sequence[Act], at_us: int) -> tuple[SettledCluster[T], int] | None:
        """The burst that begins now, if it was played before, and how many acts are in it."""
        for count, key in _keys(acts, at_us):
            found = rest.next.get(key)
            if found is not None:
                after_ms = acts[count].after_ms if count < len(acts) else None
                if after_ms is None or found.last_us + microseconds(after_ms) >= found.rest_us:
                    return found, count
        return None

    def _played(self, rest: SettledCluster[T], acts: Sequence[Act], at_us: int) -> tuple[SettledCluster[T], int] | None:
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
        found = SettledCluster(cluster.snapshot(), builder.going_on(), now_us, self._count(rest.sum, burst))
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
