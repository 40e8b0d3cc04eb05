"""What happened in a drill, as the records of its journal; and what the cluster looked like at any moment.

What the journal has as transactions is here as what was written over what, state by state, and who was led again when;
records that say it already are taken over. It decides nothing; it may be asked for the timeline so far at any time.
Times are virtual, in ms since the death of the victims.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import BrokerImage, ClusterImage, fenced, state_in
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import stacked
from model.controller.events_and_commands import ControlledShutdownRequested, LeaderAndIsrRequest
from model.drills.rows import (
    AnyRow,
    BrokerFenced,
    MetadataWritten,
    QuorumShrank,
    StateWritten,
    WriteRefused,
    ZnodeWritten,
)
from model.hosts.memory_zookeeper.tree import StoredZnode
from model.hosts.virtual import journal
from model.hosts.virtual.journal import (
    BrokerBooted,
    BrokerCrashed,
    BrokerStopped,
    ControllerAsked,
    ControllerElected,
    JournalRecord,
    Reasoned,
    RequestSent,
    RequestServed,
    SessionEnded,
    Transaction,
    WritePart,
    znode_writes,
)
from model.sources.zookeeper.translate import translate
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import ZnodeMatch, recognise
from model.znodes.topics import RECOVERING, decode_partition_state
from model.zookeeper import Missing, Stat, Znode


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


class DrillTimeline:
    """The rows in order of time, the outages by partition, and the cluster before all of it. It never changes."""

    def __init__(
        self,
        before: ClusterImage,
        rows: Sequence[AnyRow],
        outages: Sequence[Outage],
        end_ms: float,
        start_ms: int,
        after: ClusterImage | None = None,
    ) -> None:
        """end_ms: when nothing happened any more. start_ms: when it began, in ms since the epoch, UTC. after: what
        follows from the rows, where it is known."""
        self.before = before
        self.rows = rows
        self.outages = outages
        self.end_ms = end_ms
        self.start_ms = start_ms
        self._after = after

    def until(self, at_ms: float) -> Sequence[AnyRow]:
        return self.rows[: bisect_right(self._times, at_ms)]

    def image_at(self, at_ms: float) -> ClusterImage:
        """The cluster as it was known then. Parts that nothing had happened to are those of `before`."""
        delta = ClusterDelta(self.before).replay_all(_records(self.until(at_ms), self.before))
        seen = self.before.provenance
        return delta.apply(msgspec.structs.replace(seen, time_ms=self.start_ms + int(at_ms)))

    @cached_property
    def after(self) -> ClusterImage:
        """The cluster when nothing happened any more."""
        return self.image_at(self.end_ms) if self._after is None else self._after

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


def _records(rows: Sequence[AnyRow], before: ClusterImage) -> Iterator[r.ClusterRecord]:
    """What the rows tell. States that were written one after the other are told together, the last of each partition:
    a record of one state costs as much as one of many."""
    written: dict[str, dict[int, r.PartitionState]] = {}
    for row in rows:
        if isinstance(row, StateWritten):
            written.setdefault(row.topic, {})[row.after.partition] = row.after
        elif told := tuple(_told(row, before)):
            yield from _states(written)
            yield from told
            written = {}
    yield from _states(written)


def _states(written: Mapping[str, Mapping[int, r.PartitionState]]) -> Iterator[r.ClusterRecord]:
    return (r.PartitionStatesWritten(topic=topic, states=tuple(states.values())) for topic, states in written.items())


def _told(row: AnyRow, before: ClusterImage) -> Iterator[r.ClusterRecord]:
    if isinstance(row, ZnodeWritten | MetadataWritten):
        yield from row.says
    elif isinstance(row, QuorumShrank):
        yield from (r.BrokerLost(broker=broker) for broker in row.unnoticed)
        if row.moves:
            known = len(row.candidates) == 1
            yield r.ControllerElected(broker=row.candidates[0]) if known else r.ControllerLost()
    elif isinstance(row, BrokerFenced):
        yield fenced(before.brokers.get(row.broker) or before.fenced.get(row.broker) or BrokerImage(row.broker))
    elif isinstance(row, journal.SessionEnded):
        yield r.BrokerLost(broker=row.broker)
        if row.controller:
            yield r.ControllerLost()


class TimelineBuilder:
    """Takes a journal in as it grows."""

    def __init__(self, image: ClusterImage, start_ms: int, znodes: Mapping[str, StoredZnode]) -> None:
        """image: the cluster before; znodes: the same, as ZooKeeper had it. start_ms: when the journal begins, in ms
        since the epoch, UTC."""
        self._image = image
        self._znodes = znodes
        self._written: dict[str, bytes | None] = {}
        self._start_ms = start_ms
        self._rows: list[AnyRow] = []
        self._states: dict[TopicPartition, r.PartitionState] = {}
        self._leaderless: dict[TopicPartition, float] = {}
        self._outages: list[Outage] = []

    def take(self, records: Iterable[JournalRecord]) -> None:
        for record in records:
            match record:
                case BrokerCrashed() | BrokerStopped():
                    self._gone(record)
                    self._rows.append(record)
                case BrokerBooted() | SessionEnded() | ControllerElected() | RequestSent() | Reasoned():
                    self._rows.append(record)
                case ControllerAsked() if isinstance(record.request, ControlledShutdownRequested):
                    self._rows.append(record)
                case Transaction():
                    self._rows.extend(self._wrote(record))
                case RequestServed():
                    self._served(record)
                case _:
                    pass

    @property
    def length(self) -> int:
        return len(self._rows)

    def told(self) -> tuple[Sequence[AnyRow], Sequence[Outage], Mapping[TopicPartition, float]]:
        """All rows so far, the outages that are over, and who has no leader now, since when."""
        return self._rows, self._outages, self._leaderless

    def going_on(self) -> "TimelineBuilder":
        """One that knows what is written and who is led, and has nothing to tell of what was before."""
        other = TimelineBuilder(self._image, self._start_ms, self._znodes)
        other._written, other._states = dict(self._written), dict(self._states)
        other._leaderless = dict(self._leaderless)
        return other

    def timeline(self, end_ms: float) -> DrillTimeline:
        still = [Outage(name, from_ms, None) for name, from_ms in self._leaderless.items()]
        return DrillTimeline(self._image, tuple(self._rows), (*self._outages, *still), end_ms, self._start_ms)

    def _wrote(self, record: Transaction) -> Iterator[AnyRow]:
        for write in znode_writes(record):
            if write.error != "NONE":
                yield WriteRefused(record.at_ms, record.by, write.verb, write.path, write.error)
                continue
            match = recognise(write.path)
            if match.kind is ZnodeKind.PARTITION_STATE and write.verb != "delete":
                yield self._state_written(record, write, match)
            else:
                yield self._znode_written(record, write)

    def _served(self, record: RequestServed) -> None:
        """A broker did what it was told: maybe it leads now."""
        if self._leaderless and isinstance(record.request, LeaderAndIsrRequest) and record.answer.error == "NONE":
            receiver, leaderless = record.receiver, self._leaderless
            told = [entry.partition for entry in record.request.partitions if entry.state.leader == receiver]
            led = leaderless.keys() & told
            led -= {name for name, error in record.answer.partition_errors if error != "NONE"} if led else set()
            for name in sorted(led):
                self._outages.append(Outage(name, leaderless.pop(name), record.at_ms, leader=receiver))

    def _gone(self, record: BrokerCrashed | BrokerStopped) -> None:
        """What the broker still leads has no leader from now on."""
        for name in self._led_by(record.broker):
            self._leaderless.setdefault(name, record.at_ms)

    def _led_by(self, broker: int) -> list[TopicPartition]:
        deleting = self._image.admin.delete_topics
        columns = stacked([topic for name, topic in self._image.topics.items() if name not in deleting])
        names = [
            TopicPartition(topic.name, number)
            for topic, rows in columns.by_topic(columns.leader == broker)
            for number in columns.partitions[rows].tolist()
        ]
        led = {name for name, state in self._states.items() if state.leader == broker}
        return [name for name in names if name not in self._states or name in led] + sorted(led.difference(names))

    def _znode_written(self, record: Transaction, write: WritePart) -> ZnodeWritten:
        says = tuple(translate([_as_read(write, record, self._start_ms)], self._start_ms))
        before = None if write.verb == "create" else self._held(write.path)
        after = self._written[write.path] = None if write.verb == "delete" else write.data
        return ZnodeWritten(record.at_ms, record.by, write.verb, write.path, write.version, before, after, says)

    def _held(self, path: str) -> bytes | None:
        if path in self._written:
            return self._written[path]
        planted = self._znodes.get(path)
        return None if planted is None else planted.data

    def _state_written(self, record: Transaction, write: WritePart, match: ZnodeMatch) -> StateWritten:
        name = TopicPartition(match.topic, match.partition)
        before = self._states.get(name) or state_in(self._image, name)
        payload = decode_partition_state(write.data)
        after = r.PartitionState(
            match.partition,
            payload.leader,
            payload.leader_epoch,
            payload.isr,
            payload.controller_epoch,
            write.version,
            payload.leader_recovery_state == RECOVERING,
            record.zxid,
            self._start_ms + int(record.at_ms),
        )
        self._states[name] = after
        return StateWritten(record.at_ms, record.by, match.topic, before, after, _elected_uncleanly(before, after))


def _elected_uncleanly(before: r.PartitionState | None, after: r.PartitionState) -> bool:
    """Whether this write elects a leader that was not in the ISR (`kafka.controller.Election`, 3.9)."""
    if before is None or after.leader < 0 or after.leader in before.isr:
        return False
    # A leader that was outside the ISR already is elected anew only where it comes into the ISR with it.
    return after.leader != before.leader or after.leader in after.isr


def _as_read(write: WritePart, record: Transaction, start_ms: int) -> Znode | Missing:
    """A write as a source would read it."""
    if write.verb == "delete":
        return Missing(write.path)
    time_ms = start_ms + int(record.at_ms)
    stat = Stat(record.zxid, record.zxid, time_ms, time_ms, write.version, 0, 0, 0, len(write.data), 0, record.zxid)
    return Znode(write.path, write.data, stat)
