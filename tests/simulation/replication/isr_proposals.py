"""ISRs that the leaders of one process ask for, on their way: to the controller, or into the state znode up to 2.6.

The order is that of `model.hosts.live_broker.replicas.isr_proposals`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from model.broker.commands import ProposeIsr
from model.broker.isr import AlterPartitionQueue, IsrChangeNotices, hear_isr_answer, isr_found, isr_write, isr_written
from model.controller.events_and_commands import AlterPartitionReceived, AnswerRequest, PartitionOutcome, ProposedIsr
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.paths import ISR_CHANGES
from model.zookeeper import Code, Create, GetData
from tests.simulation.replication.replicating_broker import ReplicatingBroker

LOST = 0.05
"""So many answers never arrive."""


class IsrProposals:
    """Of one process: gone with it. `written` is called once ZooKeeper has another ISR, before this leader hears it;
    `overtaken`, before this leader takes for not written what it had written, and somebody else has changed since."""

    def __init__(
        self,
        broker: ReplicatingBroker,
        cluster: VirtualCluster,
        dice: Random,
        written: Callable[[], None],
        overtaken: Callable[[ReplicatingBroker, ProposeIsr], None],
    ) -> None:
        self._broker = broker
        self._cluster = cluster
        self._dice = dice
        self._written = written
        self._overtaken = overtaken
        self._number = cluster.process(broker.id).number
        self._queue = AlterPartitionQueue()
        self._refused: list[ProposedIsr] = []
        self._asked: tuple[int, int, int] | None = None
        """The number of the request on its way, the controller that was asked, and its process's number."""
        self._writes: list[ProposeIsr] = []
        self._unheard: list[tuple[ProposeIsr, bool]] = []
        """Asked for before the connection broke, and whether it was written, which this leader does not know."""
        self._notices = IsrChangeNotices(notified_ms=broker.conditions.now_ms)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way."""
        waits = self._queue.waiting or self._refused or self._writes or self._unheard or self._notices.changed
        return self._asked is None and not waits

    def propose(self, command: ProposeIsr) -> None:
        """A leader wants another ISR."""
        if self._broker.settings.rules.isr_route == "state znode":
            self._writes.append(command)
            return
        added = self._queue.add(command.proposal)
        if added is None:
            self._refused.append(command.proposal)
        else:
            self._queue = added

    def go_on(self, *, reaches_controller: bool, calm: bool) -> None:
        """The next thing that is due happens."""
        for proposal in self._refused[:1]:
            self._refused.remove(proposal)
            self._hear(proposal, PartitionOutcome(proposal.partition, "OPERATION_NOT_ATTEMPTED"))
        if self._asked is not None:
            self._await_answer(calm=calm)
        elif self._queue.waiting:
            self._send(reaches_controller=reaches_controller)
        if self._unheard or self._writes:
            self._write(calm=calm)
        if self._notices.is_due(self._broker.conditions.now_ms):
            self._notify()

    # By AlterPartition

    def _send(self, *, reaches_controller: bool) -> None:
        self._queue = self._queue.next_request()
        if not reaches_controller:
            self._queue = self._queue.hear(None).queue
            return
        controller = self._broker.image.controller
        epoch = self._cluster.process(self._broker.id).broker.epoch
        request = AlterPartitionReceived(
            request=0, broker=self._broker.id, broker_epoch=epoch, proposals=self._queue.in_flight
        )
        number = self._cluster.ask(request, controller)
        self._asked = (number, controller, self._cluster.process(controller).number)

    def _await_answer(self, *, calm: bool) -> None:
        assert self._asked is not None
        number, controller, process = self._asked
        answer = self._cluster.answer(number)
        is_gone = controller not in self._cluster.brokers or self._cluster.process(controller).number != process
        is_lost = not calm and self._dice.random() < LOST
        if answer is None and not is_gone and not is_lost:
            return
        self._asked = None
        self._take(None if is_lost else answer)

    def _take(self, answer: AnswerRequest | None) -> None:
        heard = self._queue.hear(answer)
        self._queue = heard.queue
        for proposal, outcome in heard.answered:
            self._hear(proposal, outcome)

    # By the state znode

    def _write(self, *, calm: bool) -> None:
        command, was_written = self._unheard[0] if self._unheard else (self._writes[0], False)
        write = isr_write(command.proposal, self._broker.id, command.controller_epoch)
        answer = self._cluster.ask_zookeeper(self._broker.id, write)
        if answer is None:
            return
        self._written()
        (self._unheard or self._writes).pop(0)
        if not calm and self._dice.random() < LOST:
            self._unheard.append((command, was_written or answer.ok))
            return
        outcome = isr_written(command.proposal, self._broker.id, answer)
        if answer.code is Code.BAD_VERSION:
            found = self._cluster.ask_zookeeper(self._broker.id, GetData(write.path))
            assert found is not None
            outcome = isr_found(command.proposal, self._broker.id, write, found)
        if outcome.error == "NONE" and self._broker.settings.rules.notifies_isr_changes:
            self._notices = self._notices.add(command.partition, self._broker.conditions.now_ms)
        if outcome.error != "NONE" and was_written:
            self._overtaken(self._broker, command)
        self._hear(command.proposal, outcome)

    def _notify(self) -> None:
        create = Create(f"{ISR_CHANGES}/isr_change_", self._notices.payload, sequential=True)
        if self._cluster.ask_zookeeper(self._broker.id, create) is not None:
            self._notices = self._notices.notified(self._broker.conditions.now_ms)

    def _hear(self, proposal: ProposedIsr, outcome: PartitionOutcome) -> None:
        partition, positions = self._broker.held.get(proposal.partition), self._broker.positions(proposal.partition)
        if partition is not None and positions is not None:
            self._broker.do(hear_isr_answer(partition, proposal, outcome, positions, self._broker.conditions))
