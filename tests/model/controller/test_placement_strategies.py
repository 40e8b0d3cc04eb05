"""Placement against what Kafka 3.9.1's own class printed, and what holds for any brokers."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.controller.placement import (
    STRATEGIES,
    BrokerMetadata,
    Placement,
    PlacementRequest,
    place,
    rack_alternated,
    rack_aware,
    rack_unaware,
    simple,
)

VECTORS: list[dict[str, Any]] = msgspec.json.decode(
    (Path(__file__).parents[2] / "data" / "control-plane" / "placement_vectors.json").read_bytes()
)


def brokers_with(racks: Mapping[int, str]) -> tuple[BrokerMetadata, ...]:
    return tuple(BrokerMetadata(broker, rack) for broker, rack in racks.items())


def brokers_of(vector: dict[str, Any]) -> tuple[BrokerMetadata, ...]:
    if vector["kind"] == "rack":
        return brokers_with({int(broker): rack for broker, rack in vector["rack"].items()})
    return tuple(map(BrokerMetadata, vector["brokers"]))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['kind']}-rf{vector['rf']}-at{vector['start']}")
def test_replicas_go_where_kafka_puts_them(vector: dict[str, Any]) -> None:
    expected, first, start = vector["expected"], vector["start_partition"], vector["start"]
    request = PlacementRequest(len(expected), vector["rf"], start, start, first)
    assert place(brokers_of(vector), request) == {
        first + index: tuple(replicas) for index, replicas in enumerate(expected)
    }


@pytest.mark.parametrize(
    ("racks", "alternated"),
    [
        ({0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}, [0, 3, 1, 5, 4, 2]),
        ({0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2"}, [0, 3, 1, 4, 2]),
        ({broker: f"r{broker // 3}" for broker in range(9)}, [0, 3, 6, 1, 4, 7, 2, 5, 8]),
    ],
)
def test_brokers_of_alternating_racks(racks: dict[int, str], alternated: list[int]) -> None:
    assert [broker.id for broker in rack_alternated(brokers_with(racks))] == alternated


def test_start_and_shift_are_dice_of_their_own() -> None:
    brokers = tuple(map(BrokerMetadata, range(4)))
    assert rack_unaware(brokers, PlacementRequest(2, 3, start=2, shift=1)) == {0: (2, 0, 1), 1: (3, 1, 2)}


racks = st.sampled_from(("a", "b", "c", "d"))
rack_maps = st.dictionaries(st.integers(0, 30), racks, min_size=1, max_size=9)


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[BrokerMetadata, ...], PlacementRequest]:
    brokers = brokers_with(draw(rack_maps))
    dice = st.integers(0, len(brokers) - 1)
    return brokers, PlacementRequest(
        partitions=draw(st.integers(1, 30)),
        replication_factor=draw(st.integers(1, len(brokers))),
        start=draw(dice),
        shift=draw(dice),
        first_partition=draw(st.integers(0, 20)),
    )


def leaders(placement: Placement) -> Counter[int]:
    return Counter(replicas[0] for replicas in placement.values())


@given(cases(), st.sampled_from(sorted(STRATEGIES)))
def test_every_strategy_uses_distinct_brokers_and_spreads_leaders(
    case: tuple[tuple[BrokerMetadata, ...], PlacementRequest], strategy: str
) -> None:
    brokers, request = case
    placement = place(brokers, request, strategy)
    assert isinstance(placement, dict)
    assert list(placement) == list(range(request.first_partition, request.first_partition + request.partitions))
    for replicas in placement.values():
        assert len(replicas) == len(set(replicas)) == request.replication_factor
        assert set(replicas) <= {broker.id for broker in brokers}
    counts = [leaders(placement)[broker.id] for broker in brokers]
    assert max(counts) - min(counts) <= 1


@given(cases())
def test_replicas_are_in_as_many_racks_as_there_can_be(
    case: tuple[tuple[BrokerMetadata, ...], PlacementRequest],
) -> None:
    brokers, request = case
    rack_of = dict(brokers)
    for replicas in rack_aware(brokers, request).values():
        used = {rack_of[replica] for replica in replicas}
        assert len(used) == min(request.replication_factor, len(set(rack_of.values())))


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.data())
def test_whole_rounds_over_racks_of_one_size_load_all_brokers_alike(
    size: int, rack_count: int, rounds: int, data: st.DataObject
) -> None:
    brokers = brokers_with({broker: f"rack {broker % rack_count}" for broker in range(size * rack_count)})
    dice = st.integers(0, len(brokers) - 1)
    factor = data.draw(st.integers(1, len(brokers)))
    request = PlacementRequest(rounds * len(brokers), factor, data.draw(dice), data.draw(dice))
    for strategy in (rack_aware, rack_unaware, simple):
        placement = strategy(brokers, request)
        held = Counter(replica for replicas in placement.values() for replica in replicas)
        assert set(held.values()) == {rounds * factor}


@given(cases())
def test_one_rack_is_as_none(case: tuple[tuple[BrokerMetadata, ...], PlacementRequest]) -> None:
    brokers, request = case
    alike = tuple(BrokerMetadata(broker.id, "one") for broker in sorted(brokers))
    assert rack_aware(alike, request) == rack_unaware(alike, request)


@given(st.integers(1, 9), st.data())
def test_the_simple_rule_is_right_for_one_round_without_dice(brokers: int, data: st.DataObject) -> None:
    known = tuple(map(BrokerMetadata, range(brokers)))
    request = PlacementRequest(brokers, data.draw(st.integers(1, brokers)))
    assert simple(known, request) == rack_unaware(known, request)
