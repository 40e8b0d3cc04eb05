"""Findings about partitions: one for each topic and kind, naming the partitions and the brokers to blame.

Which partitions they are is asked of Health; here it is put into words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.cluster.findings.finding import Finding, finding
from model.cluster.findings.health import Health
from model.cluster.topic_image import NOBODY, Column, Flags, Ints, TopicImage
from model.cluster.words import brokers, counted, ranges


class Case(NamedTuple):
    """The flagged rows of one topic."""

    health: Health
    topic: TopicImage
    rows: Ints

    @property
    def partitions(self) -> tuple[int, ...]:
        return tuple(self.health.columns.partitions[self.rows].tolist())

    @property
    def of(self) -> str:
        """`3 of 12 partitions`."""
        return f"{len(self.rows):,} of {counted(len(self.topic), 'partition')}"

    @property
    def which(self) -> str:
        return ranges(self.partitions)

    @property
    def min_isr(self) -> int:
        return int(self.health.min_isr[self.rows[0]])

    @property
    def last_in_sync(self) -> set[int]:
        """Members of the ISR."""
        return _ids(self.health.columns.isr[self.rows])

    @property
    def leaders(self) -> set[int]:
        return _ids(self.health.columns.leader[self.rows])

    def holders(self, *, in_isr: bool | None = None, live: bool | None = None) -> set[int]:
        """Brokers with a replica of these partitions that are in the ISR, or live, or neither."""
        holds = np.ones((len(self.rows), self.health.columns.replicas.shape[1]), np.bool_)
        if in_isr is not None:
            holds &= self.health.columns.in_isr[self.rows] == in_isr
        if live is not None:
            holds &= self.health.replica_lives[self.rows] == live
        return _ids(self.health.columns.replicas[self.rows][holds])

    @property
    def out_of_isr(self) -> set[int]:
        return self.holders(in_isr=False)

    def blame(self, ids: set[int]) -> str:
        """`broker 5 (down) and brokers 1, 2 (up)`."""
        down = {broker for broker in ids if self.health.around.dead(broker)}
        parts = [f"{brokers(some)} ({state})" for some, state in ((down, "down"), (ids - down, "up")) if some]
        return " and ".join(parts) or "no broker"


class Words(NamedTuple):
    """The three sentences of a finding."""

    what: str
    why: str
    action: str


def _ids(column: Column) -> set[int]:
    return set(column.ravel().tolist()) - {NOBODY}


def _offline(case: Case) -> Words:
    why = "Nobody can write to them or read from them. Kafka elects only a live member of the ISR."
    able, spare = case.holders(in_isr=True, live=True), case.holders(in_isr=False, live=True)
    if case.leaders:
        blamed = f"the leader was {case.blame(case.leaders)}"
    else:
        blamed = f"last in sync: {case.blame(case.last_in_sync)}"
    what = f"{case.of} offline (no live leader): {case.which}; {blamed}"
    if able:
        return Words(
            what, why, f"{brokers(able).capitalize()} can lead; if none does soon, see what the controller does."
        )
    unclean = f"An unclean election on {brokers(spare)} would lose records" if spare else "Unclean election cannot help"
    return Words(
        what, why, f"Bring {brokers(case.last_in_sync)} back. {unclean}{'' if spare else ': no other replica lives'}."
    )


def _under_min_isr(case: Case) -> Words:
    what = f"{case.of} below min ISR {case.min_isr}: {case.which}; out of sync: {case.blame(case.out_of_isr)}"
    why = "Producers with acks=all are refused (NOT_ENOUGH_REPLICAS)."
    if int(case.health.expected[case.rows].min()) < case.min_isr:
        return Words(what, why, "There are fewer replicas than that: add replicas, or lower min.insync.replicas.")
    return Words(what, why, f"Bring {brokers(case.out_of_isr)} back in sync.")


def _at_min_isr(case: Case) -> Words:
    return Words(
        f"{case.of} at min ISR {case.min_isr}: {case.which}; out of sync: {case.blame(case.out_of_isr)}",
        "One more replica lost, and nobody can write with acks=all."
        if case.min_isr > 1
        else "Their last copy in sync.",
        f"Get {brokers(case.out_of_isr)} back in sync before another broker is restarted.",
    )


def _under_replicated(case: Case) -> Words:
    missing = case.out_of_isr
    down = {broker for broker in missing if case.health.around.dead(broker)}
    slow = "see why it falls behind (disk, network, a failed log directory, a long pause)"
    return Words(
        f"{case.of} under-replicated: {case.which}; out of sync: {case.blame(missing)}",
        "Fewer copies than asked for: fewer failures can be survived.",
        f"Bring {brokers(down)} back, or move its replicas." if down else f"On {brokers(missing)}, {slow}.",
    )


def _leader_not_in_isr(case: Case) -> Words:
    return Words(
        f"{case.of} led by a broker outside the ISR: {case.which}; leader {case.blame(case.leaders)}",
        "The cluster contradicts itself: a leader is always in sync with itself.",
        "Compare with the leader's log; a preferred election makes the controller write the state again.",
    )


def _leader_not_replica(case: Case) -> Words:
    return Words(
        f"{case.of} led by a broker that holds no replica: {case.which}; leader {case.blame(case.leaders)}",
        "The assignment was edited behind the controller's back, or a reassignment broke off.",
        "Reassign the partitions, so that assignment and leader agree.",
    )


def _isr_not_replica(case: Case) -> Words:
    strangers = _ids(case.health.columns.isr[case.rows][case.health.strangers[case.rows]])
    return Words(
        f"{case.of} with ISR members that are no replicas: {case.which}; {case.blame(strangers)}",
        "The assignment was edited behind the controller's back, or a reassignment broke off.",
        "Reassign the partitions, so that assignment and ISR agree.",
    )


def _unclean_leader(case: Case) -> Words:
    return Words(
        f"{case.of} recovering from an unclean election: {case.which}; leader {case.blame(case.leaders)}",
        "The new leader was not in the ISR: records that were acknowledged may be lost.",
        "Find out what consumers and producers of this topic missed; the leader clears the mark by itself.",
    )


def _no_state(case: Case) -> Words:
    down = case.holders(live=False)
    why = "The controller elects the first leader when at least one replica lives; until then nobody can use them."
    action = f"Bring {brokers(down)} up." if down else "See whether the controller is at work."
    return Words(f"{case.of} without a leader ever elected: {case.which}", why, action)


def _orphaned(case: Case) -> Words:
    return Words(
        f"{case.of} with a state znode and no assignment: {case.which}",
        "Left over from a deletion that broke off, or the assignment was damaged. Kafka ignores them.",
        "If the topic is really gone, its znodes below /brokers/topics can be removed.",
    )


def _single_rack(case: Case) -> Words:
    return Words(
        f"{case.of} with all replicas in one rack: {case.which}; {brokers(case.holders())}",
        "Losing that rack takes them offline though there are other racks.",
        "Move one replica of each to another rack.",
    )


def _rack_skew(case: Case) -> Words:
    return Words(
        f"{case.of} on fewer racks than they could be: {case.which}",
        "Losing one rack costs more than one replica of each.",
        "Spread their replicas over more racks at the next reassignment.",
    )


def _single_replica(case: Case) -> Words:
    return Words(
        f"{case.of} with a single replica: {case.which}; on {brokers(case.holders())}",
        "Any restart of that broker takes them offline, losing it loses the data.",
        "Raise the replication factor where the data matters.",
    )


def _no_spare_replica(case: Case) -> Words:
    return Words(
        f"{case.of} whose min ISR equals the number of replicas ({case.min_isr}): {case.which}",
        "Any restart of a replica's broker stops producers with acks=all.",
        "Add a replica, or set min.insync.replicas one lower.",
    )


@dataclass(frozen=True)
class PartitionCheck:
    """A kind of finding: which partitions have it, and how it is told."""

    kind: str
    flags: Callable[[Health], Flags]
    tell: Callable[[Case], Words]


PARTITION_CHECKS: tuple[PartitionCheck, ...] = (
    PartitionCheck("offline", lambda h: h.offline, _offline),
    PartitionCheck("under-min-isr", lambda h: h.under_min_isr, _under_min_isr),
    PartitionCheck("leader-not-in-isr", lambda h: h.leader_not_in_isr, _leader_not_in_isr),
    PartitionCheck("leader-not-replica", lambda h: h.leader_not_replica, _leader_not_replica),
    PartitionCheck("isr-not-replica", lambda h: h.isr_not_replica, _isr_not_replica),
    PartitionCheck("unclean-leader", lambda h: h.recovering, _unclean_leader),
    PartitionCheck("under-replicated", lambda h: h.under_replicated, _under_replicated),
    PartitionCheck("at-min-isr", lambda h: h.at_min_isr, _at_min_isr),
    PartitionCheck("no-state", lambda h: h.stateless, _no_state),
    PartitionCheck("orphaned", lambda h: h.orphaned, _orphaned),
    PartitionCheck("single-rack", lambda h: h.single_rack, _single_rack),
    PartitionCheck("rack-skew", lambda h: h.rack_skewed, _rack_skew),
    PartitionCheck("single-replica", lambda h: h.single_replica, _single_replica),
    PartitionCheck("no-spare-replica", lambda h: h.no_spare_replica, _no_spare_replica),
)


def partition_findings(health: Health) -> Iterator[Finding]:
    """What is wrong with the partitions Health looks at."""
    for check in PARTITION_CHECKS:
        for topic, rows in health.columns.by_topic(check.flags(health)):
            case = Case(health, topic, rows)
            times = health.columns.time_ms[rows]
            known = times[times > 0]
            since_ms = int(known.min()) if len(known) else 0
            words = check.tell(case)
            yield finding(check.kind, topic.name, *words, partitions=case.partitions, since_ms=since_ms)
