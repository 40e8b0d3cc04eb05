"""Work asked of the controller and not done: piece by piece with what it waits for, and as findings by topic.

Rules: `kafka.controller.KafkaController.onPartitionReassignment`, `PreferredReplicaPartitionLeaderElectionStrategy`,
`TopicDeletionManager` (3.9): a reassignment waits until every new replica is in the ISR, a deletion until every
replica's broker has answered.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import ClusterCase, Finding, FindingKind, cluster_check, finding
from model.cluster.findings.health import Surroundings, surroundings
from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers, counted, ranges
from model.cluster.topic_image import NOBODY, TopicImage, unpadded

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
    return (
        *_pending_reassignments(image, around),
        *_pending_elections(image, around),
        *_pending_deletions(image, around),
    )


def _pending_reassignments(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
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


def _pending_elections(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
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


def _pending_deletions(image: ClusterImage, around: Surroundings) -> Iterator[PendingWork]:
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


QUIET_MS = 30 * 60 * 1000
"""A reassignment whose partitions' states were not written for this long is called stuck."""

STUCK_REASSIGNMENT = FindingKind("reassignment-stuck", "warn", "MOVE STUCK")
REASSIGNMENT = FindingKind("reassignment-running", "info", "moving")
STUCK_DELETION = FindingKind("deletion-stuck", "warn", "DELETION")
DELETION = FindingKind("deletion-pending", "info", "deleting")


def moving_topics(image: ClusterImage, names: Iterable[str]) -> Iterator[str]:
    """Those of these topics that are being reassigned, as the topics themselves say."""
    topics = ((name, image.topics.get(name)) for name in names)
    return (name for name, topic in topics if topic is not None and (topic.adding or topic.removing))


@cluster_check(STUCK_REASSIGNMENT, REASSIGNMENT)
def reassignments(case: ClusterCase) -> Iterator[Finding]:
    """Partitions that are being reassigned, by topic, and why they are stuck."""
    for topic, targets in sorted(_moving(case.image, case.moving).items()):
        yield _reassignment(case.image, case.around, topic, targets)


@cluster_check(STUCK_DELETION, DELETION)
def deletions(case: ClusterCase) -> Iterator[Finding]:
    """Topics that are marked for deletion, and why they are stuck."""
    for topic in sorted(case.image.admin.delete_topics):
        yield _deletion(case.image, case.around, topic)


def _moving(image: ClusterImage, names: Iterable[str]) -> Mapping[str, dict[int, set[int]]]:
    """Topic → partition → brokers that have to hold it in the end, as far as the znodes say."""
    moving: dict[str, dict[int, set[int]]] = {}
    for name in names:
        topic = image.topics[name]
        partitions = {*topic.adding, *topic.removing}
        moving[name] = {partition: set(topic.adding.get(partition, ())) for partition in partitions}
    for (name, partition), targets in image.admin.reassignments.items():
        moving.setdefault(name, {}).setdefault(partition, set()).update(targets)
    return moving


def _reassignment(image: ClusterImage, around: Surroundings, name: str, targets: Mapping[int, set[int]]) -> Finding:
    topic = image.topics.get(name)
    partitions = tuple(sorted(targets))
    dead = {broker for target in targets.values() for broker in target if around.dead(broker)}
    last_ms = _last_written_ms(topic, partitions)
    quiet_ms = image.provenance.time_ms - last_ms if last_ms else 0
    reason, action = "", "Wait; watch the ISR grow."
    if dead:
        reason, action = f"; {brokers(dead)} (down) should take replicas", f"Bring {brokers(dead)} back, or cancel."
    elif topic is None:
        reason, action = "; there is no such topic", "The controller should drop it; see whether it is at work."
    elif name in image.admin.delete_topics:
        reason, action = "; the topic is being deleted", "Cancel the reassignment, then the deletion goes on."
    elif quiet_ms > QUIET_MS:
        reason = f"; nothing has moved for {quiet_ms // 60_000} min"
        action = "See whether the new replicas fetch (throttle, disk, failed log directory), or cancel."
    return finding(
        STUCK_REASSIGNMENT if reason else REASSIGNMENT,
        name,
        f"{counted(len(partitions), 'partition')} being reassigned: {ranges(partitions)}{reason}",
        "Old and new replicas take room and traffic until every new one is in the ISR.",
        action,
        partitions=partitions,
        since_ms=last_ms,
    )


def _last_written_ms(topic: TopicImage | None, partitions: tuple[int, ...]) -> int:
    if topic is None:
        return 0
    return max((int(topic.time_ms[topic.row_of[p]]) for p in partitions if p in topic.row_of), default=0)


def _deletion(image: ClusterImage, around: Surroundings, name: str) -> Finding:
    topic = image.topics.get(name)
    holders: set[int] = set() if topic is None else {int(broker) for broker in topic.replicas.ravel()} - {NOBODY}
    dead = {broker for broker in holders if around.dead(broker)}
    reason, action = "", "Wait. Kafka 0.8.1 to 0.10.1 keep the mark for ever where delete.topic.enable is false."
    if dead:
        reason, action = (
            f"; waits for {brokers(dead)} (down)",
            f"Bring {brokers(dead)} back: deletion goes on by itself.",
        )
    elif topic is not None and (topic.adding or topic.removing):
        reason, action = "; waits for its reassignment to end", "Finish or cancel the reassignment."
    return finding(
        STUCK_DELETION if reason else DELETION,
        name,
        f"marked for deletion{reason}",
        "Producers and consumers of the topic fail, and its name cannot be used again until it is gone.",
        action,
    )
