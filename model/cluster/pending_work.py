"""Work asked of the controller and not done, piece by piece: what it is to bring about, and what it waits for.

Rules: `kafka.controller.KafkaController.onPartitionReassignment`, `PreferredReplicaPartitionLeaderElectionStrategy`,
`TopicDeletionManager` (3.9). `findings.pending_work` judges the same by topic.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.surroundings import Surroundings, surroundings
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import NOBODY, TopicImage, unpadded
from model.cluster.words import brokers

WorkKind = Literal["reassign", "elect", "delete"]
NO_TOPIC = "there is no such topic: the controller should drop it"
NO_PARTITION = "there is no such partition: the controller should drop it"


class PendingWork(msgspec.Struct, frozen=True):
    """One piece. `target`: the replicas that there are to be, or the leader; empty for a deletion.

    `blocked`: it does not go on by itself.
    """

    kind: WorkKind
    topic: str
    partition: int | None
    target: tuple[int, ...]
    waits_for: str
    blocked: bool

    @property
    def subject(self) -> str:
        """The topic, or `orders-3`."""
        return self.topic if self.partition is None else f"{self.topic}-{self.partition}"


def pending_work(image: ClusterImage) -> tuple[PendingWork, ...]:
    """All of it: reassignments, elections of preferred leaders, deletions; each by topic and partition."""
    around = surroundings(image)
    return (*_reassignments(image, around), *_elections(image, around), *_deletions(image, around))


def _reassignments(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
    targets = dict(image.admin.reassignments)
    for name, topic in image.topics.items():
        for number in {*topic.adding, *topic.removing}:
            leaving = topic.removing.get(number, ())
            staying = tuple(replica for replica in _row(topic, number)[0] if replica not in leaving)
            targets.setdefault(TopicPartition(name, number), staying)
    for (name, number), target in sorted(targets.items()):
        waits_for, blocked = _reassignment_waits(image, around, name, number, target)
        yield PendingWork("reassign", name, number, target, waits_for, blocked)


def _reassignment_waits(
    image: ClusterImage, around: Surroundings, name: str, number: int, target: tuple[int, ...]
) -> tuple[str, bool]:
    topic = image.topics.get(name)
    if topic is None or number not in topic.row_of:
        return NO_PARTITION if topic else NO_TOPIC, True
    if name in image.admin.delete_topics:
        return "the topic is being deleted: cancel the reassignment", True
    replicas, isr = _row(topic, number)
    missing = [replica for replica in target if replica not in isr]
    dead = [replica for replica in missing if around.dead(replica)]
    if dead:
        return f"{brokers(dead)} (down) to be in the ISR", True
    if not set(target) <= set(replicas):
        return "the controller to add the new replicas", False
    return f"{brokers(missing)} to be in the ISR" if missing else "the controller to take out the old replicas", False


def _elections(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
    for name, number in sorted(image.admin.preferred_election):
        topic = image.topics.get(name)
        if topic is None or not (replicas := _row(topic, number)[0]):
            yield PendingWork("elect", name, number, (), NO_PARTITION if topic else NO_TOPIC, True)
            continue
        preferred, isr, leader = replicas[0], _row(topic, number)[1], int(topic.leader[topic.row_of[number]])
        waits_for, blocked = "the controller to elect it", False
        if name in image.admin.delete_topics:
            waits_for, blocked = "the topic is being deleted: nobody is elected", True
        elif around.dead(preferred):
            waits_for, blocked = f"broker {preferred} is down: it cannot be elected", True
        elif preferred not in isr:
            waits_for, blocked = f"broker {preferred} is not in the ISR: it cannot be elected", True
        elif leader == preferred:
            waits_for = "nothing: it leads already"
        yield PendingWork("elect", name, number, (preferred,), waits_for, blocked)


def _deletions(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
    for name in sorted(image.admin.delete_topics):
        topic = image.topics.get(name)
        holders: set[int] = set() if topic is None else set(topic.replicas.ravel().tolist()) - {NOBODY}
        dead = [broker for broker in holders if around.dead(broker)]
        waits_for, blocked = f"{brokers(holders)} to delete their replicas", False
        if topic is None:
            waits_for = "the controller to drop the mark: there is no such topic"
        elif dead:
            waits_for, blocked = f"{brokers(dead)} (down) to come back", True
        elif topic.adding or topic.removing:
            waits_for, blocked = "its reassignment to end", True
        yield PendingWork("delete", name, None, (), waits_for, blocked)


def _row(topic: TopicImage, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Replicas and ISR of a partition; none of either if there is no such partition."""
    row = topic.row_of.get(number)
    return ((), ()) if row is None else (unpadded(topic.replicas[row]), unpadded(topic.isr[row]))
