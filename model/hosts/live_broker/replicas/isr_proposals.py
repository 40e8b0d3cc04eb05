"""ISRs that leaders of this broker ask for, on their way: to the controller, or into the state znode before 2.7.

Kafka 3.9 `DefaultAlterPartitionManager`, `ZkAlterPartitionManager`. What an answer means is decided elsewhere.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from itertools import groupby
from typing import Any
from uuid import UUID

from model.broker.commands import PartitionDecision, ProposeIsr
from model.broker.controller_requests import BrokerEpochs
from model.broker.isr import (
    CHECK_INTERVAL_MS,
    RETRY_BACKOFF_MS,
    AlterPartitionQueue,
    IsrChangeNotices,
    hear_isr_answer,
    isr_found,
    isr_write,
    isr_written,
)
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import AnswerRequest, PartitionOutcome, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.hosts.live_broker.parts import BrokerSurroundings
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ApiKey, WireError, error_name, topic_uuid
from model.znodes.paths import ISR_CHANGES
from model.zookeeper import Code, Create, GetData

NEWEST_BY_NAME = 1
"""AlterPartition names topics by their ids after this version, which not every topic has."""
_LOGGER = logging.getLogger(__name__)


class IsrProposals:
    """Works from the first proposal until `close`; `apply` gets what is decided about each answer."""

    def __init__(
        self, held: HeldReplicas, surroundings: BrokerSurroundings, apply: Callable[[PartitionDecision], None]
    ) -> None:
        self._held = held
        self._surroundings = surroundings
        self._apply = apply
        self._queue = AlterPartitionQueue()
        self._asking = False
        self._topic_ids: dict[str, UUID] = {}
        """In KRaft mode those of all topics that were asked about, also of those that are gone meanwhile."""
        self._notices = IsrChangeNotices(notified_ms=held.now_ms())
        self._tasks: set[asyncio.Task[None]] = set()

    def propose(self, command: ProposeIsr) -> None:
        """Send a proposal on its way; it is answered later, never at once."""
        rules = self._held.conditions(command.partition.topic).settings.rules
        if rules.isr_route == "state znode":
            self._begin(self._write(command, notify=rules.notifies_isr_changes))
            return
        queue = self._queue.add(command.proposal)
        if queue is None:
            loop = asyncio.get_running_loop()
            refused = PartitionOutcome(command.partition, "OPERATION_NOT_ATTEMPTED")
            loop.call_soon(self._hear, command.proposal, refused)
            return
        self._queue = queue
        image, topic = self._held.metadata.image, command.partition.topic
        if image.is_logged:
            self._topic_ids[topic] = topic_uuid(image.topic_ids.get(topic))
        self._send()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hear(self, proposal: ProposedIsr, outcome: PartitionOutcome) -> None:
        partition = self._held.partitions.get(proposal.partition)
        positions = self._held.positions(proposal.partition)
        if partition is not None and positions is not None:
            conditions = self._held.conditions(proposal.partition.topic)
            self._apply(hear_isr_answer(partition, proposal, outcome, positions, conditions))

    # By AlterPartition.

    def _send(self) -> None:
        if not self._asking and self._queue.waiting:
            self._asking = True
            self._queue = self._queue.next_request()
            self._begin(self._ask())

    async def _ask(self) -> None:
        answer: AnswerRequest | None = None
        try:
            response = await self._surroundings.ask_controller(self._request)
            answer = self._answer(response)
        except WireError as error:
            _LOGGER.warning("the controller does not take ISR changes: %s", error)
        if answer is not None and answer.error != "NONE":
            _LOGGER.warning("the controller refuses ISR changes: %s", answer.error)
        heard = self._queue.hear(answer)
        self._queue = heard.queue
        for proposal, outcome in heard.answered:
            self._hear(proposal, outcome)
        if heard.wait_ms or any(outcome.error != "NONE" for _, outcome in heard.answered):
            await asyncio.sleep(RETRY_BACKOFF_MS / 1000)
        self._asking = False
        self._send()

    def _request(self, connection: Connection) -> Entity:
        epochs = self._held.epochs
        version = connection.newest(ApiKey.ALTER_PARTITION, None if self._topic_ids else NEWEST_BY_NAME)
        module = shapes(ApiKey.ALTER_PARTITION, version, "request")
        proposals = sorted(self._queue.in_flight, key=lambda each: each.partition)
        topics = tuple(
            shaped(
                module.TopicData,
                topic_name=topic,
                topic_id=self._topic_ids.get(topic),
                partitions=tuple(_proposed(module, each, epochs) for each in of_it),
            )
            for topic, of_it in groupby(proposals, key=lambda each: each.partition.topic)
        )
        return shaped(
            module.AlterPartitionRequest,
            broker_id=epochs.broker,
            broker_epoch=epochs.broker_epoch,
            topics=topics,
        )

    def _answer(self, response: Entity) -> AnswerRequest:
        names = {topic_id: name for name, topic_id in self._topic_ids.items()}
        outcomes: list[PartitionOutcome] = []
        for topic in response.topics:
            topic_name = topic.topic_name if hasattr(topic, "topic_name") else names.get(topic.topic_id, "")
            outcomes += [_outcome(TopicPartition(topic_name, each.partition_index), each) for each in topic.partitions]
        return AnswerRequest(0, error_name(response.error_code), partitions=tuple(outcomes))

    # By the state znode.

    async def _write(self, command: ProposeIsr, *, notify: bool) -> None:
        proposal, leader = command.proposal, self._held.broker
        ask = self._surroundings.ask_zookeeper
        write = isr_write(proposal, leader, command.controller_epoch)
        (answer,) = await ask((write,))
        outcome = isr_written(proposal, leader, answer)
        if answer.code is Code.BAD_VERSION:
            (found,) = await ask((GetData(write.path),))
            outcome = isr_found(proposal, leader, write, found)
        if outcome.error == "NONE" and notify:
            self._notify(proposal.partition)
        if outcome.error not in ("NONE", "INVALID_UPDATE_VERSION"):
            await asyncio.sleep(RETRY_BACKOFF_MS / 1000)
        self._hear(proposal, outcome)

    def _notify(self, name: TopicPartition) -> None:
        idle = not self._notices.changed
        self._notices = self._notices.add(name, self._held.now_ms())
        if idle:
            self._begin(self._notify_in_time())

    async def _notify_in_time(self) -> None:
        while self._notices.changed:
            await asyncio.sleep(CHECK_INTERVAL_MS / 1000)
            now_ms = self._held.now_ms()
            if self._notices.is_due(now_ms):
                notices, self._notices = self._notices, self._notices.notified(now_ms)
                path = f"{ISR_CHANGES}/isr_change_"
                await self._surroundings.ask_zookeeper((Create(path, notices.payload, sequential=True),))


def _proposed(module: Any, proposal: ProposedIsr, epochs: BrokerEpochs) -> Entity:
    with_epochs: tuple[Entity, ...] = ()
    known = proposal.broker_epochs or (-1,) * len(proposal.isr)
    if hasattr(module, "BrokerState"):
        with_epochs = tuple(
            module.BrokerState(
                broker_id=member, broker_epoch=epochs.broker_epoch if member == epochs.broker else broker_epoch
            )
            for member, broker_epoch in zip(proposal.isr, known, strict=True)
        )
    return shaped(
        module.PartitionData,
        partition_index=proposal.partition.partition,
        leader_epoch=proposal.leader_epoch,
        new_isr=proposal.isr,
        new_isr_with_epochs=with_epochs,
        leader_recovery_state=int(proposal.recovering),
        partition_epoch=proposal.partition_epoch,
    )


def _outcome(name: TopicPartition, each: Any) -> PartitionOutcome:
    error = error_name(each.error_code)
    if error != "NONE":
        return PartitionOutcome(name, error)
    recovering = bool(getattr(each, "leader_recovery_state", 0))
    state = LeaderAndIsr(each.leader_id, each.leader_epoch, tuple(each.isr), recovering, each.partition_epoch)
    return PartitionOutcome(name, state=state)
