"""`/brokers/topics/T/partitions/P/state`: who leads a partition and who is in sync.

Source: `kafka.zk.TopicPartitionStateZNode` (3.9), `kafka.api.LeaderAndIsr`; KIP-704 (leader_recovery_state, 3.2). The
payload's `version` has been 1 since 0.8.0; the partition epoch is the znode's data version and is not in here.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from model.znodes.payload import INT32_MAX, BrokerId, Epoch, JsonCodec, JsonPayload, LeftOut, Version

RECOVERING = 1
"""`leader_recovery_state` after an unclean election, until the leader has recovered."""


class LeaderIsrAndControllerEpoch(JsonPayload, frozen=True, kw_only=True, gc=False):
    """`leader` is -1 for none, -2 while the topic is being deleted (which Kafka keeps out of ZooKeeper).

    An empty `isr` is what Kafka up to 1.0 wrote for an offline partition. An odd state (a leader outside the ISR, a
    broker named twice) is decoded as it stands.
    """

    controller_epoch: Epoch
    leader: Annotated[int, Meta(ge=-2, le=INT32_MAX)]
    version: Version = 1
    leader_recovery_state: Annotated[int, Meta(ge=0, le=127)] = 0
    leader_epoch: Epoch
    isr: tuple[BrokerId, ...]

    left_out: ClassVar[Mapping[str, LeftOut]] = {"leader_recovery_state": LeftOut(0)}

    def to_bytes(self) -> bytes:
        if self.extra is not None:
            return super().to_bytes()
        recovery = f'"leader_recovery_state":{self.leader_recovery_state},' if self.leader_recovery_state else ""
        isr = ",".join(map(str, self.isr))
        return (
            f'{{"controller_epoch":{self.controller_epoch},"leader":{self.leader},"version":{self.version},'
            f'{recovery}"leader_epoch":{self.leader_epoch},"isr":[{isr}]}}'
        ).encode()  # by hand: a failover writes thousands of these, and the general way takes four times as long


decode_partition_state = JsonCodec(LeaderIsrAndControllerEpoch)
