"""Findings about consumer groups: who owns nothing, what nobody owns, who lags.

Rules: `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1): a consumer has one thread per stream, named
`<consumer id>-<n>`, and each partition of a subscribed topic is claimed by one thread. Patterns are not evaluated: a
stranger's regular expression can run for ever. A pattern that is a plain name counts, and so does what the group uses.
"""

from collections.abc import Iterator

from model.cluster.findings.check import Finding, FindingKind, GroupCase, finding, group_check
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import ZOOKEEPER, GroupImage
from model.cluster.texts import counted, listed, ranges

LAG_RECORDS = 1_000
"""A group that is fewer records behind than this, over all partitions, is no finding."""


UNOWNED_PARTITION = FindingKind("unowned-partition", "warn", "UNOWNED")
DEAD_OWNER = FindingKind("dead-owner", "warn", "DEAD OWNER")
OWNER_OF_NOTHING = FindingKind("owner-of-nothing", "warn", "BAD OWNER")
LAGGING = FindingKind("lagging", "warn", "LAG")
OFFSET_OUT_OF_RANGE = FindingKind("offset-out-of-range", "warn", "BAD OFFSET")
IDLE_THREAD = FindingKind("idle-thread", "info", "idle")


@group_check(UNOWNED_PARTITION)
def unowned(case: GroupCase) -> Iterator[Finding]:
    """A partition of a subscribed topic that nobody owns."""
    for name in sorted(case.subscribed()):
        topic = case.topics[name]
        assigned = topic.partitions[~topic.orphaned].tolist()
        free = [partition for partition in assigned if TopicPartition(name, partition) not in case.group.owners]
        if free:
            yield finding(
                UNOWNED_PARTITION,
                case.subject,
                f"{len(free):,} of {counted(len(assigned), 'partition')} of {name} owned by nobody: {ranges(free)}",
                "The group has members that subscribe to the topic, yet nobody reads these partitions.",
                "A rebalance is under way or was given up; restart a consumer of the group to start another.",
                partitions=tuple(free),
            )


@group_check(DEAD_OWNER)
def dead_owners(case: GroupCase) -> Iterator[Finding]:
    """A partition whose owner is no member."""
    group = case.group
    dead = {owned: owner for owned, owner in group.owners.items() if group.member_of(owner) not in group.members}
    if dead:
        yield finding(
            DEAD_OWNER,
            case.subject,
            f"{counted(len(dead), 'partition')} owned by consumers that are gone: {listed(sorted(dead))}; "
            f"owners {listed(sorted(set(dead.values())))}",
            "Nobody else may claim them while the owner's znode is there.",
            "It goes with its session. If it stays, the consumer's process lives without its registration: restart it.",
        )


@group_check(OWNER_OF_NOTHING)
def owners_of_nothing(case: GroupCase) -> Iterator[Finding]:
    """A partition that is owned and does not exist."""
    gone = sorted(owned for owned in case.group.owners if not case.exists(owned))
    if gone:
        yield finding(
            OWNER_OF_NOTHING,
            case.subject,
            f"{counted(len(gone), 'partition')} owned that the cluster does not have: {listed(gone)}",
            "The topic was deleted or made anew with fewer partitions while the group was reading.",
            "Restart the group's consumers.",
        )


@group_check(IDLE_THREAD)
def idle(case: GroupCase) -> Iterator[Finding]:
    """A consumer thread without a partition."""
    owners = set(case.group.owners.values())
    threads = sorted(thread for name in case.group.members for thread in _threads(case.group, name))
    spare = [thread for thread in threads if thread not in owners]
    if spare:
        partitions = sum(int((~case.topics[name].orphaned).sum()) for name in case.subscribed())
        yield finding(
            IDLE_THREAD,
            case.subject,
            f"{len(spare):,} of {counted(len(threads), 'consumer thread')} own no partition: {listed(spare)}",
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


@group_check(LAGGING, OFFSET_OUT_OF_RANGE, needs_owners=False)
def lagging(case: GroupCase) -> Iterator[Finding]:
    """A group far behind the ends of its logs, or beyond them."""
    ends = case.log_end_offsets
    lags = {read: ends[read] - offset for read, offset in case.group.offsets.items() if read in ends}
    behind = sorted(((lag, read) for read, lag in lags.items() if lag > 0), key=lambda pair: (-pair[0], pair[1]))
    total = sum(lag for lag, _ in behind)
    if total >= LAG_RECORDS:
        yield finding(
            LAGGING,
            case.subject,
            f"{counted(total, 'record')} behind on {counted(len(behind), 'partition')}: "
            + listed(f"{read} ({lag:,})" for lag, read in behind),
            "What retention deletes before it is read is lost to the group.",
            "Add consumers up to the number of partitions, or see what slows them.",
        )
    ahead = sorted(read for read, lag in lags.items() if lag < 0)
    if ahead:
        yield finding(
            OFFSET_OUT_OF_RANGE,
            case.subject,
            f"{counted(len(ahead), 'offset')} beyond the end of the log: {listed(ahead)}",
            "The topic was made anew or an unclean election cut its log; the consumer will start over or stop.",
            "Decide where the group should go on, and set its offsets.",
        )
