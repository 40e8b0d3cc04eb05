"""A drill that was played, as a row of moments; and the service that plays what the screen asks for.

A moment has what had happened, who was dead, how every partition fared; only partitions that something happens to are
in it. Drills are played in a thread, one at a time; another one asked for ends it. Nobody waits for a drill: `look`
says at once how far it is. It draws nothing and can reach no cluster.
"""

import math
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.cluster.cluster_image import ClusterImage, state_in
from model.cluster.findings.health import MIN_ISR, at_least_one, surroundings
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.records import PartitionState
from model.drills.drill import DrillProgress, PlayedDrill, play, usual
from model.drills.outcomes import DrilledPartition
from model.drills.rows import AnyRow, BrokerFenced, QuorumShrank, StateWritten, VoterBooted, VoterFellSilent
from model.drills.scenario import (
    Act,
    Deed,
    Folder,
    Scenario,
    ScenarioError,
    controllers_named,
    dead_brokers,
    folders_lost,
    machines_of_rack,
    of_acts,
    read_written,
    ruled_by,
)
from model.drills.sentences import SentenceRows, steps_of
from model.hosts.process import crash_line
from model.hosts.virtual.journal import (
    BrokerBooted,
    BrokerCrashed,
    BrokerStopped,
    ControllerElected,
    SessionEnded,
)
from model.hosts.virtual.scheduled_events import TimingAssumptions
from tui.engine.messages import STOPPABLE
from tui.engine.partitions.counts import rack_name
from tui.engine.questions import DrillPlan

MARKS = "KDxU*"
"""The letters of the moments that are worth a jump."""


class MomentCounts(msgspec.Struct, frozen=True):
    """How the cluster stands. `leaderless` lost their leader and have no other; `longest_ms` is the longest so far."""

    leaderless: int
    under_replicated: int
    under_min_isr: int
    unclean: int
    longest_ms: float


@dataclass(frozen=True, eq=False)
class Playback:
    """`steps` in order of time, `counts` after each, and the number of leaders of each broker after each."""

    drill: PlayedDrill
    steps: tuple[SentenceRows, ...]
    counts: tuple[MomentCounts, ...]
    brokers: tuple[int, ...]
    leaders: NDArray[np.int64]  # [step, broker]
    history: Mapping[TopicPartition, tuple[tuple[int, ...], tuple[PartitionState, ...]]]
    """Partition → the timeline's rows in which its state was written, and the states."""

    @property
    def partitions(self) -> tuple[DrilledPartition, ...]:
        """Those that something happens to, the worst first."""
        return self.drill.affected

    def step(self, moment: int) -> int:
        """The number of the step at a moment; the last one if there is none so late, or for -1."""
        last = len(self.steps) - 1
        return last if moment < 0 else min(moment, last)

    def state(self, partition: TopicPartition, moment: int) -> PartitionState | None:
        """A partition's state as it is written at this moment; None if it has none."""
        rows, states = self.history.get(partition, ((), ()))
        place = bisect_right(rows, self.steps[moment].end - 1)
        return states[place - 1] if place else state_in(self.drill.before, partition)

    def happened(self, moment: int) -> tuple[AnyRow, ...]:
        """All that had happened by this moment."""
        return tuple(self.drill.timeline.rows[: self.steps[moment].end])

    def dead(self, moment: int) -> frozenset[int]:
        """Nodes whose process is gone at this moment."""
        gone: set[int] = set()
        for row in self._of_nodes:
            if row.at_ms <= self.steps[moment].until_ms:
                node = row.voter if isinstance(row, VoterFellSilent | VoterBooted) else row.broker
                gone.discard(node) if isinstance(row, BrokerBooted | VoterBooted) else gone.add(node)
        return frozenset(gone)

    def fenced(self, moment: int) -> frozenset[int]:
        """Brokers of a KRaft cluster that are registered and fenced at this moment."""
        found = set(self.drill.before.fenced)
        for row in self.happened(moment):
            if isinstance(row, BrokerFenced):
                found.add(row.broker)
            elif isinstance(row, BrokerBooted):
                found.discard(row.broker)
        return frozenset(found)

    def started(self, moment: int) -> frozenset[int]:
        """Brokers that have been started by this moment."""
        return frozenset(row.broker for row in self.happened(moment) if isinstance(row, BrokerBooted))

    def registered(self, moment: int) -> frozenset[int]:
        """Brokers that the others take for alive at this moment."""
        alive = set(self.drill.before.brokers)
        for row in self.happened(moment):
            if isinstance(row, SessionEnded):
                alive.discard(row.broker)
            elif isinstance(row, BrokerBooted):
                alive.add(row.broker)
        return frozenset(alive)

    def controllers(self, moment: int) -> frozenset[int]:
        """Who may be the controller at this moment: more than one where it was a race."""
        controller = self.drill.before.controller.broker
        some = frozenset[int]() if controller is None else frozenset({controller})
        for row in self.happened(moment):
            if isinstance(row, ControllerElected) or (isinstance(row, QuorumShrank) and row.moves):
                some = frozenset(row.candidates)
            elif isinstance(row, SessionEnded) and row.controller:
                some = frozenset[int]()
        return some

    @property
    def _of_nodes(self) -> Iterator[BrokerCrashed | BrokerStopped | BrokerBooted | VoterFellSilent | VoterBooted]:
        for row in self.drill.timeline.rows:
            if isinstance(row, BrokerCrashed | BrokerStopped | BrokerBooted | VoterFellSilent | VoterBooted):
                yield row


