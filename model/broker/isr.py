"""How a leader changes its ISR: what followers' fetches show, what it asks for, and how it gets accepted.

One change at a time, until it is answered: by AlterPartition (KIP-497, 2.7), and before that by a conditional write of
the state znode, which is checked by version and not by the controller's epoch: what counts is that nobody else wrote
since this leader read. The controller hears of such writes later, many in one znode. Nothing is sent here.

Source: `Partition.maybeExpandIsr`, `maybeShrinkIsr`, `submitAlterPartition`, `updateFollowerFetchState`,
`DefaultAlterPartitionManager` (2.7 to 3.9), `ZkAlterPartitionManager` (2.7 to 3.9),
`ReplicationUtils.updateLeaderAndIsr` (0.9 to 3.9), `ReplicaManager.maybePropagateIsrChanges` (0.9 to 2.6).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from model.broker.commands import PartitionDecision, ProposeIsr
from model.broker.partition import (
    Conditions,
    FollowerProgress,
    LogPositions,
    Partition,
    PendingIsr,
    raise_high_watermark,
    why_out_of_sync,
)
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import AnswerRequest, PartitionOutcome, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.znodes.paths import partition_state_path
from model.znodes.topics import (
    RECOVERING,
    IsrChange,
    LeaderIsrAndControllerEpoch,
    PartitionEntry,
    decode_partition_state,
)
from model.zookeeper import Answer, Code, SetData


def propose_joining(partition: Partition, follower: int, conditions: Conditions) -> PartitionDecision:
    """Ask for a follower to join, at the end of the ISR; it counts for the high watermark from now on."""
    leading = partition.leading
    if leading is None or leading.pending is not None or follower in partition.state.isr:
        return PartitionDecision(partition)
    progress = leading.followers.get(follower, FollowerProgress())
    if not conditions.may_join(follower, progress.broker_epoch):
        return PartitionDecision(partition)
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
    known = tuple(_broker_epoch(partition, member) for member in isr)
    epochs = known if any(epoch != -1 for epoch in known) else ()
    proposal = ProposedIsr(
        partition.partition, state.leader_epoch, state.partition_epoch, isr, state.recovering, epochs
    )
    after = partition.lead(pending=PendingIsr(proposal, joining))
    command = ProposeIsr(partition.partition, proposal, partition.controller_epoch)
    return PartitionDecision(after, (command,), reasons)


def _broker_epoch(partition: Partition, member: int) -> int:
    known = partition.leading.followers.get(member) if partition.leading else None
    return -1 if known is None else known.broker_epoch


Reaction = Literal["roll back", "stay pending", "ask again"]

REACTIONS: Mapping[str, Reaction] = {
    "INELIGIBLE_REPLICA": "roll back",
    "OPERATION_NOT_ATTEMPTED": "roll back",
    "FENCED_LEADER_EPOCH": "stay pending",
    "INVALID_REQUEST": "stay pending",
    "INVALID_UPDATE_VERSION": "stay pending",
    "NEW_LEADER_ELECTED": "stay pending",
    "UNKNOWN_TOPIC_ID": "stay pending",
    "UNKNOWN_TOPIC_OR_PARTITION": "stay pending",
}
"""What is not named here is asked again.

Rolled back is only what surely was not done. Pending stays what may have been done, or comes from a leader that is
none any more: the next LeaderAndIsr puts it right.
"""


def hear_isr_answer(
    partition: Partition, asked: ProposedIsr, outcome: PartitionOutcome, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    """The next state of the partition. An answer to anything but what is pending came too late, and changes nothing."""
    pending = partition.leading.pending if partition.leading else None
    if pending is None or pending.proposal != asked:
        return PartitionDecision(partition)
    if outcome.error == "NONE":
        return _accept(partition, outcome, log, conditions)
    reaction = _reaction(outcome.error, conditions)
    why = f"{partition.partition}: the ISR {[*asked.isr]} was refused with {outcome.error}: {_THEN[reaction]}."
    if reaction == "roll back":
        return PartitionDecision(partition.lead(pending=None), reasons=(why,))
    if reaction == "stay pending":
        return PartitionDecision(partition, reasons=(why,))
    again = ProposeIsr(partition.partition, asked, partition.controller_epoch)
    return PartitionDecision(partition, (again,), (why,))


def _reaction(error: str, conditions: Conditions) -> Reaction:
    if error == "INVALID_UPDATE_VERSION" and conditions.settings.rules.isr_route == "state znode":
        # Up to 2.6 a leader whose version was old ("Cached zkVersion not equal") tried again at every check.
        return "roll back"
    return REACTIONS.get(error, "ask again")


def _accept(
    partition: Partition, outcome: PartitionOutcome, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    """The answer's ISR holds, also where it is not the one that was asked for."""
    state = outcome.state
    if state is None or state.leader_epoch != partition.state.leader_epoch:
        return PartitionDecision(partition)
    if state.partition_epoch < partition.state.partition_epoch:
        return PartitionDecision(partition)
    committed = msgspec.structs.replace(partition.lead(pending=None), state=state)
    why = f"{partition.partition}: the ISR is {[*state.isr]} as of partition epoch {state.partition_epoch}."
    return PartitionDecision(raise_high_watermark(committed, log, conditions), reasons=(why,))


