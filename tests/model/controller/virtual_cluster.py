"""Brokers with our controller on a ZooKeeper in memory, in virtual time: a host that carries out and decides nothing.

Messages arrive at once and in order; leaders look for followers to take into the ISR once all else is quiet.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from model.cluster.ids import TopicPartition
from model.controller import events
from model.controller.commands import (
    AnswerRequest,
    AskZooKeeper,
    CancelTimer,
    Command,
    DropRequests,
    SendRequest,
    StartTimer,
)
from model.controller.decide import decide
from model.controller.events import Event
from model.controller.requests import BrokerAnswer, BrokerRequest
from model.controller.settings import Settings
from model.controller.state import ControllerState, new_controller
from model.controller.watches import ZnodeChange, event_for
from model.hosts.memory_zookeeper.memory_zookeeper import MemoryZooKeeper
from model.hosts.zookeeper.values import ZnodeChanged
from model.znodes.brokers import BrokerRegistration
from tests.model.controller.memory_channel import answer_of, operation_of, transaction
from tests.model.controller.virtual_broker import VirtualBroker

BASE_PORT = 29_090
RACKS = ("r0", "r1", "r2", "r0")
CLUSTER_ID = "dUADuL1sSZy5fstnXFD1iQ"
_TIMESTAMP = re.compile(r'"timestamp":"\d+"')


@dataclass
class Node:
    """A broker's process: its session, its controller, and what it was told."""

    session: int
    controller: ControllerState
    broker: VirtualBroker
    inbox: deque[Event] = field(default_factory=deque)
    timers: dict[str, int] = field(default_factory=dict)
    paused: bool = False


