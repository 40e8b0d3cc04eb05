"""What bursts come to, counted by hand: bursts that are written down here, at round times."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from model.analyses.fleets.fleet import StagedCluster
from model.analyses.fleets.scenarios import FleetScenario
from model.analyses.fleets.tally import Before, BurstMoment, BurstTally, Downtime, Lasted, lasted
from model.cluster.ids import TopicPartition
from model.cluster.records import PartitionState
from model.drills.drill import Burst
from model.drills.rows import AnyRow, StateWritten
from model.drills.scenario import Act, Deed, of_acts
from model.drills.timeline import Outage
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped
from tests.model.drills.clusters import cluster, topic
from tests.spark.fleets.plain_rows import plain_row

T, U = TopicPartition("t", 0), TopicPartition("u", 0)
BEFORE = Before(
    cluster(
        [1, 2, 3],
        *topic((1, 2, 3), (1, 2, 3), 1, min_insync_replicas="2"),
        *topic((1, 2, 3), (1, 2, 3), 2, name="u", min_insync_replicas="2"),
        *topic((2, 3), (2,), 2, name="short", min_insync_replicas="2"),
        *topic((4,), (4,), 4, name="offline"),
    )
)
SPREAD = cluster(
    [1, 2, 3],
    *topic((1, 2), (1, 2), 1, min_insync_replicas="2"),
    *topic((2, 1), (2, 1), 2, name="u"),
    *topic((1,), (1,), 1, name="alone"),
    *topic((3, 1), (3, 1), 3, name="v", min_insync_replicas="2"),
    controller=3,
)
ENOUGH, TOO_FEW = (1, 2), (1,)
LATER_US = 1_000_000
"""When the second burst begins, by the clock of its rows."""


def wrote(at_ms: float, of: TopicPartition, isr: tuple[int, ...], *, unclean: bool = False) -> StateWritten:
    return StateWritten(at_ms, 1, of.topic, None, PartitionState(0, 1, 1, isr), unclean)


def burst(
    *rows: AnyRow, ended: tuple[Outage, ...] = (), leaderless: Mapping[TopicPartition, float] | None = None,
    from_us: int = 0, rest_us: int = 20_000,
) -> Burst:  # fmt: skip
    return Burst(rows, ended, leaderless or {}, from_us, rest_us)


def tally(*bursts: Burst) -> BurstTally:
    found = BurstTally(BEFORE)
    for each in bursts:
        found = found.with_burst(each)
    return found


def test_stretches_from_burst_to_burst_last_as_long_as_there_is_between_them() -> None:
    sums = {(0, 0): Lasted(2, 30, 20), (0, 1): Lasted(3, -5, 4)}
    assert lasted(sums, (7, 107)) == (5, 30 - 5 + 3 * 100, 104)
    assert lasted(sums, (7, 17)) == (5, 30 - 5 + 3 * 10, 20)
    assert lasted({}, (0,)) == (0, 0, 0)


def test_whoever_was_short_or_offline_before_is_not_counted() -> None:
    assert BEFORE.were_under == {TopicPartition("short", 0), TopicPartition("offline", 0)}
    found = tally(burst(wrote(5, TopicPartition("short", 0), (3,)), wrote(6, TopicPartition("offline", 0), ())))
    assert (found.refused, found.refused_sums) == (set(), {})


def test_each_stretch_is_counted_with_its_length_and_the_longest_of_them_is_known() -> None:
    found = tally(burst(ended=(Outage(T, 2, 8), Outage(T, 10, 11), Outage(U, 3, 5))))
    assert found.leaderless_sums == {(0, 0): Lasted(3, 9_000, 6_000)} == found.refused_sums
    assert (found.leaderless, found.refused, found.first_leaderless) == ({T, U}, {T, U}, BurstMoment(0, 2_000))


def test_what_ends_at_the_moment_at_which_it_began_is_no_stretch_though_the_leader_was_lost() -> None:
    found = tally(burst(ended=(Outage(T, 6, 6),)))
    assert (found.leaderless, found.leaderless_sums) == ({T}, {})
    assert (found.refused, found.refused_sums) == (set(), {})


def test_who_has_no_leader_or_too_few_in_sync_refuses_producers_in_one_stretch() -> None:
    rows = (wrote(3, T, ENOUGH), wrote(4, T, TOO_FEW), wrote(9, T, ENOUGH))
    found = tally(burst(*rows, ended=(Outage(T, 2, 5),)))
    assert found.leaderless_sums == {(0, 0): Lasted(1, 3_000, 3_000)}
    assert (found.refused, found.refused_sums) == ({T}, {(0, 0): Lasted(1, 7_000, 7_000)})


def test_what_is_in_order_again_ends_once() -> None:
    rows = (wrote(4, T, TOO_FEW), wrote(5, T, TOO_FEW), wrote(6, T, ENOUGH), wrote(8, T, TOO_FEW), wrote(9, T, ENOUGH))
    assert tally(burst(*rows)).refused_sums == {(0, 0): Lasted(2, 3_000, 2_000)}


def test_what_lasts_into_the_next_burst_goes_on_there() -> None:
    """The sums as if both had begun at once: less than nothing, if it takes the second one no time."""
    first = burst(wrote(10, T, TOO_FEW), leaderless={U: 15.0})
    second = burst(
        wrote(1_003, T, ENOUGH), ended=(Outage(U, 15, 1_001), Outage(T, 1_001, 1_002)), from_us=LATER_US, rest_us=9_000
    )
    before = tally(first)
    for _ in range(2):  # what follows changes nothing of what was before
        assert before.leaderless_sums == {(0, 0): Lasted(1, 5_000, 5_000)}
        assert before.refused_sums == {(0, 0): Lasted(2, 15_000, 10_000)}
        assert (before.leaderless, before.refused) == ({U}, {T, U})
        after = before.with_burst(second)
        assert after.leaderless_sums == {(0, 1): Lasted(1, -14_000, -14_000), (1, 1): Lasted(1, 1_000, 1_000)}
        assert after.refused_sums == {(0, 1): Lasted(2, -21_000, -7_000)}
        assert (after.leaderless, after.refused) == ({T, U}, {T, U})
        assert after.first_leaderless == before.first_leaderless == BurstMoment(0, 15_000)


def test_what_goes_on_for_good_is_counted_until_all_is_over() -> None:
    found = tally(burst(leaderless={T: 5.0}), burst(from_us=LATER_US, rest_us=7_000))
    assert found.leaderless_sums == {(0, 1): Lasted(1, 2_000, 2_000)} == found.refused_sums
    kept = tally(burst(leaderless={T: 5.0}), burst(leaderless={T: 5.0}, from_us=LATER_US, rest_us=7_000))
    assert kept.leaderless_sums == found.leaderless_sums  # it is told again, and is the same


def test_who_begins_to_refuse_at_the_very_end_has_not_refused_yet() -> None:
    first = burst(wrote(20, T, TOO_FEW))
    assert (tally(first).refused, tally(first).refused_sums) == (set(), {})
    found = tally(first, burst(from_us=LATER_US))
    assert (found.refused, found.refused_sums) == ({T}, {(0, 1): Lasted(1, 0, 0)})


def test_who_refused_before_has_refused_though_others_do_later() -> None:
    before = tally(burst(ended=(Outage(U, 1, 2),)))
    after = before.with_burst(burst(ended=(Outage(T, 1_001, 1_002),), from_us=LATER_US))
    assert (before.refused, after.refused) == ({U}, {T, U})


def test_a_leader_that_is_lost_the_moment_it_is_there_is_lost() -> None:
    found = tally(burst(ended=(Outage(T, 2, 8),), leaderless={T: 8.0}))
    assert found.leaderless_sums == {(0, 0): Lasted(2, 18_000, 12_000)}


def test_unclean_elections_add_up_over_bursts() -> None:
    rows = wrote(1, T, ENOUGH, unclean=True), wrote(2, U, ENOUGH, unclean=True), wrote(3, U, ENOUGH)
    second = burst(wrote(1_001, T, ENOUGH, unclean=True), from_us=LATER_US)
    assert [tally(burst(*rows), *more).unclean_elections for more in ((), (second,), (second, second))] == [2, 3, 4]


@pytest.mark.parametrize("fallen", [BrokerCrashed(1.0, 2), BrokerStopped(1.0, 2, controlled=True)])
def test_a_broker_is_down_until_it_is_started(fallen: AnyRow) -> None:
    first = burst(fallen, BrokerCrashed(4.0, 3))
    second = burst(
        BrokerBooted(1_001.0, 3), BrokerCrashed(1_002.0, 3), BrokerBooted(1_005.0, 3), from_us=LATER_US, rest_us=6_000
    )
    before = tally(first)
    assert before.with_burst(second).down == [
        Downtime(2, BurstMoment(0, 1_000)),
        Downtime(3, BurstMoment(0, 4_000), BurstMoment(1, 1_000)),
        Downtime(3, BurstMoment(1, 2_000), BurstMoment(1, 5_000)),
    ]
    assert before.down == [Downtime(2, BurstMoment(0, 1_000)), Downtime(3, BurstMoment(0, 4_000))]


def test_who_falls_twice_comes_back_as_who_fell_first() -> None:
    found = tally(burst(BrokerCrashed(1.0, 2), BrokerCrashed(2.0, 2), BrokerBooted(3.0, 2)))
    assert found.down == [Downtime(2, BurstMoment(0, 1_000), BurstMoment(0, 3_000)), Downtime(2, BurstMoment(0, 2_000))]


@pytest.mark.parametrize(
    "acts",
    [
        (Act(Deed.STOP, (1,), after_ms=5.0), Act(Deed.START, (1,), after_ms=70_000.0)),  # begins later: a whole drill
        (Act(Deed.STOP, (1,), after_ms=5.0), Act(Deed.KILL, (2,), after_ms=9_000.0)),
        (Act(Deed.KILL, (1, 2)),),
        (Act(Deed.KILL, (1,)), Act(Deed.KILL, (2,), after_ms=60_000.0)),
    ],
)
def test_a_row_is_that_of_the_drill_however_it_is_played(acts: tuple[Act, ...]) -> None:
    one = FleetScenario("random", of_acts(acts), 3, "")
    assert StagedCluster(SPREAD).play(7, one) == plain_row(SPREAD, 7, one)
