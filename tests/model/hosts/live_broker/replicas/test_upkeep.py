"""Old segments go, and logs are compacted, while the broker serves."""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from model.log.records import Record, RecordBatch, records_of, scan
from tests.harness.live_brokers import Cluster, Node, batch
from tests.harness.waiting import eventually_async

ORDERS = TopicPartition("orders", 0)


def segments(node: Node) -> list[str]:
    return sorted(path.name for path in (node.folder / str(ORDERS)).glob("*.log"))


async def test_segments_beyond_the_wanted_size_go(cluster: Cluster) -> None:
    cluster.settings = {**cluster.settings, "log.retention.check.interval.ms": "20"}
    await cluster.start(1)
    config = {"segment.bytes": "300", "retention.bytes": "600", "file.delete.delay.ms": "0", "retention.ms": "-1"}
    cluster.nodes[1].replicas.apply_topic_config("orders", config)
    await cluster.create("orders", (1,))
    for number in range(20):
        await cluster.produce(ORDERS, f"{number}" * 100)
    await eventually_async(lambda: cluster.nodes[1].replicas.start_offset(ORDERS) > 10)
    assert len(segments(cluster.nodes[1])) < 8
    assert await cluster.produce(ORDERS, "last") == 20


async def test_closed_segments_need_no_recovery(cluster: Cluster) -> None:
    cluster.settings = {**cluster.settings, "log.flush.offset.checkpoint.interval.ms": "20"}
    await cluster.start(1)
    cluster.nodes[1].replicas.apply_topic_config("orders", {"segment.bytes": "300"})
    await cluster.create("orders", (1,))
    for number in range(3):
        await cluster.produce(ORDERS, f"{number}" * 200)
    checkpoint = cluster.nodes[1].folder / "recovery-point-offset-checkpoint"
    await eventually_async(lambda: checkpoint.exists() and "orders 0 2\n" in checkpoint.read_text())
    await cluster.kill(1)
    await cluster.start(1, recover=True)
    assert cluster.nodes[1].replicas.end_offset(ORDERS) == 3


async def test_a_compacted_log_keeps_the_newest_of_each_key(cluster: Cluster) -> None:
    cluster.settings = {**cluster.settings, "log.cleaner.backoff.ms": "20"}
    await cluster.start(1)
    config = {"cleanup.policy": "compact", "segment.bytes": "300", "min.cleanable.dirty.ratio": "0.1"}
    cluster.nodes[1].replicas.apply_topic_config("orders", config)
    await cluster.create("orders", (1,))
    replicas = cluster.nodes[1].replicas
    for number in range(30):
        data = batch(f"value {number}", key=b"key %d" % (number % 3), time_ms=1)
        await replicas.append({ORDERS: data}, acks=-1, timeout_ms=1000)

    def kept() -> list[tuple[bytes | None, bytes | None]]:
        data = cluster.nodes[1].log_bytes(ORDERS)
        batches = [found for found in scan(data) if isinstance(found, RecordBatch)]
        records = [record for found in batches for record in records_of(data, found) if isinstance(record, Record)]
        return [(record.key, record.value) for record in records]

    await eventually_async(lambda: len(kept()) < 8)
    newest = dict(kept())
    assert newest == {b"key 0": b"value 27", b"key 1": b"value 28", b"key 2": b"value 29"}
