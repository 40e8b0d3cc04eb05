"""Changes of partitions that rules are made of: each is worked out against the cluster as it was before the event."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial

import msgspec

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.partition_change import Asked, Election, Registration, change_of
from model.kraft_controller.records import PartitionChanged


def online(cluster: KraftCluster, name: TopicPartition) -> Election:
    """Whom any event may elect, as the topic is configured."""
    return Election.UNCLEAN if cluster.allows_unclean(name.topic) else Election.ONLINE


def changed(
    cluster: KraftCluster, name: TopicPartition, asked: Asked, active: Collection[int] | None = None
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
        asked = Asked(isr=isr, stopped_uncleanly=gone, election=online(cluster, name))
        yield from changed(cluster, name, asked, active)


def _placed(cluster: KraftCluster, before: Registration, asked: Asked, replicas: Iterable[int]) -> Asked:
    new = {broker: cluster.new_directory(broker) for broker in replicas if broker not in before.replicas}
    return msgspec.structs.replace(asked, directories=new | dict(asked.directories))
