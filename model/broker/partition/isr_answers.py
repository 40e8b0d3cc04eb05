"""What a leader makes of the answer to an ISR that it asked for.

Source: `Partition.submitAlterPartition`, `handleAlterPartitionUpdate`, `handleAlterPartitionError` (3.9).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.broker.commands import ProposeIsr
from model.broker.decision import PartitionDecision
from model.broker.log_positions import LogPositions
from model.broker.partition.conditions import Conditions
from model.broker.partition.high_watermark import raise_high_watermark
from model.broker.partition.partition import Partition
from model.controller.commands import PartitionOutcome
from model.controller.events import ProposedIsr

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
