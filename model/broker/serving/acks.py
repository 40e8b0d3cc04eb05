"""When a produce is refused, and when it is acknowledged.

Source: `ReplicaManager.appendRecords`, `Partition.appendRecordsToLeader`, `checkEnoughReplicasReachOffset`,
`DelayedProduce` (3.9). The 0.8.0 way to wait for n > 1 replicas is not here.
"""

from collections.abc import Callable, Mapping

import msgspec

from model.broker.partition.conditions import Conditions
from model.broker.partition.partition import Partition
from model.broker.serving.leader_epoch_check import NONE
from model.cluster.ids import TopicPartition

ALL = -1
"""acks=all: when every in-sync replica has it."""
LEADER = 1
NOBODY = 0
"""acks=0: the client hears nothing, not even of errors."""


class WaitingProduce(msgspec.Struct, frozen=True):
    """A produce with acks=all that was appended. `required`: the log end to be reached; `settled`: errors so far."""

    required: Mapping[TopicPartition, int]
    deadline_ms: int
    settled: Mapping[TopicPartition, str]

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.settled.keys() >= self.required.keys()


def refuse_produce(partition: Partition, acks: int, conditions: Conditions) -> str:
    """Why a produce is not appended, or NONE. Only acks=all asks for in-sync replicas, and then the committed ISR."""
    if acks not in (ALL, LEADER, NOBODY):
        return "INVALID_REQUIRED_ACKS"
    if not partition.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    enough = len(partition.state.isr) >= conditions.min_isr(len(partition.assignment.replicas))
    return NONE if enough or acks != ALL else "NOT_ENOUGH_REPLICAS"


def begin_waiting(acks: int, ends: Mapping[TopicPartition, int], deadline_ms: int) -> WaitingProduce | None:
    """What acks=all waits for. `ends`: the log end of each partition after the append, where there was one."""
    return WaitingProduce(ends, deadline_ms, {}) if acks == ALL and ends else None


def acknowledge(partition: Partition | str, required_end: int, conditions: Conditions) -> str | None:
    """The outcome for records below `required_end`; None: not yet. `partition` is an error where there is none."""
    if isinstance(partition, str):
        return partition
    if not partition.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    if partition.high_watermark < required_end:
        return None
    enough = len(partition.maximal_isr) >= conditions.min_isr(len(partition.assignment.replicas))
    return NONE if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def settle_produce(
    waiting: WaitingProduce,
    find: Callable[[TopicPartition], Partition | str],
    conditions: Callable[[str], Conditions],
    now_ms: int,
) -> WaitingProduce:
    """What is known by now: an outcome stays, and what the deadline finds open has timed out (it may still commit)."""
    settled = dict(waiting.settled)
    for name, required_end in waiting.required.items():
        if name not in settled:
            outcome = acknowledge(find(name), required_end, conditions(name.topic))
            if outcome is None and now_ms >= waiting.deadline_ms:
                outcome = "REQUEST_TIMED_OUT"
            if outcome is not None:
                settled[name] = outcome
    return msgspec.structs.replace(waiting, settled=settled)
