"""Changes of an ISR: whether a leader's proposal is accepted, and what remains when a replica goes offline.

It writes nothing and elects nobody: a lost leader is only taken note of.

Source: `KafkaController.tryProcessAlterPartition` (3.9), in Kafka's order of checks;
`ReplicaStateMachine.removeReplicasFromIsr` (1.1 to 3.9), `KafkaController.removeReplicaFromIsr` (0.8.0 to 1.0).
"""

from typing import Literal

import msgspec

from model.cluster.ids import NO_LEADER
from model.controller.elections import Liveness
from model.controller.events_and_commands import ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr, without


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


LastMember = Literal["leaves", "stays unless unclean is allowed", "stays"]
"""What the last member of an ISR does. Once it has left, nobody knows any more who held all the data."""

Told = Literal["leader if changed", "leader", "other replicas"]
"""Who is sent the next state in a LeaderAndIsr."""


class IsrRemovalRules(msgspec.Struct, frozen=True, gc=False):
    """How a generation of Kafka removes a replica from an ISR."""

    last_member: LastMember
    told: Told


class IsrRemoval(msgspec.Struct, frozen=True, gc=False):
    """The next state, whether it has to be written, and who is sent it.

    An unwritten one is kept in memory all the same, with the controller's own controller epoch.
    """

    leader_and_isr: LeaderAndIsr
    is_written: bool
    recipients: tuple[int, ...]
    rule: str


def remove_from_isr(
    current: LeaderAndIsr,
    replica: int,
    assigned: tuple[int, ...],
    rules: IsrRemovalRules,
    *,
    unclean_allowed: bool = False,
    deleting: bool = False,
) -> IsrRemoval:
    """Take a replica that is offline out of the ISR of a partition that has a state.

    A change always costs one leader epoch, also where the content stays the same (the only member is offline again).
    While its topic is being deleted (`deleting`), nobody is told.
    """
    if replica not in current.isr:
        after, rule = current, "it is not in the ISR: nothing is written"
    else:
        leader = NO_LEADER if replica == current.leader else current.leader
        isr = without(current.isr, (replica,))
        rule = "it leaves the ISR"
        if not isr and _stays(rules.last_member, unclean_allowed):
            isr, rule = current.isr, "it is the last member of the ISR and stays in it"
        after = current.with_leader(leader, isr)
    changed = after is not current
    recipients = () if deleting else _told(rules.told, after, changed, without(assigned, (replica,)))
    return IsrRemoval(after, changed, recipients, rule)


def _stays(last_member: LastMember, unclean_allowed: bool) -> bool:
    return last_member == "stays" or (last_member == "stays unless unclean is allowed" and not unclean_allowed)


def _told(told: Told, after: LeaderAndIsr, changed: bool, others: tuple[int, ...]) -> tuple[int, ...]:
    if told == "other replicas":
        return others
    has_leader = after.leader != NO_LEADER
    return (after.leader,) if has_leader and (changed or told == "leader") else ()
