"""Lists every check, and runs them on an image; on what changed only where an earlier image was looked at before.

What a delta costs depends on the partitions it changes, and on the partitions of their topics that are unwell.
"""

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from model.cluster.cluster_image import EMPTY, ClusterImage, differing_keys
from model.cluster.findings import cluster, consumers, partitions, pending_work
from model.cluster.findings.check import (
    SEVERITIES,
    ClusterCase,
    ClusterCheck,
    Finding,
    GroupCase,
    GroupCheck,
    Severity,
    TopicCase,
    TopicCheck,
    finding,
    topics_of,
)
from model.cluster.findings.cluster import unreadable_findings
from model.cluster.findings.health import BrokerTally, Health, Surroundings, health, surroundings, tally
from model.cluster.findings.pending_work import moving_topics
from model.cluster.partition_columns import ALL, Rows
from model.cluster.topic_image import TopicImage

CHECKS: tuple[ClusterCheck | TopicCheck | GroupCheck, ...] = (
    cluster.no_brokers,
    cluster.controller,
    cluster.no_quorum,
    partitions.offline,
    partitions.under_min_isr,
    partitions.leader_not_in_isr,
    partitions.leader_not_replica,
    cluster.controller_epoch,
    partitions.no_state,
    partitions.orphaned,
    partitions.isr_not_replica,
    partitions.unclean_leader,
    partitions.under_replicated,
    partitions.at_min_isr,
    cluster.dead_brokers,
    partitions.single_rack,
    partitions.single_replica,
    partitions.no_spare_replica,
    cluster.off_preferred,
    cluster.leader_skew,
    cluster.replica_skew,
    partitions.rack_skew,
    cluster.without_id,
    pending_work.reassignments,
    pending_work.deletions,
    cluster.preferred_election,
    consumers.unowned,
    consumers.dead_owners,
    consumers.owners_of_nothing,
    consumers.idle,
    consumers.lagging,
    cluster.unreadable,
    cluster.differences,
    cluster.late_voters,
    cluster.metadata_versions,
    cluster.failed_log_dirs,
    cluster.offline_replicas,
    cluster.untold,
)
"""Of two findings that are equally serious, that of the check further up is the worse."""

SEVERITY: dict[str, Severity] = {
    kind.name: severity
    for severity in SEVERITIES
    for check in CHECKS
    for kind in check.kinds
    if kind.severity == severity
}
"""Kind → severity, the worst kind first."""


def cluster_findings(case: ClusterCase) -> Iterator[Finding]:
    """What is wrong with the cluster as a whole."""
    for check in CHECKS:
        if isinstance(check, ClusterCheck):
            yield from check.look(case)


def partition_findings(health: Health) -> Iterator[Finding]:
    """What is wrong with the partitions Health looks at."""
    for check in CHECKS:
        if isinstance(check, TopicCheck):
            for topic, rows in health.columns.by_topic(check.flags(health)):
                case = TopicCase(health, topic, rows)
                times = health.columns.time_ms[rows]
                known = times[times > 0]
                since_ms = int(known.min()) if len(known) else 0
                yield finding(check.kind, topic.name, *check.tell(case), partitions=case.partitions, since_ms=since_ms)


def group_findings(case: GroupCase) -> Iterator[Finding]:
    """What is wrong with one group. Of who owns what nothing is said where its coordinator does not tell."""
    for check in CHECKS:
        if isinstance(check, GroupCheck) and (case.group.tells_owners or not check.needs_owners):
            yield from check.look(case)


def _none() -> Counter[str]:
    return Counter()


@dataclass(frozen=True)
class Census:
    """By kind; kinds of which there are none are left out."""

    findings: Counter[str] = field(default_factory=_none)
    partitions: Counter[str] = field(default_factory=_none)

    def of(self, severity: Severity) -> int:
        """How many findings are this serious."""
        return sum(count for kind, count in self.findings.items() if SEVERITY[kind] == severity)

    def after(self, gone: Iterable[Finding], came: Iterable[Finding]) -> "Census":
        """The counts after these findings went and those came."""
        findings, partitions = self.findings.copy(), self.partitions.copy()
        for sign, some in ((1, came), (-1, gone)):
            for one in some:
                findings[one.kind] += sign
                partitions[one.kind] += sign * len(one.partitions)
        return Census(+findings, +partitions)


_RANK = {kind: rank for rank, kind in enumerate(SEVERITY)}

Found = tuple[Finding, ...]


@dataclass(frozen=True)
class Findings:
    """What was found in `image`, worst first. Handed to the next `find`, it saves looking at unchanged parts again."""

    found: Found = ()
    image: ClusterImage = EMPTY
    around: Surroundings = field(default_factory=lambda: surroundings(EMPTY), repr=False)
    tally: BrokerTally = field(default_factory=BrokerTally, repr=False)
    moving: frozenset[str] = field(default=frozenset(), repr=False)
    """Topics that are being reassigned."""
    nameless: frozenset[str] = field(default=frozenset(), repr=False)
    """Topics without an id."""
    by_topic: Mapping[str, Found] = field(default_factory=dict[str, Found], repr=False)
    by_group: Mapping[str, Found] = field(default_factory=dict[str, Found], repr=False)
    of_topics: Found = field(default=(), repr=False)
    """Those of `by_topic`, worst first."""
    others: Found = field(default=(), repr=False)
    """Those that are about no topic, worst first."""

    @cached_property
    def census(self) -> Census:
        return Census().after((), self.found)


