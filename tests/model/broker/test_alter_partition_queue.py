"""ISRs on their way to the controller (Kafka's AlterPartitionManagerTest)."""

from __future__ import annotations

import pytest

from model.broker.isr import RETRY_BACKOFF_MS, AlterPartitionQueue
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import AnswerRequest, PartitionOutcome, ProposedIsr


def proposal(partition: int, *isr: int) -> ProposedIsr:
    return ProposedIsr(TopicPartition("orders", partition), 0, 0, isr or (1, 2, 3))


def queue_of(*proposals: ProposedIsr) -> AlterPartitionQueue:
    queue = AlterPartitionQueue()
    for each in proposals:
        queue = queue.add(each) or queue
        queue = queue.next_request()
    return queue


def test_the_first_is_sent_at_once() -> None:
    assert queue_of(proposal(0)).in_flight == (proposal(0),)


def test_a_partition_waits_with_one_proposal_only() -> None:
    assert queue_of(proposal(0)).add(proposal(0, 1, 2)) is None


def test_what_comes_while_one_is_in_flight_goes_together_in_the_next() -> None:
    queue = queue_of(*(proposal(number) for number in range(10)))
    assert queue.in_flight == (proposal(0),)
    heard = queue.hear(AnswerRequest(0, partitions=(PartitionOutcome(TopicPartition("orders", 0)),)))
    assert heard.answered == ((proposal(0), PartitionOutcome(TopicPartition("orders", 0))),)
    assert heard.wait_ms == 0
    assert heard.queue.next_request().in_flight == tuple(proposal(number) for number in range(1, 10))


@pytest.mark.parametrize("error", ["STALE_BROKER_EPOCH", "CLUSTER_AUTHORIZATION_FAILED", "NOT_CONTROLLER", None])
def test_an_error_as_a_whole_sends_all_of_it_again(error: str | None) -> None:
    heard = queue_of(proposal(0)).hear(None if error is None else AnswerRequest(0, error))
    assert heard.answered == ()
    assert heard.wait_ms == RETRY_BACKOFF_MS
    assert heard.queue.next_request().in_flight == (proposal(0),)


@pytest.mark.parametrize("error", ["INVALID_UPDATE_VERSION", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER"])
def test_an_error_of_a_partition_is_its_answer(error: str) -> None:
    outcome = PartitionOutcome(TopicPartition("orders", 0), error)
    heard = queue_of(proposal(0)).hear(AnswerRequest(0, partitions=(outcome,)))
    assert heard.answered == ((proposal(0), outcome),)
    assert heard.queue == AlterPartitionQueue()


def test_what_the_answer_does_not_name_is_sent_again() -> None:
    queue = queue_of(proposal(0), proposal(1))
    heard = queue.hear(AnswerRequest(0))
    assert heard.answered == ()
    assert heard.queue.next_request().in_flight == (proposal(0), proposal(1))


def test_after_the_answer_the_same_partition_can_ask_again() -> None:
    heard = queue_of(proposal(0)).hear(
        AnswerRequest(0, partitions=(PartitionOutcome(TopicPartition("orders", 0), "INELIGIBLE_REPLICA"),))
    )
    assert heard.queue.add(proposal(0, 1)) is not None


def test_an_outcome_that_nobody_asked_for_is_dropped() -> None:
    heard = queue_of(proposal(0)).hear(AnswerRequest(0, partitions=(PartitionOutcome(TopicPartition("other", 0)),)))
    assert heard.answered == ()
