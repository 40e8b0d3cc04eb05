"""The order of a Java HashSet, as a ZooKeeper 3.9.5 on Java 17 was seen to delete these."""

import pytest

from model.hosts.memory_zookeeper.watches import closing_order

OWNERS = [f"/consumers/g/owners/t/{partition}" for partition in range(14)]
CONSUMER = "/consumers/g/ids/g_host-1-abc"


@pytest.mark.parametrize("broker", range(5))
def test_a_broker_loses_the_controller_first(broker: int) -> None:
    registered = f"/brokers/ids/{broker}"
    assert closing_order([registered, "/controller"], 2) == ["/controller", registered]


def test_a_consumer() -> None:
    seen = [4, 3, 2, 1, 8, 7, 6, 5, 9, 12, 13, 10, 11]
    assert closing_order([CONSUMER, *OWNERS], 15) == [*(OWNERS[number] for number in seen), CONSUMER, OWNERS[0]]


def test_a_consumer_that_had_more_once() -> None:
    left = [CONSUMER, *OWNERS[1::2]]
    seen = [OWNERS[3], OWNERS[1], OWNERS[7], CONSUMER, OWNERS[5], OWNERS[9], OWNERS[13], OWNERS[11]]
    assert closing_order(left, 15) == seen


def test_nothing_to_delete() -> None:
    assert closing_order([], 40) == []
