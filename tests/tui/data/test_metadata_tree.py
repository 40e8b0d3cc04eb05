"""Which tree is browsed of a KRaft cluster: what brokers told, or what the metadata log did."""

from __future__ import annotations

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.cluster.image_parts import KraftMetadata
from model.cluster.records import ClusterRecord, GenerationRecognised, MetadataDescribed
from model.sources.feed import Feed, Moment
from model.sources.metadata_tree import TreeNode, TreeReader
from model.sources.zookeeper.browser import Witness
from tui.engine.cluster.queries import ZnodeList
from tui.engine.cluster.znode_tree import ZnodeService

KRAFT = GenerationRecognised(generation="kraft")
LOGGED = MetadataDescribed(metadata=KraftMetadata({"metadata.version": 25}))


def moment(*records: ClusterRecord) -> Moment:
    provenance = Provenance("kafka://b1:9092", 1, 1, complete=True, asks_brokers=True)
    return Moment(1, ClusterDelta(EMPTY).replay_all((KRAFT, *records)).apply(provenance), relisted=True)


async def listed(service: ZnodeService) -> set[str]:
    window = await service.window(ZnodeList(opened=("/",), count=100), 0)
    return {row.key for row in window.rows}


async def test_a_metadata_log_is_browsed_for_as_long_as_it_is_followed() -> None:
    service = ZnodeService(Witness(Feed("", lambda _: None)))
    service.open(TreeReader(lambda path: TreeNode(names=("told",)) if path == "/" else TreeNode(1)))
    service.take(moment())
    assert await listed(service) == {"/", "/told"}
    service.take(moment(LOGGED))
    assert {"/acls", "/controllers"} <= await listed(service)
    service.take(moment())
    assert await listed(service) == {"/", "/told"}
