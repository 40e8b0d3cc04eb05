"""Who is alive: heartbeats, sessions, and when a broker that stops may leave. Times are given, in ms, never read.

All of it is the active controller's memory, not the metadata log's: whoever becomes the active one begins anew.
Sources: `BrokerHeartbeatManager`, `BrokerHeartbeatTracker`, `ClusterControlManager`, 3.3 to 4.4.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

import msgspec
from kio.schema.errors import ErrorCode

from model.kraft_controller.cluster import BrokerChanged, BrokerRegistered, KraftCluster
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerSilent,
    DirectoriesCordoned,
    DirectoriesFailed,
    KraftEvent,
    ShutdownWanted,
)
from model.kraft_controller.partition_change import RESERVED

SESSION_MS: Final = 9_000.0
"""`broker.session.timeout.ms`, of the active controller."""
NEXT_PASS_MS: Final = 10.0
"""From 4.0 on one broker is fenced at a time, and the next so much later."""
PASSES: Final = 8
"""From 4.0 on sessions are looked at so many times in a session timeout."""
UNKNOWN_OFFSET: Final = -1
Incarnation = tuple[int, int]
"""A broker and its epoch."""


class BrokerControlState(Enum):
    """What a broker is, as its heartbeats see it."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shut down now"


class Heartbeat(msgspec.Struct, frozen=True):
    """What a broker says of itself."""

    broker: int
    epoch: int
    offset: int
    """How far it has read the metadata log."""
    wants_fence: bool = False
    wants_shutdown: bool = False
    failed_directories: tuple[str, ...] = ()
    cordoned_directories: tuple[str, ...] | None = None
    """Those that are to get no new replicas (KIP-1066, 4.3); None: as they are."""


class HeartbeatTable(msgspec.Struct, frozen=True):
    """What the active controller knows of brokers, beside the metadata log."""

    contacts: Mapping[Incarnation, float] = {}
    """When each was heard last; until 3.9 unfenced brokers alone."""
    offsets: Mapping[int, int] = {}
    """How far each said last that it has read; that is forgotten whenever its registration changes."""
    registered_at: Mapping[int, int] = {}
    """Offset of the record that registered it: it is caught up once it has read that."""
    shutdown_offsets: Mapping[int, int] = {}
    """Of those that stop in order: where the log ended when their leaders had moved."""

    def after(self, record: BrokerChanged | BrokerRegistered) -> "HeartbeatTable":
        """After a change of a broker's registration: one that is fenced, or registers anew, is no longer stopping."""
        broker = record.broker
        told = msgspec.structs.replace(self, offsets={**self.offsets, broker: UNKNOWN_OFFSET})
        if not record.fenced:
            return told
        stops = {each: offset for each, offset in self.shutdown_offsets.items() if each != broker}
        return msgspec.structs.replace(told, shutdown_offsets=stops)

    def after_failover(self, cluster: KraftCluster, now_ms: float) -> "HeartbeatTable":
        """Of another active controller: all have a whole session before them, those that are dead as well."""
        fenced_too = cluster.levels.release == (4, 0)
        contacts = {
            (broker, each.epoch): now_ms for broker, each in cluster.brokers.items() if fenced_too or not each.fenced
        }
        return HeartbeatTable(contacts, registered_at=self.registered_at)


class Reply(NamedTuple):
    """The answer to a heartbeat."""

    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool


class HeartbeatOutcome(NamedTuple):
    """What comes of a heartbeat: events to decide on, in order; memory; the answer. `error`: nothing but that."""

    events: tuple[KraftEvent, ...]
    memory: HeartbeatTable
    reply: Reply
    error: ErrorCode = ErrorCode.none


