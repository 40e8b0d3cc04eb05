"""What must be true of records at every moment, for one partition: the promises, and when they are void.

Everything that a leader ever let be read or acknowledged with acks=all is `committed`: from then on every in-sync
replica has it, whoever leads. What is known of ISRs here is what ZooKeeper says, not what a broker believes.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.broker.partition import Partition
from model.cluster.ids import NO_LEADER, TopicPartition
from model.log.records import RecordBatch
from model.znodes.topics import LeaderIsrAndControllerEpoch
from tests.simulation.replication.memory_log import MemoryLog
from tests.simulation.replication.replicating_broker import Logs
from tests.simulation.violation import promise


class Ledger:
    """`logs`: of all brokers, as they are on disk."""

    def __init__(self, name: TopicPartition, logs: Mapping[int, Logs]) -> None:
        self.name = name
        self.committed: list[RecordBatch] = []
        self.promised_from = 0
        """The leader epoch from which on promises hold: that of the last unclean election."""
        self.is_void = False
        """Nothing is promised any more: one of the `_holes` leads."""
        self.state: LeaderIsrAndControllerEpoch | None = None
        self.acknowledged = 0
        self._logs = logs
        self._holes: set[int] = set()
        """Replicas that ZooKeeper says to be in sync, and may lack records, in Kafka, too, until they leave the ISR:

        - one that lost records to a power failure and was back before anybody noticed, is the last of the ISR, or was
          about to join it. With ZooKeeper there is no remedy (KIP-966, Eligible Leader Replicas, and KIP-903, which
          keeps a process from joining with what the one before it had fetched, are for KRaft);
        - one that a reassignment drops: the leader is told of the target (`moveReassignedPartitionLeaderIfRequired`)
          before the ISR is written without it (OfflineReplica), and its high watermark waits only for replicas that it
          knows (`Partition.updateAssignmentAndIsr`, `maybeIncrementLeaderHW`, 2.4 to 3.9);
        - one that a reassignment drops though nobody of the target could be elected any more: a leader of before 2.7
          may shrink the ISR after `isReassignmentComplete` has read it. The election fails, which is only logged, and
          the last of the ISR is told to delete its log (`onPartitionReassignment`);
        - one that a leader of before 2.7 wrote into the ISR when its connection to ZooKeeper broke. If the controller
          has written since, the leader that tries again reads another state than its own, takes its write for failed
          and goes on by the ISR of before (`ReplicationUtils.checkLeaderAndIsrZkData`, `Partition.expandIsr`: "Cached
          zkVersion not equal", 2.6) until it is told. KIP-497 (2.7) keeps such an ISR pending.
        """
        self._burnt: list[tuple[int, list[RecordBatch]]] = []
        """Logs as brokers had them before power failures: acks=all asks for so many who have it, not for a flush."""
        self._writers: dict[int, int] = {}
        self._sequences: dict[int, int] = {}

    # What happens

    def state_written(self, state: LeaderIsrAndControllerEpoch) -> None:
        """ZooKeeper has another state."""
        before, self.state = self.state, state
        self._holes &= set(state.isr)
        is_other = before is None or (before.leader, before.leader_epoch) != (state.leader, state.leader_epoch)
        if before is not None and state.leader not in (NO_LEADER, *before.isr):
            self._start_over(state.leader_epoch)
        elif is_other and state.leader in self._holes:
            self.is_void = True
        if before is None or not set(state.isr) <= set(before.isr):
            self.check_in_sync()

    def power_lost(self, broker: int, before: list[RecordBatch], *, may_be_in_sync: bool) -> None:
        """The end of a broker's log is gone. `may_be_in_sync`: a leader believes so, or asked for it to join."""
        self._burnt.append((broker, before.copy()))
        if may_be_in_sync or (self.state is not None and broker in self.state.isr):
            self._holes.add(broker)

    def join_forgotten(self, broker: int | None) -> None:
        """Somebody leads on as if this one had not joined."""
        if broker is not None and self.state is not None and broker in self.state.isr:
            self._holes.add(broker)
            self.is_void |= self.state.leader == broker

    def log_deleted(self, broker: int) -> None:
        """A broker has no log any more."""
        if self.state is not None and self.state.leader == NO_LEADER and self.state.isr == (broker,):
            self._holes.add(broker)
        self.check_in_sync()

    def log_cut(self) -> None:
        """A log is shorter than it was."""
        self.check_in_sync()

    def appended(self, broker: int, leader_epoch: int) -> None:
        """A broker took a record as the leader of an epoch."""
        first = self._writers.setdefault(leader_epoch, broker)
        promise(first == broker, f"{self.name}: brokers {first} and {broker} both write in leader epoch {leader_epoch}")

    def partition_changed(self, before: Partition | None, after: Partition, log: MemoryLog) -> None:
        """A broker's partition is another one."""
        if before is not None:
            self._check_steps(before, after)
        if after.leads:
            self._holes |= set(after.state.isr) - set(after.assignment.replicas)
            if after.broker in self._holes:
                self.is_void = True
        if before is None or _standing(before) != _standing(after):
            self._check_high_watermark(after, log)

    def acknowledge(self, leader_epoch: int, end: int, min_isr: int) -> None:
        """A producer is told that everything below `end` is safe: so many brokers have it."""
        if not self._holds_from(leader_epoch):
            return
        self.acknowledged += 1
        count = len(self.committed)
        promise(end <= count, f"{self.name}: offset {end - 1} is acknowledged, committed is what lies below {count}")
        logs = [(broker, logs[self.name].records) for broker, logs in self._logs.items() if self.name in logs]
        having = {broker for broker, had in logs + self._burnt if had[:end] == self.committed[:end]} | self._holes
        few = f"{self.name}: offset {end - 1} is acknowledged, only brokers {sorted(having)} of {min_isr} have it"
        promise(len(having) >= min_isr, few)

    def read(self, leader_epoch: int, records: list[RecordBatch]) -> None:
        """A consumer read these."""
        if records and self._holds_from(leader_epoch):
            start = records[0].base_offset
            found = self.committed[start : start + len(records)]
            promise(found == records, f"{self.name}: what is read at offset {start} is not what was committed")

    @property
    def is_clean(self) -> bool:
        """Whether nothing was ever lost by what an operator allowed, or by a power failure."""
        return not self.is_void and not self.promised_from

    # What is promised

    def check_in_sync(self) -> None:
        """Every in-sync replica has every committed record."""
        if self.is_void or self.state is None:
            return
        count = len(self.committed)
        for broker in self.state.isr:
            if broker not in self._holes and count:
                log = self._logs[broker].get(self.name)
                end = 0 if log is None else log.end
                promise(
                    end >= count, f"{self.name}: broker {broker} is in sync and ends at {end}, committed is {count}"
                )
                same = log is not None and (log.records == self.committed or log.records[:count] == self.committed)
                promise(same, f"{self.name}: broker {broker} is in sync and has other records than were committed")

    def _check_steps(self, before: Partition, after: Partition) -> None:
        epochs = before.state.leader_epoch, after.state.leader_epoch
        where = f"{self.name} on broker {after.broker}"
        promise(epochs[0] <= epochs[1], f"{where}: leader epoch {epochs[0]} became {epochs[1]}")
        if before.leads and after.leads and epochs[0] == epochs[1]:
            marks = before.high_watermark, after.high_watermark
            promise(
                marks[0] <= marks[1], f"{where}: the leader's high watermark went back from {marks[0]} to {marks[1]}"
            )
            parts = before.state.partition_epoch, after.state.partition_epoch
            promise(parts[0] <= parts[1], f"{where}: partition epoch {parts[0]} became {parts[1]}")

    def _check_high_watermark(self, partition: Partition, log: MemoryLog) -> None:
        if self.is_void:
            return
        mark, count = partition.high_watermark, len(self.committed)
        if partition.leads and self._holds_from(partition.state.leader_epoch):
            promise(mark <= log.end, f"{self.name}: a high watermark of {mark} lies beyond the log's end {log.end}")
            self._check_same(partition, log, min(mark, count))
            if mark > count:
                self._commit(log.records[count:mark])
        elif self.is_clean:
            promise(
                mark <= count, f"{self.name}: broker {partition.broker} believes {mark} to be committed, not {count}"
            )
            self._check_same(partition, log, mark)

    def _check_same(self, partition: Partition, log: MemoryLog, end: int) -> None:
        same = log.records[:end] == self.committed[:end]
        promise(same, f"{self.name}: broker {partition.broker} has other records below {end} than were committed")

    def _commit(self, records: list[RecordBatch]) -> None:
        self.committed += records
        for batch in records:
            if batch.producer_id >= 0 and self.is_clean:
                expected = self._sequences.get(batch.producer_id, 0)
                promise(
                    batch.base_sequence == expected,
                    f"{self.name}: producer {batch.producer_id} wrote {batch.base_sequence} at offset "
                    f"{batch.base_offset}, {expected} was next",
                )
                self._sequences[batch.producer_id] = expected + 1
        self.check_in_sync()

    def _holds_from(self, leader_epoch: int) -> bool:
        return not self.is_void and leader_epoch >= self.promised_from

    def _start_over(self, leader_epoch: int) -> None:
        """An unclean election: what was committed may be lost."""
        self.promised_from = leader_epoch
        self.committed = []


def _standing(partition: Partition) -> tuple[int, bool, int]:
    """What a high watermark stands for. One who led before may lead anew in an epoch that promises other records."""
    return partition.high_watermark, partition.leads, partition.state.leader_epoch
