"""Clusters to plan for: written down, or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.ids import TopicPartition
from model.planning.layout import Sizes

Replicas = Mapping[str, Sequence[Sequence[int]]]
"""Topic → the replicas of partition 0, 1, 2…"""

Racks = Mapping[int, str | None]
SEEN = Provenance("zk://there", 77, 1_700_000_000_000, complete=True)


def cluster(topics: Replicas, racks: Racks, *more: r.ClusterRecord) -> ClusterImage:
    """Live brokers by id with their racks, and partitions that are led by the first live one of their replicas."""
    records: list[r.ClusterRecord] = [r.BrokerRegistered(broker=broker, rack=rack) for broker, rack in racks.items()]
    for topic, lists in topics.items():
        records.append(r.TopicAssigned(topic=topic, replicas=dict(enumerate(map(tuple, lists)))))
        states: list[r.PartitionState] = []
        for number, replicas in enumerate(lists):
            alive = tuple(broker for broker in replicas if broker in racks)
            states.append(r.PartitionState(number, (*alive, -1)[0], 3, alive or tuple(replicas[-1:])))
        records.append(r.PartitionStatesWritten(topic=topic, states=tuple(states)))
    return ClusterDelta(EMPTY).replay_all([*records, *more]).apply(SEEN)


def replicas_of(image: ClusterImage) -> dict[TopicPartition, tuple[int, ...]]:
    """All of an image's replicas."""
    return {
        TopicPartition(topic.name, partition): replicas
        for topic in image.topics.values()
        for partition, replicas, _, _ in topic.rows()
    }


@st.composite
def clusters(draw: st.DrawFn, most_brokers: int = 6, *, dead: bool = False) -> tuple[Replicas, Racks]:
    """Up to four topics; all brokers name a rack or none does; with `dead`, some replicas are on brokers 8 and 9."""
    brokers = draw(st.lists(st.integers(1, 7), min_size=3, max_size=most_brokers, unique=True))
    names = draw(st.sampled_from([("a", "b", "c"), ("a", "b"), (None,)]))
    racks = {broker: draw(st.sampled_from(names)) for broker in sorted(brokers)}
    on = [*brokers, 8, 9] if dead else brokers
    lists = st.lists(st.sampled_from(on), min_size=1, max_size=3, unique=True)
    topics = draw(st.dictionaries(st.sampled_from("pqrs"), st.lists(lists, min_size=1, max_size=5), min_size=1))
    return topics, racks


@st.composite
def sizes_for(draw: st.DrawFn, topics: Replicas) -> Sizes:
    """A size for every partition."""
    names = [TopicPartition(topic, number) for topic, lists in topics.items() for number in range(len(lists))]
    return Sizes({name: draw(st.integers(0, 10**12)) for name in names}, "a file")