_THEN: Mapping[Reaction, str] = {
    "roll back": "the ISR stays as it was",
    "stay pending": "the next LeaderAndIsr decides",
    "ask again": "it is asked for again",
}


def record_fetch(
    partition: Partition,
    follower: int,
    fetch_offset: int,
    log: LogPositions,
    conditions: Conditions,
    follower_log_start: int = -1,
    follower_epoch: int = -1,
) -> PartitionDecision:
    """The follower has everything below `fetch_offset`. Only for a fetch that was read without error or divergence.

    A broker that is no replica of the partition, or no leader, or a fetch of a life that is over: nothing follows.
    """
    before = partition.leading.followers.get(follower) if partition.leading else None
    if partition.leading is None or before is None or -1 < follower_epoch < before.broker_epoch:
        return PartitionDecision(partition)
    progress = _progress(before, fetch_offset, follower_log_start, log.end, conditions.now_ms)
    progress = msgspec.structs.replace(progress, broker_epoch=follower_epoch)
    recorded = partition.lead(followers={**partition.leading.followers, follower: progress})
    decision = PartitionDecision(recorded)
    if _is_in_sync(recorded, progress, conditions):
        decision = propose_joining(recorded, follower, conditions)
    if progress.log_end == before.log_end:
        return decision
    return decision.then(PartitionDecision(raise_high_watermark(decision.partition, log, conditions)))


def record_append(partition: Partition, log: LogPositions, conditions: Conditions) -> Partition:
    """After the leader wrote to its own log: alone in the ISR, it needs to wait for nobody."""
    return raise_high_watermark(partition, log, conditions)


def _progress(
    before: FollowerProgress, fetch_offset: int, log_start: int, leader_end: int, now_ms: int
) -> FollowerProgress:
    """It is caught up as of now if it has all; as of its last fetch if it now has all there was then."""
    caught_up_ms = before.caught_up_ms
    if fetch_offset >= leader_end:
        caught_up_ms = max(caught_up_ms, now_ms)
    elif fetch_offset >= before.leader_end_at_fetch:
        caught_up_ms = max(caught_up_ms, before.fetched_ms)
    leader_end_at_fetch = max(leader_end, before.leader_end_at_fetch)
    return FollowerProgress(fetch_offset, log_start, leader_end_at_fetch, now_ms, caught_up_ms)


def _is_in_sync(partition: Partition, progress: FollowerProgress, conditions: Conditions) -> bool:
    """From the start of the epoch on: the leader's own high watermark may still be that of a lagging follower."""
    assert partition.leading is not None
    needed = partition.high_watermark
    if conditions.settings.rules.joins_after_epoch_start:
        needed = max(needed, partition.leading.epoch_start_offset)
    return progress.log_end >= needed


RETRY_BACKOFF_MS = 50
"""After an answer that is an error as a whole."""


class AlterPartitionQueue(msgspec.Struct, frozen=True):
    """`waiting` are all that have no answer, those of the request on its way included; `in_flight` are only the latter.

    Ask `next_request` after each change: there is one to send if none is on its way.
    """

    waiting: Mapping[TopicPartition, ProposedIsr] = MappingProxyType({})
    in_flight: tuple[ProposedIsr, ...] = ()

    def add(self, proposal: ProposedIsr) -> "AlterPartitionQueue | None":
        """None: one of this partition waits already, so that this one was not attempted (OPERATION_NOT_ATTEMPTED)."""
        added = self.add_all((proposal,))
        return None if added.refused else added.queue

    def add_all(self, proposals: Iterable[ProposedIsr]) -> "AddedProposals":
        """Those of other partitions than wait already."""
        waiting = dict(self.waiting)
        refused = tuple(each for each in proposals if waiting.setdefault(each.partition, each) is not each)
        return AddedProposals(msgspec.structs.replace(self, waiting=waiting), refused)

    def next_request(self) -> "AlterPartitionQueue":
        """With everything that waits in flight; the same if there is nothing to send, or a request is on its way."""
        if self.in_flight or not self.waiting:
            return self
        return msgspec.structs.replace(self, in_flight=tuple(self.waiting.values()))

    def hear(self, answer: AnswerRequest | None) -> "IsrAnswerOutcome":
        """The answer to what is in flight; None: it got lost. What it does not name waits for the next request."""
        if answer is None or answer.error != "NONE":
            return IsrAnswerOutcome(msgspec.structs.replace(self, in_flight=()), (), RETRY_BACKOFF_MS)
        sent = {proposal.partition: proposal for proposal in self.in_flight}
        answered = tuple((sent[each.partition], each) for each in answer.partitions if each.partition in sent)
        gone = {proposal.partition for proposal, _ in answered}
        waiting = {name: proposal for name, proposal in self.waiting.items() if name not in gone}
        return IsrAnswerOutcome(AlterPartitionQueue(waiting), answered, 0)


