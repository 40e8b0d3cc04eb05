"""All that a cluster's brokers have told, as one value; records of what changed between two; differences to ZooKeeper.

Nothing is asked here. A first look is told on top of nothing. What brokers do not know stays unknown: znode versions,
the controller's epoch in ZooKeeper mode, times before the first look; afterwards the time is when the change was seen.
The Kafka generation is known by the API versions that brokers speak (`ApiKeys`; only KRaft lists DescribeQuorum).

News take time to reach a broker, so one look proves nothing: a difference to ZooKeeper counts when the same broker says
the same at two looks in a row, and what it is about was not written in between.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER, KafkaGeneration, TopicPartition, newest
from model.cluster.image_parts import LogDir, Quorum
from model.cluster.topic_image import TopicImage, unpadded
from model.hosts.kafka_client import NOBODY, Metadata, PartitionPlace
from model.hosts.wire.names import ApiKey

KRAFT: Final[KafkaGeneration] = "kraft"
"""The generation without ZooKeeper."""
Change = tuple[tuple[int, ...], tuple[int, ...]]
"""Replicas that a reassignment adds, and those that it removes."""


class TopicView(msgspec.Struct, frozen=True):
    """One topic."""

    topic_id: str | None = None
    places: Mapping[int, PartitionPlace] = {}
    moves: Mapping[int, Change] = {}
    """Partitions whose reassignment is under way."""


class BrokerView(msgspec.Struct, frozen=True):
    """One broker that lives."""

    host: str
    port: int
    rack: str | None = None


class ClusterView(msgspec.Struct, frozen=True):
    """The whole. `controller` is a broker or, in KRaft, a controller node; NOBODY: there is none."""

    cluster_id: str | None = None
    generation: KafkaGeneration = "unknown"
    features: Mapping[str, int] = {}
    """Finalized features (KIP-584) → level."""
    controller: int = NOBODY
    brokers: Mapping[int, BrokerView] = {}
    fenced: Mapping[int, BrokerView] | None = None
    """Brokers that are registered and fenced; None where brokers do not tell, as before 4.0."""
    topics: Mapping[str, TopicView] = {}
    tells_elr: bool = False
    """Whether brokers tell eligible leader replicas: then partitions of which they told nothing have none."""
    configs: Mapping[str, Mapping[str, str]] = {}
    """By entity as in Kafka's entity path; `server.properties/1` is broker 1's file."""
    quorum: Quorum | None = None
    log_dirs: Mapping[int, tuple[LogDir, ...]] = {}
    controllers: tuple[tuple[str, int], ...] = ()
    """Where the quorum's voters listen, in KRaft, as far as brokers tell."""

    def offline(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Replicas that are offline on brokers that live: their log folder failed."""
        return {
            TopicPartition(name, number): gone
            for name, topic in self.topics.items()
            for number, place in topic.places.items()
            if place.offline and (gone := tuple(each for each in place.offline if each in self.brokers))
        }


def brokers_of(metadata: Metadata) -> dict[int, BrokerView]:
    """Who lives."""
    return {
        number: BrokerView(host, port, metadata.racks.get(number)) for number, (host, port) in metadata.brokers.items()
    }


def topics_of(metadata: Metadata, moves: Mapping[TopicPartition, Change]) -> dict[str, TopicView]:
    """By name."""
    places: dict[str, dict[int, PartitionPlace]] = {}
    for name, place in metadata.partitions.items():
        places.setdefault(name.topic, {})[name.partition] = place
    moving: dict[str, dict[int, Change]] = {}
    for name, change in moves.items():
        moving.setdefault(name.topic, {})[name.partition] = change
    return {
        name: TopicView(metadata.topic_ids.get(name), found, moving.get(name, {})) for name, found in places.items()
    }


_SINCE: Final[Mapping[KafkaGeneration, tuple[int, int]]] = {
    "2.x": (ApiKey.METADATA, 6),
    "3.x": (ApiKey.LIST_OFFSETS, 7),
}
"""Generation → an API and the version of it that it brought."""
OLDEST: Final[KafkaGeneration] = "0.9-1.x"
"""Brokers before 0.10 do not tell versions at all."""


def generation_of(versions: Mapping[int, tuple[int, int]]) -> KafkaGeneration:
    """From API → lowest and highest version."""
    if ApiKey.DESCRIBE_QUORUM in versions:
        return KRAFT
    brought: list[KafkaGeneration] = [
        name for name, (key, version) in _SINCE.items() if versions.get(key, (0, -1))[1] >= version
    ]
    return newest(OLDEST, *brought)


NOTHING = ClusterView()
_NO_TOPIC = TopicView()


def records_between(before: ClusterView, after: ClusterView, now_ms: int, protocol: str) -> Iterator[r.ClusterRecord]:
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


def _brokers(before: ClusterView, after: ClusterView, protocol: str) -> Iterator[r.ClusterRecord]:
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


def _controller(before: ClusterView, after: ClusterView, now_ms: int) -> Iterator[r.ClusterRecord]:
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
    members = tuple(
        tuple((each.id, each.directory_id, each.endpoints) for each in some)
        for some in (quorum.voters, quorum.observers)
    )
    return quorum.leader, quorum.leader_epoch, members, late, quorum.is_led, quorum.silent, quorum.unconfirmed


def _topic(
    name: str, old: TopicView, new: TopicView, now_ms: int, told_elr: bool, tells_elr: bool
) -> Iterator[r.ClusterRecord]:
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


def _configs(
    before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> Iterator[r.ClusterRecord]:
    for entity, config in after.items():
        if before.get(entity) != config:
            yield r.ConfigChanged(entity=entity, config=config)
    for entity in before.keys() - after.keys():
        yield r.ConfigRemoved(entity=entity)


class ViewDifference(msgspec.Struct, frozen=True):
    """`stamp` tells versions of what ZooKeeper holds apart: a zxid, or what stands for one."""

    said: str
    stamp: object


class Rounds:
    """Which broker's turn it is, and what each said when it was asked last."""

    def __init__(self) -> None:
        self._said: dict[int, Mapping[str, ViewDifference]] = {}
        self._lasting: dict[int, Mapping[str, str]] = {}
        self._last = NOBODY

    def next(self, brokers: Iterable[int]) -> list[int]:
        """All of them, beginning with the one after the last that was seen; what others said is forgotten."""
        order = sorted(brokers)
        for gone in self._said.keys() - set(order):
            del self._said[gone], self._lasting[gone]
        return [*(each for each in order if each > self._last), *(each for each in order if each <= self._last)]

    def see(self, broker: int, now: Mapping[str, ViewDifference]) -> dict[str, str]:
        """What lasts, at all brokers: `orders-0 at broker 2` → sentence."""
        before, self._last = self._said.get(broker, {}), broker
        self._said[broker] = now
        self._lasting[broker] = {subject: one.said for subject, one in now.items() if before.get(subject) == one}
        return {
            f"{subject} at broker {each}": said
            for each, found in sorted(self._lasting.items())
            for subject, said in found.items()
        }


def differences(image: ClusterImage, metadata: Metadata) -> dict[str, ViewDifference]:
    """By subject: a broker, the controller, a topic, a partition."""
    return dict((*_of_brokers(image, metadata), *_of_topics(image, metadata)))


def _of_brokers(image: ClusterImage, metadata: Metadata) -> Iterator[tuple[str, ViewDifference]]:
    for broker in sorted(image.brokers.keys() - metadata.brokers.keys()):
        stamp = image.brokers[broker].registered_ms
        yield f"broker {broker}", ViewDifference("is registered in ZooKeeper, and not known to it", stamp)
    for broker in sorted(metadata.brokers.keys() - image.brokers.keys()):
        yield f"broker {broker}", ViewDifference("lives for it, and is not registered in ZooKeeper", None)
    controller = image.controller.broker
    # In a migration (KIP-866) the controller is no broker, and metadata names any live broker in its place.
    if controller in image.brokers and metadata.controller not in (NOBODY, controller):
        said = f"is broker {metadata.controller} for it, broker {controller} in ZooKeeper"
        yield "controller", ViewDifference(said, image.controller.since_ms)


def _of_topics(image: ClusterImage, metadata: Metadata) -> Iterator[tuple[str, ViewDifference]]:
    told: dict[str, dict[int, PartitionPlace]] = {}
    for name, place in metadata.partitions.items():
        told.setdefault(name.topic, {})[name.partition] = place
    for name in sorted((image.topics.keys() | told.keys()) - image.admin.delete_topics):
        topic, places = image.topics.get(name), told.get(name)
        if topic is None:
            yield name, ViewDifference("is known to it, and not in ZooKeeper", None)
        elif places is not None:
            yield from _of_partitions(topic, places)
        elif bool(topic.has_state.any()):
            yield name, ViewDifference("is in ZooKeeper, and not known to it", int(topic.zxid.max(initial=-1)))


def _of_partitions(topic: TopicImage, places: Mapping[int, PartitionPlace]) -> Iterator[tuple[str, ViewDifference]]:
    for row, number in enumerate(topic.partitions.tolist()):
        place = places.get(number)
        if not topic.has_state[row] or place is None:
            continue
        leader, epoch, isr = int(topic.leader[row]), int(topic.leader_epoch[row]), unpadded(topic.isr[row])
        told_epoch = epoch if place.leader_epoch < 0 else place.leader_epoch
        if (leader, epoch, set(isr)) != (place.leader, told_epoch, set(place.isr)):
            said = (
                f"leader {place.leader} e{told_epoch} ISR {sorted(place.isr)} for it, "
                f"leader {leader} e{epoch} ISR {sorted(isr)} in ZooKeeper"
            )
            yield f"{topic.name}-{number}", ViewDifference(said, int(topic.zxid[row]))
