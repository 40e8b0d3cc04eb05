"""A partition as the controller holds it: who leads, who is in sync, and its replicas, also while they are moved.

It elects nobody and reads no znode. Up to 2.3 nothing of a reassignment was kept with the topic; the rules that
compute with it are the same.

Source: `kafka.api.LeaderAndIsr`, 0.8.0 to 3.9; KIP-704 (recovering, 3.2); `kafka.controller.ReplicaAssignment` (2.4 to
3.9), KIP-455.
"""

from collections.abc import Collection, Iterable

import msgspec

from model.cluster.ids import NO_LEADER, NO_STATE

NO_LEADER_EPOCH = -1
"""Leader epoch of a partition that never had a leader; its first one gets epoch 0."""


class LeaderAndIsr(msgspec.Struct, frozen=True, gc=False):
    """One version of a partition's state.

    `partition_epoch` is the data version of the state znode this was read from, -1 before there is one. A value
    derived from it keeps it: it is the version that the conditional write expects.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False
    partition_epoch: int = 0

    @property
    def exists(self) -> bool:
        """Whether the partition ever had a leader."""
        return self.leader_epoch != NO_LEADER_EPOCH

    def with_leader(self, leader: int, isr: tuple[int, ...]) -> "LeaderAndIsr":
        """A next leader and ISR, one leader epoch later."""
        return msgspec.structs.replace(self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1)

    def with_next_epoch(self) -> "LeaderAndIsr":
        """The same one leader epoch later: fences the requests of before (reassignment, `updateLeaderEpoch`)."""
        return self.with_leader(self.leader, self.isr)


UNLED = LeaderAndIsr(NO_LEADER, NO_LEADER_EPOCH, (), partition_epoch=NO_STATE)
"""A partition whose state was never written."""


class ReplicaAssignment(msgspec.Struct, frozen=True, gc=False):
    """`replicas` holds all of them, the preferred one first, also those being added or removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def origin(self) -> tuple[int, ...]:
        """The replicas from before the reassignment. Their order is that of `replicas`, not the one they once had."""
        return without(self.replicas, self.adding)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas that will be left once the reassignment is complete."""
        return without(self.replicas, self.removing)

    @property
    def is_being_reassigned(self) -> bool:
        """Whether replicas are being added or removed. A mere change of order is never seen as a reassignment."""
        return bool(self.adding or self.removing)

    def reassign_to(self, target: Iterable[int]) -> "ReplicaAssignment":
        """Towards `target`, whatever the reassignment that is still going on was meant to reach."""
        wanted, origin = tuple(target), self.origin
        replicas = tuple(dict.fromkeys(wanted + origin))
        return ReplicaAssignment(replicas, without(replicas, origin), without(replicas, wanted))

    def cancel(self) -> "ReplicaAssignment":
        """Back to the origin (an AlterPartitionReassignments without a target)."""
        return self.reassign_to(self.origin)

    def complete(self) -> "ReplicaAssignment":
        """What is left when all is done: the target and nothing else."""
        return ReplicaAssignment(self.target)

    def remove(self, replica: int) -> "ReplicaAssignment":
        """Without this one, as when a replica becomes NonExistentReplica."""
        gone = (replica,)
        return ReplicaAssignment(without(self.replicas, gone), without(self.adding, gone), without(self.removing, gone))

    def dropped_from(self, previous: "ReplicaAssignment") -> tuple[int, ...]:
        """Replicas of an overridden reassignment that this one has no use for: they are stopped and deleted."""
        return without(previous.replicas, self.replicas)

    def is_complete(self, isr: Collection[int]) -> bool:
        """Whether all of the target is in sync, so that the old replicas can go (`isReassignmentComplete`)."""
        return not self.is_being_reassigned or set(self.target) <= set(isr)


def without(replicas: Iterable[int], gone: Collection[int]) -> tuple[int, ...]:
    """The replicas that are not among `gone`, in their order."""
    return tuple(replica for replica in replicas if replica not in gone)
