"""The counts against the graph they stand in for."""

from hypothesis import given

from model.cluster.cluster_image import ClusterImage
from model.consumers.ownership import GroupCounts, group_counts
from tests.model.cluster.strategies import images
from tests.model.consumers import ownership_graph as ownership


@given(images)
def test_counting_says_what_the_graph_says(whole: ClusterImage):
    for _, group in whole.every_group():
        graph = ownership.ownership_graph(group, whole)
        reads = ownership.partitions(graph)
        lags = [lag for read in reads if (lag := ownership.lag_of(graph, read)) is not None]
        assert group_counts(group, whole) == GroupCounts(
            members=len(group.members),
            threads=len(ownership.threads(graph)) - len(ownership.dead_threads(graph)),
            idle_threads=len(ownership.idle_threads(graph)),
            dead_threads=len(ownership.dead_threads(graph)),
            topics=len({read.topic for read in reads}),
            owned=len(group.owners),
            unowned=len(ownership.unowned_partitions(graph)),
            lag=sum(lags) if lags else None,
        )
