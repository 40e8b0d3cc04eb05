"""An ISR that a leader writes itself, as brokers did before 2.7.

Source: `ZkAlterPartitionManager` (2.7), `ReplicationUtils.updateLeaderAndIsr` (0.9 to 3.9). The write is checked
by version and not by the controller's epoch: what counts is that nobody else wrote since this leader read.
"""

from model.controller.commands import PartitionOutcome
from model.controller.events import ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.zookeeper import Answer, Code, SetData
from model.znodes.partition_state import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state
from model.znodes.paths import partition_state_path


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
