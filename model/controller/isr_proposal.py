"""Whether an ISR that a leader proposes is accepted. It writes nothing.

Source: `KafkaController.tryProcessAlterPartition` (3.9), in Kafka's order of checks.
"""

import msgspec

from model.controller.ballot import Liveness
from model.controller.events import ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """Nothing is written. Error NONE: it is so already, as `state` says."""

    error: str
    state: LeaderAndIsr | None = None


def accept_proposal(
    current: LeaderAndIsr | None, proposal: ProposedIsr, liveness: Liveness
) -> LeaderAndIsr | Rejection:
    """The state to write under the version of `current`, or why there is none. `current` None: no such partition."""
    if current is None:
        return Rejection("UNKNOWN_TOPIC_OR_PARTITION")
    if proposal.leader_epoch > current.leader_epoch or proposal.partition_epoch > current.partition_epoch:
        # The leader knows more than this controller: there must be another one.
        return Rejection("NOT_CONTROLLER")
    if proposal.leader_epoch < current.leader_epoch:
        return Rejection("FENCED_LEADER_EPOCH")
    if proposal.isr == current.isr and proposal.recovering == current.recovering:
        return Rejection("NONE", current)
    if proposal.partition_epoch < current.partition_epoch:
        return Rejection("INVALID_UPDATE_VERSION")
    if proposal.recovering and (len(proposal.isr) > 1 or not current.recovering):
        return Rejection("INVALID_REQUEST")
    if not all(map(liveness.online, proposal.isr)):
        return Rejection("INELIGIBLE_REPLICA")
    return msgspec.structs.replace(current, isr=proposal.isr, recovering=proposal.recovering)
