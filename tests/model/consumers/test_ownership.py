"""The ownership graph, on a group by hand and on any group."""

from hypothesis import given

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import GroupImage, Member
from model.cluster.records import GroupDescribed, GroupSeen, LogEndsRead, OffsetCommitted, TopicDeletionRequested
from model.consumers.ownership import MOST_THREADS, threads_of
from tests.model.cluster.build import brokers, claims, consumer, image, topic
from tests.model.cluster.strategies import images
from tests.model.consumers.ownership_graph import (
    Node,
    dead_threads,
    idle_threads,
    lag_of,
    owned_by,
    owner_counts,
    ownership_graph,
    partitions,
    partitions_of_dead,
    threads,
    unowned_partitions,
)

ORDERS = [TopicPartition("orders", number) for number in range(4)]


def cluster() -> ClusterImage:
    """c1 has two threads and one partition each, c2 idles, c9 is gone and owns orders-2; nobody owns orders-3."""
    return image(
        *brokers(1, 2),
        *topic("orders", (1, 2), partitions=4),
        consumer("g", "c1", threads=2),
        consumer("g", "c2"),
        *claims("g", "c1-0", 0),
        *claims("g", "c1-1", 1),
        *claims("g", "c9-0", 2),
        OffsetCommitted(group="g", partition=ORDERS[0], offset=10),
    )


def test_what_the_graph_says_of_a_group():
    whole = image(LogEndsRead(ends={ORDERS[0]: 25, ORDERS[1]: 9}), base=cluster())
    graph = ownership_graph(whole.groups["g"], whole)
    assert threads(graph) == ("c1-0", "c1-1", "c2-0", "c9-0")
    assert idle_threads(graph) == ("c2-0",)
    assert dead_threads(graph) == ("c9-0",)
    assert partitions_of_dead(graph) == (ORDERS[2],)
    assert unowned_partitions(graph) == (ORDERS[3],)
    assert owned_by(graph, "c1-1") == (ORDERS[1],)
    assert owned_by(graph, "nobody") == ()
    assert owner_counts(graph) == {"orders": 3}
    assert (lag_of(graph, ORDERS[0]), lag_of(graph, ORDERS[1])) == (15, None)
    assert list(graph.successors(Node("group", "g"))) == [Node("member", name) for name in ("c1", "c2", "c9")]
    assert [graph.nodes[Node("member", name)]["alive"] for name in ("c1", "c2", "c9")] == [True, True, False]


def test_a_partition_the_cluster_does_not_have_is_there_and_not_alive():
    whole = image(consumer("g", "c1"), *claims("g", "c1-0", 7))
    graph = ownership_graph(whole.groups["g"], whole)
    assert partitions(graph) == (TopicPartition("orders", 7),)
    assert graph.nodes[Node("partition", TopicPartition("orders", 7))]["alive"] is False


def test_partitions_of_a_topic_being_deleted_are_not_missed():
    whole = image(TopicDeletionRequested(topic="orders"), base=cluster())
    assert unowned_partitions(ownership_graph(whole.groups["g"], whole)) == ()


def test_an_empty_group_is_one_node():
    whole = image(GroupSeen(group="g"))
    graph = ownership_graph(whole.groups["g"], whole)
    assert list(graph) == [Node("group", "g")]


def test_a_member_runs_as_many_threads_as_its_most_read_topic():
    members = {"c": Member({"a": 1, "b": 3}), "none": Member({}), "odd": Member({"a": 2**31})}
    group = GroupImage("g", members)
    assert threads_of(group, "c") == ("c-0", "c-1", "c-2")
    assert threads_of(group, "none") == threads_of(group, "stranger") == ()
    assert len(threads_of(group, "odd")) == MOST_THREADS


def test_a_member_of_a_classic_group_is_its_own_thread():
    members = {"c-1": Member({"orders": 1}), "c-2": Member({"orders": 1})}
    described = GroupDescribed(group="g", state="Stable", members=members, owners=dict.fromkeys(ORDERS[:3], "c-1"))
    whole = image(described, base=cluster())
    graph = ownership_graph(whole.classic_groups["g"], whole)
    assert threads(graph) == ("c-1", "c-2")
    assert idle_threads(graph) == ("c-2",)
    assert dead_threads(graph) == ()
    assert owned_by(graph, "c-1") == tuple(ORDERS[:3])
    assert unowned_partitions(graph) == (ORDERS[3],)


@given(images)
def test_every_claim_is_an_edge_and_every_other_partition_is_free(whole: ClusterImage):
    for _, group in whole.every_group():
        graph = ownership_graph(group, whole)
        owned = {read: thread for thread in threads(graph) for read in owned_by(graph, thread)}
        assert owned == dict(group.owners)
        assert set(unowned_partitions(graph)) == set(partitions(graph)) - set(owned)
        assert set(dead_threads(graph)) == {o for o in group.owners.values() if group.member_of(o) not in group.members}
        assert not set(idle_threads(graph)) & set(group.owners.values())
