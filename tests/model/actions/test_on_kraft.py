"""What is proposed on a KRaft cluster stands on its controller's own rules: placement, elections, settings."""

from __future__ import annotations

import pytest

from model.actions.configs import ConfigRequest, alter_configs
from model.actions.elections import elect_preferred, elect_uncleanly, imbalanced, leaderless
from model.actions.partitions import grow_topic
from model.actions.proposal import ActionRefused, ApiCall, Basis
from model.actions.reassignments import cancel_reassignments
from model.actions.topics import NewTopic, create_topic, delete_topics, remove_delete_marker
from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata
from tests.model.drills.clusters import T0, cluster, topic

T1 = TopicPartition("u", 0)
MIN = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
FENCED = (r.BrokerFenced(broker=4, rack="r1"),)


def first(_: int) -> int:
    return 0


def kraft(*more: r.ClusterRecord, elr: bool = False, level: int = 33, live: tuple[int, ...] = (1, 2, 3)) -> Basis:
    """Brokers in racks r1, r2, r0."""
    features = {"metadata.version": level, "eligible.leader.replicas.version": int(elr)}
    named = (r.GenerationRecognised(generation="kraft"), r.MetadataDescribed(metadata=KraftMetadata(features)))
    return Basis(cluster(live, *named, *more))


def led(leader: int, isr: tuple[int, ...], *, elr: tuple[int, ...] = (), known: tuple[int, ...] = (),
        replicas: tuple[int, ...] = (1, 2, 3), name: str = "t") -> tuple[r.ClusterRecord, ...]:  # fmt: skip
    state = r.PartitionState(0, leader, 5, isr, 0, 9, elr=elr, last_known_elr=known)
    return (
        r.TopicAssigned(topic=name, replicas={0: replicas}),
        r.PartitionStatesWritten(topic=name, states=(state,)),
        r.ConfigChanged(entity=f"topics/{name}", config={}),
    )


def fields(step: object) -> object:
    assert isinstance(step, ApiCall)
    return step.fields


# Placement


def test_topics_are_placed_in_stripes_over_racks_and_that_a_start_is_drawn_is_said() -> None:
    made = create_topic(kraft(*FENCED), NewTopic(name="n", partitions=3, replication_factor=2), first)
    # Racks r0 (3), r1 (1, and 4 fenced), r2 (2), each in turn.
    placed = {"0": [3, 1], "1": [1, 2], "2": [2, 3]}
    assert fields(made.steps[0]) == {"topics": {"n": {"configs": {}, "assignments": placed}}}
    assert any("draws at random where placement begins" in warning for warning in made.warnings)
    drawn = create_topic(kraft(*FENCED), NewTopic(name="n", partitions=1, replication_factor=1), lambda most: most - 1)
    assert drawn.changes[-1] == "n-0: none → replicas 2"
    named = create_topic(kraft(), NewTopic(name="n", assignment={0: (1, 2)}), first)
    assert not any("draws at random" in warning for warning in named.warnings)


def test_fenced_brokers_get_what_nobody_else_can_have_and_those_that_shut_down_nothing() -> None:
    everybody = create_topic(kraft(*FENCED), NewTopic(name="n", partitions=1, replication_factor=4), first)
    assert "broker 4 (fenced) get replicas: those are out of sync until they come back" in everybody.warnings
    stops = r.BrokerRegistered(broker=3, rack="r0", epoch=103, in_controlled_shutdown=True)
    with pytest.raises(ActionRefused, match=r"3 replicas, and only 2 brokers .*\(INVALID_REPLICATION_FACTOR\)"):
        create_topic(kraft(stops), NewTopic(name="n", partitions=1, replication_factor=3), first)


def test_some_brokers_without_a_rack_are_no_reason_to_refuse_it() -> None:
    bare = (r.BrokerRegistered(broker=5, rack=None, epoch=105),)
    made = create_topic(kraft(*bare), NewTopic(name="n", partitions=4, replication_factor=1), first)
    assert [change.rpartition(" ")[2] for change in made.changes if change.startswith("n-")] == ["5", "3", "1", "2"]


@pytest.mark.parametrize(
    ("replicas", "why"),
    [
        ((9, 1), "partition 0: broker 9: not registered"),
        ((4,), "none of its brokers is active"),
        ((1, 1), "a broker is named twice"),
    ],
)
def test_replicas_that_its_controller_refuses(replicas: tuple[int, ...], why: str) -> None:
    with pytest.raises(ActionRefused, match=rf"{why} \(INVALID_REPLICA_ASSIGNMENT\)"):
        create_topic(kraft(*FENCED), NewTopic(name="n", assignment={0: replicas}), first)


def test_more_than_ten_thousand_partitions_at_once() -> None:
    wanted = NewTopic(name="n", partitions=10_001, replication_factor=1)
    with pytest.raises(ActionRefused, match="POLICY_VIOLATION"):
        create_topic(kraft(), wanted, first)


