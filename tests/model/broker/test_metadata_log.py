"""What a broker in KRaft mode learns from the metadata log, and what it does about its own replicas."""

from __future__ import annotations

import msgspec

from model.broker.commands import StartFetching, StopFetching
from model.broker.controller_requests import BrokerEpochs, Replicas, RequestOutcome, serve_metadata
from model.broker.metadata_log import (
    EligibleReplicas,
    LocalChanges,
    LoggedCluster,
    all_changes,
    learn_facts,
    relearn_facts,
    strays,
)
from model.broker.partition import LogPositions, Partition
from model.cluster import records as r
from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.events_and_commands import PartitionToServe
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from tests.model.broker.partitions import at

ME = 2
ORDERS = TopicPartition("orders", 0)
ID, OTHER_ID = "AAAAAAAAAAAAAAAAAAAAOQ", "AAAAAAAAAAAAAAAAAAAAOg"


def registered(broker: int, *, leaving: bool = False) -> r.BrokerRegistered:
    place = (f"PLAINTEXT://b{broker}:9092",)
    return r.BrokerRegistered(broker=broker, endpoints=place, epoch=100 + broker, in_controlled_shutdown=leaving)


def assigned(*replicas: tuple[int, ...], topic_id: str = ID) -> r.TopicAssigned:
    return r.TopicAssigned(topic="orders", replicas=dict(enumerate(replicas)), topic_id=topic_id)


def written(leader: int, epoch: int, *isr: int, version: int = 0, partition: int = 0) -> r.PartitionStatesWritten:
    return r.PartitionStatesWritten(
        topic="orders", states=(r.PartitionState(partition, leader, epoch, isr, 7, version),)
    )


def learnt(*facts: r.ClusterRecord, before: LoggedCluster | None = None) -> tuple[LoggedCluster, LocalChanges]:
    return learn_facts(before or LoggedCluster(), facts, ME)


def names(changes: LocalChanges) -> list[TopicPartition]:
    return [each.partition for each in changes.served]


def test_live_brokers_are_known_with_their_epochs_and_fenced_ones_are_not() -> None:
    cluster, _ = learnt(registered(1), registered(ME), registered(3, leaving=True))
    assert cluster.image.broker_epochs == {1: 101, 2: 102, 3: 103}
    assert cluster.image.live_brokers == {1, 2}
    assert cluster.image.brokers[3].endpoint("PLAINTEXT") is not None
    fenced, _ = learnt(r.BrokerFenced(broker=1), r.BrokerLost(broker=3), before=cluster)
    assert set(fenced.image.brokers) == {ME}


def test_only_own_partitions_are_served() -> None:
    cluster, changes = learnt(assigned((1, ME), (1, 3)), written(1, 0, 1, ME), written(1, 0, 1, 3, partition=1))
    assert names(changes) == [ORDERS]
    assert changes.topic_ids == (("orders", ID),)
    assert set(cluster.image.topics["orders"]) == {0, 1}


def test_replicas_of_brokers_that_are_not_live_are_told_as_offline() -> None:
    cluster, _ = learnt(registered(1), assigned((1, ME)), written(1, 0, 1, ME))
    described = cluster.image.describe_topic("orders", "PLAINTEXT")
    assert described is not None
    (told,) = described
    assert (told.leader, told.offline_replicas) == (1, (ME,))


def test_who_is_no_replica_any_more_gives_its_log_up() -> None:
    before, _ = learnt(assigned((1, ME)), written(1, 0, 1, ME))
    _, changes = learnt(assigned((1, 3)), written(1, 1, 1, 3, version=1), before=before)
    assert (changes.removed, names(changes), changes.gone) == ((ORDERS,), [], ())


def test_a_topic_that_is_made_anew_under_its_old_name_gives_up_the_old_log_first() -> None:
    before, _ = learnt(assigned((1, ME)), written(1, 4, 1, ME))
    again = assigned((ME, 1), topic_id=OTHER_ID)
    after, changes = learnt(r.TopicRemoved(topic="orders"), again, written(ME, 0, ME, 1), before=before)
    assert (changes.gone, changes.removed, names(changes)) == ((ORDERS,), (ORDERS,), [ORDERS])
    assert after.image.topic_ids == {"orders": OTHER_ID}


def test_configurations_that_changed_are_named() -> None:
    set_, changes = learnt(r.ConfigChanged(entity="topics/orders", config={"retention.ms": "1"}))
    assert (changes.configs, set_.configs) == (("topics/orders",), {"topics/orders": {"retention.ms": "1"}})
    unset, changes = learnt(r.ConfigRemoved(entity="topics/orders"), before=set_)
    assert (changes.configs, unset.configs) == (("topics/orders",), {})


def test_after_a_snapshot_what_it_does_not_tell_is_gone() -> None:
    facts = (assigned((1, ME)), written(1, 0, 1, ME), r.ConfigChanged(entity="brokers/2", config={"a": "b"}))
    before, _ = learnt(*facts)
    _, changes = relearn_facts(before, (), ME)
    assert (changes.gone, changes.configs) == ((ORDERS,), ("brokers/2",))


