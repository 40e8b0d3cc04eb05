"""What clients and followers may write and read (Kafka's PartitionTest, ReplicaManagerTest, DelayedFetchTest)."""

from __future__ import annotations

import msgspec
import pytest

from model.broker.isr import record_fetch
from model.broker.partition import Partition
from model.broker.serving import (
    ACKS_ALL,
    Isolation,
    PartitionFetch,
    ReadJudgement,
    WaitingFetch,
    acknowledge,
    begin_waiting,
    check_leader_epoch,
    find_partition,
    is_ready,
    judge_read,
    refuse_produce,
    settle_produce,
)
from model.cluster.ids import TopicPartition
from tests.model.broker.partitions import NAME, at, follower_of, leader_of, log_to

LOG = log_to(10, (5, 0))
LEADER = leader_of(LOG, leader_epoch=5, high_watermark=4)
FOLLOWER = follower_of(1, LOG, leader_epoch=5)


@pytest.mark.parametrize(
    ("known", "error"), [(None, "NONE"), (5, "NONE"), (4, "FENCED_LEADER_EPOCH"), (6, "UNKNOWN_LEADER_EPOCH")]
)
def test_leader_epochs_are_compared(known: int | None, error: str) -> None:
    assert check_leader_epoch(LEADER, known) == error
    assert check_leader_epoch(FOLLOWER, known, only_leader=False) == error
    assert check_leader_epoch(FOLLOWER, known) == ("NOT_LEADER_OR_FOLLOWER" if error == "NONE" else error)


def test_what_is_not_held_has_an_error_that_sends_clients_on() -> None:
    other = TopicPartition("orders", 1)
    assert find_partition(NAME, {NAME: LEADER}, (), ()) == LEADER
    assert find_partition(NAME, {NAME: LEADER}, {NAME}, ()) == "KAFKA_STORAGE_ERROR"
    assert find_partition(other, {NAME: LEADER}, (), {other}) == "NOT_LEADER_OR_FOLLOWER"
    assert find_partition(other, {NAME: LEADER}, (), ()) == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(("acks", "error"), [(0, "NONE"), (1, "NONE"), (-1, "NOT_ENOUGH_REPLICAS")])
def test_only_acks_all_asks_for_the_min_isr(acks: int, error: str) -> None:
    now = at(min_insync_replicas=2)
    assert refuse_produce(leader_of(LOG, isr=(1,)), acks, now) == error
    assert refuse_produce(leader_of(LOG, isr=(1, 2)), acks, now) == "NONE"
    assert refuse_produce(FOLLOWER, acks, now) == "NOT_LEADER_OR_FOLLOWER"
    assert refuse_produce(LEADER, 2, now) == "INVALID_REQUIRED_ACKS"


def test_a_proposed_follower_is_not_enough_to_append_but_to_acknowledge() -> None:
    now = at(min_insync_replicas=3)
    partition = record_fetch(leader_of(LOG, isr=(1, 2)), 3, 10, LOG, now).partition
    assert partition.maximal_isr == (1, 2, 3)
    assert refuse_produce(partition, ACKS_ALL, now) == "NOT_ENOUGH_REPLICAS"
    assert acknowledge(msgspec.structs.replace(partition, high_watermark=10), 10, now) == "NONE"


def test_acks_all_waits_for_the_high_watermark() -> None:
    assert acknowledge(LEADER, 4, at()) == "NONE"
    assert acknowledge(LEADER, 5, at()) is None


def test_an_isr_that_shrank_after_the_append_is_told() -> None:
    now = at(min_insync_replicas=2)
    alone = msgspec.structs.replace(leader_of(LOG, isr=(1,)), high_watermark=10)
    assert acknowledge(alone, 10, now) == "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def test_who_leads_no_more_cannot_acknowledge() -> None:
    assert acknowledge(FOLLOWER, 4, at()) == "NOT_LEADER_OR_FOLLOWER"
    assert acknowledge("KAFKA_STORAGE_ERROR", 4, at()) == "KAFKA_STORAGE_ERROR"


def test_a_produce_is_over_when_each_partition_has_its_outcome() -> None:
    done, slow, moved = (TopicPartition("orders", number) for number in range(3))
    held: dict[TopicPartition, Partition | str] = {done: LEADER, slow: LEADER, moved: FOLLOWER}
    waiting = begin_waiting(ACKS_ALL, {done: 4, slow: 9, moved: 4}, deadline_ms=500)
    assert waiting is not None
    waiting = settle_produce(waiting, held.__getitem__, lambda _: at(), 499)
    assert waiting.settled == {done: "NONE", moved: "NOT_LEADER_OR_FOLLOWER"}
    assert not waiting.is_over
    held[done] = FOLLOWER  # what was acknowledged stays so
    waiting = settle_produce(waiting, held.__getitem__, lambda _: at(), 500)
    assert waiting.settled == {done: "NONE", slow: "REQUEST_TIMED_OUT", moved: "NOT_LEADER_OR_FOLLOWER"}
    assert waiting.is_over