def find(image: ClusterImage, previous: Findings | None = None) -> Findings:
    """Everything an operator must know about `image`, worst first; `previous` is what `find` said of an earlier image.

    An image that is not whole yields only what could not be read: what it lacks may merely not have been seen yet.
    """
    if not image.provenance.complete:
        return Findings(tuple(unreadable_findings(image)))
    around = _around(image, previous)
    before = previous if previous is not None and previous.around == around else Findings(around=around)
    changed = _changed_topics(before, image)
    now = health(image, changed, around, changed)
    counts = before.tally.moved(tally(health(before.image, changed, around, changed)), tally(now))
    moving = before.moving.difference(changed).union(moving_topics(image, changed))
    nameless = _nameless(before, image, changed)
    by_topic, gone, came = _by_topic(before, changed, partition_findings(now))
    by_group = _by_group(before, image, {name for name, rows in changed.items() if rows is ALL})
    others = (
        *cluster_findings(ClusterCase(image, around, counts, moving, nameless)),
        *(one for found in by_group.values() for one in found),
    )
    others = tuple(sorted(others, key=_place))
    of_topics = _in_order(before.of_topics, gone, came)
    same = of_topics is before.of_topics and others == before.others
    after = Findings(
        found=before.found if same else _in_order(of_topics, (), others),
        image=image,
        around=around,
        tally=counts,
        moving=moving,
        nameless=nameless,
        by_topic=by_topic,
        by_group=by_group,
        of_topics=of_topics,
        others=before.others if same else others,
    )
    census = before.census if same else before.census.after((*gone, *before.others), (*came, *others))
    vars(after)["census"] = census  # counted on, not counted anew
    return after


def _place(one: Finding) -> tuple[int, str, tuple[int, ...]]:
    return _RANK[one.kind], one.subject, one.partitions


def _in_order(ordered: Found, gone: Sequence[Finding], came: Iterable[Finding]) -> Found:
    """Without those that are gone, which are its own objects, and with those that came, each in its place."""
    names = {id(one) for one in gone}
    after = [one for one in ordered if id(one) not in names] if names else list(ordered)
    for one in came:
        insort(after, one, key=_place)
    return ordered if not names and len(after) == len(ordered) else tuple(after)


def _around(image: ClusterImage, previous: Findings | None) -> Surroundings:
    parts = ("brokers", "fenced", "configs", "unreadable")
    if previous is None or any(getattr(previous.image, name) is not getattr(image, name) for name in parts):
        return surroundings(image)
    return previous.around


def _nameless(before: Findings, image: ClusterImage, changed: Iterable[str]) -> frozenset[str]:
    """Topics without an id; the very same while they are the same, for they may be all there are."""
    now = frozenset(name for name in changed if name in image.topics and image.topics[name].topic_id is None)
    if now == before.nameless.intersection(changed):
        return before.nameless
    return before.nameless.difference(changed).union(now)


def _changed_topics(previous: Findings, after: ClusterImage) -> Mapping[str, Rows]:
    """Topics whose findings may differ, and the rows of theirs that decide: those that changed or had findings.

    All rows, where more changed than states: the assignment, the topic's own settings, its deletion mark.
    """
    before = previous.image
    configs = (entity.removeprefix("topics/") for entity in differing_keys(before.configs, after.configs))
    changed: dict[str, Rows] = dict.fromkeys((*configs, *(before.admin.delete_topics ^ after.admin.delete_topics)), ALL)
    for name in differing_keys(before.topics, after.topics):
        if name not in changed:
            old, new = before.topics.get(name), after.topics.get(name)
            changed[name] = ALL if old is None or new is None else _rows(old, new, previous.by_topic.get(name, ()))
    return changed


def _rows(old: TopicImage, new: TopicImage, found: Found) -> Rows:
    rows = new.rows_since(old)
    if rows is None or not found:
        return ALL if rows is None else rows
    flagged = np.zeros(len(new), np.bool_)
    flagged[rows] = True
    for one in found:
        flagged[np.searchsorted(new.partitions, one.partitions)] = True
    return np.flatnonzero(flagged)


def _by_topic(
    before: Findings, changed: Mapping[str, Rows], found: Iterable[Finding]
) -> tuple[Mapping[str, Found], list[Finding], list[Finding]]:
    """The findings by topic, and which of them went and came; those that are equal stay the very same."""
    told: dict[str, Found] = {}
    for one in found:
        told[one.subject] = (*told.get(one.subject, ()), one)
    old = before.by_topic
    differing = [name for name in changed if old.get(name, ()) != told.get(name, ())]
    if not differing:
        return old, [], []
    by_topic = dict(old)
    for name in differing:
        by_topic.pop(name, None)
        if name in told:
            by_topic[name] = told[name]
    gone, came = ([one for name in differing for one in some.get(name, ())] for some in (old, told))
    return by_topic, gone, came


def _by_group(before: Findings, image: ClusterImage, changed: set[str]) -> Mapping[str, Found]:
    """`changed`: topics that may have other partitions."""
    old = before.image
    moved = set(differing_keys(old.log_ends, image.log_ends))
    are_same = old.groups is image.groups and old.classic_groups is image.classic_groups
    if are_same and not moved and not changed:
        return before.by_group
    deleted = image.admin.delete_topics
    topics = {name: topic for name, topic in image.topics.items() if name not in deleted} if deleted else image.topics
    known, groups = before.by_group, dict(old.every_group())
    found: dict[str, Found] = {}
    for key, group in image.every_group():
        is_same = key in known and groups.get(key) is group
        if is_same and not (changed and changed & topics_of(group)) and not (moved and moved & group.offsets.keys()):
            found[key] = known[key]
        else:
            found[key] = tuple(group_findings(GroupCase(key, group, topics, image.log_ends)))
    return found
