"""The counts against the graph they stand in for."""

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.consumers import ownership
from model.consumers.group_counts import GroupCounts, group_counts
from tests.model.cluster.strategies import images, named

log_ends = st.dictionaries(named, st.integers(0, 2**41))


@given(images, log_ends)
def test_counting_says_what_the_graph_says(whole: ClusterImage, ends: dict[ownership.TopicPartition, int]):
    for group in whole.groups.values():
        graph = ownership.ownership_graph(group, whole, ends)
        reads = ownership.partitions(graph)
        lags = [lag for read in reads if (lag := ownership.lag_of(graph, read)) is not None]
        assert group_counts(group, whole, ends) == GroupCounts(
            members=len(group.members),
            threads=len(ownership.threads(graph)) - len(ownership.dead_threads(graph)),
            idle_threads=len(ownership.idle_threads(graph)),
            dead_threads=len(ownership.dead_threads(graph)),
            topics=len({read.topic for read in reads}),
            owned=len(group.owners),
            unowned=len(ownership.unowned_partitions(graph)),
            lag=sum(lags) if lags else None,
        )
