"""Brokers with logs under the controllers of a virtual cluster.

The virtual cluster carries the control plane; its journal says what every broker was told, and when. Here the same
requests are decided on for brokers that have logs, and must get the answers that those without gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from model.broker.commands import ProposeIsr
from model.broker.isr import check_isr
from model.broker.partition import Partition
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerAnswer
from model.hosts.virtual.journal import (
    BrokerBooted,
    BrokerCrashed,
    BrokerStopped,
    RequestServed,
    Transaction,
    znode_writes,
)
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import recognise
from model.znodes.topics import decode_partition_state
from tests.simulation.replication import fetching
from tests.simulation.replication.isr_proposals import IsrProposals
from tests.simulation.replication.ledger import Ledger
from tests.simulation.replication.replicating_broker import Logs, Observers, ReplicatingBroker
from tests.simulation.replication.scenario import ReplicationScenario
from tests.simulation.scenario import START_MS
from tests.simulation.violation import promise

POWER_FAILS = 0.4
LOST = 0.03


class ReplicatedCluster:
    """`changed` is told of each partition that is another one, after the ledgers; `gone` of each process that ended."""

    def __init__(
        self,
        scenario: ReplicationScenario,
        cluster: VirtualCluster,
        dice: Random,
        changed: Callable[[ReplicatingBroker, Partition], None],
        gone: Callable[[int], None],
    ) -> None:
        self.running: dict[int, ReplicatingBroker] = {}
        self.ledgers: dict[TopicPartition, Ledger] = {}
        self.cuts: set[tuple[int, int]] = set()
        self.calm = False
        self._scenario = scenario
        self._cluster = cluster
        self._dice = dice
        self._changed = changed
        self._gone = gone
        self._logs: dict[int, Logs] = {broker: {} for broker in scenario.controllers.brokers}
        self._answers: dict[int, fetching.InFlight] = {}
        self._proposals: dict[int, IsrProposals] = {}
        self._read = 0

    # What the control plane brings

    def follow(self) -> None:
        """Do what the journal says has happened since."""
        records = self._cluster.journal
        while self._read < len(records):
            record = records[self._read]
            self._read += 1
            what = _FOLLOWS.get(type(record))
            if what is not None:
                what(self, record)

    def _booted(self, record: BrokerBooted) -> None:
        settings, logs = self._scenario.settings, self._logs[record.broker]
        observers = Observers(self._partition_changed, self._log_cut, self._isr_wanted)
        broker = ReplicatingBroker(record.broker, logs, settings, self._now_ms, observers)
        self.running[record.broker] = broker
        self._answers[record.broker] = {}
        self._proposals[record.broker] = IsrProposals(
            broker, self._cluster, self._dice, self.follow, self._isr_overtaken
        )

    def _died(self, record: BrokerCrashed) -> None:
        self._ended(record.broker)
        if self._scenario.power_failures and self._dice.random() < POWER_FAILS:
            for name, log in self._logs[record.broker].items():
                end = self._dice.randrange(log.flushed, log.end + 1)
                if end < log.end:
                    held = [broker.held[name] for broker in self.running.values() if name in broker.held]
                    believed = any(record.broker in partition.maximal_isr for partition in held)
                    self.ledger(name).power_lost(record.broker, log.records, may_be_in_sync=believed)
                    log.truncate(end)

    def _stopped(self, record: BrokerStopped) -> None:
        """It closed its logs."""
        for log in self._logs[record.broker].values():
            log.flushed = log.end
        self.checkpoint(record.broker)
        self._ended(record.broker)

    def _ended(self, broker: int) -> None:
        del self.running[broker], self._answers[broker], self._proposals[broker]
        self._gone(broker)

    def _served(self, record: RequestServed) -> None:
        if record.answer.error == "STALE_BROKER_EPOCH":
            return  # The journal does not know a request's broker epoch.
        answer = self.running[record.receiver].serve(record.request)
        same = _sorted(answer) == _sorted(record.answer)
        promise(same, f"broker {record.receiver} answers {answer} with its logs, {record.answer} without")

    def _written(self, record: Transaction) -> None:
        for write in znode_writes(record):
            if write.error == "NONE" and write.verb != "delete" and write.path.endswith("/state"):
                found = recognise(write.path)
                if found.kind is ZnodeKind.PARTITION_STATE:
                    name = TopicPartition(found.topic, found.partition)
                    self.ledger(name).state_written(decode_partition_state(write.data))

    # What brokers do by themselves

    def awake(self) -> list[int]:
        """Brokers that run and are not paused."""
        return [broker for broker in self.running if not self._cluster.process(broker).paused]

    def is_cut(self, one: int, other: int) -> bool:
        """Whether nothing passes between two."""
        return (min(one, other), max(one, other)) in self.cuts

    def reached(self, source: int, target: int) -> ReplicatingBroker | None:
        """The target, if it answers the source now."""
        broker = self.running.get(target)
        if broker is None or self.is_cut(source, target) or self._cluster.process(target).paused:
            return None
        return broker

    def fetch(self, follower: int) -> None:
        """Ask the leader of one partition what is due, unless an answer of it is on its way."""
        broker = self.running[follower]
        for name in self._shuffled(broker.followed):
            state = broker.followed[name]
            leader = self.reached(follower, state.leader)
            way = (name, state.leader)
            if leader is not None and leader is not broker and way not in self._answers[follower]:
                answered = fetching.ask(broker, leader, state)
                if answered is not None:
                    self._answers[follower][way] = answered
                return

    def hear(self, follower: int) -> None:
        """An answer arrives, or its connection breaks."""
        answers = self._answers[follower]
        for way in self._shuffled(answers):
            answered = answers.pop(way)
            leader = self.reached(follower, way[1])
            if leader is not None and (self.calm or self._dice.random() >= LOST):
                fetching.hear(self.running[follower], leader, answered)
                return

    def propose(self, leader: int) -> None:
        """What is under way of its ISRs goes on."""
        broker = self.running[leader]
        reaches = self.reached(leader, broker.image.controller) is not None
        self._proposals[leader].go_on(reaches_controller=reaches, calm=self.calm)

    def look(self, leader: int) -> None:
        """Whether somebody in its ISRs lags."""
        broker = self.running[leader]
        for name, partition in tuple(broker.held.items()):
            positions = broker.positions(name)
            if partition.leads and positions is not None:
                broker.do(check_isr(partition, positions, broker.conditions))

    def flush(self, broker: int) -> None:
        """Its logs."""
        for log in self._logs[broker].values():
            log.flushed = log.end

    def checkpoint(self, broker: int) -> None:
        """Its high watermarks."""
        for name, partition in self.running[broker].held.items():
            log = self._logs[broker].get(name)
            if log is not None:
                log.checkpoint = partition.high_watermark

    def summary(self) -> object:
        """How far everybody is: the same as long as nothing is new."""
        logs = [(log.end, log.epochs) for logs in self._logs.values() for log in logs.values()]
        held = [
            (partition.state, partition.high_watermark, partition.leads)
            for broker in self.running.values()
            for partition in broker.held.values()
        ]
        return logs, held, [proposals.is_idle for proposals in self._proposals.values()]

    # Who looks on

    def ledger(self, name: TopicPartition) -> Ledger:
        """What is promised for a partition."""
        if name not in self.ledgers:
            self.ledgers[name] = Ledger(name, self._logs)
        return self.ledgers[name]

    def _partition_changed(self, broker: ReplicatingBroker, before: Partition | None, after: Partition) -> None:
        self.ledger(after.partition).partition_changed(before, after, broker.logs[after.partition])
        self._changed(broker, after)

    def _log_cut(self, broker: ReplicatingBroker, name: TopicPartition) -> None:
        if name in broker.logs:
            self.ledger(name).log_cut()
        else:
            self.ledger(name).log_deleted(broker.id)

    def _isr_wanted(self, broker: ReplicatingBroker, command: ProposeIsr) -> None:
        self._proposals[broker.id].propose(command)

    def _isr_overtaken(self, broker: ReplicatingBroker, command: ProposeIsr) -> None:
        partition = broker.held.get(command.partition)
        leading = None if partition is None else partition.leading
        if leading is not None and leading.pending is not None and leading.pending.proposal == command.proposal:
            self.ledger(command.partition).join_forgotten(leading.pending.joining)

    def _now_ms(self) -> int:
        return START_MS + int(self._cluster.now_ms)

    def _shuffled(self, choices: Any) -> Iterator[Any]:
        known = list(choices)
        return iter(self._dice.sample(known, len(known)))


def _sorted(answer: BrokerAnswer) -> tuple[str, list[tuple[TopicPartition, str]]]:
    return answer.error, sorted(answer.partition_errors)


_FOLLOWS: dict[type, Callable[[ReplicatedCluster, Any], None]] = {
    BrokerBooted: ReplicatedCluster._booted,
    BrokerCrashed: ReplicatedCluster._died,
    BrokerStopped: ReplicatedCluster._stopped,
    RequestServed: ReplicatedCluster._served,
    Transaction: ReplicatedCluster._written,
}