def test_new_partitions_are_placed_anew_with_as_many_replicas() -> None:
    basis = kraft(*topic((1, 2), (1, 2), 1))
    made = grow_topic(basis, "t", 3, dice=first)
    assert [change.rpartition(" ")[2] for change in made.changes] == ["3,1", "1,2"]
    assert any("draws at random" in warning for warning in made.warnings)
    with pytest.raises(ActionRefused, match=r"would not be an increase .INVALID_PARTITIONS"):
        grow_topic(basis, "t", 1)
    with pytest.raises(ActionRefused, match="1 replicas where others have 2"):
        grow_topic(basis, "t", 2, [(3,)])
    with pytest.raises(ActionRefused, match="2 partitions are added, and replicas of 1 are named"):
        grow_topic(basis, "t", 3, [(3, 1)])
    assert grow_topic(basis, "t", 2, [(3, 1)]).changes == ("t-1: none → replicas 3,1",)


# Elections


def test_preferred_elections_say_the_leader_epoch() -> None:
    basis = kraft(*led(2, (1, 2, 3)))
    made = elect_preferred(basis, imbalanced(basis.image))
    assert made.changes == ("t-0: leader 2 → 1, leader epoch 5 → 6",)
    assert fields(made.steps[0]) == {"election_type": 0, "partitions": {"t": [0]}}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (led(2, (2, 3)), "broker 1 is not in the ISR"),
        ((*led(2, (2, 3), replicas=(4, 2, 3)), *FENCED), "broker 4 is fenced"),
        ((*led(2, (2, 3), replicas=(9, 2, 3)),), "broker 9 is down"),
        (
            (*led(2, (1, 2, 3)), r.BrokerRegistered(broker=1, rack="r1", epoch=101, in_controlled_shutdown=True)),
            "broker 1 is shutting down",
        ),
    ],
)
def test_preferred_replicas_that_cannot_lead(more: tuple[r.ClusterRecord, ...], why: str) -> None:
    basis = kraft(*more)
    with pytest.raises(ActionRefused, match=f"no preferred replica can lead; t-0: {why}"):
        elect_preferred(basis, imbalanced(basis.image))


def test_who_is_eligible_is_as_good_as_in_the_isr() -> None:
    basis = kraft(*led(-1, (), elr=(1, 4), known=(4,), replicas=(1, 4)), *FENCED, elr=True)
    assert elect_preferred(basis, [T0]).changes == ("t-0: leader none → 1, leader epoch 5 → 6",)


def test_an_unclean_election_says_who_leads_what_is_lost_and_who_would_save_it() -> None:
    basis = kraft(*led(-1, (4,), replicas=(4, 3, 2)), *led(1, (1,), name="u"), *FENCED)
    assert leaderless(basis.image) == (T0,)
    made = elect_uncleanly(basis, [T0, T1])
    assert made.changes == ("t-0: leader none → 3, leader epoch 5 → 6",)
    assert made.type_to_confirm == "t-0"
    assert "acknowledged records that the new leader lacks are lost for ever" in made.warnings[0]
    assert made.warnings[1] == "broker 4 has all that was acknowledged: with it back nothing is lost"
    assert fields(made.steps[0]) == {"election_type": 1, "partitions": {"t": [0]}}


def test_an_unclean_election_that_finds_an_eligible_leader_loses_nothing() -> None:
    basis = kraft(*led(-1, (), elr=(2, 4), known=(4,), replicas=(4, 3, 2)), *FENCED, elr=True)
    made = elect_uncleanly(basis, [T0])
    assert (made.changes, made.warnings) == (("t-0: leader none → 2, leader epoch 5 → 6",), ())


def test_unclean_elections_that_cannot_be() -> None:
    with pytest.raises(ActionRefused, match="each of these partitions has a leader"):
        elect_uncleanly(kraft(*led(1, (1,))), [T0])
    with pytest.raises(ActionRefused, match="no replica of t-0 is alive"):
        elect_uncleanly(kraft(*led(-1, (4,), replicas=(4,)), *FENCED), [T0])
    with pytest.raises(ActionRefused, match="does not exist"):
        elect_uncleanly(kraft(*led(-1, (4,), replicas=(4,)), *FENCED), [TopicPartition("t", 7)])
    old = cluster([1, 2], *topic((1, 2), (3,), -1))
    with pytest.raises(ActionRefused, match=r"only brokers of 2.4 or later"):
        elect_uncleanly(Basis(old, found={}), [T0])


def test_with_zookeeper_brokers_elect_the_first_that_lives() -> None:
    of_zookeeper = Basis(cluster([1, 2], *topic((3, 2, 1), (3,), -1)))
    made = elect_uncleanly(of_zookeeper, [T0])
    assert made.changes == ("t-0: leader none → 2",)
    assert made.warnings[1] == "broker 3 has all that was acknowledged: with it back nothing is lost"
    in_sync = Basis(cluster([1, 2], *topic((3, 2, 1), (3, 1), -1)))
    clean = elect_uncleanly(in_sync, [T0])
    assert (clean.changes, clean.warnings) == (("t-0: leader none → 1",), ())


