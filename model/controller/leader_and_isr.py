"""Who leads a partition and who is in sync, as a controller holds it. It elects nobody and reads no znode.

Source: `kafka.api.LeaderAndIsr`, 0.8.0 to 3.9; KIP-704 (recovering, 3.2).
"""

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