def heard(cluster: KraftCluster, memory: HeartbeatTable, beat: Heartbeat, now_ms: float) -> HeartbeatOutcome:
    """A heartbeat. Whoever carries it out tells by `left_at` where the log ended, if the broker began to stop."""
    registered = cluster.brokers.get(beat.broker)
    tracks = cluster.levels.release >= (4, 0)
    contacts, who = dict(memory.contacts), (beat.broker, beat.epoch)
    if tracks:
        contacts[who] = now_ms
    if registered is None or registered.epoch != beat.epoch:
        kept = msgspec.structs.replace(memory, contacts=contacts)
        return HeartbeatOutcome((), kept, Reply(False, True, False), ErrorCode.stale_broker_epoch)
    now, then = pace(cluster, memory, beat.broker), next_pace(cluster, memory, beat)
    events = tuple(_events(cluster, beat, now, then))
    is_fenced = then in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)
    if not tracks and is_fenced:
        contacts.pop(who, None)
    elif not tracks:
        contacts[who] = now_ms
    stops = {each: offset for each, offset in memory.shutdown_offsets.items() if each != beat.broker or not is_fenced}
    kept = msgspec.structs.replace(
        memory, contacts=contacts, offsets={**memory.offsets, beat.broker: beat.offset}, shutdown_offsets=stops
    )
    reply = Reply(is_caught_up(memory, beat), is_fenced, then is BrokerControlState.SHUTDOWN_NOW)
    return HeartbeatOutcome(events, kept, reply)


def left_at(memory: HeartbeatTable, broker: int, end_offset: int) -> HeartbeatTable:
    """A broker is in its controlled shutdown, and the log ended there: this is noted once."""
    if broker in memory.shutdown_offsets:
        return memory
    return msgspec.structs.replace(memory, shutdown_offsets={**memory.shutdown_offsets, broker: end_offset})


def pace(cluster: KraftCluster, memory: HeartbeatTable, broker: int) -> BrokerControlState:
    """What it is now. After a failover whoever was about to stop counts as unfenced."""
    if broker in memory.shutdown_offsets:
        return BrokerControlState.CONTROLLED_SHUTDOWN
    return BrokerControlState.FENCED if cluster.brokers[broker].fenced else BrokerControlState.UNFENCED


def is_caught_up(memory: HeartbeatTable, beat: Heartbeat) -> bool:
    """Whether it has read the metadata log up to its own registration."""
    return beat.offset >= memory.registered_at.get(beat.broker, 0)


def next_pace(cluster: KraftCluster, memory: HeartbeatTable, beat: Heartbeat) -> BrokerControlState:
    """What it becomes. Who is in a controlled shutdown cannot take the wish back."""
    broker = beat.broker
    match pace(cluster, memory, broker):
        case BrokerControlState.FENCED:
            if beat.wants_shutdown:
                return BrokerControlState.SHUTDOWN_NOW
            return (
                BrokerControlState.FENCED
                if beat.wants_fence or not is_caught_up(memory, beat)
                else BrokerControlState.UNFENCED
            )
        case BrokerControlState.UNFENCED:
            if beat.wants_fence:
                return BrokerControlState.SHUTDOWN_NOW if beat.wants_shutdown else BrokerControlState.FENCED
            if not beat.wants_shutdown:
                return BrokerControlState.UNFENCED
            return BrokerControlState.CONTROLLED_SHUTDOWN if cluster.led_by(broker) else BrokerControlState.SHUTDOWN_NOW
        case _:
            has_read = memory.shutdown_offsets[broker] <= lowest_offset(cluster, memory)
            return (
                BrokerControlState.SHUTDOWN_NOW
                if has_read and not cluster.led_by(broker)
                else BrokerControlState.CONTROLLED_SHUTDOWN
            )


def lowest_offset(cluster: KraftCluster, memory: HeartbeatTable) -> float:
    """How far all active brokers have read, as they said; who is about to stop is not waited for."""
    others = (broker for broker in cluster.active if broker not in memory.shutdown_offsets)
    return min((memory.offsets.get(broker, UNKNOWN_OFFSET) for broker in others), default=float("inf"))


