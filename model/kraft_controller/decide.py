"""What the active controller writes when something happens to a broker, or a leader asks for another ISR.

Each event is worked out against the cluster before it, whole: what it writes for one partition does not count for the
next. Sources: `org.apache.kafka.controller.ReplicationControlManager` (`handleBrokerFenced`, `handleBrokerUnfenced`,
`handleBrokerInControlledShutdown`, `handleUncleanBrokerShutdown`, `alterPartition`, `electLeaders`), `QuorumController`
and `ClusterControlManager`, 3.3 to 4.4.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    KraftCluster,
    MetadataRecord,
    PartitionChanged,
)
from model.kraft_controller.partition_change import Asked, Election, change_of
from model.kraft_controller.reasons import reasons_of


class BrokerSilent(msgspec.Struct, frozen=True):
    """Its session is over, or it has stopped: it is fenced."""

    broker: int


class ShutdownWanted(msgspec.Struct, frozen=True):
    """A broker's heartbeat asks to stop, and nobody waits for it yet."""

    broker: int


class BrokerRegisters(msgspec.Struct, frozen=True):
    """A new incarnation. `clean`: it says that it had stopped in order, and so has all that it acknowledged."""

    broker: int
    epoch: int
    clean: bool


class BrokerCaughtUp(msgspec.Struct, frozen=True):
    """A fenced broker has read the metadata log up to its own registration: it is unfenced."""

    broker: int


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
    BrokerSilent | ShutdownWanted | BrokerRegisters | BrokerCaughtUp | UnregisterWanted | IsrsProposed | ElectionsWanted
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
        case UnregisterWanted(broker):
            found = _unregister(cluster, broker)
        case IsrsProposed():
            found = _propose(cluster, event)
        case ElectionsWanted():
            found = _elect(cluster, event)
    records = tuple(found)
    return KraftDecision(records, reasons_of(records))


def _fence(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    yield from _without(cluster, broker, cluster.with_in_isr(broker))
    yield BrokerChanged(broker, fenced=True)


def _shut_down(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    """Who leads something hands it over first; who leads nothing is fenced at once."""
    registered = cluster.brokers.get(broker)
    if registered is None or registered.fenced or not cluster.led_by(broker):
        yield from _fence(cluster, broker)
    elif not registered.in_controlled_shutdown:
        yield BrokerChanged(broker, in_controlled_shutdown=True)
        yield from _without(cluster, broker, cluster.with_in_isr(broker))


def _register(cluster: KraftCluster, event: BrokerRegisters) -> Iterator[MetadataRecord]:
    """Until 3.9 nothing else: who registers again in its old session stays leader though it is fenced."""
    if cluster.levels.registration_cleans_up:
        broker, isr = event.broker, cluster.with_in_isr(event.broker)
        if event.clean or not cluster.levels.elr:
            yield from _without(cluster, broker, isr)
        else:
            eligible = [name for name in cluster.with_in_elr(broker) if name not in set(isr)]
            yield from _without(cluster, broker, [*isr, *eligible], stopped_uncleanly=True)
    yield BrokerRegistered(event.broker, event.epoch)


def _unfence(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    """Whatever has no leader is tried, not only what the broker holds."""
    yield BrokerChanged(broker, fenced=False)
    active = cluster.active | {broker}
    for name in cluster.leaderless:
        yield from _changed(cluster, name, Asked(election=_online(cluster, name)), active)


def _unregister(cluster: KraftCluster, broker: int) -> Iterator[MetadataRecord]:
    yield from _without(cluster, broker, cluster.with_in_isr(broker))
    yield BrokerUnregistered(broker)


def _propose(cluster: KraftCluster, event: IsrsProposed) -> Iterator[PartitionChanged]:
    """Refused where the leader is another one by now, or somebody in the ISR is not active (INELIGIBLE_REPLICA)."""
    for name, isr in event.isrs.items():
        if cluster.partition(name).leader == event.leader and all(map(cluster.is_active, isr)):
            asked = Asked(isr=isr, recovering=False, election=_online(cluster, name))
            yield from _changed(cluster, name, asked, cluster.active)


def _elect(cluster: KraftCluster, event: ElectionsWanted) -> Iterator[PartitionChanged]:
    for name in event.partitions:
        yield from _changed(cluster, name, Asked(election=event.election), cluster.active)


def _without(
    cluster: KraftCluster, broker: int, partitions: Iterable[TopicPartition], *, stopped_uncleanly: bool = False
) -> Iterator[PartitionChanged]:
    """The broker out of their ISRs and, after an unclean stop, out of their ELRs; others lead in its place."""
    gone = frozenset({broker}) if stopped_uncleanly else frozenset[int]()
    active = cluster.active - {broker}
    for name in partitions:
        isr = tuple(each for each in cluster.partition(name).isr if each != broker)
        asked = Asked(isr=isr, stopped_uncleanly=gone, election=_online(cluster, name))
        yield from _changed(cluster, name, asked, active)


def _online(cluster: KraftCluster, name: TopicPartition) -> Election:
    return Election.UNCLEAN if cluster.allows_unclean(name.topic) else Election.ONLINE


def _changed(
    cluster: KraftCluster, name: TopicPartition, asked: Asked, active: Collection[int]
) -> Iterator[PartitionChanged]:
    before = cluster.partition(name)
    change = change_of(before, asked, cluster.levels, active.__contains__, cluster.min_isr(name.topic))
    if change is not None:
        yield PartitionChanged(name, before, *change)