def playback_of(drill: PlayedDrill) -> Playback:
    """Everything that the screens look up, worked out once."""
    rows = drill.timeline.rows
    steps = tuple(steps_of(rows))
    history: dict[TopicPartition, tuple[list[int], list[PartitionState]]] = {}
    for number, row in enumerate(rows):
        if isinstance(row, StateWritten):
            numbers, states = history.setdefault(row.partition, ([], []))
            numbers.append(number)
            states.append(row.after)
    brokers = tuple(sorted(drill.summary.leaders_by_broker))
    return Playback(
        drill,
        steps,
        tuple(_counts(drill, steps)),
        brokers,
        _leaders(drill, steps, brokers),
        {name: (tuple(numbers), tuple(states)) for name, (numbers, states) in history.items()},
    )


def _leaders(drill: PlayedDrill, steps: tuple[SentenceRows, ...], brokers: tuple[int, ...]) -> NDArray[np.int64]:
    places = {broker: place for place, broker in enumerate(brokers)}
    now = np.array([drill.summary.leaders_by_broker[broker][0] for broker in brokers], np.int64)
    leaders = np.empty((len(steps), len(brokers)), np.int64)
    for number, step in enumerate(steps):
        for row in drill.timeline.rows[step.first : step.end]:
            if isinstance(row, StateWritten):
                for leader, by in ((NO_LEADER if row.before is None else row.before.leader, -1), (row.after.leader, 1)):
                    if leader in places:
                        now[places[leader]] += by
        leaders[number] = now
    return leaders


def _counts(drill: PlayedDrill, steps: tuple[SentenceRows, ...]) -> Iterator[MomentCounts]:
    outages = drill.timeline.outages
    began = np.array([one.from_ms for one in outages])
    ended = np.array([math.inf if one.to_ms is None else one.to_ms for one in outages])
    before, unclean = drill.summary.before, 0
    under_replicated, under_min_isr = before.under_replicated, before.under_min_isr
    default = surroundings(drill.before).min_isr
    for step in steps:
        for row in drill.timeline.rows[step.first : step.end]:
            if isinstance(row, StateWritten):
                was, now = (_unwell(drill.before, default, row.topic, state) for state in (row.before, row.after))
                under_replicated += now[0] - was[0]
                under_min_isr += now[1] - was[1]
                unclean += row.unclean
        at_ms = drill.timeline.end_ms if step is steps[-1] else step.until_ms  # as everybody else counts
        leaderless = int(((began <= at_ms) & (at_ms < ended)).sum())
        longest = float(np.max(np.minimum(ended, at_ms) - began, initial=0.0))
        yield MomentCounts(leaderless, under_replicated, under_min_isr, unclean, longest)


