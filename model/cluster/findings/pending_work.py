"""Findings about work asked of the controller and not done: reassignments and topic deletions, and why they are stuck.

Rules: `kafka.controller.KafkaController.onPartitionReassignment`, `TopicDeletionManager`: a reassignment waits until
every new replica is in the ISR, a deletion until every replica's broker has answered.
"""

from collections.abc import Iterable, Iterator, Mapping

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.cases import ClusterCase
from model.cluster.findings.check import cluster_check
from model.cluster.findings.finding import Finding, Kind, finding
from model.cluster.findings.surroundings import Surroundings
from model.cluster.topic_image import NOBODY, TopicImage
from model.cluster.words import brokers, counted, ranges

QUIET_MS = 30 * 60 * 1000
"""A reassignment whose partitions' states were not written for this long is called stuck."""

STUCK_REASSIGNMENT = Kind("reassignment-stuck", "warn")
REASSIGNMENT = Kind("reassignment-running", "info")
STUCK_DELETION = Kind("deletion-stuck", "warn")
DELETION = Kind("deletion-pending", "info")


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
