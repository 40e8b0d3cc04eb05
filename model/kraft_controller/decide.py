"""What the active controller writes when something happens to a broker, or a leader asks for another ISR.

Each event is worked out against the cluster before it, whole: what it writes for one partition does not count for the
next. Sources: `org.apache.kafka.controller.ReplicationControlManager` (`handleBrokerFenced`, `handleBrokerUnfenced`,
`handleBrokerInControlledShutdown`, `handleUncleanBrokerShutdown`, `handleDirectoriesOffline`, `alterPartition`,
`electLeaders`), `QuorumController` and `ClusterControlManager`, 3.3 to 4.4. What is asked for and may be refused is in
`requests`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    BrokerRegistration,
    BrokerUnregistered,
    KraftCluster,
    MetadataRecord,
    PartitionChanged,
)
from model.kraft_controller.partition_change import NO_LEADER, Election, Registration, RequestedChange, change_of


class BrokerSilent(msgspec.Struct, frozen=True):
    """Its session is over, or it has stopped: it is fenced."""

    broker: int


class ShutdownWanted(msgspec.Struct, frozen=True):
    """A broker's heartbeat asks to stop, and nobody waits for it yet."""

    broker: int


class BrokerRegisters(msgspec.Struct, frozen=True):
    """A broker registers. `clean`: it says that it had stopped in order, and so has all that it acknowledged."""

    broker: int
    epoch: int
    """The metadata log's next offset as the event begins, which is its epoch if it is a new incarnation."""
    clean: bool
    again: bool = False
    """The same incarnation, which had not heard the answer."""
    rack: str | None = None
    directories: tuple[str, ...] | None = None
    """None: those that it had, as its rack then."""
    cordoned: tuple[str, ...] | None = None


class BrokerCaughtUp(msgspec.Struct, frozen=True):
    """A fenced broker has read the metadata log up to its own registration: it is unfenced."""

    broker: int


class DirectoriesFailed(msgspec.Struct, frozen=True):
    """A broker's heartbeat says that these of its log directories work no more (KIP-858)."""

    broker: int
    directories: tuple[str, ...]


class DirectoriesCordoned(msgspec.Struct, frozen=True):
    """A broker's heartbeat says that these of its log directories are to get no new replicas (KIP-1066, 4.3)."""

    broker: int
    directories: tuple[str, ...]


class UnregisterWanted(msgspec.Struct, frozen=True):
    """An operator takes a broker out, alive or not."""

    broker: int


class IsrsProposed(msgspec.Struct, frozen=True):
    """A leader asks for other ISRs (AlterPartition), in its own order, and says by that that it has recovered: alone in
    its ISR, it does not, as it asks for nothing."""

    leader: int
    isrs: Mapping[TopicPartition, tuple[int, ...]]


class ElectionsWanted(msgspec.Struct, frozen=True):
    """Preferred or unclean elections that somebody asks for, or the periodic ones."""

    partitions: tuple[TopicPartition, ...]
    election: Election


KraftEvent = (
    BrokerSilent
    | ShutdownWanted
    | BrokerRegisters
    | BrokerCaughtUp
    | DirectoriesFailed
    | DirectoriesCordoned
    | UnregisterWanted
    | IsrsProposed
    | ElectionsWanted
)


class KraftDecision(msgspec.Struct, frozen=True):
    """What is written, in order, and why, a sentence for each rule that decided on partitions."""

    records: tuple[MetadataRecord, ...] = ()
    reasons: tuple[str, ...] = ()


def decide(cluster: KraftCluster, event: KraftEvent) -> KraftDecision:
    """What the active controller does about it; nothing where it does not concern it."""
    match event:
        case BrokerSilent(broker):
            found = _fence(cluster, broker)
        case ShutdownWanted(broker):
            found = _shut_down(cluster, broker)
        case BrokerRegisters():
            found = _register(cluster, event)
        case BrokerCaughtUp(broker):
            found = _unfence(cluster, broker)
        case DirectoriesFailed():
            found = _lose(cluster, event)
        case DirectoriesCordoned():
            found = _cordon(cluster, event)
        case UnregisterWanted(broker):
            found = _unregister(cluster, broker)
        case IsrsProposed():
            found = _propose(cluster, event)
        case ElectionsWanted():
            found = _elect(cluster, event)
    records = tuple(found)
    return KraftDecision(records, reasons_of(records))


