"""Who has what, as arrays: the same as the graph of the model says; what a rebalance moved; order without crossings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Rebalance
from tests.model.cluster.strategies import images
from tests.model.consumers import ownership_graph as ownership
from tests.tui.data.pages.ownership.groups import group_image, readers
from tui.engine.consumers.graph_layout import layers_of
from tui.engine.consumers.names import naming
from tui.engine.consumers.owners import NO_OWNER, Sharing, last_moves, shared, sharing_of, with_before

TWO, THREE = TopicPartition("t0", 2), TopicPartition("t0", 3)


@given(images)
def test_it_says_what_the_models_graph_says(image: ClusterImage):
    for _, group in image.every_group():
        graph, one = ownership.ownership_graph(group, image), sharing_of(group, image)
        assert sorted(owner.name for owner in one.owners) == list(ownership.threads(graph))
        for place, owner in enumerate(one.owners):
            owned = [TopicPartition(t, n) for t, numbers in one.by_topic(one.of(place)).items() for n in numbers]
            assert tuple(sorted(owned)) == ownership.owned_by(graph, owner.name)
            lags = [lag for read in owned if (lag := ownership.lag_of(graph, read)) is not None]
            assert owner.lag == (sum(lags) if lags else None)
        states = {state: tuple(o.name for o in one.owners if o.state == state) for state in ("dead", "idle")}
        assert states == {"dead": ownership.dead_threads(graph), "idle": ownership.idle_threads(graph)}
        unowned = len(ownership.unowned_partitions(graph))
        assert (one.nobody.parts if one.nobody else 0) == unowned == len(one.of(NO_OWNER))
        assert not len(one.moved)


def moved(image: ClusterImage) -> dict[str, tuple[str, str]]:
    """Partition → (owner before, owner now), of those that the last rebalance moved."""
    group = readers(image)
    past = last_moves(group)
    assert past is not None
    one = with_before(sharing_of(group, image), past)
    names = [*(owner.name for owner in one.owners), "nobody"]
    return {one.name(at): (names[one.before[at]], names[one.owner[at]]) for at in one.moved.tolist()}


def test_a_rebalance_moves_from_owner_to_owner():
    past = Rebalance(1, (), 400, None, {"c2": (TWO,)}, {"c1": (TWO,), "c9": (THREE,)})
    image = group_image({"c1": (0, 1), "c2": (2,)}, 4, past)
    assert moved(image) == {"t0-2": ("c1", "c2"), "t0-3": ("c9", "nobody")}


def test_what_was_nobodys_came_from_nobody_and_what_moved_on_since_is_left_out():
    past = Rebalance(1, (), 400, None, {"c1": (TWO,), "c9": (THREE,)}, {"c8": (THREE,)})
    assert moved(group_image({"c1": (2,), "c2": (3,)}, 4, past)) == {"t0-2": ("nobody", "c1")}


def test_a_partition_that_is_gone_and_a_rebalance_under_way_do_no_harm():
    gone = Rebalance(1, (), 400, None, {"c1": (TopicPartition("t0", 99), TopicPartition("other", 0))}, {})
    assert moved(group_image({"c1": (2,)}, 4, gone)) == {}
    under_way = Rebalance(1, (), None, None, {"c1": (TWO,)}, {})
    assert last_moves(readers(group_image({"c1": (2,)}, 4, under_way))) is None


@st.composite
def sharings(draw: st.DrawFn) -> Sharing:
    owners = draw(st.integers(0, 6))
    each = st.lists(st.integers(-1, owners - 1), min_size=0, max_size=30)
    owner = np.array(draw(each), np.int64)
    topic = np.sort(np.array(draw(st.lists(st.integers(0, 3), min_size=len(owner), max_size=len(owner))), np.int64))
    number = np.arange(len(owner))
    names = [f"c{place}" for place in range(owners)]
    states = draw(st.lists(st.sampled_from(("dead", "idle", "ok")), min_size=owners, max_size=owners))
    unknown = np.full(len(owner), -1)
    return shared(("a", "b", "c", "d"), topic, number, owner, owner, unknown, names, states, naming(names))


@given(sharings(), st.sampled_from(("partitions", "ranges")))
def test_partitions_stand_so_that_no_edges_cross_and_those_of_nobody_first(one: Sharing, level: str):
    layers = layers_of(one, level)  # pyright: ignore[reportArgumentType]
    edges = layers.now[np.lexsort((layers.now[:, 1], layers.now[:, 0]))]
    assert (np.diff(edges[:, 1]) > 0).all(), "owners from top to bottom have nodes from top to bottom"
    orphans = len(np.unique(layers.node[one.owner == NO_OWNER]))
    assert len(edges) == layers.count - orphans and (edges[:, 1] >= orphans).all()


@given(sharings())
def test_every_partition_is_in_one_node_of_each_layer(one: Sharing):
    for level in ("partitions", "ranges", "topics"):
        layers = layers_of(one, level)
        members = [layers.members(node).tolist() for node in range(layers.count)]
        assert all(members) and sorted(place for node in members for place in node) == list(range(len(one.owner)))
