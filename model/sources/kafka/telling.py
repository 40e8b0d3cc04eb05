"""From what brokers told before and what they tell now to records of what changed in between. Pure.

A first look is told on top of nothing. What brokers do not know stays unknown: znode versions, the controller's epoch
in ZooKeeper mode, times before the first look; afterwards the time is when the change was seen.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from model.cluster import records as r
from model.cluster.ids import NO_LEADER
from model.cluster.quorum import Quorum
from model.hosts.kafka_client.metadata import NOBODY, PartitionPlace
from model.sources.kafka.views import KRAFT, BrokerView, ClusterView, TopicView

NOTHING = ClusterView()
_NO_TOPIC = TopicView()


def records_between(before: ClusterView, after: ClusterView, now_ms: int, protocol: str) -> Iterator[r.Record]:
    """Facts, in an order that can be replayed. `protocol` stands for the name of the listener, which nobody tells."""
    if before is NOTHING and after.generation != KRAFT:
        yield r.ZnodeUnreadable(path="/controller_epoch", reason=r.UNTOLD)
    if after.cluster_id is not None and after.cluster_id != before.cluster_id:
        yield r.ClusterIdentified(cluster_id=after.cluster_id)
    if after.generation != before.generation:
        yield r.GenerationRecognised(generation=after.generation)
    yield from _brokers(before, after, protocol)
    yield from _controller(before, after, 0 if before is NOTHING else now_ms)
    for name in {**before.topics, **after.topics}:
        old, new = before.topics.get(name, _NO_TOPIC), after.topics.get(name, _NO_TOPIC)
        if old != new or before.tells_elr != after.tells_elr:
            yield from _topic(name, old, new, 0 if before is NOTHING else now_ms, before.tells_elr, after.tells_elr)
    yield from _configs(before.configs, after.configs)
    if (offline := after.offline()) != before.offline():
        yield r.ReplicasWentOffline(replicas=offline)
    for broker, folders in after.log_dirs.items():
        if before.log_dirs.get(broker) != folders:
            yield r.LogDirsDescribed(broker=broker, folders=folders)


def _brokers(before: ClusterView, after: ClusterView, protocol: str) -> Iterator[r.Record]:
    def facts(broker: int, view: BrokerView) -> dict[str, Any]:
        return {"broker": broker, "endpoints": (f"{protocol}://{view.host}:{view.port}",), "rack": view.rack}

    was_fenced, fenced = before.fenced or {}, after.fenced or {}
    tells_anew = (before.fenced is None) != (after.fenced is None)
    for broker, view in after.brokers.items():
        if tells_anew or before.brokers.get(broker) != view:
            yield r.BrokerRegistered(**facts(broker, view), fenced=None if after.fenced is None else False)
    for broker, view in fenced.items():
        if was_fenced.get(broker) != view:
            yield r.BrokerFenced(**facts(broker, view))
    for broker in (before.brokers.keys() | was_fenced.keys()) - after.brokers.keys() - fenced.keys():
        yield r.BrokerLost(broker=broker)


def _controller(before: ClusterView, after: ClusterView, now_ms: int) -> Iterator[r.Record]:
    old, new = before.quorum, after.quorum
    if after.controller != before.controller or before is NOTHING:
        yield (
            r.ControllerLost(time_ms=now_ms)
            if after.controller == NOBODY
            else r.ControllerElected(broker=after.controller, since_ms=now_ms)
        )
    if after.generation == KRAFT and (new is None) != (old is None and before.generation == KRAFT):
        yield (
            r.ZnodeUnreadable(path="/controller", reason=r.UNTOLD)
            if new is None
            else r.ZnodeReadable(path="/controller")
        )
    if new is None:
        return
    if new.leader_epoch >= 0 and (old is None or old.leader_epoch != new.leader_epoch):
        yield r.ControllerEpochChanged(epoch=new.leader_epoch)
    if old is None or essence(old) != essence(new):
        yield r.QuorumDescribed(quorum=new)


def essence(quorum: Quorum) -> object:
    """What is worth telling of a quorum: its log grows twice a second even where nothing happens (KIP-835)."""
    late = tuple(each.id for each in quorum.late_voters())
    members = tuple(each.id for each in quorum.voters), tuple(each.id for each in quorum.observers)
    return quorum.leader, quorum.leader_epoch, members, late, quorum.is_led, quorum.silent, quorum.unconfirmed


def _topic(
    name: str, old: TopicView, new: TopicView, now_ms: int, told_elr: bool, tells_elr: bool
) -> Iterator[r.Record]:
    if gone := tuple(old.places.keys() - new.places.keys()):
        yield r.PartitionStatesRemoved(topic=name, partitions=gone)
    if not new.places:
        yield r.TopicRemoved(topic=name)
        return
    replicas = _replicas(new)
    if (replicas, new.topic_id, new.moves) != (_replicas(old), old.topic_id, old.moves):
        yield r.TopicAssigned(
            topic=name,
            replicas=replicas,
            topic_id=new.topic_id,
            adding={number: adding for number, (adding, _) in new.moves.items() if adding},
            removing={number: removing for number, (_, removing) in new.moves.items() if removing},
        )
    recreated = old.topic_id != new.topic_id
    states = (
        _state(number, place, now_ms, tells_elr)
        for number, place in new.places.items()
        if recreated or _led(old.places.get(number), told_elr) != _led(place, tells_elr)
    )
    if told := tuple(states):
        yield r.PartitionStatesWritten(topic=name, states=told)


def _replicas(topic: TopicView) -> Mapping[int, tuple[int, ...]]:
    return {number: place.replicas for number, place in topic.places.items()}


def _led(place: PartitionPlace | None, tells_elr: bool) -> object:
    return place and (place.leader, place.leader_epoch, place.isr, *_elrs(place, tells_elr))


def _elrs(place: PartitionPlace, tells_elr: bool) -> tuple[tuple[int, ...] | None, ...]:
    """Of a partition of which nothing was told there is none, where brokers tell them at all."""
    return tuple(() if each is None and tells_elr else each for each in (place.elr, place.last_known_elr))


def _state(number: int, place: PartitionPlace, now_ms: int, tells_elr: bool) -> r.PartitionState:
    elr, last_known_elr = _elrs(place, tells_elr)
    return r.PartitionState(
        partition=number,
        leader=NO_LEADER if place.leader == NOBODY else place.leader,
        leader_epoch=place.leader_epoch,
        isr=place.isr,
        controller_epoch=-1,
        time_ms=now_ms,
        elr=elr,
        last_known_elr=last_known_elr,
    )


def _configs(before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]) -> Iterator[r.Record]:
    for entity, config in after.items():
        if before.get(entity) != config:
            yield r.ConfigChanged(entity=entity, config=config)
    for entity in before.keys() - after.keys():
        yield r.ConfigRemoved(entity=entity)
