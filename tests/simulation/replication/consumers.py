"""A consumer of one partition: what it reads, and the high watermark that it is shown, never go back."""

from __future__ import annotations

from model.broker.serving import LATEST_TIMESTAMP, Isolation, OffsetQuestion, PartitionFetch, judge_read, look_up_offset
from model.cluster.ids import TopicPartition
from tests.simulation.replication.ledger import Ledger
from tests.simulation.replication.replicating_broker import ReplicatingBroker
from tests.simulation.violation import promise

RECORDS_AT_ONCE = 4


class Consumer:
    """`position`: the next offset. It knows leaders by their epochs, as every client from 2.1 on (KIP-320)."""

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self.position = 0
        self.leader = -1
        self.leader_epoch = -1
        self._shown = 0
        """The highest end of the partition that it was ever told."""

    def learn(self, leader: int, leader_epoch: int) -> None:
        """A broker's metadata; what is older than it knows is not believed."""
        if leader_epoch >= self.leader_epoch:
            self.leader, self.leader_epoch = leader, leader_epoch

    def read(self, broker: ReplicatingBroker, ledger: Ledger, *, only_leader: bool = True) -> None:
        """Fetch once: from the leader, or from a replica nearby (KIP-392)."""
        partition, log = broker.held.get(self.partition), broker.logs.get(self.partition)
        if partition is None or log is None:
            return
        wanted = PartitionFetch(
            offset=self.position,
            isolation=Isolation.HIGH_WATERMARK,
            leader_epoch=self.leader_epoch,
            only_leader=only_leader,
        )
        judged = judge_read(partition, wanted, log.positions, log.end)
        is_clean = ledger.is_clean
        if judged.error == "OFFSET_OUT_OF_RANGE" and partition.leads:
            promise(not is_clean, f"{self.partition}: offset {self.position} was read, the leader ends at {log.end}")
            self.position = self._shown = 0
        elif judged.error == "NONE":
            end = min(judged.up_to, self.position + RECORDS_AT_ONCE)
            records = log.records[self.position : end]
            if partition.leads or is_clean:
                ledger.read(self.leader_epoch, records)
            self.position += len(records)
        elif partition.leads is only_leader:
            self.leader = -1

    def ask_end(self, broker: ReplicatingBroker, ledger: Ledger) -> None:
        """ListOffsets for the latest: from KIP-207 (2.2) on no new leader makes it seem to go back."""
        partition, log = broker.held.get(self.partition), broker.logs.get(self.partition)
        if partition is None or log is None:
            return
        question = OffsetQuestion(
            timestamp=LATEST_TIMESTAMP, isolation=Isolation.HIGH_WATERMARK, leader_epoch=self.leader_epoch
        )
        told = look_up_offset(partition, question, log.positions, log.end, None)
        if told.error != "NONE":
            return
        if ledger.is_clean:
            back = f"{self.partition}: a consumer saw the high watermark go back from {self._shown} to"
            promise(told.found.offset >= self._shown, f"{back} {told.found.offset}")
        self._shown = told.found.offset