class AddedProposals(NamedTuple):
    """`refused` were not attempted (OPERATION_NOT_ATTEMPTED)."""

    queue: AlterPartitionQueue
    refused: tuple[ProposedIsr, ...]


class IsrAnswerOutcome(NamedTuple):
    """What an answer means: each proposal with its outcome is for `hear_isr_answer`; send again after `wait_ms`."""

    queue: AlterPartitionQueue
    answered: tuple[tuple[ProposedIsr, PartitionOutcome], ...]
    wait_ms: int


CHECK_INTERVAL_MS = 2_500
LINGER_MS = 5_000
"""After the last change, others may follow for so long."""
MAX_DELAY_MS = 60_000
"""After the last notice, changes wait no longer than this."""


class IsrChangeNotices(msgspec.Struct, frozen=True):
    """Partitions of which the controller is to be told; times in ms since the epoch."""

    changed: frozenset[TopicPartition] = frozenset()
    changed_ms: int = 0
    notified_ms: int = 0
    """Of the last notice; at first, when the broker started."""

    def add(self, partition: TopicPartition, now_ms: int) -> "IsrChangeNotices":
        return msgspec.structs.replace(self, changed=self.changed | {partition}, changed_ms=now_ms)

    def is_due(self, now_ms: int) -> bool:
        """Whether to tell the controller now."""
        quiet = self.changed_ms + LINGER_MS < now_ms
        return bool(self.changed) and (quiet or self.notified_ms + MAX_DELAY_MS < now_ms)

    @property
    def payload(self) -> bytes:
        """What the znode `/isr_change_notification/isr_change_…` gets."""
        entries = tuple(PartitionEntry(topic=each.topic, partition=each.partition) for each in sorted(self.changed))
        return IsrChange(partitions=entries).to_bytes()

    def notified(self, now_ms: int) -> "IsrChangeNotices":
        """After the znode was created."""
        return IsrChangeNotices(frozenset(), self.changed_ms, now_ms)


def isr_write(proposal: ProposedIsr, leader: int, controller_epoch: int) -> SetData:
    """The conditional write. `controller_epoch`: of the controller that made this broker the leader."""
    payload = LeaderIsrAndControllerEpoch(
        controller_epoch=controller_epoch,
        leader=leader,
        leader_epoch=proposal.leader_epoch,
        isr=proposal.isr,
        leader_recovery_state=RECOVERING if proposal.recovering else 0,
    )
    path = partition_state_path(*proposal.partition)
    return SetData(path, payload.to_bytes(), proposal.partition_epoch)


def isr_written(proposal: ProposedIsr, leader: int, answer: Answer) -> PartitionOutcome:
    """The outcome, as a controller would have told it: INVALID_UPDATE_VERSION if somebody else wrote first."""
    if answer.ok:
        state = LeaderAndIsr(leader, proposal.leader_epoch, proposal.isr, proposal.recovering, answer.version)
        return PartitionOutcome(proposal.partition, state=state)
    lost = answer.code in (Code.BAD_VERSION, Code.NO_NODE)
    return PartitionOutcome(proposal.partition, "INVALID_UPDATE_VERSION" if lost else "UNKNOWN_SERVER_ERROR")


def isr_found(proposal: ProposedIsr, leader: int, write: SetData, found: Answer) -> PartitionOutcome:
    """The outcome of a write that BAD_VERSION answers after a lost connection, by what the znode says now.

    If it says what was to be written, it was this leader that wrote it, before the connection was lost.
    """
    if found.ok and decode_partition_state(found.data) == decode_partition_state(write.data):
        return isr_written(proposal, leader, found)
    return PartitionOutcome(proposal.partition, "INVALID_UPDATE_VERSION")
