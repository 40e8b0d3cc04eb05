"""What a broker tells and ZooKeeper does not bear out. Pure but for `Rounds`, which remembers what was said.

News take time to reach a broker, so one look proves nothing: a difference counts when the same broker says the same at
two looks in a row, and what it is about was not written in between.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.topic_image import TopicImage, unpadded
from model.hosts.kafka_client.metadata import NOBODY, Metadata, PartitionPlace


class Difference(msgspec.Struct, frozen=True):
    """`stamp` tells versions of what ZooKeeper holds apart: a zxid, or what stands for one."""

    said: str
    stamp: object


class Rounds:
    """Which broker's turn it is, and what each said when it was asked last."""

    def __init__(self) -> None:
        self._said: dict[int, Mapping[str, Difference]] = {}
        self._lasting: dict[int, Mapping[str, str]] = {}
        self._last = NOBODY

    def next(self, brokers: Iterable[int]) -> list[int]:
        """All of them, beginning with the one after the last that was seen; what others said is forgotten."""
        order = sorted(brokers)
        for gone in self._said.keys() - set(order):
            del self._said[gone], self._lasting[gone]
        return [*(each for each in order if each > self._last), *(each for each in order if each <= self._last)]

    def see(self, broker: int, now: Mapping[str, Difference]) -> dict[str, str]:
        """What lasts, at all brokers: `orders-0 at broker 2` → sentence."""
        before, self._last = self._said.get(broker, {}), broker
        self._said[broker] = now
        self._lasting[broker] = {subject: one.said for subject, one in now.items() if before.get(subject) == one}
        return {
            f"{subject} at broker {each}": said
            for each, found in sorted(self._lasting.items())
            for subject, said in found.items()
        }


def differences(image: ClusterImage, metadata: Metadata) -> dict[str, Difference]:
    """By subject: a broker, the controller, a topic, a partition."""
    return dict((*_of_brokers(image, metadata), *_of_topics(image, metadata)))


def _of_brokers(image: ClusterImage, metadata: Metadata) -> Iterator[tuple[str, Difference]]:
    for broker in sorted(image.brokers.keys() - metadata.brokers.keys()):
        stamp = image.brokers[broker].registered_ms
        yield f"broker {broker}", Difference("is registered in ZooKeeper, and not known to it", stamp)
    for broker in sorted(metadata.brokers.keys() - image.brokers.keys()):
        yield f"broker {broker}", Difference("lives for it, and is not registered in ZooKeeper", None)
    controller = image.controller.broker
    # In a migration (KIP-866) the controller is no broker, and metadata names any live broker in its place.
    if controller in image.brokers and metadata.controller not in (NOBODY, controller):
        said = f"is broker {metadata.controller} for it, broker {controller} in ZooKeeper"
        yield "controller", Difference(said, image.controller.since_ms)


def _of_topics(image: ClusterImage, metadata: Metadata) -> Iterator[tuple[str, Difference]]:
    told: dict[str, dict[int, PartitionPlace]] = {}
    for name, place in metadata.partitions.items():
        told.setdefault(name.topic, {})[name.partition] = place
    for name in sorted((image.topics.keys() | told.keys()) - image.admin.delete_topics):
        topic, places = image.topics.get(name), told.get(name)
        if topic is None:
            yield name, Difference("is known to it, and not in ZooKeeper", None)
        elif places is not None:
            yield from _of_partitions(topic, places)
        elif bool(topic.has_state.any()):
            yield name, Difference("is in ZooKeeper, and not known to it", int(topic.zxid.max(initial=-1)))


def _of_partitions(topic: TopicImage, places: Mapping[int, PartitionPlace]) -> Iterator[tuple[str, Difference]]:
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
            yield f"{topic.name}-{number}", Difference(said, int(topic.zxid[row]))