def _unwell(image: ClusterImage, default: int, topic: str, state: PartitionState | None) -> tuple[bool, bool]:
    """Whether a partition is under-replicated, and whether it is led with fewer in sync than writes may need."""
    known = image.topics.get(topic)
    row = None if known is None or state is None else known.row_of.get(state.partition)
    if known is None or state is None or row is None:
        return False, False
    expected = int((known.replicas[row] >= 0).sum()) - len(known.adding.get(state.partition, ()))
    least = at_least_one(image.topic_config(topic).get(MIN_ISR), default)
    return len(state.isr) < expected, state.leader != NO_LEADER and len(state.isr) < least


class DrillAnswer(msgspec.Struct, frozen=True):
    """What there is of a drill: the playback, or a line that says why there is none yet; and what it is played on."""

    plan: DrillPlan
    image: ClusterImage
    playback: Playback | None = None
    note: str = ""
    dead: tuple[int, ...] = ()
    """Brokers of the cluster that are dead before it begins."""
    stale: bool = False
    """Whether a text about it has to say that the cluster is another one by now."""

    def is_stale(self, now: ClusterImage) -> bool:
        """Whether the cluster is another one by now."""
        return self.image.topics is not now.topics or self.image.brokers is not now.brokers


class DrillService:
    """Used from one thread. `news` is called from another one when a look has changed."""

    def __init__(self, image: Callable[[], ClusterImage], news: Callable[[], None]) -> None:
        """image: the cluster as it is now."""
        self._image = image
        self._news = news
        self._ended = threading.Event()
        self._look = _look(DrillPlan(take=-1), image())

    def look(self, plan: DrillPlan) -> DrillAnswer:
        """How the drill stands; begins to play one that was not asked for before."""
        last = self._look
        if plan == last.plan:
            return last
        self.close()
        image = last.image if last.playback is not None and plan.take == last.plan.take else self._image()
        look = _look(plan, image, last)
        if why := why_nothing(look):
            return _look(plan, self._image(), last, note=why)
        note = STOPPED if plan.stopped else f"setting up the copy; {STOPPABLE}"
        self._look = msgspec.structs.replace(look, note=note)
        if not plan.stopped:
            self._ended = threading.Event()
            threading.Thread(target=self._play, args=(self._look, self._ended), daemon=True, name="drill").start()
        return self._look

    @property
    def under_way(self) -> list[str]:
        """What is being played, a line each."""
        return [f"drill: {self._look.note}"] if STOPPABLE in self._look.note else []

    def close(self) -> None:
        """Ends what is being played."""
        self._ended.set()

    def _play(self, look: DrillAnswer, ended: threading.Event) -> None:
        try:
            image = ruled_by(look.image, read_written(look.plan.played)[1])
            steps = play(image, scenario_of(look), assumptions_of(look))
            while True:
                try:
                    progress = next(steps)
                except StopIteration as end:
                    self._tell(msgspec.structs.replace(look, playback=playback_of(end.value), note=""), ended)
                    return
                if ended.is_set():
                    return
                self._tell(msgspec.structs.replace(look, note=_so_far(progress)), ended)
        except ScenarioError as error:
            self._tell(msgspec.structs.replace(look, note=str(error)), ended)
        except Exception as error:  # the dashboard lives on, and says what failed
            self._tell(msgspec.structs.replace(look, note=crash_line(error)), ended)

    def _tell(self, look: DrillAnswer, ended: threading.Event) -> None:
        if not ended.is_set():
            self._look = look
            self._news()


CHOOSE = "No failure chosen. K: fail this broker, R: fail its rack, D: shut it down"
NOBODY = "none of them is alive: there is nobody to kill"
STOPPED = "stopped: r plays it again"


