"""Three brokers with one partition on logs that are lists, a controller, and links that delay and lose what they carry.

It carries out what `model.broker` decides. Time passes only when it is told to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from model.broker.commands import (
    Command,
    FetchState,
    PartitionDecision,
    ProposeIsr,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
    TruncateLog,
)
from model.broker.controller_requests import BrokerEpochs, Replicas, serve_leader_and_isr
from model.broker.isr import AlterPartitionQueue, check_isr, hear_isr_answer, record_append, record_fetch
from model.broker.partition import Conditions, LogPositions, Partition, ReplicationSettings, follow_high_watermark
from model.broker.replication import (
    FetchAnswer,
    TruncationDecision,
    Verdict,
    judge_epoch_end,
    judge_fetch,
    out_of_range,
    plan_round,
    settle,
    truncate_unasked,
)
from model.broker.serving import (
    ACKS_ALL,
    Isolation,
    PartitionFetch,
    acknowledge,
    judge_read,
    look_up_epoch_end,
    refuse_produce,
)
from model.cluster.ids import TopicPartition
from model.controller.elections import Liveness, Rejection, accept_proposal
from model.controller.events_and_commands import AnswerRequest, LeaderAndIsrRequest, PartitionOutcome, PartitionToServe
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.log.checkpoints import LeaderEpochs

NAME = TopicPartition("orders", 0)
BROKERS = (1, 2, 3)
LAG_MS = 1_000


class Record(NamedTuple):
    """A record of a log, as the leader of an epoch wrote it."""

    epoch: int
    value: int


class Fetched(NamedTuple):
    """A leader's answer, on its way."""

    asked: FetchState
    answer: FetchAnswer
    records: list[Record]


@dataclass
class Node:
    """A broker's process; its log and the checkpoint outlive it."""

    id: int
    log: list[Record] = field(default_factory=list)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    checkpoint: int = 0
    alive: bool = True
    partition: Partition | None = None
    fetch: FetchState | None = None
    fetched: Fetched | None = None
    isr_queue: AlterPartitionQueue = field(default_factory=AlterPartitionQueue)
    isr_answer: AnswerRequest | None = None
    orders: list[PartitionToServe] = field(default_factory=list)
    unacknowledged: dict[int, Record] = field(default_factory=dict)

    @property
    def positions(self) -> LogPositions:
        return LogPositions(0, len(self.log), self.epochs, self.checkpoint)

    def die(self) -> None:
        self.alive = False
        self.partition, self.fetch, self.fetched, self.isr_answer = None, None, None, None
        self.isr_queue = AlterPartitionQueue()
        self.orders.clear()
        self.unacknowledged.clear()