def test_who_begins_does_all_there_is() -> None:
    cluster, _ = learnt(assigned((1, ME), (1, 3)), written(1, 0, 1, ME), written(1, 0, 1, 3, partition=1))
    assert names(all_changes(cluster, ME)) == [ORDERS]


def test_logs_of_topics_that_went_meanwhile_are_strays() -> None:
    cluster, _ = learnt(assigned((1, ME), (1, 3)), written(1, 0, 1, ME), written(1, 0, 1, 3, partition=1))
    logs = {
        ORDERS: ID,
        TopicPartition("orders", 1): ID,  # it is no replica of this one
        TopicPartition("gone", 0): OTHER_ID,
    }
    assert set(strays(logs.items(), cluster.image, ME)) == set(logs) - {ORDERS}
    assert strays([(ORDERS, OTHER_ID)], cluster.image, ME) == (ORDERS,)


def told(leader: int, epoch: int, *isr: int, version: int) -> PartitionToServe:
    state = LeaderAndIsr(leader, epoch, isr, partition_epoch=version)
    return PartitionToServe(ORDERS, state, 7, ReplicaAssignment((1, ME, 3)), is_new=False)


def served(wanted: PartitionToServe, held: Partition | None = None, *, leaving: bool = False) -> RequestOutcome:
    log = LogPositions(end=10, topic_id=ID)
    replicas = Replicas({} if held is None else {ORDERS: held}, (), lambda _: log)
    epochs = BrokerEpochs(ME, shutting_down=leaving)
    return serve_metadata((wanted,), (("orders", ID),), epochs, replicas, lambda _: at())


def test_a_smaller_isr_in_the_same_leader_epoch_counts() -> None:
    (leading,) = served(told(ME, 3, 1, ME, 3, version=5)).changed
    (smaller,) = served(told(ME, 3, ME, 3, version=6), leading).changed
    assert smaller.leads
    assert smaller.state.isr == (ME, 3)
    (unchanged,) = served(told(ME, 3, 1, ME, 3, version=5), smaller).changed
    assert unchanged.state.isr == (ME, 3)


def test_a_leader_that_nobody_follows_any_more_steps_down_and_fetches_from_nobody() -> None:
    (leading,) = served(told(ME, 3, ME, version=5)).changed
    stopped = served(told(NO_LEADER, 4, version=6), leading)
    assert not stopped.changed[0].leads
    assert not [each for each in stopped.commands if isinstance(each, StartFetching)]


def test_a_follower_follows_whoever_leads_though_it_was_not_heard_of_yet() -> None:
    followed = served(told(9, 3, 9, version=5))
    (fetching,) = (each for each in followed.commands if isinstance(each, StartFetching))
    assert fetching.state.leader == 9


def test_who_shuts_down_still_follows_where_it_is_in_sync() -> None:
    in_sync = served(told(1, 3, 1, ME, version=5), leaving=True)
    assert any(isinstance(each, StartFetching) for each in in_sync.commands)
    out = served(told(1, 3, 1, version=5), leaving=True)
    assert {type(each) for each in out.commands} == {StopFetching}


def test_a_log_of_another_topic_of_that_name_is_not_touched() -> None:
    (leading,) = served(told(ME, 3, ME, version=5)).changed
    other = served(told(1, 4, 1, version=6), msgspec.structs.replace(leading, topic_id=OTHER_ID))
    assert other.answer.partition_errors == ((ORDERS, "INCONSISTENT_TOPIC_ID"),)
    assert other.changed == ()


def test_where_own_replicas_are_said_to_lie_is_known_while_they_are_here() -> None:
    def lying(*directories: int) -> r.PartitionStatesWritten:
        state = r.PartitionState(0, 1, 0, (1, ME), 7, 0, directories=directories)
        return r.PartitionStatesWritten(topic="orders", states=(state,))

    before, _ = learnt(assigned((1, ME)), lying(7, 8))
    assert before.placed == {ORDERS: 8}
    moved, _ = learnt(assigned((1, 3)), written(1, 1, 1, 3, version=1), before=before)
    gone, _ = learnt(r.TopicRemoved(topic="orders"), before=before)
    assert moved.placed == gone.placed == {}


def test_who_may_lead_a_partition_without_an_isr_is_known_while_it_says_so() -> None:
    state = r.PartitionState(0, NO_LEADER, 1, (), 7, 1, elr=(ME,), last_known_elr=(1,))
    lost = r.PartitionStatesWritten(topic="orders", states=(state,))
    before, _ = learnt(assigned((1, ME)), written(1, 0, 1, ME), lost)
    assert before.eligible == {ORDERS: EligibleReplicas((ME,), (1,))}
    after, _ = learnt(written(ME, 2, ME, version=2), before=before)
    gone, _ = learnt(r.TopicRemoved(topic="orders"), before=before)
    assert after.eligible == gone.eligible == {}