def victims(image: ClusterImage, plan: DrillPlan) -> tuple[int, ...]:
    """Who dies, as far as they live; controllers that are no brokers among them. Raises ScenarioError."""
    racks = {image.brokers[broker].rack for broker in plan.racks_of if broker in image.brokers} - {None, ""}
    named = (broker for broker in image.brokers if rack_name(image, broker) in plan.racks)
    fellows = (broker.id for broker in image.brokers.values() if broker.rack in racks)
    some = {*plan.kill, *plan.racks_of, *named, *fellows} & {*image.brokers, *voters_of(image)}
    if plan.racks_of or plan.racks:
        some.update(machines_of_rack(image, tuple(some & image.brokers.keys())))
    if plan.controllers:
        some.update(controllers_named(image, plan.controllers))
    return tuple(sorted(some))


def voters_of(image: ClusterImage) -> tuple[int, ...]:
    """The voters of a KRaft cluster, as far as they are known."""
    return () if image.quorum is None else tuple(each.id for each in image.quorum.voters)


def failed_folders(image: ClusterImage, plan: DrillPlan) -> tuple[Act, ...]:
    """Of each broker the log folder that was chosen, if it has so many. Raises ScenarioError."""
    chosen: list[Folder] = []
    for broker, number in plan.folders:
        works = [each.path for each in image.log_dirs.get(broker, ()) if not each.error]
        place = number % (len(works) + 1)
        if not works or place:
            chosen.append((broker, works[place - 1] if works else "?"))
    return folders_lost(image, chosen) if chosen else ()


def scenario_of(look: DrillAnswer) -> Scenario:
    """The plan, for this cluster; one in which nothing happens where it names what is not there."""
    try:
        return _scenario(look)
    except ScenarioError:
        return Scenario(unclean=look.plan.unclean)


def why_nothing(look: DrillAnswer) -> str:
    """Empty: something is to be played."""
    try:
        scenario = _scenario(look)
    except ScenarioError as error:
        return str(error)
    if scenario.acts or scenario.add_voters or scenario.remove_voters:
        return ""
    return NOBODY if look.plan.kill or look.plan.racks else CHOOSE


def _scenario(look: DrillAnswer) -> Scenario:
    """Who is not there to be stopped or started is left out. Raises ScenarioError.

    Where more happens than deaths, who is to come back starts when all of it is over.
    """
    if look.plan.played:
        return msgspec.structs.replace(of_acts(read_written(look.plan.played)[0]), unclean=look.plan.unclean)
    plan, kill, after_ms = look.plan, victims(look.image, look.plan), look.plan.restart_after_ms
    stop = tuple(sorted(set(plan.stop) & look.image.brokers.keys() - set(kill)))
    start = set(plan.start).intersection(look.dead)
    if after_ms is not None and (stop or start):
        start, after_ms = start.union(kill, stop), None
    lost = failed_folders(look.image, plan)
    ended = {broker for act in lost if act.deed is Deed.KILL for broker in act.brokers}
    acts = (*lost[-1:], Act(Deed.STOP, stop), Act(Deed.START, tuple(sorted(start))))
    then = tuple(act for act in acts if act.brokers and act.deed is not Deed.KILL)
    votes = set(voters_of(look.image))
    return Scenario(
        kill=tuple(sorted(ended.union(kill))),
        unclean=plan.unclean,
        restart_after_ms=after_ms,
        then=then,
        add_voters=tuple(sorted(set(plan.voters) - votes)),
        remove_voters=tuple(sorted(votes.intersection(plan.voters))),
    )


def _look(plan: DrillPlan, image: ClusterImage, last: DrillAnswer | None = None, note: str = "") -> DrillAnswer:
    """`last`: the look before, whose brokers need not be looked for again if the cluster is the same."""
    dead = dead_brokers(image) if last is None or last.is_stale(image) else last.dead
    return DrillAnswer(plan, image, note=note, dead=dead)


def assumptions_of(look: DrillAnswer) -> TimingAssumptions:
    """As stated on the screen; what it does not name is as everywhere."""
    times, session_ms = usual(look.image, scenario_of(look)), look.plan.session_timeout_ms
    return times if session_ms is None else msgspec.structs.replace(times, session_timeout_ms=session_ms)


def _so_far(progress: DrillProgress) -> str:
    return f"playing: +{progress.at_ms / 1000:,.1f} s, {progress.rows:,} things happened; {STOPPABLE}"
