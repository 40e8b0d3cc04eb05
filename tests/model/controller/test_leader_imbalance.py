"""Which leaders go back by themselves, by generation."""

import pytest

from model.cluster.ids import TopicPartition
from model.controller.elections import Ballot
from model.controller.generations import generation_of
from model.controller.requests import RebalanceRules, imbalances, partitions_to_rebalance
from tests.model.controller.ballots import ballot, new_partition

ALL = {1, 2, 3}


def partitions(*ballots: Ballot) -> dict[TopicPartition, Ballot]:
    return {TopicPartition("t", number): each for number, each in enumerate(ballots)}


def led_by(leader: int, *assigned: int, isr: tuple[int, ...] = (1, 2, 3)) -> Ballot:
    return ballot([*assigned], [*isr], ALL, leader=leader)


def rules(release: str) -> RebalanceRules:
    found = generation_of(release).rebalance
    assert found is not None
    return found


def rebalanced(ballots: dict[TopicPartition, Ballot], release: str = "3.9", percentage: int = 10) -> list[int]:
    found = partitions_to_rebalance(ballots, rules(release), reassigning=False, percentage=percentage)
    return [partition.partition for partition in found]


def test_imbalance_is_counted_by_preferred_broker() -> None:
    first, second = imbalances(partitions(led_by(2, 2, 1), led_by(1, 1, 2), led_by(2, 1, 2), new_partition([1], ALL)))
    assert (first.broker, first.preferring, first.ratio) == (1, 3, 1 / 3)
    assert first.elsewhere == (TopicPartition("t", 2),)
    assert (second.broker, second.preferring, second.elsewhere, second.ratio) == (2, 1, (), 0)


@pytest.mark.parametrize(("elsewhere", "elected"), [(0, []), (1, []), (2, [0, 1])])
def test_more_than_the_percentage_has_to_be_led_elsewhere(elsewhere: int, elected: list[int]) -> None:
    away, home = [led_by(2, 1, 2)] * elsewhere, [led_by(1, 1, 2)] * (10 - elsewhere)
    assert rebalanced(partitions(*away, *home)) == elected


def test_all_of_a_broker_are_elected_that_can_be() -> None:
    found = partitions(led_by(2, 1, 2), led_by(2, 1, 2, isr=(2,)), led_by(3, 1, 3), led_by(-1, 1, 2, isr=(1,)))
    assert rebalanced(found) == [0, 2, 3]


@pytest.mark.parametrize(("release", "elected"), [("0.8.1", [0]), ("2.5", [0]), ("2.6", []), ("3.9", [])])
def test_up_to_2_5_nobody_asks_the_isr(release: str, elected: list[int]) -> None:
    assert rebalanced(partitions(led_by(2, 1, 2, isr=(2,))), release) == elected


@pytest.mark.parametrize("release", ["0.8.2", "3.9"])
def test_a_broker_that_is_not_online_gets_nothing(release: str) -> None:
    shutting = ballot([1, 2], [1, 2], {1, 2}, leader=2, shutting={1})
    assert rebalanced(partitions(shutting, ballot([1, 2], [1, 2], {2}, leader=2)), release) == []


@pytest.mark.parametrize(("release", "count"), [("0.8.2", 0), ("3.3", 0), ("3.4", 1)])
def test_reassignments_are_waited_for_up_to_3_3(release: str, count: int) -> None:
    found = partitions(led_by(2, 1, 2))
    assert len(partitions_to_rebalance(found, rules(release), reassigning=True)) == count


def test_leaders_did_not_go_back_in_0_8_0_and_only_on_request_in_0_8_1() -> None:
    assert generation_of("0.8.0").rebalance is None
    assert not rules("0.8.1").on_by_default
    assert rules("0.8.2").on_by_default
