"""What a leader notes of its followers, beside what the class `kafka.cluster.Replica` of Kafka 3.9.1 noted.

Each line of the capture is a random sequence of `R now end fresh in_sync` (the leader begins an epoch) and
`F now end offset` (the follower fetches), each with what is known after it: the follower's log end, the leader's end at
the last fetch, the times of the last fetch and of having caught up, and whether it is caught up 300 ms later if it
may lag for 500 ms.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from model.broker.isr import record_fetch
from model.broker.partition import Partition, is_caught_up
from model.broker.roles import become_leader, take_on
from tests.model.broker.partitions import NAME, at, log_to, order

CAPTURE = Path(__file__).parents[2] / "data/broker/follower_progress_3.9.1.txt"


def begin_epoch(partition: Partition, now_ms: int, end: int, fresh: str, in_sync: str) -> Partition:
    isr = (1, 2) if in_sync == "true" else (1,)
    told = order(1, partition.state.leader_epoch + 1, isr, replicas=(1, 2), partition_epoch=1)
    if fresh == "true":
        partition = msgspec.structs.replace(partition, leading=None)
    return become_leader(partition, told, log_to(end), at(now_ms)).partition


@pytest.mark.parametrize("line", CAPTURE.read_text().splitlines())
def test_it_is_what_kafka_notes(line: str) -> None:
    partition = take_on(NAME, 1, log_to(0))
    for step in line.strip(";").split(";"):
        (kind, now, end, *rest), known = (part.split() for part in step.split(" = "))
        now_ms, leader_end = int(now), int(end)
        if kind == "R":
            partition = begin_epoch(partition, now_ms, leader_end, *rest)
        else:
            partition = record_fetch(partition, 2, int(rest[0]), log_to(leader_end), at(now_ms)).partition
        assert partition.leading is not None
        follower = partition.leading.followers[2]
        caught_up = is_caught_up(follower, leader_end, at(now_ms + 300, replica_lag_time_max_ms=500))
        numbers = (follower.log_end, follower.leader_end_at_fetch, follower.fetched_ms, follower.caught_up_ms)
        assert [*map(str, numbers), str(caught_up).lower()] == known, step