class VirtualCluster:
    """`log` has ZooKeeper's transactions, `reasons` the controllers' sentences, `protocol` events and requests."""

    def __init__(self, **settings: Any) -> None:
        self.now_ms = 1_795_244_000_000
        self.zookeeper = MemoryZooKeeper(lambda: self.now_ms)
        self.operator = self.zookeeper.open()
        self.nodes: dict[int, Node] = {}
        self.log: list[str] = []
        self.reasons: list[str] = []
        self.protocol: list[str] = []
        self.answers: dict[int, AnswerRequest] = {}
        self.patience = -1
        """How many more events may be decided on; negative: any number."""
        self._settings = settings
        self._requests = 0
        self._asked: dict[int, tuple[int, AlterPartition]] = {}

    # Life of brokers

    def start(self, broker: int) -> None:
        """Start a broker and let everything settle."""
        session = self.zookeeper.open().id
        controller = new_controller(Settings(broker_id=broker, **self._settings))
        self.nodes[broker] = Node(session, controller, VirtualBroker(broker))
        self.tell(broker, events.BrokerStarted(registration=registration(broker), proposed_cluster_id=CLUSTER_ID))
        self.settle()

    def kill(self, *brokers: int) -> None:
        """kill -9, and the sessions end."""
        sessions = [self.nodes.pop(broker).session for broker in brokers]
        for session in sessions:
            self.zookeeper.expire(session)
            self.settle()

    def stop(self, broker: int) -> AnswerRequest:
        """Controlled shutdown, then the end of the session."""
        answer = self.ask(events.ControlledShutdownRequested, broker=broker)
        session = self.nodes.pop(broker).session
        self.zookeeper.close(session)
        self.settle()
        return answer

    def expire(self, broker: int) -> None:
        """A broker's session ends, and it gets a new one; it does not stop."""
        self.zookeeper.expire(self.nodes[broker].session)
        self._renew_session(broker)

    def pause(self, broker: int) -> None:
        """SIGSTOP, for so long that the session ends."""
        self.nodes[broker].paused = True
        self.zookeeper.expire(self.nodes[broker].session)

    def resume(self, broker: int) -> None:
        """SIGCONT: it first does what it was about to do, then learns that its session is gone."""
        self.nodes[broker].paused = False
        self.settle()
        self._renew_session(broker)

    # What people and tools do

    def write(self, operation: Any) -> Any:
        """Write as a tool would."""
        reply = self.operator.ask(operation)
        self.log.append(transaction(operation, reply.result))
        self.settle()
        return reply.result

    def ask(self, kind: type[events.RequestReceived], **fields: Any) -> AnswerRequest:
        """Ask the controller and wait for its answer."""
        number = self._number()
        self.tell(self.controller, kind(request=number, **fields))
        self.settle()
        return self.answers[number]

    @property
    def controller(self) -> int:
        """The broker that is the controller."""
        return next(broker for broker, node in self.nodes.items() if node.controller.context.active)

    def leader(self, topic: str, partition: int = 0) -> int:
        """The leader as the controller sees it."""
        return self.nodes[self.controller].controller.context.leader_of(TopicPartition(topic, partition))

    def fire_timers(self) -> None:
        """Let time pass until every timer that runs now has fired once."""
        for broker, node in list(self.nodes.items()):
            for timer, after_ms in list(node.timers.items()):
                del node.timers[timer]
                self.now_ms += after_ms
                self.tell(broker, events.TimerFired(timer=timer))
        self.settle()

    def since(self, mark: int) -> list[str]:
        """Transactions since `len(log)` was this much."""
        return self.log[mark:]

    # The host

    def tell(self, broker: int, event: Event) -> None:
        """Put an event in a broker's inbox."""
        self.nodes[broker].inbox.append(event)

    def settle(self) -> None:
        """Carry messages until nobody has anything to do, or until `patience` runs out."""
        while self._deliver() or self._grow_isrs():
            pass

    def step(self) -> bool:
        """Let one controller decide on one event."""
        for broker, node in list(self.nodes.items()):
            self._take_mail(node)
            if node.inbox and not node.paused:
                self._decide(broker, node, node.inbox.popleft())
                return True
        return False

    def _renew_session(self, broker: int) -> None:
        before = self.nodes[broker].session
        self.tell(broker, events.SessionExpired())
        self.tell(broker, events.SessionEstablished(registration=registration(broker), previous_session=before))
        self.settle()

    def _deliver(self) -> bool:
        moved = False
        while self.patience != 0 and self.step():
            self.patience -= 1
            moved = True
        return moved

    def _grow_isrs(self) -> bool:
        brokers = {broker: node.broker for broker, node in self.nodes.items() if not node.paused}
        epochs = {b: node.controller.context.epoch for b, node in self.nodes.items() if node.controller.context.active}
        active = sorted(epochs, key=epochs.__getitem__, reverse=True)
        grown = False
        if self.patience == 0:
            return False
        for broker, virtual in brokers.items():
            live = self.nodes[active[0]].controller.context.live.get(broker) if active else None
            proposals = virtual.propose(brokers) if live is not None else []
            if proposals and live is not None:
                event = events.AlterPartitionReceived(
                    request=self._number(), broker=broker, broker_epoch=live.epoch, proposals=tuple(proposals)
                )
                self._asked[event.request] = (broker, event)
                self.tell(active[0], event)
                grown = True
        return grown

    def _take_mail(self, node: Node) -> None:
        for message in self.zookeeper.take(node.session):
            if isinstance(message, ZnodeChanged):
                event = event_for(message.path, ZnodeChange(message.kind), self.now_ms)
                if event is not None:
                    node.inbox.append(event)

    def _decide(self, broker: int, node: Node, event: Event) -> None:
        self.now_ms += 1
        if isinstance(event, events.SessionEstablished):
            node.session = self.zookeeper.open().id
        event = type(event)(**{**{f: getattr(event, f) for f in event.__struct_fields__}, "at_ms": self.now_ms})
        decision = decide(node.controller, event)
        node.controller = decision.state
        self.reasons.extend(decision.reasons)
        if not isinstance(event, events.ZooKeeperAnswered):
            self.protocol.append(f">> {broker} {type(event).__name__}")
        for command in decision.commands:
            self._carry_out(broker, node, command)

    def _carry_out(self, broker: int, node: Node, command: Command) -> None:
        if isinstance(command, AskZooKeeper):
            answers = tuple(self._zookeeper(node, request) for request in command.requests)
            self._take_mail(node)
            node.inbox.append(events.ZooKeeperAnswered(question=command.question, answers=answers))
        elif isinstance(command, SendRequest):
            self._send(broker, command.broker, command.request)
        elif isinstance(command, StartTimer):
            node.timers[command.timer] = command.after_ms
        elif isinstance(command, CancelTimer):
            node.timers.pop(command.timer, None)
        elif isinstance(command, AnswerRequest):
            self.answers[command.request] = command
            asked = self._asked.pop(command.request, None)
            if asked is not None and asked[0] in self.nodes:
                self.nodes[asked[0]].broker.hear(asked[1], command)
        else:
            assert isinstance(command, DropRequests)

    def _zookeeper(self, node: Node, request: Any) -> Any:
        operation = operation_of(request)
        reply = self.zookeeper.ask(node.session, operation)
        line = transaction(operation, reply.result)
        if line:
            self.log.append(_TIMESTAMP.sub('"timestamp":"T"', line))
        return answer_of(request, reply.result)

    def _send(self, sender: int, receiver: int, request: BrokerRequest) -> None:
        node = self.nodes.get(receiver)
        self.protocol.append(f"<< {sender} to {receiver} {type(request).__name__.removesuffix('Request')}")
        if node is not None and not node.paused:
            answer: BrokerAnswer = node.broker.receive(request)
            self.tell(sender, events.RequestAnswered(broker=receiver, sent=request, answer=answer))

    def _number(self) -> int:
        self._requests += 1
        return self._requests


AlterPartition = events.AlterPartitionReceived


def registration(broker: int) -> bytes:
    """The payload that the broker of the traces writes."""
    port = BASE_PORT + broker
    return BrokerRegistration(
        listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
        endpoints=(f"PLAINTEXT://127.0.0.1:{port}",),
        rack=RACKS[broker % len(RACKS)],
        port=port,
        host="127.0.0.1",
        version=5,
        timestamp="0",
    ).to_bytes()
