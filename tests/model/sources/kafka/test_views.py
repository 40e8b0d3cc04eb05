"""What brokers tell from look to look, as records: an image that follows them equals one of the last look alone."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings.find import find
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import LogDir, Quorum, QuorumReplica
from model.hosts.kafka_client import PartitionPlace
from model.sources.kafka.views import NOTHING, BrokerView, ClusterView, TopicView, records_between

ids = st.integers(0, 3)
lists = st.lists(ids, max_size=3, unique=True).map(tuple)
places = st.builds(
    PartitionPlace,
    st.integers(-1, 3),
    st.lists(ids, min_size=1, max_size=3).map(tuple),
    lists,
    ids,
    elr=st.none() | lists,
    last_known_elr=st.none() | lists,
)
topics = st.builds(
    TopicView,
    st.sampled_from(("one", "two")),
    st.dictionaries(ids, places, min_size=1, max_size=3),
    st.dictionaries(ids, st.tuples(lists, lists), max_size=1),
)
replicas = st.lists(st.builds(QuorumReplica, ids, lag_records=ids), max_size=2).map(tuple)
views = st.builds(
    ClusterView,
    cluster_id=st.just("c"),
    generation=st.just("kraft"),
    controller=st.integers(-1, 3),
    brokers=st.dictionaries(ids, st.builds(BrokerView, st.just("h"), ids, st.none() | st.just("r")), max_size=3),
    fenced=st.none() | st.dictionaries(st.integers(4, 5), st.builds(BrokerView, st.just("h"), ids), max_size=2),
    topics=st.dictionaries(st.sampled_from(("orders", "pay")), topics, max_size=2),
    tells_elr=st.booleans(),
    configs=st.dictionaries(st.sampled_from(("topics/orders", "brokers/1")), st.just({"a": "1"}), max_size=2),
    quorum=st.builds(Quorum, ids, ids, voters=replicas, unconfirmed=lists),
)


def told(*looks: ClusterView) -> ClusterImage:
    image, before = EMPTY, NOTHING
    for look in looks:
        delta = ClusterDelta(image).replay_all(records_between(before, look, 0, "PLAINTEXT"))
        image, before = delta.apply(Provenance(complete=True)), look
    return image


@settings(max_examples=40)
@given(st.lists(views, min_size=1, max_size=4))
def test_following_ends_where_a_first_look_would(looks: list[ClusterView]) -> None:
    followed, fresh = told(*looks), told(looks[-1])

    same = {name: getattr(fresh, name) for name in ("quorum",)}  # of which only the essence is followed
    assert msgspec.structs.replace(followed, **same) == fresh


@given(views)
def test_what_did_not_change_is_not_told(look: ClusterView) -> None:
    assert not list(records_between(look, look, 7, "SSL"))


PLACE = PartitionPlace(1, (1, 2), (1, 2), 5)
VIEW = ClusterView(
    cluster_id="c",
    generation="3.x",
    controller=2,
    brokers={1: BrokerView("a", 9092, "r1"), 2: BrokerView("b", 9092)},
    topics={"orders": TopicView("id", {0: PLACE, 1: PLACE})},
    configs={"topics/orders": {}},
)


def test_a_first_look() -> None:
    assert list(records_between(NOTHING, VIEW, 7, "SSL")) == [
        r.ZnodeUnreadable(path="/controller_epoch", reason=r.UNTOLD),
        r.ClusterIdentified(cluster_id="c"),
        r.GenerationRecognised(generation="3.x"),
        r.BrokerRegistered(broker=1, endpoints=("SSL://a:9092",), rack="r1"),
        r.BrokerRegistered(broker=2, endpoints=("SSL://b:9092",)),
        r.ControllerElected(broker=2),
        r.TopicAssigned(topic="orders", replicas={0: (1, 2), 1: (1, 2)}, topic_id="id"),
        r.PartitionStatesWritten(
            topic="orders",
            states=tuple(r.PartitionState(number, 1, 5, (1, 2), controller_epoch=-1) for number in (0, 1)),
        ),
        r.ConfigChanged(entity="topics/orders", config={}),
    ]


def test_a_broker_dies_and_a_replica_moves() -> None:
    changed = PartitionPlace(2, (1, 2, 3), (2,), 6, offline=(1, 2))
    after = msgspec.structs.replace(
        VIEW,
        brokers={2: VIEW.brokers[2]},
        topics={"orders": TopicView("id", {0: changed, 1: PLACE}, {0: ((3,), (1,))})},
        log_dirs={2: (LogDir("/d", error="KAFKA_STORAGE_ERROR"),)},
    )
    assert list(records_between(VIEW, after, 7, "SSL")) == [
        r.BrokerLost(broker=1),
        r.TopicAssigned(
            topic="orders",
            replicas={0: (1, 2, 3), 1: (1, 2)},
            topic_id="id",
            adding={0: (3,)},
            removing={0: (1,)},
        ),
        r.PartitionStatesWritten(
            topic="orders", states=(r.PartitionState(0, 2, 6, (2,), controller_epoch=-1, time_ms=7),)
        ),
        r.ReplicasWentOffline(replicas={TopicPartition("orders", 0): (2,)}),
        r.LogDirsDescribed(broker=2, folders=(LogDir("/d", error="KAFKA_STORAGE_ERROR"),)),
    ]


def test_who_may_not_ask_for_the_quorum_does_not_know_the_controller() -> None:
    unknown = msgspec.structs.replace(VIEW, generation="kraft", controller=-1)
    known = msgspec.structs.replace(unknown, controller=2, quorum=Quorum(2, 4, 9))
    assert "/controller" in told(unknown).unreadable
    (finding,) = find(told(unknown)).found
    assert (finding.kind, finding.what) == ("untold", "it does not tell who controls")
    assert finding.action == "Log in as somebody who has the right DESCRIBE on the cluster."
    assert "/controller" not in told(unknown, known).unreadable
    assert told(unknown, known).controller.broker == 2


def test_a_voter_that_falls_behind_is_told_and_a_growing_log_is_not() -> None:
    def quorum(end: int, late_ms: int) -> ClusterView:
        voters = (QuorumReplica(1, end, 0, 100_000 + end), QuorumReplica(2, end - 3, 3, 100_000 + end - late_ms))
        return msgspec.structs.replace(VIEW, quorum=Quorum(1, 4, end, voters))

    assert not list(records_between(quorum(10, 0), quorum(20, 400), 7, "SSL"))
    (record,) = records_between(quorum(20, 400), quorum(30, 9_000), 7, "SSL")
    assert isinstance(record, r.QuorumDescribed)
    assert record.quorum.late_voters(5_000) == (QuorumReplica(2, 27, 3, 91_030),)


def test_a_broker_that_is_fenced_is_not_lost() -> None:
    before = msgspec.structs.replace(VIEW, fenced={})
    fenced = msgspec.structs.replace(before, brokers={1: VIEW.brokers[1]}, fenced={2: VIEW.brokers[2]})
    facts = {"broker": 2, "endpoints": ("SSL://b:9092",)}
    assert list(records_between(before, fenced, 7, "SSL")) == [r.BrokerFenced(**facts)]
    assert list(records_between(fenced, before, 7, "SSL")) == [r.BrokerRegistered(**facts, fenced=False)]
    gone = msgspec.structs.replace(fenced, fenced={})
    assert list(records_between(fenced, gone, 7, "SSL")) == [r.BrokerLost(broker=2)]


def test_eligible_leaders_are_none_where_brokers_tell_them_and_unknown_where_not() -> None:
    lone = PartitionPlace(-1, (2,), (), 6, elr=(2,), last_known_elr=(2,))
    look = msgspec.structs.replace(VIEW, topics={"orders": TopicView("id", {0: lone, 1: PLACE})}, tells_elr=True)
    states = [
        record for record in records_between(VIEW, look, 7, "SSL") if isinstance(record, r.PartitionStatesWritten)
    ]
    assert states == [
        r.PartitionStatesWritten(
            topic="orders",
            states=(
                r.PartitionState(0, -1, 6, (), -1, time_ms=7, elr=(2,), last_known_elr=(2,)),
                r.PartitionState(1, 1, 5, (1, 2), -1, time_ms=7, elr=(), last_known_elr=()),
            ),
        )
    ]
