"""Findings about consumer groups: who owns nothing, what nobody owns, who lags.

Rules: `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1): a consumer has one thread per stream, named
`<consumer id>-<n>`, and each partition of a subscribed topic is claimed by one thread. Patterns are not evaluated: a
stranger's regular expression can run for ever. A pattern that is a plain name counts, and so does what the group uses.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from model.cluster.findings.finding import Finding, finding
from model.cluster.group_image import ZOOKEEPER, GroupImage, Member
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import TopicImage
from model.cluster.words import counted, listed, ranges

LAG_RECORDS = 1_000
"""A group that is fewer records behind than this, over all partitions, is no finding."""


class GroupCase(NamedTuple):
    """A group and what it depends on. `topics` leaves out those being deleted."""

    key: str
    group: GroupImage
    topics: Mapping[str, TopicImage]
    log_end_offsets: Mapping[TopicPartition, int]

    @property
    def subject(self) -> str:
        return f"group {self.key}"

    def subscribed(self) -> set[str]:
        """Topics its members read and the cluster has."""
        used = {used.topic for used in (*self.group.owners, *self.group.offsets)}
        names = {name for member in self.group.members.values() for name in _named(member, used)}
        return {name for name in names if name in self.topics}

    def exists(self, partition: TopicPartition) -> bool:
        topic = self.topics.get(partition.topic)
        return topic is not None and partition.partition in topic.row_of


def topics_of(group: GroupImage) -> frozenset[str]:
    """Every topic name that what is found about the group depends on."""
    used = {used.topic for used in (*group.owners, *group.offsets)}
    return frozenset(used.union(*(_named(member, used) for member in group.members.values())))


def _named(member: Member, used: set[str]) -> set[str]:
    if member.pattern == "static":
        return set(member.subscription)
    if member.pattern == "black_list":
        return used
    plain = {name for pattern in member.subscription for name in pattern.replace(",", "|").split("|")}
    return used | plain


def _unowned(case: GroupCase) -> Iterator[Finding]:
    for name in sorted(case.subscribed()):
        topic = case.topics[name]
        assigned = topic.partitions[~topic.orphaned].tolist()
        free = [partition for partition in assigned if TopicPartition(name, partition) not in case.group.owners]
        if free:
            yield finding(
                "unowned-partition",
                case.subject,
                f"{len(free):,} of {counted(len(assigned), 'partition')} of {name} owned by nobody: {ranges(free)}",
                "The group has members that subscribe to the topic, yet nobody reads these partitions.",
                "A rebalance is under way or was given up; restart a consumer of the group to start another.",
                partitions=tuple(free),
            )


def _dead_owners(case: GroupCase) -> Iterator[Finding]:
    group = case.group
    dead = {owned: owner for owned, owner in group.owners.items() if group.member_of(owner) not in group.members}
    if dead:
        yield finding(
            "dead-owner",
            case.subject,
            f"{counted(len(dead), 'partition')} owned by consumers that are gone: {listed(sorted(dead))}; "
            f"owners {listed(sorted(set(dead.values())))}",
            "Nobody else may claim them while the owner's znode is there.",
            "It goes with its session. If it stays, the consumer's process lives without its registration: restart it.",
        )


def _owners_of_nothing(case: GroupCase) -> Iterator[Finding]:
    gone = sorted(owned for owned in case.group.owners if not case.exists(owned))
    if gone:
        yield finding(
            "owner-of-nothing",
            case.subject,
            f"{counted(len(gone), 'partition')} owned that the cluster does not have: {listed(gone)}",
            "The topic was deleted or made anew with fewer partitions while the group was reading.",
            "Restart the group's consumers.",
        )


def _idle(case: GroupCase) -> Iterator[Finding]:
    owners = set(case.group.owners.values())
    threads = sorted(thread for name in case.group.members for thread in _threads(case.group, name))
    idle = [thread for thread in threads if thread not in owners]
    if idle:
        partitions = sum(int((~case.topics[name].orphaned).sum()) for name in case.subscribed())
        yield finding(
            "idle-thread",
            case.subject,
            f"{len(idle):,} of {counted(len(threads), 'consumer thread')} own no partition: {listed(idle)}",
            f"The group subscribes to {counted(partitions, 'partition')}; a partition is read by one thread only.",
            "Spare threads take over when others leave. To use them now, add partitions or run fewer threads.",
        )


def _threads(group: GroupImage, consumer: str) -> set[str]:
    if group.kind != ZOOKEEPER:
        return {consumer}
    most = max(group.members[consumer].subscription.values(), default=0)
    return {f"{consumer}-{number}" for number in range(min(most, _MOST_THREADS))}


_MOST_THREADS = 10_000
"""More than this in one consumer is a damaged znode, not a consumer."""


def _lagging(case: GroupCase) -> Iterator[Finding]:
    ends = case.log_end_offsets
    lags = {read: ends[read] - offset for read, offset in case.group.offsets.items() if read in ends}
    behind = sorted(((lag, read) for read, lag in lags.items() if lag > 0), key=lambda pair: (-pair[0], pair[1]))
    total = sum(lag for lag, _ in behind)
    if total >= LAG_RECORDS:
        yield finding(
            "lagging",
            case.subject,
            f"{counted(total, 'record')} behind on {counted(len(behind), 'partition')}: "
            + listed(f"{read} ({lag:,})" for lag, read in behind),
            "What retention deletes before it is read is lost to the group.",
            "Add consumers up to the number of partitions, or see what slows them.",
        )
    ahead = sorted(read for read, lag in lags.items() if lag < 0)
    if ahead:
        yield finding(
            "offset-out-of-range",
            case.subject,
            f"{counted(len(ahead), 'offset')} beyond the end of the log: {listed(ahead)}",
            "The topic was made anew or an unclean election cut its log; the consumer will start over or stop.",
            "Decide where the group should go on, and set its offsets.",
        )


_GROUP_CHECKS: tuple[Callable[[GroupCase], Iterator[Finding]], ...] = (
    _unowned,
    _dead_owners,
    _owners_of_nothing,
    _idle,
    _lagging,
)


def group_findings(case: GroupCase) -> Iterator[Finding]:
    """What is wrong with one group. Of who owns what nothing is said where its coordinator does not tell."""
    for check in _GROUP_CHECKS if case.group.tells_owners else (_lagging,):
        yield from check(case)
