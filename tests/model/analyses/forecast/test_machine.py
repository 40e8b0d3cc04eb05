"""One partition through failures, case by case: what an operator would read off the controller's rules by hand."""

from __future__ import annotations

import pytest

from model.analyses.forecast.machine import BrokerOutage, PartitionRules, PartitionTotals, play

THREE, UNCLEAN, ELR = PartitionRules(3, 2), PartitionRules(3, 2, unclean=True), PartitionRules(3, 2, elr=True)


def crash(start_s: float, end_s: float, catch_up_s: float = 120, **flags: bool) -> BrokerOutage:
    start = round(start_s * 1000)
    return BrokerOutage(
        start, start + 9_000, 100, max(round(end_s * 1000), start + 9_100), round(catch_up_s * 1000), **flags
    )


def one_after_the_other(*ends_s: float, **flags: bool) -> dict[int, list[BrokerOutage]]:
    starts = (0, 60, 120)
    return {
        number: [crash(start, end, **flags)]
        for number, (start, end) in enumerate(zip(starts, ends_s, strict=True), start=1)
    }


M4 = one_after_the_other(600, 720, 1800)
CASES: dict[str, tuple[PartitionRules, dict[int, list[BrokerOutage]], tuple[float, ...]]] = {
    "M1 the leader": (THREE, {1: [crash(0, 900)]}, (9.1, 9.1, 0, 1011, 0, 0, 1)),
    "M2 a follower": (THREE, {3: [crash(0, 900)]}, (0, 0, 9, 1011, 0, 0, 0)),
    "M3 the next leader": (THREE, {1: [crash(0, 600)], 2: [crash(300, 1200)]}, (18.2, 429.1, 0, 1311, 0, 0, 2)),
    "M4 all, and the last one has to return": (THREE, M4, (1698.2, 1869.1, 0, 1911, 0, 0, 2)),
    "M5 unclean elections do not wait": (UNCLEAN, M4, (498.2, 789.1, 0, 1911, 1, 0, 3)),
    "M6 nor does who is eligible": (
        ELR,
        one_after_the_other(600, 720, 1800, forgets=False),
        (618.2, 789.1, 0, 1911, 0, 0, 3),
    ),
    "M7 unless it crashed": (ELR, one_after_the_other(600, 1800, 1200), (1698.2, 1869.1, 0, 1911, 0, 0, 2)),
    "M7 without eligible replicas": (THREE, one_after_the_other(600, 1800, 1200), (1098.2, 1269.1, 0, 1911, 0, 0, 2)),
    "M8 a rack": (THREE, {each: [crash(0, 600)] for each in (1, 2, 3)}, (600, 720, 0, 711, 0, 0, 1)),
    "M9 a clean stop": (THREE, {1: [BrokerOutage(0, 0, 0, 180_000, 60_000, clean=True)]}, (0, 0, 0, 240, 0, 0, 0)),
    "M10 back before it was missed": (THREE, {1: [crash(0, 4, 60)]}, (9.1, 9.1, 0, 60.1, 0, 0, 1)),
    "M11 catching up when the leader dies": (
        PartitionRules(2, 1),
        {1: [crash(0, 600, 180)], 2: [crash(660, 1200, 180)]},
        (549.1, 549.1, 0, 1311, 0, 0, 1),
    ),
    "M12 one replica": (PartitionRules(1, 1), {1: [crash(0, 600)]}, (600, 600, 0, 0, 0, 0, 0)),
    "the last one's disk": (
        PartitionRules(2, 1),
        {1: [crash(0, 600)], 2: [crash(60, 300, empty=True)]},
        (9.1 + 240, 9.1 + 240, 0, 720 - 9, 0, 1, 1),
    ),
    "slow": (THREE, {2: [BrokerOutage(0, 30_000, 0, 60_000, 5_000, slow=True)]}, (0, 0, 30, 35, 0, 0, 0)),
    "a slow leader leads on": (
        THREE,
        {1: [BrokerOutage(0, 30_000, 0, 60_000, 5_000, slow=True)]},
        (0, 0, 0, 0, 0, 0, 0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_a_partition(case: str) -> None:
    rules, outages, seconds = CASES[case]
    course = play(rules, list(range(1, rules.replicas + 1)), outages)
    measured = *(ms / 1000 for ms in course[:4]), *course[4:7]
    assert measured == seconds


def test_a_tail_is_lost_where_all_in_sync_lose_power_at_once() -> None:
    """Kafka acknowledges what is in page caches; whoever kept power has it, whoever was out of the ISR never had."""
    dark = {each: [crash(0, 600, power=True)] for each in (1, 2, 3)}
    assert play(THREE, [1, 2, 3], dark).tail == 1
    assert play(THREE, [1, 2, 3], {**dark, 3: [crash(0, 600)]}).tail == 0
    assert play(THREE, [1, 2, 3], {**dark, 2: [crash(1, 600, power=True)]}).tail == 0
    two = {each: [crash(100, 600, power=True)] for each in (1, 2)}
    assert play(THREE, [1, 2, 3], {**two, 3: [crash(0, 10, 5)]}).tail == 0
    assert play(THREE, [1, 2, 3], {**two, 3: [crash(0, 50, 120)]}).tail == 1
    assert play(THREE, [1, 2, 3], {**two, 3: [crash(0, 700)]}).tail == 1
    assert play(PartitionRules(1, 1), [1], {1: [crash(0, 600, power=True), crash(900, 1000)]}).tail == 1


def test_what_lies_behind_the_end_is_not_counted() -> None:
    assert play(THREE, [1, 2, 3], {1: [crash(0, 900)]}, 5_000) == PartitionTotals(5_000, 5_000, 0, 0)
