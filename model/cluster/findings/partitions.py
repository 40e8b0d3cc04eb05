"""Findings about partitions: one for each topic and kind, naming the partitions and the brokers to blame.

Which partitions they are is asked of Health; here it is put into words.
"""

from model.cluster.findings.check import FindingKind, FindingSentences, TopicCase, topic_check
from model.cluster.texts import brokers


@topic_check(FindingKind("offline", "error", "OFFLINE"), lambda h: h.offline)
def offline(case: TopicCase) -> FindingSentences:
    """No live leader."""
    elr = case.elr
    members = "the ISR, or of the ELR where the ISR is empty" if elr else "the ISR"
    why = f"Nobody can write to them or read from them. Kafka elects only a live member of {members}."
    able, spare = case.holders(eligible=True, live=True), case.holders(eligible=False, live=True)
    what = f"{case.of} offline (no live leader): {case.which}; {_last_seen(case)}"
    if able:
        return FindingSentences(
            what, why, f"{brokers(able).capitalize()} can lead; if none does soon, see what the controller does."
        )
    unclean = f"An unclean election on {brokers(spare)} would lose records" if spare else "Unclean election cannot help"
    return FindingSentences(what, why, f"{_bring_back(case)} {unclean}{'' if spare else ': no other replica lives'}.")


def _last_seen(case: TopicCase) -> str:
    """Who led, was last in sync, or may lead, and whether they live."""
    if case.leaders:
        return f"the leader was {case.blame(case.leaders)}"
    known = ("last in sync", case.last_in_sync), ("in the ELR", case.elr), ("led last", case.last_known)
    return ", ".join(f"{said}: {case.blame(ids)}" for said, ids in known if ids) or "last in sync: no broker"


def _bring_back(case: TopicCase) -> str:
    """Whom to bring back, and what that saves."""
    in_sync, elr, last = case.last_in_sync, case.elr, case.last_known
    ways = [f"Bring {brokers(in_sync)} back."] if in_sync or not (elr or last) else []
    if elr:
        ways.append(f"Bring {brokers(elr)} back: {_it_is(elr)} in the ELR, nothing is lost.")
    if last:
        ways.append(
            f"Bring {brokers(last)} back: {_it_is(last)} the last known leader, and elected when nobody else is."
        )
    return " ".join(ways)


def _it_is(ids: set[int]) -> str:
    return "it is" if len(ids) == 1 else "they are"


@topic_check(FindingKind("under-min-isr", "error", "MIN ISR"), lambda h: h.under_min_isr)
def under_min_isr(case: TopicCase) -> FindingSentences:
    """Fewer in sync than min.insync.replicas."""
    what = f"{case.of} below min ISR {case.min_isr}: {case.which}; out of sync: {case.blame(case.out_of_isr)}"
    why = "Producers with acks=all are refused (NOT_ENOUGH_REPLICAS)."
    if int(case.health.expected[case.rows].min()) < case.min_isr:
        return FindingSentences(
            what, why, "There are fewer replicas than that: add replicas, or lower min.insync.replicas."
        )
    return FindingSentences(what, why, f"Bring {brokers(case.out_of_isr)} back in sync.")


@topic_check(FindingKind("at-min-isr", "warn", "AT MIN ISR"), lambda h: h.at_min_isr)
def at_min_isr(case: TopicCase) -> FindingSentences:
    """As few in sync as may be, and fewer than there are replicas."""
    return FindingSentences(
        f"{case.of} at min ISR {case.min_isr}: {case.which}; out of sync: {case.blame(case.out_of_isr)}",
        "One more replica lost, and nobody can write with acks=all."
        if case.min_isr > 1
        else "Their last copy in sync.",
        f"Get {brokers(case.out_of_isr)} back in sync before another broker is restarted.",
    )


@topic_check(FindingKind("under-replicated", "warn", "UNDER-REPL"), lambda h: h.under_replicated & ~h.offline)
def under_replicated(case: TopicCase) -> FindingSentences:
    """Led, and a replica is not in sync; those that a reassignment adds are not counted yet.

    As the brokers' metric UnderReplicatedPartitions has it: one without a leader is offline, and said once.
    """
    missing = case.out_of_isr
    down = {broker for broker in missing if case.health.around.dead(broker)}
    slow = "(disk, network, a failed log directory, a long pause)"
    return FindingSentences(
        f"{case.of} under-replicated: {case.which}; out of sync: {case.blame(missing)}",
        "Fewer copies than asked for: fewer failures can be survived.",
        f"Bring {brokers(down)} back, or move {'its' if len(down) == 1 else 'their'} replicas."
        if down
        else f"On {brokers(missing)}, see why {'it falls' if len(missing) == 1 else 'they fall'} behind {slow}.",
    )


