"""The ISRs that a leader asks for: one more follower, or fewer. One change at a time, until it is answered.

Source: `Partition.maybeExpandIsr`, `maybeShrinkIsr`, `prepareIsrExpand`, `prepareIsrShrink` (3.9); KIP-497 (2.7).
"""

from model.broker.commands import ProposeIsr
from model.broker.decision import PartitionDecision
from model.broker.log_positions import LogPositions
from model.broker.partition.conditions import Conditions
from model.broker.partition.lag import why_out_of_sync
from model.broker.partition.partition import FollowerProgress, Partition, PendingIsr
from model.controller.events import ProposedIsr


def propose_joining(partition: Partition, follower: int, conditions: Conditions) -> PartitionDecision:
    """Ask for a follower to join, at the end of the ISR; it counts for the high watermark from now on."""
    leading = partition.leading
    if leading is None or leading.pending is not None or follower in partition.state.isr:
        return PartitionDecision(partition)
    if not conditions.may_join(follower):
        return PartitionDecision(partition)
    progress = leading.followers.get(follower, FollowerProgress())
    why = f"{partition.partition}: broker {follower} has caught up at offset {progress.log_end}, it may join the ISR."
    return _propose(partition, (*partition.state.isr, follower), follower, (why,))


def check_isr(partition: Partition, log: LogPositions, conditions: Conditions) -> PartitionDecision:
    """Ask for the followers that lag to leave. To be called every half of replica.lag.time.max.ms.

    The ISR may so get smaller than min.insync.replicas: it says what is true, and acks=all refuses the rest.
    """
    leading = partition.leading
    if leading is None or leading.pending is not None:
        return PartitionDecision(partition)
    reasons = {
        follower: _why_lagging(leading.followers.get(follower), leading.since_ms, log.end, conditions)
        for follower in partition.state.isr
        if follower != partition.broker
    }
    lagging = {follower: why for follower, why in reasons.items() if why is not None}
    if not lagging:
        return PartitionDecision(partition)
    left = tuple(replica for replica in partition.state.isr if replica not in lagging)
    told = tuple(
        f"{partition.partition}: broker {follower} {why}, it leaves the ISR." for follower, why in lagging.items()
    )
    return _propose(partition, left, None, told)


def _why_lagging(
    progress: FollowerProgress | None, since_ms: int, leader_end: int, conditions: Conditions
) -> str | None:
    if progress is None:
        return "is no replica any more"
    return why_out_of_sync(progress, leader_end, since_ms, conditions)


def _propose(
    partition: Partition, isr: tuple[int, ...], joining: int | None, reasons: tuple[str, ...]
) -> PartitionDecision:
    state = partition.state
    proposal = ProposedIsr(partition.partition, state.leader_epoch, state.partition_epoch, isr, state.recovering)
    after = partition.lead(pending=PendingIsr(proposal, joining))
    command = ProposeIsr(partition.partition, proposal, partition.controller_epoch)
    return PartitionDecision(after, (command,), reasons)