@pytest.mark.parametrize("acks", [0, 1])
def test_without_acks_all_nothing_waits(acks: int) -> None:
    assert begin_waiting(acks, {NAME: 10}, 500) is None
    assert begin_waiting(ACKS_ALL, {}, 500) is None


@pytest.mark.parametrize(
    ("isolation", "up_to"),
    [(Isolation.LOG_END, 10), (Isolation.HIGH_WATERMARK, 4), (Isolation.LAST_STABLE_OFFSET, 2)],
)
def test_readers_see_as_far_as_they_may(isolation: Isolation, up_to: int) -> None:
    assert judge_read(LEADER, PartitionFetch(offset=1, isolation=isolation), LOG, 2) == ReadJudgement(up_to=up_to)
    assert judge_read(LEADER, PartitionFetch(offset=9, isolation=isolation), LOG, 2).up_to == (
        10 if isolation is Isolation.LOG_END else 9
    )


@pytest.mark.parametrize(
    ("offset", "error"), [(1, "OFFSET_OUT_OF_RANGE"), (2, "NONE"), (10, "NONE"), (11, "OFFSET_OUT_OF_RANGE")]
)
def test_offsets_outside_the_log_are_refused(offset: int, error: str) -> None:
    log = log_to(10, (5, 2), start=2)
    assert judge_read(LEADER, PartitionFetch(offset=offset, isolation=Isolation.HIGH_WATERMARK), log, 10).error == error


@pytest.mark.parametrize(
    ("last", "offset", "judged"),
    [
        pytest.param(5, 10, ReadJudgement(up_to=10), id="the same"),
        pytest.param(5, 12, ReadJudgement(diverging=(5, 10)), id="more than the leader has"),
        pytest.param(4, 9, ReadJudgement(diverging=(4, 7)), id="beyond the end of an older epoch"),
        pytest.param(4, 7, ReadJudgement(up_to=10), id="up to the end of an older epoch"),
        pytest.param(3, 7, ReadJudgement(diverging=(2, 4)), id="an epoch that the leader never had"),
        pytest.param(9, 7, ReadJudgement("OFFSET_OUT_OF_RANGE"), id="newer than all"),
        pytest.param(5, 0, ReadJudgement("OFFSET_OUT_OF_RANGE"), id="before the log"),
        pytest.param(3, 0, ReadJudgement("OFFSET_OUT_OF_RANGE"), id="before the log, in an epoch that never was"),
    ],
)
def test_a_fetch_tells_where_logs_part(last: int, offset: int, judged: ReadJudgement) -> None:
    log = log_to(10, (2, 1), (4, 4), (5, 7), start=1)
    read = PartitionFetch(
        offset=offset, isolation=Isolation.LOG_END, follower=2, leader_epoch=5, last_fetched_epoch=last
    )
    assert judge_read(LEADER, read, log, 0) == judged


def test_a_stranger_is_no_follower() -> None:
    read = PartitionFetch(offset=0, isolation=Isolation.LOG_END, follower=9)
    assert judge_read(LEADER, read, LOG, 0).error == "NOT_LEADER_OR_FOLLOWER"
    knowing = msgspec.structs.replace(read, leader_epoch=5)
    assert judge_read(LEADER, knowing, LOG, 0).error == "UNKNOWN_LEADER_EPOCH"


def test_a_consumer_may_read_from_a_follower_if_it_says_so() -> None:
    read = PartitionFetch(offset=0, isolation=Isolation.HIGH_WATERMARK)
    assert judge_read(FOLLOWER, read, LOG, 0).error == "NOT_LEADER_OR_FOLLOWER"
    assert judge_read(FOLLOWER, msgspec.structs.replace(read, only_leader=False), LOG, 0).error == "NONE"


@pytest.mark.parametrize(
    ("reads", "now_ms", "ready"),
    [
        pytest.param([(ReadJudgement(), 60), (ReadJudgement(), 39)], 0, False, id="too little"),
        pytest.param([(ReadJudgement(), 60), (ReadJudgement(), 40)], 0, True, id="enough in all"),
        pytest.param([(ReadJudgement(), 0)], 500, True, id="time is up"),
        pytest.param([(ReadJudgement(), 0), (ReadJudgement("FENCED_LEADER_EPOCH"), 0)], 0, True, id="an error"),
        pytest.param([(ReadJudgement(diverging=(1, 2)), 0)], 0, True, id="logs part"),
        pytest.param([], 0, True, id="nothing was asked for"),
    ],
)
def test_when_a_fetch_is_answered(reads: list[tuple[ReadJudgement, int]], now_ms: int, ready: bool) -> None:
    assert is_ready(WaitingFetch(100, 500), reads, now_ms) == ready
