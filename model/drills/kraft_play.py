"""Plays a scenario on a copy of a KRaft cluster, in virtual time: its controller's own rules decide, this only waits.

Who is silent is fenced when its session is over, counted from its death; where the active controller dies, from when
another one is it. Of several that die at once the one with the smallest id is fenced first: in reality who was heard
last decides. Sources: `BrokerHeartbeatManager`, `ClusterControlManager` (3.3 to 4.4), KIP-631.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Final

from model.cluster import records as r
from model.cluster.cluster_image import BrokerImage, ClusterImage, state_in
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.texts import metadata_place
from model.controller.events_and_commands import ControlledShutdownRequested
from model.drills.rows import (
    AnyRow,
    BrokerFellSilent,
    BrokerFenced,
    BrokerLeft,
    FolderFailed,
    MetadataLearnt,
    MetadataWritten,
    StateWritten,
    VoterBooted,
    VoterFellSilent,
)
from model.drills.scenario import Act, Deed, Folder
from model.drills.timeline import DrillTimeline, Outage
from model.hosts.virtual.journal import BrokerBooted, ControllerAsked, Reasoned
from model.hosts.virtual.scheduled_events import TimingAssumptions
from model.kraft_controller.cluster import KraftCluster, PartitionChanged
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerRegisters,
    BrokerSilent,
    DirectoriesFailed,
    IsrsProposed,
    KraftEvent,
    ShutdownWanted,
    decide,
)
from model.znodes.paths import broker_path, topic_path

HEARTBEAT_MS: Final = 2_000.0
"""`broker.heartbeat.interval.ms`: a controlled stop is granted once all others have said that they know of it."""
QUORUM_MS: Final = 2_000.0
"""`controller.quorum.fetch.timeout.ms`: so long does nobody miss an active controller that is gone."""
NEXT_PASS_MS: Final = 10.0
"""From 4.0 on one broker is fenced at a time, and the next so much later."""
END_MS: Final = 1.0
AT_A_TIME: Final = 20
"""Happenings between two reports of progress."""


class KraftPlay:
    """One drill on its way. `rows` are in order of time."""

    def __init__(self, image: ClusterImage, assumptions: TimingAssumptions, *, unclean: bool) -> None:
        self.now_ms = 0.0
        self.rows: list[AnyRow] = []
        self._image = image
        self._times = assumptions
        self._cluster = KraftCluster(image, unclean=unclean)
        self._running = set(image.brokers)
        self._stopped: set[int] = set()
        """In order, so that they know it when they start again."""
        self._returned: set[int] = set()
        self._session_over: dict[int, float] = {}
        """Of those that died: when they are fenced, and may register again."""
        self._ruled_from_ms = 0.0
        """When the active controller came to be it."""
        self._boots = dict.fromkeys({*image.brokers, *image.fenced}, 0)
        """By broker, how often it started, died or stopped: what was due before that is not due any more."""
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._states: dict[TopicPartition, r.PartitionState] = {}
        self._leaderless: dict[TopicPartition, float] = {}
        self._outages: list[Outage] = []

    # What the scenario does

    def begin(self, act: Act) -> None:
        """Kills, stops or starts its brokers now, or takes log folders of theirs away."""
        if act.deed is Deed.LOSE:
            self._lose(act.folders)
            return
        deed = {Deed.KILL: self._kill, Deed.STOP: self._stop, Deed.START: self._start}[act.deed]
        deed(act.brokers)

    def pass_until(self, until_ms: float) -> Iterator[None]:
        """All that is due until then, in steps."""
        steps = 0
        while self._due and self._due[0][0] <= until_ms:
            self.now_ms, _, happens = heapq.heappop(self._due)
            happens()
            steps += 1
            if steps % AT_A_TIME == 0:
                yield
        yield

    @property
    def at_rest(self) -> bool:
        return not self._due

    def timeline(self) -> DrillTimeline:
        still = [Outage(name, from_ms, None) for name, from_ms in self._leaderless.items()]
        return DrillTimeline(self._image, tuple(self.rows), (*self._outages, *still), self.now_ms, self._times.start_ms)

    # Brokers

    def _kill(self, brokers: Sequence[int]) -> None:
        if self._image.quorum and self._image.quorum.leader in brokers:
            self._begin_sessions_anew()
        voters = (each for each in brokers if self._only_votes(each))
        self.rows += (VoterFellSilent(self.now_ms, voter) for voter in voters)
        for broker in (each for each in brokers if each in self._running):
            self._goes(broker)
            self._stopped.discard(broker)
            self.rows.append(BrokerFellSilent(self.now_ms, broker))
            registered = self._cluster.brokers.get(broker)
            if registered is not None and not registered.fenced:
                self._let_session_end(broker)

    def _begin_sessions_anew(self) -> None:
        """The active controller dies; the next one counts from when it is it, also for who has been silent before."""
        self._ruled_from_ms = self.now_ms + QUORUM_MS
        for broker in sorted(self._session_over, key=self._session_over.__getitem__):
            if broker in self._cluster.active and broker not in self._running:
                self._let_session_end(broker)

    def _let_session_end(self, broker: int) -> None:
        """Later, and after those of who died before; from 4.0 on not together with another one's."""
        over_ms = max(self.now_ms, self._ruled_from_ms) + self._times.session_timeout_ms
        if self._cluster.levels.release >= (4, 0):
            others = (ms + NEXT_PASS_MS for other, ms in self._session_over.items() if other != broker)
            over_ms = max(over_ms, *others, 0.0)
        self._session_over[broker] = over_ms
        self._later(over_ms + self._times.zookeeper_write_ms, partial(self._expire, broker, over_ms))

    def _expire(self, broker: int, over_ms: float) -> None:
        """Its session is over, unless that began anew meanwhile."""
        if self._session_over[broker] == over_ms:
            self._fence(broker, expired=True)

    def _stop(self, brokers: Sequence[int]) -> None:
        for broker in (each for each in brokers if each in self._running):
            asked = ControlledShutdownRequested(request=0, broker=broker)
            self.rows.append(ControllerAsked(self.now_ms, broker, None, asked))
            self._boots[broker] += 1
            self._later(self.now_ms + self._times.zookeeper_write_ms, partial(self._hand_over, broker))

    def _start(self, brokers: Sequence[int]) -> None:
        for broker in brokers:
            if self._only_votes(broker):
                self.rows.append(VoterBooted(self.now_ms, broker))
                continue
            self._boots[broker] = self._boots.get(broker, 0) + 1
            self._running.add(broker)
            self._returned.add(broker)
            self.rows.append(BrokerBooted(self.now_ms, broker))
            from_ms = max(self.now_ms, self._session_over.get(broker, 0.0) + END_MS) + self._times.request_ms
            self._later(from_ms, self._unless_gone(broker, self._register))

    def _lose(self, folders: Sequence[Folder]) -> None:
        """Brokers tell of it with a heartbeat at once; whatever lies there is served no more."""
        for broker, path in folders:
            lies = {each.path: tuple(each.sizes) for each in self._image.log_dirs.get(broker, ())}
            self._cluster = self._cluster.with_folders(broker, lies)
            there = self._cluster.in_directory(broker, path)
            self.rows.append(FolderFailed(self.now_ms, broker, path, len(there)))
            for name in there:
                if self._cluster.partition(name).leader == broker:
                    self._leaderless.setdefault(name, self.now_ms)
            told = partial(self._write, DirectoriesFailed(broker, (path,)))
            self._later(self.now_ms + self._times.request_ms + self._times.zookeeper_write_ms, told)

    def _only_votes(self, node: int) -> bool:
        """Whether it is a controller and no broker."""
        votes = self._image.quorum is not None and any(each.id == node for each in self._image.quorum.voters)
        return votes and node not in self._boots and not self._cluster.with_replica_on(node)

    def _goes(self, broker: int) -> None:
        self._boots[broker] += 1
        self._running.discard(broker)
        for name in self._cluster.led_by(broker):
            self._leaderless.setdefault(name, self.now_ms)

    def _hand_over(self, broker: int) -> None:
        """What it leads is led by others before it leaves; who leads nothing leaves at once."""
        led, others = self._cluster.led_by(broker), self._cluster.active - {broker}
        if led:
            self._write(ShutdownWanted(broker))
        self._later(self.now_ms + (HEARTBEAT_MS if led and others else 0.0), partial(self._leave, broker))

    def _leave(self, broker: int) -> None:
        self._goes(broker)
        self._stopped.add(broker)
        self.rows.append(BrokerLeft(self.now_ms, broker, controlled=True))
        self._fence(broker, expired=False)

    def _fence(self, broker: int, *, expired: bool) -> None:
        self._write(BrokerSilent(broker))
        self.rows.append(BrokerFenced(self.now_ms, broker, 0, expired, controller=False))

    def _register(self, broker: int) -> None:
        self._write(BrokerRegisters(broker, -1, clean=broker in self._stopped))
        self._stopped.discard(broker)
        self._later(self.now_ms + self._times.request_ms, self._unless_gone(broker, self._unfence))

    def _unfence(self, broker: int) -> None:
        facts = self._image.brokers.get(broker) or self._image.fenced.get(broker) or BrokerImage(broker)
        says = r.BrokerRegistered(
            broker=broker, endpoints=facts.endpoints, rack=facts.rack, epoch=facts.epoch, fenced=False
        )
        self.rows.append(MetadataWritten(self.now_ms, metadata_place(broker_path(broker)), (says,)))
        self._write(BrokerCaughtUp(broker))
        self._grow_later(self._cluster.with_replica_on(broker))

    def _unless_gone(self, broker: int, happens: Callable[[int], None]) -> Callable[[], None]:
        boot = self._boots[broker]

        def still() -> None:
            if self._boots[broker] == boot:
                happens(broker)

        return still

    # ISRs that grow

    def _grow_later(self, names: Iterable[TopicPartition]) -> None:
        if self._times.catch_up_ms is not None and self._returned and (some := tuple(names)):
            self._later(self.now_ms + self._times.catch_up_ms, partial(self._grow, some))

    def _grow(self, names: Iterable[TopicPartition]) -> None:
        """Leaders ask for those who have returned, and new leaders for whoever follows them, one after the other."""
        while proposed := self._proposals(names):
            for leader, isrs in proposed.items():
                self._write(IsrsProposed(leader, isrs), quietly=True)

    def _proposals(self, names: Iterable[TopicPartition]) -> dict[int, dict[TopicPartition, tuple[int, ...]]]:
        """By leader, the ISRs of its partitions with the next broker that follows."""
        active, found = self._cluster.active, dict[int, dict[TopicPartition, tuple[int, ...]]]()
        for name in names:
            state = self._cluster.partition(name)
            for broker in state.replicas:
                follows = broker in self._returned or state.leader in self._returned
                if broker in state.isr or not follows or state.leader not in active:
                    continue
                if self._cluster.is_acceptable(broker, state, active):
                    found.setdefault(state.leader, {})[name] = (*state.isr, broker)
                    break
        return found

    # What the controller writes

    def _write(self, event: KraftEvent, *, quietly: bool = False) -> None:
        """`quietly`: a write of many alike, whose reason is the same."""
        decision = decide(self._cluster, event)
        self._cluster = self._cluster.after(decision.records)
        changed = [each for each in decision.records if isinstance(each, PartitionChanged)]
        written = [self._state_written(each) for each in changed]
        self.rows += written
        for each in changed:
            self.rows += self._assigned(each)
        if not quietly:
            self.rows += (Reasoned(self.now_ms, None, why) for why in decision.reasons)
        if written:
            learnt = partial(self._learn, tuple(written))
            self._later(self.now_ms + self._times.request_ms, learnt)

    def _state_written(self, changed: PartitionChanged) -> StateWritten:
        name, after = changed.partition, changed.after
        before = self._states.get(name) or state_in(self._image, name)
        knows_elr = self._cluster.levels.elr or (before is not None and before.elr is not None)
        state = r.PartitionState(
            partition=name.partition,
            leader=after.leader,
            leader_epoch=after.leader_epoch,
            isr=after.isr,
            controller_epoch=0 if before is None else before.controller_epoch,
            version=after.partition_epoch,
            recovering=after.recovering,
            time_ms=self._times.start_ms + int(self.now_ms),
            elr=after.elr if knows_elr else None,
            last_known_elr=after.last_known_elr if knows_elr else None,
            directories=None if before is None else before.directories,
        )
        self._states[name] = state
        if state.leader == NO_LEADER and before is not None and before.leader != NO_LEADER:
            self._leaderless.setdefault(name, self.now_ms)
        return StateWritten(self.now_ms, None, name.topic, before, state, changed.unclean)

    def _assigned(self, changed: PartitionChanged) -> Iterator[MetadataWritten]:
        """Replicas that are others than before, as a reassignment that is complete leaves them."""
        if changed.change.replicas is None and changed.change.adding is None and changed.change.removing is None:
            return
        topic = self._image.topics[changed.partition.topic]
        now = {number: self._cluster.partition(TopicPartition(topic.name, number)) for number in topic.row_of}
        says = r.TopicAssigned(
            topic=topic.name,
            replicas={number: each.replicas for number, each in now.items()},
            topic_id=topic.topic_id,
            adding={number: each.adding for number, each in now.items() if each.adding},
            removing={number: each.removing for number, each in now.items() if each.removing},
        )
        yield MetadataWritten(self.now_ms, metadata_place(topic_path(topic.name)), (says,))

    def _learn(self, written: tuple[StateWritten, ...]) -> None:
        """Brokers read it in the metadata log; whoever is elected leads from now on."""
        live = sorted(self._running & self._cluster.active)
        self.rows += (MetadataLearnt(self.now_ms, broker, written) for broker in live)
        elected: list[TopicPartition] = []
        for row in written:
            name, leader = row.partition, row.after.leader
            if leader in live and self._cluster.partition(name).leader == leader:
                if row.before is None or row.before.leader != leader:
                    elected.append(name)
                if (from_ms := self._leaderless.pop(name, None)) is not None:
                    self._outages.append(Outage(name, from_ms, self.now_ms, leader=leader))
        self._grow_later(elected)

    def _later(self, at_ms: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._due, (at_ms, next(self._numbers), happens))
