"""Findings about ZooKeeper consumer groups."""

import pytest

from model.cluster.findings import Finding, find
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Member
from model.cluster.records import (
    ClusterRecord,
    GroupDescribed,
    GroupOffsetsFetched,
    LogEndsRead,
    OffsetCommitted,
    TopicDeletionRequested,
)
from tests.model.cluster.build import brokers, claims, consumer, image, topic

CLUSTER = [*brokers(1), *topic("orders", (1,), partitions=4)]


def kinds(*records: ClusterRecord) -> dict[str, Finding]:
    told = find(image(*CLUSTER, *records)).found
    return {one.kind: one for one in told if one.subject == "group billing"}


def test_a_group_that_owns_everything_is_well() -> None:
    assert kinds(consumer("billing", "c1", 2), *claims("billing", "c1-0", 0, 1), *claims("billing", "c1-1", 2, 3)) == {}


@pytest.mark.parametrize("pattern", ["static", "white_list"])
def test_partitions_nobody_owns(pattern: str) -> None:
    told = kinds(consumer("billing", "c1", pattern=pattern), *claims("billing", "c1-0", 0, 1))

    assert told.keys() == {"unowned-partition"}
    assert told["unowned-partition"].partitions == (2, 3)
    assert "orders owned by nobody: 2-3" in told["unowned-partition"].what


def test_a_white_list_counts_what_the_group_uses() -> None:
    told = kinds(consumer("billing", "c1", name="(a+)+$", pattern="white_list"), *claims("billing", "c1-0", 0, 1, 2))

    assert told["unowned-partition"].partitions == (3,)


def test_a_group_without_members_misses_nothing() -> None:
    assert kinds(OffsetCommitted(group="billing", partition=TopicPartition("orders", 0), offset=3)) == {}


def test_a_topic_that_is_being_deleted_needs_no_owner() -> None:
    assert "unowned-partition" not in kinds(consumer("billing", "c1"), TopicDeletionRequested(topic="orders"))


def test_owned_by_a_consumer_that_is_gone() -> None:
    told = kinds(consumer("billing", "c1"), *claims("billing", "c1-0", 0, 1, 2), *claims("billing", "ghost-0", 3))

    assert told.keys() == {"dead-owner"}
    assert "orders-3" in told["dead-owner"].what
    assert "ghost-0" in told["dead-owner"].what


def test_owners_of_what_does_not_exist() -> None:
    everything = [consumer("billing", "c1"), *claims("billing", "c1-0", 0, 1, 2, 3)]
    told = kinds(*everything, *claims("billing", "c1-0", 9), *claims("billing", "c1-0", 0, name="gone"))

    assert told.keys() == {"owner-of-nothing"}
    assert told["owner-of-nothing"].what.endswith("gone-0, orders-9")


def test_threads_without_a_partition() -> None:
    told = kinds(consumer("billing", "c1", 5), *(claim for n in range(4) for claim in claims("billing", f"c1-{n}", n)))

    assert told.keys() == {"idle-thread"}
    assert told["idle-thread"].what == "1 of 5 consumer threads own no partition: c1-4"


def test_a_consumer_cannot_claim_a_billion_threads() -> None:
    assert "10,000 of 10,000" in kinds(consumer("billing", "c1", 2**31 - 1))["idle-thread"].what


def test_lag_where_log_ends_are_known() -> None:
    offsets = {0: 10, 1: 5_000, 2: 90}
    records = [
        OffsetCommitted(group="billing", partition=TopicPartition("orders", partition), offset=offset)
        for partition, offset in offsets.items()
    ]
    ends = LogEndsRead(
        ends={TopicPartition("orders", 0): 10, TopicPartition("orders", 1): 9_000, TopicPartition("orders", 2): 80}
    )
    before = find(image(*CLUSTER, *records))
    after = find(image(ends, base=before.image), before)
    told = {one.kind: one for one in after.found if one.subject == "group billing"}

    assert not [one for one in before.found if one.subject == "group billing"]
    assert told["lagging"].what == "4,000 records behind on 1 partition: orders-1 (4,000)"
    assert told["offset-out-of-range"].what == "1 offset beyond the end of the log: orders-2"


@pytest.mark.parametrize(("end", "lags"), [(1_009, False), (1_010, True)])
def test_a_group_lags_from_a_thousand_records_on(end: int, lags: bool) -> None:
    at = TopicPartition("orders", 0)
    told = kinds(OffsetCommitted(group="billing", partition=at, offset=10), LogEndsRead(ends={at: end}))
    assert (told.keys() == {"lagging"}) == lags


@pytest.mark.parametrize(
    ("state", "protocol_type", "told"),
    [
        ("Stable", "consumer", {"lagging", "unowned-partition", "idle-thread"}),
        ("Stable", "", {"lagging", "unowned-partition", "idle-thread"}),
        ("Stable", "connect", {"lagging"}),
        ("PreparingRebalance", "consumer", {"lagging"}),
    ],
)
def test_where_a_coordinator_does_not_tell_owners_only_the_lag_is_told(
    state: str, protocol_type: str, told: set[str]
) -> None:
    at = TopicPartition("orders", 0)
    described = GroupDescribed(
        group="billing",
        state=state,
        protocol_type=protocol_type,
        coordinator=1,
        members={"c1": Member({"orders": 1}, client_id="c")},
    )
    offsets = GroupOffsetsFetched(group="billing", offsets={at: 10})
    assert kinds(described, offsets, LogEndsRead(ends={at: 5_000})).keys() == told