def _events(
    cluster: KraftCluster, beat: Heartbeat, now: BrokerControlState, then: BrokerControlState
) -> list[KraftEvent]:
    broker, found = beat.broker, list[KraftEvent]()
    if then is not now:
        if then is BrokerControlState.UNFENCED:
            found.append(BrokerCaughtUp(broker))
        elif then is BrokerControlState.CONTROLLED_SHUTDOWN:
            found.append(ShutdownWanted(broker))
        else:
            found.append(BrokerSilent(broker))
    known = cluster.brokers[broker].directories
    if cluster.levels.keeps_directories and (
        failed := tuple(each for each in beat.failed_directories if each in known)
    ):
        found.append(DirectoriesFailed(broker, failed))
    if beat.cordoned_directories is not None:
        found.append(DirectoriesCordoned(broker, beat.cordoned_directories))
    return found


# Sessions


class Pass(NamedTuple):
    """One look at the sessions: who is fenced, if anybody, and when to look again (None: once somebody is heard)."""

    fenced: int | None
    memory: HeartbeatTable
    again_ms: float | None


def look(cluster: KraftCluster, memory: HeartbeatTable, now_ms: float, timeout_ms: float = SESSION_MS) -> Pass:
    """At most one is fenced at a time. From 4.0 on it is any of those whose time is over, the smallest id here."""
    contacts, is_tracked = dict(memory.contacts), cluster.levels.release >= (4, 0)
    over = [who for who, at_ms in contacts.items() if at_ms + timeout_ms < now_ms]
    fenced: int | None = None
    if over:
        broker, epoch = min(over) if is_tracked else min(over, key=contacts.__getitem__)
        del contacts[broker, epoch]
        registered = cluster.brokers.get(broker)
        fenced = broker if registered is not None and registered.epoch == epoch else None
    kept = msgspec.structs.replace(memory, contacts=contacts)
    if is_tracked:
        return Pass(fenced, kept, now_ms + (timeout_ms / PASSES if not over else NEXT_PASS_MS))
    if not contacts:
        return Pass(fenced, kept, None)
    return Pass(fenced, kept, max(now_ms + (fenced is None), min(contacts.values()) + timeout_ms))


# Registration


class Registering(msgspec.Struct, frozen=True):
    """A broker that wants to be registered."""

    broker: int
    incarnation: str
    directories: tuple[str, ...] = ()
    features: Mapping[str, tuple[int, int]] = {}
    """Feature → lowest and highest level that it supports."""
    cluster_id: str = ""


class KnownRegistrations(msgspec.Struct, frozen=True):
    """What registrations are compared with."""

    cluster_id: str = ""
    incarnations: Mapping[int, str] = {}
    features: Mapping[str, int] = {}
    """Feature → its level."""
    timeout_ms: float = SESSION_MS


def registration_error(
    cluster: KraftCluster,
    memory: HeartbeatTable,
    wanted: Registering,
    known: KnownRegistrations,
    now_ms: float,
) -> ErrorCode:
    """Why it is refused; the first reason counts."""
    broker, dirs = wanted.broker, wanted.directories
    registered = cluster.brokers.get(broker)
    heard_ms = None if registered is None else memory.contacts.get((broker, registered.epoch))
    lives = heard_ms is not None and now_ms <= heard_ms + known.timeout_ms
    is_other = known.incarnations.get(broker) != wanted.incarnation
    taken = {each for other, it in cluster.brokers.items() if other != broker for each in it.directories}
    wrong = not dirs or len(set(dirs)) < len(dirs) or RESERVED.intersection(dirs) or taken.intersection(dirs)
    if wanted.cluster_id != known.cluster_id:
        return ErrorCode.inconsistent_cluster_id
    if lives and is_other:
        return ErrorCode.duplicate_broker_registration
    if cluster.levels.keeps_directories and wrong:
        return ErrorCode.invalid_registration
    if "metadata.version" not in wanted.features and cluster.levels.release >= (4, 0):
        return ErrorCode.invalid_registration
    for feature, level in known.features.items():
        lowest, highest = wanted.features.get(feature, (0, 0))
        if level and not lowest <= level <= highest:
            return ErrorCode.unsupported_version
    return ErrorCode.none