def _fence(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    yield from without(cluster, broker, cluster.with_in_isr(broker))
    yield BrokerChanged(broker, fenced=True)


def _shut_down(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    """Who leads something hands it over first; who leads nothing is fenced at once."""
    registered = cluster.brokers.get(broker)
    if registered is None or registered.fenced or not cluster.led_by(broker):
        yield from _fence(cluster, broker)
    else:
        if not registered.in_controlled_shutdown:
            yield BrokerChanged(broker, in_controlled_shutdown=True)
        yield from without(cluster, broker, cluster.with_in_isr(broker))


def _register(cluster: KraftCluster, event: BrokerRegisters) -> Iterator[MetadataRecord]:
    """Until 3.9 nothing else: who registers anew in its old session stays leader though it is fenced."""
    broker, before = event.broker, cluster.brokers.get(event.broker, BrokerRegistration())
    if event.directories is not None:
        before = msgspec.structs.replace(
            before, rack=event.rack, directories=event.directories, cordoned=event.cordoned
        )
    if event.again and broker in cluster.brokers:
        yield from _registered_again(cluster, event, before)
        return
    if cluster.levels.registration_cleans_up:
        isr = cluster.with_in_isr(broker)
        if event.clean or not cluster.levels.elr:
            yield from without(cluster, broker, isr)
        else:
            eligible = [name for name in cluster.with_in_elr(broker) if name not in set(isr)]
            yield from without(cluster, broker, [*isr, *eligible], stopped_uncleanly=True)
    yield BrokerRegistered(
        broker, event.epoch, rack=before.rack, directories=before.directories, cordoned=before.cordoned
    )


def _registered_again(
    cluster: KraftCluster, event: BrokerRegisters, before: BrokerRegistration
) -> Iterator[BrokerRegistered]:
    """Nothing changes from 3.9 on; before, its epoch does, and until 3.6 it is fenced by that."""
    release = cluster.levels.release
    fenced, leaving = (True, False) if release <= (3, 6) else (before.fenced, before.in_controlled_shutdown)
    epoch = before.epoch if release >= (3, 9) else event.epoch
    yield BrokerRegistered(event.broker, epoch, fenced, leaving, before.rack, before.directories, before.cordoned)


def _unfence(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    """Whatever has no leader is tried, not only what the broker holds."""
    yield BrokerChanged(broker, fenced=False)
    active = cluster.active | {broker}
    for name in cluster.leaderless:
        yield from changed(cluster, name, RequestedChange(election=online(cluster, name)), active)


def _lose(cluster: KraftCluster, event: DirectoriesFailed) -> Iterator[MetadataRecord]:
    """Each in turn: whatever lies there, in the ISR or not; directories that are not registered are not looked at."""
    broker, registered = event.broker, cluster.brokers.get(event.broker, BrokerRegistration())
    failed = [each for each in event.directories if each in registered.directories]
    if not failed or not cluster.levels.keeps_directories:
        return
    for directory in failed:
        yield from without(cluster, broker, cluster.in_directory(broker, directory))
    yield BrokerChanged(broker, directories=tuple(each for each in registered.directories if each not in failed))


def _cordon(cluster: KraftCluster, event: DirectoriesCordoned) -> Iterator[MetadataRecord]:
    """What lies there stays, and so do leaders and ISRs."""
    registered = cluster.brokers.get(event.broker)
    if registered is None or not cluster.levels.knows_cordoned:
        return
    if registered.cordoned is None or set(event.directories) != set(registered.cordoned):
        yield BrokerChanged(event.broker, cordoned=event.directories)


def _unregister(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    """It stays in the ELRs that it is in: they are only looked at (3.8 and later)."""
    isr = cluster.with_in_isr(broker)
    yield from without(cluster, broker, isr)
    if cluster.levels.release >= (3, 8):
        yield from without(cluster, broker, [name for name in cluster.with_in_elr(broker) if name not in set(isr)])
    yield BrokerUnregistered(broker)


def _propose(cluster: KraftCluster, event: IsrsProposed) -> Iterator[PartitionChanged]:
    """Refused where the leader is another one by now, or somebody in the ISR is not active (INELIGIBLE_REPLICA)."""
    for name, isr in event.isrs.items():
        if cluster.partition(name).leader == event.leader and all(map(cluster.is_active, isr)):
            asked = RequestedChange(isr=isr, recovering=False, election=online(cluster, name))
            yield from changed(cluster, name, asked)


def _elect(cluster: KraftCluster, event: ElectionsWanted) -> Iterator[PartitionChanged]:
    for name in event.partitions:
        yield from changed(cluster, name, RequestedChange(election=event.election))


IN_SYNC: Final = "the first replica, in the order of the assignment, that is active and in the ISR leads"
ELIGIBLE: Final = "the ISR is empty, so an eligible leader replica (KIP-966) leads, and nothing acknowledged is lost"
LAST_KNOWN: Final = "neither ISR nor ELR is left, so the last leader leads again; it may lack records after its crash"
UNCLEAN: Final = "nobody in sync is active, so another replica leads, as unclean.leader.election.enable allows"
NOBODY: Final = "nobody who may lead is active: without a leader until one of them is back"
SHRUNK: Final = "the leader stays, the ISR shrinks"
GROWN: Final = "the leader asked for its follower to be in the ISR again"
REASSIGNED: Final = "all that was asked for is in sync, so the reassignment is complete"
KEPT: Final = "who leads and who is in sync stays"


def reasons_of(records: Iterable[MetadataRecord]) -> tuple[str, ...]:
    """`12 partitions: …`, the most frequent rule first."""
    rules = Counter(_rule(each) for each in records if isinstance(each, PartitionChanged))
    return tuple(f"{counted(count, 'partition')}: {rule}." for rule, count in rules.most_common())


def _rule(changed: PartitionChanged) -> str:
    before, change = changed.before, changed.change
    if changed.unclean:
        return LAST_KNOWN if changed.last_known else UNCLEAN
    if change.removing == () or change.adding == ():
        return REASSIGNED
    if change.leader == NO_LEADER:
        return NOBODY
    if change.leader is not None and change.leader != before.leader:
        return IN_SYNC if change.leader in before.isr else ELIGIBLE
    isr = before.isr if change.isr is None else change.isr
    if set(before.isr) - set(isr):
        return SHRUNK
    return GROWN if set(isr) - set(before.isr) else KEPT


def online(cluster: KraftCluster, name: TopicPartition) -> Election:
    """Whom any event may elect, as the topic is configured."""
    return Election.UNCLEAN if cluster.allows_unclean(name.topic) else Election.ONLINE


def changed(
    cluster: KraftCluster, name: TopicPartition, asked: RequestedChange, active: Collection[int] | None = None
) -> Iterator[PartitionChanged]:
    """One change, or none. `active`: who may lead; None: who is."""
    before = cluster.partition(name)
    may_lead = cluster.active if active is None else active
    is_acceptable = may_lead.__contains__
    if before.directories:  # else whoever lives will do
        is_acceptable = partial(cluster.is_acceptable, state=before, active=may_lead)
    if asked.replicas is not None and before.directories:
        asked = _placed(cluster, before, asked, asked.replicas)
    change = change_of(before, asked, cluster.levels, is_acceptable, cluster.min_isr(name.topic))
    if change is not None:
        yield PartitionChanged(name, before, *change)


def without(
    cluster: KraftCluster, broker: int, partitions: Iterable[TopicPartition], *, stopped_uncleanly: bool = False
) -> Iterator[PartitionChanged]:
    """The broker out of their ISRs and, after an unclean stop, out of their ELRs; others lead in its place."""
    gone = frozenset({broker}) if stopped_uncleanly else frozenset[int]()
    active = cluster.active - {broker}
    for name in partitions:
        isr = tuple(each for each in cluster.partition(name).isr if each != broker)
        asked = RequestedChange(isr=isr, stopped_uncleanly=gone, election=online(cluster, name))
        yield from changed(cluster, name, asked, active)


def _placed(
    cluster: KraftCluster, before: Registration, asked: RequestedChange, replicas: Iterable[int]
) -> RequestedChange:
    new = {broker: cluster.new_directory(broker) for broker in replicas if broker not in before.replicas}
    return msgspec.structs.replace(asked, directories=new | dict(asked.directories))
