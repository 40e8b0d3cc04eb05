"""What placement refuses and in which order, what becomes of racks, and where added partitions start."""

import pytest

from model.controller import Refusal
from model.controller.placement import (
    BrokerMetadata,
    PlacementRequest,
    RackMode,
    brokers_by_mode,
    place,
    simple,
    start_for_added_partitions,
)

PLAIN = tuple(map(BrokerMetadata, range(5)))
RACKED = (BrokerMetadata(1, "a"), BrokerMetadata(0, "b"))
MIXED = (BrokerMetadata(4), BrokerMetadata(0, "a"), BrokerMetadata(1, "b"))
NO_RACKS = tuple(map(BrokerMetadata, (0, 1, 4)))


@pytest.mark.parametrize(
    ("brokers", "partitions", "replication_factor", "error", "message"),
    [
        (PLAIN, 0, 0, "INVALID_PARTITIONS", "Number of partitions must be larger than 0."),
        (PLAIN, 1, 0, "INVALID_REPLICATION_FACTOR", "Replication factor must be larger than 0."),
        (PLAIN, 10, 6, "INVALID_REPLICATION_FACTOR", "Replication factor: 6 larger than available brokers: 5."),
        ((), 1, 1, "INVALID_REPLICATION_FACTOR", "Replication factor: 1 larger than available brokers: 0."),
        (MIXED, 2, 4, "INVALID_REPLICATION_FACTOR", "Replication factor: 4 larger than available brokers: 3."),
        (
            MIXED,
            2,
            2,
            "AdminOperationException",
            "Not all brokers have rack information for replica rack aware assignment.",
        ),
    ],
)
def test_refusals_in_kafkas_order(
    brokers: tuple[BrokerMetadata, ...], partitions: int, replication_factor: int, error: str, message: str
) -> None:
    refusal = place(brokers, PlacementRequest(partitions, replication_factor))
    assert isinstance(refusal, Refusal)
    assert (refusal.error, refusal.message) == (error, message)


def test_strategies_that_do_not_look_at_racks_take_some_without() -> None:
    request = PlacementRequest(3, 2)
    assert place(MIXED, request, "simple") == simple(NO_RACKS, request)
    assert isinstance(place(MIXED, request, "rack-unaware"), dict)
    assert isinstance(place(MIXED, request, "rack-aware"), Refusal)


def test_an_unknown_strategy_is_an_error() -> None:
    with pytest.raises(KeyError):
        place(PLAIN, PlacementRequest(1, 1), "random")


@pytest.mark.parametrize(
    ("brokers", "mode", "expected"),
    [
        (RACKED, RackMode.ENFORCED, tuple(reversed(RACKED))),
        (RACKED, RackMode.SAFE, tuple(reversed(RACKED))),
        (RACKED, RackMode.DISABLED, (BrokerMetadata(0), BrokerMetadata(1))),
        (MIXED, RackMode.SAFE, NO_RACKS),
        (MIXED, RackMode.DISABLED, NO_RACKS),
        (NO_RACKS, RackMode.ENFORCED, NO_RACKS),
    ],
)
def test_what_becomes_of_racks(
    brokers: tuple[BrokerMetadata, ...], mode: RackMode, expected: tuple[BrokerMetadata, ...]
) -> None:
    assert brokers_by_mode(brokers, mode) == expected


def test_enforced_racks_need_all_brokers_to_have_one() -> None:
    refusal = brokers_by_mode(MIXED, RackMode.ENFORCED)
    assert isinstance(refusal, Refusal)
    assert refusal.message.startswith("Not all brokers have rack information. Add --disable-rack-aware")


@pytest.mark.parametrize(("first_replica", "position"), [(1, 0), (4, 1), (5, 1), (9, 2), (10, 0)])
def test_added_partitions_start_at_the_first_broker_not_below(first_replica: int, position: int) -> None:
    brokers = tuple(map(BrokerMetadata, (1, 5, 9)))
    assert start_for_added_partitions(brokers, first_replica) == position
    assert start_for_added_partitions(brokers, first_replica, by_broker_id=True) == first_replica
