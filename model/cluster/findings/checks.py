"""Every check, and the kinds of findings there are; says how to run the checks on a case, not on which."""

from collections.abc import Iterator

from model.cluster.findings import cluster, consumers, partitions, pending_work, told
from model.cluster.findings.cases import ClusterCase, GroupCase, TopicCase
from model.cluster.findings.check import ClusterCheck, GroupCheck, TopicCheck
from model.cluster.findings.finding import SEVERITIES, Finding, Severity, finding
from model.cluster.findings.health import Health

CHECKS: tuple[ClusterCheck | TopicCheck | GroupCheck, ...] = (
    cluster.no_brokers,
    cluster.controller,
    told.no_quorum,
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
    pending_work.reassignments,
    pending_work.deletions,
    cluster.preferred_election,
    consumers.unowned,
    consumers.dead_owners,
    consumers.owners_of_nothing,
    consumers.idle,
    consumers.lagging,
    cluster.unreadable,
    told.differences,
    told.late_voters,
    told.failed_log_dirs,
    told.offline_replicas,
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
