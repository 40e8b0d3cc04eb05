"""The deaths that Kafka's documentation and traces of real brokers tell of, as (leader, leader epoch, ISR)."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import ReassignmentsRequested, TopicDeletionRequested
from model.drills.drill import DEFAULT, RESTARTING, run
from model.drills.outcomes import OutcomeKind
from model.drills.rows import StateWritten
from model.drills.scenario import Act, Deed, Scenario, of_acts, of_brokers, of_rack
from model.hosts.virtual.journal import (
    BrokerBooted,
    BrokerCrashed,
    BrokerStopped,
    ControllerAsked,
    ControllerElected,
    RequestSent,
    SessionEnded,
)
from tests.model.drills.clusters import EPOCH, T0, became, cluster, topic

SESSION_MS = DEFAULT.session_timeout_ms


def killing(*ids: int, unclean: bool = False, restart_after_ms: float | None = None) -> Scenario:
    return Scenario(kill=ids, unclean=unclean, restart_after_ms=restart_after_ms)


def test_the_leader_dies_and_the_next_assigned_replica_in_sync_leads_with_one_write() -> None:
    drill = run(cluster([1, 2, 3, 4], *topic((1, 2, 3), (1, 2, 3), 1), controller=4), killing(1))
    assert became(drill) == (2, 1, (2, 3))
    (write,) = [row for row in drill.timeline.rows if isinstance(row, StateWritten)]
    assert (write.by, write.after.version, write.unclean) == (4, 1, False)
    assert write.before is not None
    assert (write.before.leader, write.after.leader) == (1, 2)
    (outcome,) = drill.affected
    assert outcome.outcome is OutcomeKind.CLEAN
    assert outcome.outage is not None
    assert outcome.outage.leader == 2
    assert outcome.outage.to_ms is not None
    assert SESSION_MS < outcome.outage.to_ms < SESSION_MS + 100


def test_the_leader_is_chosen_by_assignment_and_the_isr_keeps_its_own_order() -> None:
    drill = run(cluster([1, 2, 3], *topic((3, 1, 2), (2, 1, 3), 3, 5)), killing(3))
    assert became(drill) == (1, 6, (2, 1))


def test_a_follower_dies() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1)), killing(3))
    assert became(drill) == (1, 1, (1, 2))
    assert [one.outcome for one in drill.affected] == [OutcomeKind.FOLLOWER_LOST]
    assert drill.affected[0].outage is None
    assert drill.summary.leaders_moved == 0
    assert not drill.summary.hurts


def test_a_follower_that_was_out_of_sync_dies_and_nothing_is_written() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2), 1)), killing(3))
    assert drill.affected == ()
    assert drill.after.topics["t"] is drill.before.topics["t"]


def test_the_controller_dies_and_what_it_led_takes_two_epochs() -> None:
    image = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), *topic((2, 1), (2, 1), 2, name="u"))
    drill = run(image, killing(1))
    assert became(drill) == (2, 2, (2, 3))
    assert became(drill, TopicPartition("u", 0)) == (2, 1, (2,))
    (moved,) = [row for row in drill.timeline.rows if isinstance(row, ControllerElected)]
    assert (moved.old, moved.broker, moved.epoch) == (1, drill.after.controller.broker, EPOCH + 1)
    assert [(row.expired, row.controller) for row in drill.timeline.rows if isinstance(row, SessionEnded)] == [
        (True, True)
    ]
    assert drill.after.controller.epoch == EPOCH + 1


def test_the_last_in_sync_replica_dies_and_is_remembered() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2), (1,), 1, 1), controller=3), killing(1))
    assert became(drill) == (-1, 2, (1,))
    (outcome,) = drill.affected
    assert outcome.outcome is OutcomeKind.OFFLINE
    assert outcome.outage is not None
    assert outcome.outage.to_ms is None
    assert (drill.summary.newly_offline, drill.summary.hurts) == (1, True)
    assert drill.timeline.outage_percentile(50) is None


@pytest.mark.parametrize("allowed_by", ["topic", "scenario"])
def test_unclean_election_where_it_is_allowed(allowed_by: str) -> None:
    allowed = "true" if allowed_by == "topic" else "false"
    image = cluster([1, 2, 3], *topic((1, 2), (1,), 1, 1, unclean_leader_election_enable=allowed), controller=3)
    drill = run(image, killing(1, unclean=allowed_by == "scenario"))
    assert became(drill) == (2, 2, (2,))
    assert drill.affected[0].outcome is OutcomeKind.UNCLEAN
    assert drill.after.topics["t"].recovering.tolist() == [True]
    assert drill.summary.unclean == 1
    assert drill.summary.hurts


@pytest.mark.parametrize("victim", [2, 3])
def test_a_leader_outside_of_the_isr_that_stays_is_no_unclean_election(victim: int) -> None:
    image = cluster([1, 2, 3, 4], *topic((1, 2, 3), (2, 3), 1, 4), controller=4)
    drill = run(image, killing(victim, unclean=True))
    assert became(drill) == (1, 5, (5 - victim,))
    assert [one.outcome for one in drill.affected] == [OutcomeKind.FOLLOWER_LOST]
    assert (drill.summary.unclean, drill.summary.leaders_moved) == (0, 0)


def test_a_leader_outside_of_the_isr_that_is_elected_again_is_an_unclean_one() -> None:
    image = cluster([2, 3, 4], *topic((1, 2), (1,), 2, 4), controller=4)
    drill = run(image, killing(2, unclean=True, restart_after_ms=3 * SESSION_MS))
    assert became(drill) == (2, 5, (2,))
    assert [row.unclean for row in drill.timeline.rows if isinstance(row, StateWritten)] == [True]
    assert drill.affected[0].outcome is OutcomeKind.UNCLEAN


@pytest.mark.parametrize(("generation", "last"), [("3.x", 4), ("2.x", 4), ("0.9-1.x", 4), ("0.8", 5)])
def test_of_two_that_die_at_once_scala_decides_who_stays_in_the_isr(generation: KafkaGeneration, last: int) -> None:
    """Brokers take turns in the order of a hash, 5 before 4; in 0.8, of four copies at most, in that of their ids."""
    clean = topic((4, 5), (4, 5), 4, unclean_leader_election_enable="false")
    image = cluster([3, 4, 5], *clean, controller=3, generation=generation)
    drill = run(image, killing(4, 5))
    assert became(drill)[2] == (last,)


def test_in_0_8_each_partition_of_many_has_an_order_of_its_own() -> None:
    names = [f"t{number}" for number in range(6)]
    records = [
        record
        for name in names
        for record in topic((4, 5), (4, 5), 4, name=name, unclean_leader_election_enable="false")
    ]
    drill = run(cluster([3, 4, 5], *records, controller=3, generation="0.8"), killing(4, 5))
    last = {name: drill.after.topics[name].isr[0].tolist()[0] for name in names}
    assert last == {"t0": 4, "t1": 4, "t2": 5, "t3": 4, "t4": 4, "t5": 5}, "as Scala's Set of 2.10 has the copies"


def test_a_whole_rack_dies() -> None:
    image = cluster([1, 2, 3, 4], *topic((1, 4, 2), (1, 4, 2), 1), controller=3)
    drill = run(image, of_rack(image, "r1"))
    assert drill.scenario.kill == (1, 4)
    assert became(drill) == (2, 1, (2,))
    assert sorted(drill.after.brokers) == [2, 3]


def test_below_min_insync_replicas_nobody_can_write() -> None:
    image = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2), 1, min_insync_replicas="2"), controller=3)
    drill = run(image, killing(2))
    assert became(drill) == (1, 1, (1,))
    assert (drill.summary.before.under_min_isr, drill.summary.after.under_min_isr) == (0, 1)
    assert drill.summary.newly_under_min_isr == 1
    assert drill.summary.hurts


def test_leaders_are_counted_by_broker() -> None:
    image = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *topic((3, 1), (3, 1), 3, name="u"), controller=3)
    assert run(image, killing(1)).summary.leaders_by_broker == {1: (1, 0), 2: (0, 1), 3: (1, 1)}


def test_a_topic_that_is_being_deleted_gets_no_leader_and_waits() -> None:
    image = cluster([2, 3], *topic((1, 2, 3), (2, 3), 2, 4), TopicDeletionRequested(topic="t"), controller=3)
    drill = run(image, killing(2))
    assert "t" in drill.after.admin.delete_topics
    assert {one.outcome for one in drill.affected} <= {OutcomeKind.DELETING}
    assert not drill.summary.hurts


def test_a_deletion_that_nobody_hinders_is_finished() -> None:
    image = cluster([1, 2, 3], *topic((2, 3), (2, 3), 2), TopicDeletionRequested(topic="t"), controller=3)
    drill = run(image, killing(1))
    assert drill.after.topics == {}
    assert drill.after.admin.delete_topics == frozenset()


def test_a_replica_that_was_to_join_dies_and_the_reassignment_waits_for_it() -> None:
    image = cluster([1, 2, 3], *topic((3, 1, 2), (1, 2), 1, 4, adding={0: (3,)}), controller=2)
    drill = run(image, killing(3))
    assert became(drill) == (1, 4, (1, 2))
    assert drill.after.topics["t"].adding == {0: (3,)}


def test_a_reassignment_that_nobody_has_seen_yet_is_begun() -> None:
    asked = ReassignmentsRequested(targets={T0: (1, 3)})
    image = cluster([1, 2, 3, 4], *topic((1, 2), (1, 2), 1), asked, controller=1)
    drill = run(image, killing(4))
    assert drill.after.topics["t"].adding == {0: (3,)}
    assert drill.after.topics["t"].removing == {0: (2,)}


def test_a_cluster_without_a_controller_elects_one_first() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), controller=None), killing(1))
    moved = [row for row in drill.timeline.rows if isinstance(row, ControllerElected)]
    assert moved[0].old is None
    assert drill.after.controller.epoch == EPOCH + len(moved)
    assert became(drill)[0] == 2


def test_a_partition_without_anybody_else_comes_back_with_its_broker() -> None:
    image = cluster([1, 2], *topic((1,), (1,), 1), controller=2)
    drill = run(image, killing(1, restart_after_ms=60_000), RESTARTING)
    assert became(drill) == (1, 2, (1,))
    (outcome,) = drill.affected
    assert outcome.outcome is OutcomeKind.CLEAN
    assert outcome.outage is not None
    assert outcome.outage.to_ms is not None
    assert outcome.outage.to_ms > 60_000
    assert drill.timeline.image_at(59_000).topics["t"].leader.tolist() == [-1]


def test_a_broker_that_comes_back_follows_and_does_not_lead() -> None:
    image = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), controller=2)
    drill = run(image, killing(1, restart_after_ms=30_000), RESTARTING)
    assert became(drill) == (2, 1, (2, 3, 1))
    assert sorted(drill.after.brokers) == [1, 2, 3]
    assert drill.after.brokers[1].epoch is not None
    assert drill.after.brokers[1].epoch > 10_000


def test_a_broker_started_again_too_early_waits_for_the_end_of_its_old_session() -> None:
    image = cluster([1, 2], *topic((1, 2), (1, 2), 1), controller=2)
    drill = run(image, killing(1, restart_after_ms=10), RESTARTING)
    assert became(drill) == (2, 1, (2, 1))


def test_everybody_dies_and_comes_back() -> None:
    image = cluster([1, 2], *topic((1, 2), (1, 2), 1), controller=2)
    drill = run(image, killing(1, 2, restart_after_ms=30_000), RESTARTING)
    assert drill.at_rest
    assert became(drill)[0] in (1, 2)
    assert set(became(drill)[2]) == {1, 2}


def test_what_was_assumed_decides_how_long_it_takes() -> None:
    image = cluster([1, 2], *topic((1, 2), (1, 2), 1), controller=2)
    slow = msgspec.structs.replace(DEFAULT, session_timeout_ms=6_000, zookeeper_write_ms=1_000, request_ms=500)
    outage = run(image, killing(1), slow).timeline.outages[0]
    assert outage.to_ms is not None
    assert 7_250 <= outage.to_ms < 7_300


def test_all_brokers_are_told_and_the_dead_one_is_not() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), controller=3), of_brokers([1]))
    sent = [row for row in drill.timeline.rows if isinstance(row, RequestSent)]
    assert {row.receiver for row in sent if row.kind == "UpdateMetadata"} == {2, 3}
    assert {row.receiver for row in sent if row.kind == "LeaderAndIsr"} == {2, 3}


def test_a_dead_broker_starts_and_its_replicas_come_back() -> None:
    """Where it was in no ISR, where it was the last of one, and where somebody else lags, who stays behind."""
    image = cluster(
        [1, 2],
        *topic((1, 2, 3), (1, 2), 1, 4),
        *topic((3, 1), (3,), -1, 2, name="last"),
        *topic((1, 2, 3), (1,), 1, name="lagging"),
        controller=2,
    )
    drill = run(image, of_acts([Act(Deed.START, (3,))]))
    assert drill.at_rest
    assert became(drill) == (1, 4, (1, 2, 3))
    assert became(drill, TopicPartition("last", 0)) == (3, 3, (3,))
    assert became(drill, TopicPartition("lagging", 0)) == (1, 0, (1, 3))
    assert {one.partition.topic: one.outcome for one in drill.affected} == {
        "t": OutcomeKind.FOLLOWER_BACK,
        "last": OutcomeKind.CLEAN,
        "lagging": OutcomeKind.FOLLOWER_BACK,
    }
    assert (drill.summary.before.offline, drill.summary.after.offline, drill.summary.hurts) == (1, 0, False)
    assert sorted(drill.after.brokers) == [1, 2, 3]


def test_a_broker_stops_in_good_order() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), controller=3), of_acts([Act(Deed.STOP, (1,))]))
    assert became(drill) == (2, 1, (2, 3))
    assert drill.timeline.outages == ()
    what = [type(row) for row in drill.timeline.rows]
    assert [what.index(kind) for kind in (ControllerAsked, BrokerStopped, SessionEnded)] == sorted(
        what.index(kind) for kind in (ControllerAsked, BrokerStopped, SessionEnded)
    )
    assert [row.expired for row in drill.timeline.rows if isinstance(row, SessionEnded)] == [False]
    assert sorted(drill.after.brokers) == [2, 3]


def test_a_broker_that_is_the_last_in_sync_leads_until_it_has_gone() -> None:
    drill = run(cluster([1, 2], *topic((1, 2), (1,), 1), controller=2), of_acts([Act(Deed.STOP, (1,))]))
    assert became(drill)[0] == -1
    (outage,) = drill.timeline.outages
    assert outage.to_ms is None
    assert [row.controlled for row in drill.timeline.rows if isinstance(row, BrokerStopped)] == [False]


def test_one_dies_while_another_is_stopped_and_both_start() -> None:
    acts = [Act(Deed.STOP, (1,)), Act(Deed.KILL, (2,)), Act(Deed.START, (1,)), Act(Deed.START, (2,))]
    image = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), controller=3)
    assert [row.broker for row in run(image, of_acts(acts[:2])).timeline.rows if isinstance(row, BrokerCrashed)] == [2]
    assert became(run(image, of_acts(acts[:2])))[::2] == (-1, (2,))
    assert became(run(image, of_acts(acts[:3])))[::2] == (-1, (2,))
    assert became(run(image, of_acts(acts)))[::2] == (2, (2, 1))


@pytest.mark.parametrize("after_ms", [100.0, 5_000.0, None])
def test_a_broker_that_stopped_in_good_order_starts_when_it_is_told_to(after_ms: float | None) -> None:
    """Its session ended with it: there is nothing to wait for."""
    acts = [Act(Deed.STOP, (1,)), Act(Deed.START, (1,), after_ms=after_ms)]
    rows = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), controller=3), of_acts(acts)).timeline.rows
    (stopped_ms,) = (row.at_ms for row in rows if isinstance(row, BrokerStopped))
    (booted_ms,) = (row.at_ms for row in rows if isinstance(row, BrokerBooted))
    assert stopped_ms < 1_000
    assert booted_ms == after_ms or (after_ms is None and booted_ms < 1_000)


def test_a_broker_starts_no_sooner_than_it_has_stopped_or_its_session_is_over() -> None:
    image = cluster([1, 2], *topic((1, 2), (1,), 1), controller=2)  # 1 is not let go, and asks again
    begun: list[tuple[float, float]] = []
    for deed in (Deed.STOP, Deed.KILL):
        rows = run(image, of_acts([Act(deed, (1,)), Act(Deed.START, (1,), after_ms=1.0)])).timeline.rows
        (ended_ms,) = (row.at_ms for row in rows if isinstance(row, SessionEnded))
        (booted_ms,) = (row.at_ms for row in rows if isinstance(row, BrokerBooted))
        begun.append((ended_ms, booted_ms))
    (left_ms, back_ms), killed = begun
    assert 10_000 < left_ms <= back_ms < left_ms + 100
    assert killed == (18_000, 18_000)
