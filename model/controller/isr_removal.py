"""What becomes of leader and ISR when a replica goes offline. It elects nobody: a lost leader is only taken note of.

Source: `ReplicaStateMachine.removeReplicasFromIsr` (1.1 to 3.9), `KafkaController.removeReplicaFromIsr` (0.8.0 to 1.0).
"""

from typing import Literal

import msgspec

from model.cluster.ids import NO_LEADER
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import without

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
