"""A log dir that fails takes its partitions with it, and no others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.zookeeper import Answer, Code, Create, ZooKeeperRequest
from tests.harness.live_brokers import Cluster, batch
from tests.harness.waiting import eventually_async

ORDERS = TopicPartition("orders", 0)


async def outcome(cluster: Cluster, name: TopicPartition, size: int = 1) -> str:
    replicas = cluster.nodes[1].replicas
    return (await replicas.append({name: batch("x" * size)}, acks=1, timeout_ms=1000))[name].error


async def test_one_of_two_log_dirs_fails(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    events: list[Create] = []

    async def zookeeper(requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
        events.extend(request for request in requests if isinstance(request, Create))
        return tuple(Answer(Code.OK if isinstance(request, Create) else Code.NO_NODE) for request in requests)

    cluster.ask_zookeeper = zookeeper
    await cluster.start(1, log_dirs=2)
    names = await cluster.create("orders", (1,), (1,), (1,), (1,))
    dirs = cluster.nodes[1].replicas.log_dirs
    lost = [name for name in names if dirs.logs[name].dir is dirs.folders[0]]
    assert len(lost) == 2

    # A file that is not there any more cannot be opened: what a failing disk does, by other means.
    for name in lost:
        dirs.logs[name].log.segments.active.close()
        (dirs.folders[0].path / str(name) / "00000000000000000000.log").unlink()
    assert [await outcome(cluster, name) for name in names] == [
        "KAFKA_STORAGE_ERROR" if name in lost else "NONE" for name in names
    ]
    assert "has failed" in caplog.text
    await eventually_async(lambda: events)
    assert events[0].path == "/log_dir_event_notification/log_dir_event_"
    assert events[0].data == b'{"version":1,"broker":1,"event":1}'

    cluster.states[ORDERS] = cluster.states[ORDERS].with_next_epoch()
    answers = await cluster.tell_leaders(*names)
    assert {name for name, error in answers[1].partition_errors if error == "KAFKA_STORAGE_ERROR"} == set(lost)
    (old,) = await cluster.create("old", (1,), is_new=False)
    assert await outcome(cluster, old) == "KAFKA_STORAGE_ERROR"  # its log may lie in the dir that has failed
    (new,) = await cluster.create("new", (1,))
    assert await outcome(cluster, new) == "NONE"


async def test_a_log_dir_that_cannot_be_used_is_done_without(cluster: Cluster) -> None:
    (cluster.folder / "1").mkdir()
    (cluster.folder / "1" / "0").write_text("no folder")
    await cluster.start(1, log_dirs=2)
    (old,) = await cluster.create("old", (1,), is_new=False)
    assert await outcome(cluster, old) == "KAFKA_STORAGE_ERROR"
    (new,) = await cluster.create("new", (1,))
    assert await outcome(cluster, new) == "NONE"
    with pytest.raises(OSError, match="exists"):
        LogDirs([str(cluster.folder / "1" / "0")])


async def test_a_disk_that_fails_at_the_end_is_not_marked_as_clean(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    log = cluster.nodes[1].replicas.held.log(ORDERS)
    assert log is not None
    log.segments.active.close()
    (cluster.nodes[1].folder / "orders-0" / "00000000000000000000.log").unlink()
    folder = cluster.nodes[1].folder
    await cluster.stop(1)
    assert not (folder / ".kafka_cleanshutdown").exists()


async def test_a_full_disk_fails_the_only_log_dir(cluster: Cluster) -> None:
    faults = cluster.folder / "faults"
    faults.mkdir()
    (faults / "log.dir.bytes.limit").write_text("1000")
    cluster.settings = {**cluster.settings, "kdrill.fault.folder": str(faults)}
    await cluster.start(1)
    await cluster.create("orders", (1,))
    ended: list[bool] = []
    cluster.nodes[1].replicas.failures.on_last_failed = lambda: ended.append(True)
    assert await outcome(cluster, ORDERS, 500) == "NONE"
    assert await outcome(cluster, ORDERS, 500) == "KAFKA_STORAGE_ERROR"
    assert ended == [True]
    assert ORDERS not in cluster.nodes[1].replicas.partitions
    (faults / "log.dir.bytes.limit").unlink()
    await cluster.kill(1)
    await cluster.start(1, recover=True)
    await cluster.tell_leaders()
    assert await outcome(cluster, ORDERS, 5000) == "NONE"