class Network:
    """`acknowledged` and `consumed`: the record at each offset, as a producer and a consumer know it."""

    def __init__(self, settings: ReplicationSettings) -> None:
        self.settings = msgspec.structs.replace(settings, replica_lag_time_max_ms=LAG_MS)
        self.nodes = {broker: Node(broker) for broker in BROKERS}
        self.registered = frozenset(BROKERS)
        self.state = LeaderAndIsr(1, 0, BROKERS)
        self.now_ms = 1_000_000
        self.written = 0
        self.acknowledged: dict[int, Record] = {}
        self.consumed: dict[int, Record] = {}
        self.tell_all()

    @property
    def conditions(self) -> Conditions:
        return Conditions(self.now_ms, self.registered, self.settings)

    # What the controller does

    def tell_all(self) -> None:
        for broker in self.registered:
            self.tell(broker)

    def tell(self, broker: int) -> None:
        told = PartitionToServe(NAME, self.state, 1, ReplicaAssignment(BROKERS), False)
        self.nodes[broker].orders.append(told)

    def write(self, state: LeaderAndIsr) -> None:
        self.state = msgspec.structs.replace(state, partition_epoch=self.state.partition_epoch + 1)

    def elect(self, broker: int) -> None:
        """Make an in-sync, registered replica the leader, whoever leads now."""
        if broker in self.state.isr and broker in self.registered:
            self.write(self.state.with_leader(broker, self.state.isr))
            self.tell_all()

    def expire(self, broker: int) -> None:
        """The controller sees a broker's session end, whether or not the process is dead."""
        if broker not in self.registered:
            return
        self.registered -= {broker}
        self.nodes[broker].orders.clear()
        isr = tuple(each for each in self.state.isr if each != broker) or self.state.isr
        leader = self.state.leader
        if leader == broker:
            leader = next((each for each in BROKERS if each in isr and each in self.registered), -1)
        if (leader, isr) != (self.state.leader, self.state.isr):
            self.write(self.state.with_leader(leader, isr))
            self.tell_all()

    def register(self, broker: int) -> None:
        """A process starts, or comes back with a new session."""
        if broker in self.registered and self.nodes[broker].alive:
            return
        self.expire(broker)
        self.nodes[broker].alive = True
        self.registered |= {broker}
        self.tell(broker)
        if self.state.leader == -1 and broker in self.state.isr:
            self.elect(broker)

    def answer_isr(self, broker: int) -> None:
        """The controller hears the next AlterPartition of a broker, and answers."""
        node = self.nodes[broker]
        node.isr_queue = node.isr_queue.next_request()
        if not node.alive or not node.isr_queue.in_flight or node.isr_answer is not None:
            return
        if broker not in self.registered:
            node.isr_answer = AnswerRequest(0, "STALE_BROKER_EPOCH")
            return
        (proposal,) = node.isr_queue.in_flight
        accepted = accept_proposal(self.state, proposal, Liveness(self.registered))
        if isinstance(accepted, Rejection):
            outcome = PartitionOutcome(NAME, accepted.error, accepted.state)
        else:
            self.write(accepted)
            outcome = PartitionOutcome(NAME, state=self.state)
        node.isr_answer = AnswerRequest(0, partitions=(outcome,))

    # What brokers do

    def hear_isr(self, broker: int, *, lost: bool = False) -> None:
        """The answer arrives, or gets lost."""
        node = self.nodes[broker]
        if node.isr_answer is None or node.partition is None:
            return
        heard = node.isr_queue.hear(None if lost else node.isr_answer)
        node.isr_queue, node.isr_answer = heard.queue, None
        for proposal, outcome in heard.answered:
            self.do(node, hear_isr_answer(node.partition, proposal, outcome, node.positions, self.conditions))

    def obey(self, broker: int) -> None:
        """The next LeaderAndIsr arrives."""
        node = self.nodes[broker]
        if not node.alive or not node.orders:
            return
        request = LeaderAndIsrRequest(9, 1, (node.orders.pop(0),), tuple(self.registered), ())
        held = {} if node.partition is None else {NAME: node.partition}
        replicas = Replicas(held, (), lambda _: node.positions)
        served = serve_leader_and_isr(request, -1, BrokerEpochs(broker), replicas, lambda _: self.conditions)
        for partition in served.changed:
            self.do(node, PartitionDecision(partition, served.commands))

    def produce(self, broker: int) -> None:
        """A producer writes with acks=all to whoever says that it leads."""
        node = self.nodes[broker]
        if node.partition is None or refuse_produce(node.partition, ACKS_ALL, self.conditions) != "NONE":
            return
        self.written += 1
        record = Record(node.partition.state.leader_epoch, self.written)
        node.log.append(record)
        node.unacknowledged[len(node.log)] = record
        node.partition = record_append(node.partition, node.positions, self.conditions)

    def fetch(self, broker: int) -> None:
        """A follower asks its leader, which answers at once; the answer is then on its way."""
        node = self.nodes[broker]
        if node.fetch is None:
            return
        plan = plan_round([node.fetch], lambda _: node.positions, self.now_ms, self.settings.rules)
        for state in plan.cuts:
            self.truncate(node, truncate_unasked(state, node.positions))
        leader = self.nodes[node.fetch.leader]
        if leader.partition is None:
            return
        for state, epoch in plan.questions:
            end = look_up_epoch_end(leader.partition, self.known_epoch(state), epoch, leader.positions)
            answer = (end.leader_epoch, end.end_offset)
            judgement = judge_epoch_end(node.fetch, state, end.error, answer, node.positions)
            if judgement.truncation is not None:
                self.truncate(node, judgement.truncation)
        for state in plan.fetches:
            node.fetched = self.serve(leader, leader.partition, broker, state)

    def serve(self, leader: Node, partition: Partition, follower: int, state: FetchState) -> Fetched:
        read = PartitionFetch(
            offset=state.offset,
            isolation=Isolation.LOG_END,
            follower=follower,
            leader_epoch=self.known_epoch(state),
            last_fetched_epoch=state.last_fetched_epoch,
        )
        judged = judge_read(partition, read, leader.positions, 0)
        if judged.is_progress:
            self.do(leader, record_fetch(partition, follower, state.offset, leader.positions, self.conditions))
        answer = FetchAnswer(judged.error, partition.high_watermark, 0, judged.diverging)
        return Fetched(state, answer, leader.log[state.offset : state.offset + 2])

    def deliver(self, broker: int) -> None:
        """A leader's answer arrives."""
        node = self.nodes[broker]
        fetched, node.fetched = node.fetched, None
        if fetched is None or node.partition is None:
            return
        judgement = judge_fetch(node.fetch, fetched.asked, fetched.answer, node.positions)
        if judgement.truncation is not None:
            self.truncate(node, judgement.truncation)
        elif judgement.verdict is Verdict.ASK_OFFSETS:
            assert node.fetch is not None
            self.truncate(node, out_of_range(node.fetch, 0, len(self.nodes[node.fetch.leader].log), node.positions))
        elif judgement.verdict is Verdict.GIVE_UP:
            node.fetch = None
        elif judgement.verdict is Verdict.APPEND:
            assert node.fetch is not None
            for record in fetched.records:
                node.epochs = node.epochs.assign(record.epoch, len(node.log))
                node.log.append(record)
            node.fetch = settle(node.fetch, node.positions, self.settings.rules)
            node.partition = follow_high_watermark(node.partition, fetched.answer.high_watermark, node.positions)

    def pass_time(self, broker: int) -> None:
        """Longer than a follower may lag; then a broker checks its ISRs."""
        self.now_ms += LAG_MS + 1
        node = self.nodes[broker]
        if node.partition is not None:
            self.do(node, check_isr(node.partition, node.positions, self.conditions))

    def save_checkpoint(self, broker: int) -> None:
        """Write `replication-offset-checkpoint`."""
        node = self.nodes[broker]
        if node.partition is not None:
            node.checkpoint = node.partition.high_watermark

    def consume(self, broker: int) -> None:
        """A consumer reads all it may from whoever says that it leads."""
        node = self.nodes[broker]
        if node.partition is not None and node.partition.leads:
            self.remember(self.consumed, enumerate(node.log[: node.partition.high_watermark]))

    def acknowledge(self) -> None:
        """Producers hear what is settled; after each step."""
        for node in self.nodes.values():
            for end, record in list(node.unacknowledged.items()):
                found = node.partition or "NOT_LEADER_OR_FOLLOWER"
                outcome = acknowledge(found, end, self.conditions)
                if outcome is not None:
                    del node.unacknowledged[end]
                if outcome == "NONE":
                    self.remember(self.acknowledged, [(end - 1, record)])

    # Carrying out

    def do(self, node: Node, decision: PartitionDecision) -> None:
        node.partition = decision.partition
        for command in decision.commands:
            self.carry_out(node, command)

    def carry_out(self, node: Node, command: Command) -> None:
        match command:
            case StartLeaderEpoch(leader_epoch=epoch, start_offset=start):
                node.epochs = node.epochs.assign(epoch, start)
            case StartFetching(state=state):
                node.fetch = state
            case StopFetching():
                node.fetch, node.fetched = None, None
            case TruncateLog(end_offset=end):
                del node.log[end:]
                node.epochs = node.epochs.truncate_from_end(end)
            case ProposeIsr(proposal=proposal):
                added = node.isr_queue.add(proposal)
                if added is None and node.partition is not None:
                    refused = PartitionOutcome(NAME, "OPERATION_NOT_ATTEMPTED")
                    self.do(node, hear_isr_answer(node.partition, proposal, refused, node.positions, self.conditions))
                node.isr_queue = added or node.isr_queue
            case _:
                raise AssertionError(command)

    def truncate(self, node: Node, decision: TruncationDecision) -> None:
        for command in decision.commands:
            self.carry_out(node, command)
        node.fetch = settle(decision.state, node.positions, self.settings.rules)
        assert node.partition is not None
        node.partition = follow_high_watermark(node.partition, node.partition.high_watermark, node.positions)

    def known_epoch(self, state: FetchState) -> int | None:
        return state.leader_epoch if self.settings.rules.leader_epochs_are_checked else None

    @staticmethod
    def remember(known: dict[int, Record], seen: object) -> None:
        for offset, record in seen:  # type: ignore[attr-defined]
            assert known.setdefault(offset, record) == record, f"offset {offset} changed"