@topic_check(FindingKind("leader-not-in-isr", "error", "BAD LEADER"), lambda h: h.leader_not_in_isr)
def leader_not_in_isr(case: TopicCase) -> FindingSentences:
    """Led by a broker that is not in the ISR."""
    return FindingSentences(
        f"{case.of} led by a broker outside the ISR: {case.which}; leader {case.blame(case.leaders)}",
        "The cluster contradicts itself: a leader is always in sync with itself.",
        "Compare with the leader's log; a preferred election makes the controller write the state again.",
    )


@topic_check(FindingKind("leader-not-replica", "error", "BAD LEADER"), lambda h: h.leader_not_replica)
def leader_not_replica(case: TopicCase) -> FindingSentences:
    """Led by a broker that is no replica."""
    return FindingSentences(
        f"{case.of} led by a broker that holds no replica: {case.which}; leader {case.blame(case.leaders)}",
        "The assignment was edited behind the controller's back, or a reassignment broke off.",
        "Reassign the partitions, so that assignment and leader agree.",
    )


@topic_check(FindingKind("isr-not-replica", "warn", "BAD ISR"), lambda h: h.isr_not_replica)
def isr_not_replica(case: TopicCase) -> FindingSentences:
    """In sync is who is no replica."""
    return FindingSentences(
        f"{case.of} with ISR members that are no replicas: {case.which}; {case.blame(case.strangers)}",
        "The assignment was edited behind the controller's back, or a reassignment broke off.",
        "Reassign the partitions, so that assignment and ISR agree.",
    )


@topic_check(FindingKind("unclean-leader", "warn", "UNCLEAN"), lambda h: h.recovering)
def unclean_leader(case: TopicCase) -> FindingSentences:
    """Led after an unclean election, and still recovering (KIP-704)."""
    return FindingSentences(
        f"{case.of} recovering from an unclean election: {case.which}; leader {case.blame(case.leaders)}",
        "The new leader was not in the ISR: records that were acknowledged may be lost.",
        "Find out what consumers and producers of this topic missed; the leader clears the mark by itself.",
    )


@topic_check(FindingKind("no-state", "warn", "NO LEADER"), lambda h: h.stateless)
def no_state(case: TopicCase) -> FindingSentences:
    """Assigned, and without a state."""
    down = case.holders(live=False)
    why = "The controller elects the first leader when at least one replica lives; until then nobody can use them."
    action = f"Bring {brokers(down)} up." if down else "See whether the controller is at work."
    return FindingSentences(f"{case.of} without a leader ever elected: {case.which}", why, action)


@topic_check(FindingKind("orphaned", "warn", "ORPHANED"), lambda h: h.orphaned)
def orphaned(case: TopicCase) -> FindingSentences:
    """A state, and no assignment."""
    return FindingSentences(
        f"{case.of} with a state znode and no assignment: {case.which}",
        "Left over from a deletion that broke off, or the assignment was damaged. Kafka ignores them.",
        "If the topic is really gone, its znodes below /brokers/topics can be removed.",
    )


@topic_check(FindingKind("single-rack", "warn", "ONE RACK"), lambda h: h.single_rack)
def single_rack(case: TopicCase) -> FindingSentences:
    """All replicas in one rack, where there are several."""
    return FindingSentences(
        f"{case.of} with all replicas in one rack: {case.which}; {brokers(case.holders())}",
        "Losing that rack takes them offline though there are other racks.",
        "Move one replica of each to another rack.",
    )


@topic_check(FindingKind("rack-skew", "info", "rack skew"), lambda h: h.rack_skewed)
def rack_skew(case: TopicCase) -> FindingSentences:
    """Replicas in fewer racks than could be."""
    return FindingSentences(
        f"{case.of} on fewer racks than they could be: {case.which}",
        "Losing one rack costs more than one replica of each.",
        "Spread their replicas over more racks at the next reassignment.",
    )


@topic_check(FindingKind("single-replica", "info", "one replica"), lambda h: h.single_replica)
def single_replica(case: TopicCase) -> FindingSentences:
    """One replica only."""
    return FindingSentences(
        f"{case.of} with a single replica: {case.which}; on {brokers(case.holders())}",
        "Any restart of that broker takes them offline, losing it loses the data.",
        "Raise the replication factor where the data matters.",
    )


@topic_check(FindingKind("no-spare-replica", "info", "no spare"), lambda h: h.no_spare_replica)
def no_spare_replica(case: TopicCase) -> FindingSentences:
    """min.insync.replicas is the number of replicas."""
    return FindingSentences(
        f"{case.of} whose min ISR equals the number of replicas ({case.min_isr}): {case.which}",
        "Any restart of a replica's broker stops producers with acks=all.",
        "Add a replica, or set min.insync.replicas one lower.",
    )
