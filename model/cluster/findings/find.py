"""Runs every check on an image, and on what changed only where an earlier image was looked at before."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.findings.cluster import ClusterCase, cluster_findings, unreadable_findings
from model.cluster.findings.consumers import GroupCase, group_findings, topics_of
from model.cluster.findings.finding import SEVERITY, Finding
from model.cluster.findings.health import health
from model.cluster.findings.partitions import partition_findings
from model.cluster.findings.pending_work import pending_work_findings
from model.cluster.findings.surroundings import Surroundings, surroundings
from model.cluster.findings.tally import Tally, tally
from model.cluster.ids import TopicPartition

_RANK = {kind: rank for rank, kind in enumerate(SEVERITY)}


@dataclass(frozen=True)
class Findings:
    """What was found in `image`, worst first. Handed to the next `find`, it saves looking at unchanged parts again."""

    found: tuple[Finding, ...] = ()
    image: ClusterImage = EMPTY
    around: Surroundings = field(default_factory=lambda: surroundings(EMPTY), repr=False)
    tally: Tally = field(default_factory=Tally, repr=False)
    by_topic: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict[str, tuple[Finding, ...]], repr=False)
    by_group: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict[str, tuple[Finding, ...]], repr=False)


def find(image: ClusterImage, previous: Findings | None = None) -> Findings:
    """Everything an operator must know about `image`, worst first; `previous` is what `find` said of an earlier image.

    An image that is not whole yields only what could not be read: what it lacks may merely not have been seen yet.
    """
    if not image.provenance.complete:
        return Findings(tuple(unreadable_findings(image)))
    around = surroundings(image)
    before = previous if previous is not None and previous.around == around else Findings(around=around)
    changed = _changed_topics(before.image, image)
    now = health(image, changed, around)
    counts = before.tally - tally(health(before.image, changed, around)) + tally(now)
    by_topic = {name: found for name, found in before.by_topic.items() if name not in changed}
    for one in partition_findings(now):
        by_topic[one.subject] = (*by_topic.get(one.subject, ()), one)
    by_group = _by_group(before, image, changed)
    every = [
        *cluster_findings(ClusterCase(image, around, counts)),
        *pending_work_findings(image, around),
        *(one for found in by_topic.values() for one in found),
        *(one for found in by_group.values() for one in found),
    ]
    every.sort(key=lambda one: (_RANK[one.kind], one.subject, one.partitions))
    return Findings(tuple(every), image, around, counts, by_topic, by_group)


def _changed_topics(before: ClusterImage, after: ClusterImage) -> set[str]:
    """Topics whose findings may differ: the topic, its own settings or its deletion mark changed."""
    changed = set(before.admin.delete_topics ^ after.admin.delete_topics)
    for old, new in ((before.topics, after.topics), (before.configs, after.configs)):
        if old is not new:
            changed.update(name for name, value in new.items() if old.get(name) is not value)
            changed.update(name for name in old if name not in new)
    return {name.removeprefix("topics/") for name in changed}


def _by_group(before: Findings, image: ClusterImage, changed: set[str]) -> Mapping[str, tuple[Finding, ...]]:
    deleted = image.admin.delete_topics
    topics = {name: topic for name, topic in image.topics.items() if name not in deleted} if deleted else image.topics
    old, new = before.image.log_ends, image.log_ends
    moved: frozenset[TopicPartition] = (
        frozenset() if old is new else frozenset(read for read, _ in old.items() ^ new.items())
    )
    known, groups = before.by_group, dict(before.image.every_group())
    found: dict[str, tuple[Finding, ...]] = {}
    for key, group in image.every_group():
        same = key in known and groups.get(key) is group and changed.isdisjoint(topics_of(group))
        if same and moved.isdisjoint(group.offsets):
            found[key] = known[key]
        else:
            found[key] = tuple(group_findings(GroupCase(key, group, topics, new)))
    return found