# Settings


def set_on(basis: Basis, entity: str, *remove: str, **add: str) -> tuple[str, ...]:
    return alter_configs(
        basis, ConfigRequest(entity, {k.replace("_", "."): v for k, v in add.items()}, remove)
    ).warnings


def test_a_new_min_isr_clears_elrs_and_may_take_the_last_hope_of_a_leader() -> None:
    lost = led(-1, (), elr=(4,), known=(4,), replicas=(4, 1), name="u")
    basis = kraft(*led(1, (1,), elr=(2,)), *lost, *FENCED, elr=True)
    cleared, hope = set_on(basis, "brokers/<default>", min_insync_replicas="3")
    assert cleared == "the controller clears the eligible leader replicas (ELR) of 2 partitions"
    assert hope.startswith("1 partition without a leader: broker 4 may lead without loss now, and not after this")
    assert len(set_on(basis, "topics/t", min_insync_replicas="3")) == 1
    off = kraft(*led(1, (1,)), elr=False)
    assert set_on(off, "topics/t", min_insync_replicas="3") == ()


def test_min_isrs_that_its_controller_refuses_while_elrs_are_kept() -> None:
    given = r.ConfigChanged(entity="brokers/<default>", config={MIN: "2"})
    with pytest.raises(ActionRefused, match=r"not on one broker .INVALID_CONFIG"):
        set_on(kraft(given, elr=True), "brokers/1", min_insync_replicas="3")
    with pytest.raises(ActionRefused, match=r"there has to be one for all brokers .INVALID_CONFIG"):
        set_on(kraft(given, elr=True), "brokers/<default>", MIN)
    assert set_on(kraft(given), "brokers/1", min_insync_replicas="3") == ()


@pytest.mark.parametrize(("level", "when"), [(33, "within five minutes"), (20, "with the next event of theirs")])
def test_allowing_unclean_elections_says_when_one_comes(level: int, when: str) -> None:
    basis = kraft(*led(-1, (4,), replicas=(4, 1)), *led(1, (1,), name="u"), *FENCED, level=level)
    said = f"1 partition without a leader: one that may lack records is elected {when}"
    assert set_on(basis, "topics/t", unclean_leader_election_enable="true") == (said,)
    assert set_on(basis, "brokers/<default>", unclean_leader_election_enable="true") == (said,)
    assert set_on(basis, "topics/u", unclean_leader_election_enable="true") == ()
    assert set_on(basis, "topics/t", unclean_leader_election_enable="false") == ()


# Deletions, and reassignments that are taken back


def test_a_deletion_waits_for_nobody() -> None:
    said = " | ".join(delete_topics(kraft(*led(1, (1,), replicas=(1, 4)), *FENCED), ["t"]).warnings)
    assert "t: broker 4 (fenced) hold replicas, and delete them when they are back" in said
    assert "waits" not in said
    with pytest.raises(ActionRefused, match="KRaft deletes topics at once"):
        remove_delete_marker(kraft(), "t")


def test_what_superseded_targets_added_stays_when_a_reassignment_is_taken_back() -> None:
    """Worked case G9."""
    moving = r.TopicAssigned(topic="t", replicas={0: (1, 2, 4, 3)}, adding={0: (4,)}, removing={0: (3,)})
    basis = kraft(*led(1, (1, 2, 3), replicas=(1, 2, 4, 3)), moving, live=(1, 2, 3, 4))
    assert cancel_reassignments(basis, [T0]).changes == ("t-0: 1,2,4,3 → 1,2,3",)


def test_where_nobody_of_before_is_in_sync_it_cannot_be_taken_back() -> None:
    """Worked case G13."""
    moving = r.TopicAssigned(topic="t", replicas={0: (3, 4, 1, 2)}, adding={0: (3, 4)}, removing={0: (1, 2)})
    basis = kraft(*led(3, (3,), replicas=(3, 4, 1, 2)), moving)
    with pytest.raises(ActionRefused, match=r"brokers 1, 2 must come back first \(INVALID_REPLICA_ASSIGNMENT\)"):
        cancel_reassignments(basis, [T0])


def test_brokers_that_are_cordoned_are_named_as_the_reason() -> None:
    metadata = KraftMetadata({"metadata.version": 33}, log_dirs={3: ("d",)}, cordoned={3: ("d",)})
    basis = kraft(r.MetadataDescribed(metadata=metadata), *topic((1, 2), (1, 2), 1))
    with pytest.raises(ActionRefused, match=r"broker 3: all log directories are cordoned .INVALID_REPLICA_ASSIGNMENT"):
        create_topic(basis, NewTopic(name="n", assignment={0: (1, 3)}), first)
    with pytest.raises(ActionRefused, match="all log directories are cordoned"):
        grow_topic(basis, "t", 2, [(1, 3)])
    placed = create_topic(basis, NewTopic(name="n", partitions=2, replication_factor=2), first)
    assert [change.rpartition(" ")[2] for change in placed.changes if change.startswith("n-")] == ["1,2", "2,1"]
