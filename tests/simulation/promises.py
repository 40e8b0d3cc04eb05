"""What must be true at every moment. Each record of the journal is looked at once, and remembered as far as needed.

The writes of ZooKeeper are the truth here: nothing is taken from what a controller believes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.events_and_commands import AlterPartitionReceived, LeaderAndIsrRequest
from model.hosts.virtual import journal
from model.hosts.virtual.journal import OPERATOR, WritePart, znode_writes
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import CONTROLLER_EPOCH, recognise
from model.znodes.topics import LeaderIsrAndControllerEpoch, decode_partition_state
from tests.simulation.announcements import Announcements
from tests.simulation.violation import promise
from tests.simulation.znodes import topic, znode


class Promises:
    """`clean`: no unclean election was allowed or asked for so far. `leaders_write`: their ISRs, themselves."""

    def __init__(self, cluster: VirtualCluster, *, clean: bool, leaders_write: bool) -> None:
        self.clean = clean
        self._leaders_write = leaders_write
        self.spared: set[str] = set()
        """Topics whose marker came too early."""
        self._cluster = cluster
        self._read = 0
        self._epoch = 0
        self._officer = NO_LEADER
        self._elected: dict[int, int] = {}
        self._states: dict[TopicPartition, dict[int, LeaderIsrAndControllerEpoch]] = {}
        """Every version of the state znodes that there are."""
        self.announcements = Announcements()
        self._proposals: dict[int, AlterPartitionReceived] = {}

    def check(self) -> None:
        """Look at what is new."""
        records = self._cluster.journal
        while self._read < len(records):
            record = records[self._read]
            self._read += 1
            look = _LOOKS.get(type(record))
            if look is not None:
                look(self, record)

    # Office

    def _elected_one(self, record: journal.ControllerElected) -> None:
        before = self._elected.setdefault(record.epoch, record.broker)
        promise(before == record.broker, f"brokers {before} and {record.broker} are both controller {record.epoch}")
        promise(record.epoch <= self._epoch, f"controller epoch {record.epoch} was never written")
        active = [self._cluster.process(broker).controller.context.epoch for broker in self._cluster.controllers]
        promise(len(set(active)) == len(active), f"two controllers of one epoch: {active}")

    def _new_epoch(self, by: int, write: WritePart) -> None:
        epoch = int(write.data)
        promise(epoch == self._epoch + 1 or write.verb == "create", f"epoch {self._epoch} became {epoch}")
        self._epoch, self._officer = epoch, by
        self.announcements.office_changed()

    # Writes

    def _transaction(self, record: journal.Transaction) -> None:
        for write in znode_writes(record):
            if write.error == "NONE":
                self._applied(record.by, write)

    def _applied(self, by: int, write: WritePart) -> None:
        if write.path == CONTROLLER_EPOCH:
            self._new_epoch(by, write)
            return
        kind = recognise(write.path).kind
        if kind is ZnodeKind.PARTITION_STATE:
            self._state_written(by, write)
        elif kind is ZnodeKind.TOPIC:
            if by != OPERATOR:
                self._by_controller(by, write.path)
            self.announcements.topic_written(recognise(write.path).topic, write, by_controller=by != OPERATOR)
        if kind is ZnodeKind.TOPIC and write.verb == "delete":
            name = recognise(write.path).topic
            marker = znode(self._cluster.zookeeper, f"/admin/delete_topics/{name}")
            promise(marker is not None, f"{name} was deleted without a marker")
        elif kind is ZnodeKind.TOPIC_TO_DELETE and write.verb == "delete":
            self._marker_removed(by, recognise(write.path).topic)

    def _marker_removed(self, by: int, name: str) -> None:
        """A marker goes when the topic is gone. Also when it is so new that the controller never heard of it."""
        if topic(self._cluster.zookeeper, name) is not None:
            known = self._cluster.process(by).controller.context.topics.by_name
            promise(name not in known, f"the marker of {name} was removed, not the topic")
            self.spared.add(name)

    def _by_controller(self, by: int, path: str) -> None:
        promise(by == self._officer, f"{by} wrote {path}, but {self._officer} is controller {self._epoch}")

    def _state_written(self, by: int, write: WritePart) -> None:
        name = _partition_in(write.path)
        if write.verb == "delete":
            self._by_controller(by, write.path)
            del self._states[name]
            self.announcements.forget(name)
            return
        state = decode_partition_state(write.data)
        promise(bool(state.isr), f"{name}: the ISR is empty")
        promise(state.leader in (NO_LEADER, *state.isr), f"{name}: leader {state.leader} is not in ISR {state.isr}")
        promise(len(set(state.isr)) == len(state.isr), f"{name}: ISR {state.isr} has somebody twice")
        versions = self._states.setdefault(name, {})
        promise(write.version == len(versions), f"{name}: version {len(versions) - 1} became {write.version}")
        before = versions.get(write.version - 1)
        if not self._by_leader(by, before, state):
            self._by_controller(by, write.path)
            promise(state.controller_epoch == self._epoch, f"{name}: {state.controller_epoch} wrote in {self._epoch}")
            self._members(name, state, before)
            self.announcements.state_written(name, state.leader_epoch)
        if before is not None:
            self._successor(name, before, state)
        versions[write.version] = state

    def _by_leader(
        self, by: int, before: LeaderIsrAndControllerEpoch | None, after: LeaderIsrAndControllerEpoch
    ) -> bool:
        """Whether a leader wrote its own ISR, as brokers did up to 2.6: with the controller epoch it knew last."""
        if before is None or not self._leaders_write:
            return False
        return by == before.leader == after.leader and before.leader_epoch == after.leader_epoch

    def _members(
        self, name: TopicPartition, state: LeaderIsrAndControllerEpoch, before: LeaderIsrAndControllerEpoch | None
    ) -> None:
        """Nobody joins who is not a replica, unless a leader of up to 2.6 did not know yet, or one that was left behind
        (`holes`): AlterPartition is accepted without a look at the replicas (`tryProcessAlterPartition`, 3.9).
        Replicas of an overridden reassignment stay until they are taken out.
        """
        assignment = topic(self._cluster.zookeeper, name.topic)
        replicas = () if assignment is None else assignment.partitions.get(name.partition, ())
        joined = set(state.isr) - set(() if before is None else before.isr)
        excused = self.announcements.outdated(name, state.leader_epoch)
        promise(joined <= excused.union(replicas), f"{name}: {joined} joined the ISR of replicas {replicas}")

    def _successor(
        self, name: TopicPartition, before: LeaderIsrAndControllerEpoch, after: LeaderIsrAndControllerEpoch
    ) -> None:
        grown = after.leader_epoch - before.leader_epoch
        promise(grown in (0, 1), f"{name}: leader epoch {before.leader_epoch} became {after.leader_epoch}")
        promise(grown == 1 or after.leader == before.leader, f"{name}: another leader in epoch {after.leader_epoch}")
        promise(grown == 0 or set(after.isr) <= set(before.isr) or not self.clean, f"{name}: {before} became {after}")
        if self.clean:
            promise(after.leader in (NO_LEADER, *before.isr), f"{name}: {after.leader} leads, ISR was {before.isr}")

    # Requests

    def _sent(self, record: journal.RequestSent) -> None:
        """Brokers are told nothing of leaders that was not written."""
        if not isinstance(record.request, LeaderAndIsrRequest):
            return
        for entry in record.request.partitions:
            versions = self._states.get(entry.partition)
            written = None if versions is None else versions.get(entry.state.partition_epoch)
            if written is None:
                continue  # Deleted since.
            told = (entry.state.leader, entry.state.leader_epoch, entry.state.isr)
            truth = (written.leader, written.leader_epoch, written.isr)
            promise(told == truth, f"{entry.partition}: {record.receiver} is told {told}, written was {truth}")

    def _served(self, record: journal.RequestServed) -> None:
        self.announcements.served(record)

    def _asked(self, record: journal.ControllerAsked) -> None:
        if isinstance(record.request, AlterPartitionReceived):
            self._proposals[record.request.request] = record.request

    def _answered(self, record: journal.ControllerAnswered) -> None:
        proposal = self._proposals.pop(record.answer.request, None)
        if proposal is None:
            return
        accepted = [outcome for outcome in record.answer.partitions if outcome.error == "NONE"]
        live = self._cluster.process(record.controller).controller.context.live.get(proposal.broker)
        for outcome in accepted:
            promise(
                live is not None and live.epoch == proposal.broker_epoch,
                f"{outcome.partition}: an ISR of broker {proposal.broker} was accepted from its life before",
            )
            leader = None if outcome.state is None else outcome.state.leader
            promise(leader == proposal.broker, f"{outcome.partition}: {proposal.broker} set the ISR of leader {leader}")


def _partition_in(path: str) -> TopicPartition:
    found = recognise(path)
    return TopicPartition(found.topic, found.partition)


_LOOKS: Mapping[type[journal.JournalRecord], Callable[[Promises, Any], None]] = {
    journal.ControllerElected: Promises._elected_one,
    journal.Transaction: Promises._transaction,
    journal.RequestSent: Promises._sent,
    journal.RequestServed: Promises._served,
    journal.ControllerAsked: Promises._asked,
    journal.ControllerAnswered: Promises._answered,
}
