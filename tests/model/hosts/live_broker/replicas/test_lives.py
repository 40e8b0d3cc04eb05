"""What outlives a broker's process: its logs, high watermarks, topic ids and producers."""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from tests.harness.live_brokers import Cluster
from tests.harness.waiting import eventually_async

ORDERS = TopicPartition("orders", 0)


async def test_an_orderly_stop_leaves_nothing_to_recover(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    await cluster.produce(ORDERS, "a", "b")
    folder = cluster.nodes[1].folder
    await cluster.stop(1)
    assert (folder / ".kafka_cleanshutdown").exists()
    assert (folder / "replication-offset-checkpoint").read_text() == "0\n1\norders 0 2\n"
    assert (folder / "recovery-point-offset-checkpoint").read_text() == "0\n1\norders 0 2\n"
    await cluster.start(1)
    replicas = cluster.nodes[1].replicas
    assert replicas.log_dirs.was_clean
    assert (replicas.end_offset(ORDERS), replicas.high_watermark(ORDERS)) == (2, 2)
    await cluster.tell_leaders()
    assert await cluster.produce(ORDERS, "c") == 2


async def test_what_was_torn_is_cut_after_a_crash(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    await cluster.produce(ORDERS, "a")
    await cluster.produce(ORDERS, "b")
    folder = cluster.nodes[1].folder
    await cluster.kill(1)
    segment = folder / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(segment.read_bytes()[:-5])
    await cluster.start(1, recover=True)
    assert not cluster.nodes[1].replicas.log_dirs.was_clean
    await cluster.tell_leaders()
    assert cluster.nodes[1].replicas.end_offset(ORDERS) == 1
    assert await cluster.produce(ORDERS, "b again") == 1


async def test_high_watermarks_are_checkpointed_while_the_broker_runs(cluster: Cluster) -> None:
    cluster.settings = {**cluster.settings, "replica.high.watermark.checkpoint.interval.ms": "20"}
    await cluster.start(1)
    await cluster.create("orders", (1,))
    await cluster.produce(ORDERS, "a", "b", "c")
    checkpoint = cluster.nodes[1].folder / "replication-offset-checkpoint"
    await eventually_async(lambda: checkpoint.exists() and "orders 0 3\n" in checkpoint.read_text())


async def test_a_topic_of_the_same_name_with_another_id_is_refused(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    await cluster.stop(1)
    cluster.topic_ids["orders"] = "AAAAAAAAAAAAAAAAAAAAAg"
    await cluster.start(1)
    answers = await cluster.tell_leaders()
    assert answers[1].partition_errors == ((ORDERS, "INCONSISTENT_TOPIC_ID"),)


async def test_a_deleted_topic_leaves_no_files_and_may_come_again(cluster: Cluster) -> None:
    await cluster.start(1)
    cluster.nodes[1].replicas.apply_topic_config("orders", {"file.delete.delay.ms": "0"})
    await cluster.create("orders", (1,))
    await cluster.produce(ORDERS, "a")
    await cluster.delete("orders")
    folder = cluster.nodes[1].folder
    assert not (folder / "orders-0").exists()
    await cluster.create("orders", (1,))
    assert await cluster.produce(ORDERS, "b") == 0
    await eventually_async(lambda: not list(folder.glob("*-delete")))


async def test_leaders_and_followers_are_told_of(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    told: list[tuple[TopicPartition, bool, int]] = []
    cluster.nodes[2].replicas.on_leadership = lambda *each: told.append(each)
    await cluster.create("orders", (1, 2))
    await cluster.elect(ORDERS, 2)
    await cluster.delete("orders")
    assert told == [(ORDERS, False, 0), (ORDERS, True, 1), (ORDERS, False, 1)]
