"""A real 3.9.1 broker serves what was written here, compacts it as we do, and when it is killed, its
folder is recovered here as it does itself.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # pyright: ignore[reportPrivateImportUsage]
from msgspec.structs import replace

from model.log.checkpoints import read_offsets
from model.log.compaction import Compaction
from model.log.log_folder import LogFolder
from model.log.names import LOG, SEGMENT_KINDS
from model.log.partition_log import PartitionLog
from model.log.records import Codec, records_of
from model.log.records import Producer as BatchProducer
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually
from tests.model.log.batches import START_MS, all_records, batch, batches_in, end_transaction, keyed

pytestmark = pytest.mark.conformance

TOPICS = ("plain", "idempotent", "transactional", "compacted", "produced")
TO_COMPACT = "to-compact"
CLEANER = "log.cleaner.enable=true\nlog.cleaner.backoff.ms=500\n"
COMPACT_CONFIG = {
    "segment.bytes": "4000",
    "index.interval.bytes": "500",
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
}
CONFIG = {"segment.bytes": "20000", "index.interval.bytes": "1000", "retention.ms": "-1"}
SETTINGS = LogSettings(segment_bytes=20_000, index_interval_bytes=1_000, retention_ms=-1)
COMPACTING = LogSettings(segment_bytes=4_000, index_interval_bytes=500, cleanup_policy=frozenset({"compact"}))

Read = list[tuple[int, bytes | None, bytes | None]]
"""Offset, key and value of records."""


@pytest.fixture(scope="module")
def broker(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One broker with the topics, each of one partition."""
    kafka = install_or_skip("3.9.1")
    folder = tmp_path_factory.mktemp("log-folders")
    with Cluster(kafka, f"{zookeeper_server.address}/log-folders", folder, size=1, settings=CLEANER) as cluster:
        eventually(lambda: has_controller(cluster), "the broker to know its controller", 120)
        admin = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
        wanted = [NewTopic(topic, 1, 1, config=CONFIG) for topic in TOPICS]
        wanted.append(NewTopic(TO_COMPACT, 1, 1, config=COMPACT_CONFIG))
        for done in admin.create_topics(wanted).values():
            done.result(120)
        folders = [logs(cluster) / f"{topic}-0" for topic in (*TOPICS, TO_COMPACT)]
        eventually(lambda: all(folder.is_dir() for folder in folders), "the partitions' folders", 120)
        yield cluster
    shutil.rmtree(folder)


def has_controller(cluster: Cluster) -> bool:
    """A client that was told too early that there is none does not ask again for minutes."""
    metadata = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap}).list_topics(timeout=30)
    return metadata.controller_id >= 0


def logs(cluster: Cluster) -> Path:
    return cluster.folder / "broker-1" / "logs"


def consumed(cluster: Cluster, topic: str, end_offset: int, isolation: str = "read_uncommitted") -> Read:
    """All records that a consumer gets up to an offset."""
    config = {"log_level": 0, "bootstrap.servers": cluster.bootstrap, "group.id": "g", "isolation.level": isolation}
    consumer = Consumer({**config, "check.crcs": True, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: Read = []

    def is_done() -> bool:
        for message in consumer.consume(num_messages=500, timeout=0.2):
            assert not message.error(), message.error()
            found.append((message.offset() or 0, message.key(), message.value()))
        [position] = consumer.position([TopicPartition(topic, 0)])
        return position.offset >= end_offset

    eventually(is_done, f"{topic} to be read up to {end_offset}")
    consumer.close()
    return found


def contents(log: PartitionLog) -> Read:
    return [(record.offset, record.key, record.value) for record in all_records(log)]


def append(log: PartitionLog, data: bytes) -> None:
    log.append_as_leader(data, leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)


def write_logs(folder: LogFolder) -> dict[str, PartitionLog]:
    """Fills the folders of the topics but the last."""
    written = {
        topic: folder.open_log(topic, 0, COMPACTING if topic == "compacted" else SETTINGS, now_ms=START_MS)[0]
        for topic in TOPICS[:-1]
    }
    for number in range(200):
        time_ms = START_MS + number
        append(written["plain"], batch(f"{number}" + "x" * 300, "b", "", time_ms=time_ms, codec=Codec(number % 5)))
        append(written["idempotent"], batch("a", "b", time_ms=time_ms, producer=BatchProducer(7, 1, 2 * number)))
        append(written["compacted"], keyed([(f"k{number % 17}", f"v{number}"), (f"k{number % 5}", None)], time_ms))
        transaction = BatchProducer(8, 0, number, transactional=True)
        append(written["transactional"], batch(f"t{number}", time_ms=time_ms, producer=transaction))
        if number % 4 == 3:
            end_transaction(written["transactional"], transaction, committed=number % 8 == 3, now_ms=time_ms)
    Compaction(written["compacted"], None, now_ms=START_MS).run()
    return written


def empty(folder: Path) -> None:
    """Takes away a partition's log, and leaves its topic id."""
    for path in folder.iterdir():
        if path.name != "partition.metadata":
            path.unlink()


def write_keyed(log: PartitionLog, now_ms: int) -> None:
    """Plain, idempotent and transactional batches of few keys, some of them tombstones, in an order of no meaning."""
    chance = Random(3)
    sequences: Counter[int] = Counter()
    for number in range(300):
        time_ms = now_ms + number
        kind, producer_id = chance.randrange(4), chance.choice([8, 9])
        if kind == 3:
            end_transaction(log, BatchProducer(producer_id), committed=chance.random() < 0.5, now_ms=time_ms)
            continue
        keys = [f"k{chance.randrange(25)}" for _ in range(chance.randrange(1, 4))]
        pairs = [(key, None if chance.random() < 0.2 else f"v{number}") for key in keys]
        if kind == 0:
            append(log, keyed(pairs, time_ms))
            continue
        writer = 7 if kind == 1 else producer_id
        append(log, keyed(pairs, time_ms, BatchProducer(writer, 0, sequences[writer], transactional=kind == 2)))
        sequences[writer] += len(pairs)
    for producer_id in (8, 9):
        end_transaction(log, BatchProducer(producer_id), committed=True, now_ms=now_ms + 300)
    log.set_high_watermark(log.end_offset)


def segment_files(folder: Path) -> dict[str, bytes]:
    """The files of all segments but the active one."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in SEGMENT_KINDS}
    active = max(files)[:20]
    return {name: data for name, data in files.items() if not name.startswith(active)}


@pytest.mark.parametrize("clean", [True, False], ids=["after-a-clean-stop", "checked-by-the-broker"])
def test_a_broker_serves_what_was_written_here(broker: Cluster, clean: bool) -> None:
    with broker.killed(1):
        for topic in TOPICS[:-1]:
            empty(logs(broker) / f"{topic}-0")
        folder = LogFolder(logs(broker))
        written = write_logs(folder)
        expected = {topic: contents(log) for topic, log in written.items()}
        ends = {topic: log.end_offset for topic, log in written.items()}
        folder.close({(topic, 0): log for topic, log in written.items()}, now_ms=START_MS)
        if not clean:
            (logs(broker) / ".kafka_cleanshutdown").unlink()
            (logs(broker) / "recovery-point-offset-checkpoint").unlink()
        before = {topic: segment_files(logs(broker) / f"{topic}-0") for topic in TOPICS[:2]}

    for topic in ("plain", "idempotent", "compacted", "transactional"):
        assert consumed(broker, topic, ends[topic]) == expected[topic]
    committed = [record for record in expected["transactional"] if (record[0] // 5) % 2 == 0]
    assert consumed(broker, "transactional", ends["transactional"], "read_committed") == committed
    assert {topic: segment_files(logs(broker) / f"{topic}-0") for topic in TOPICS[:2]} == before


def test_a_killed_broker_s_folder_is_recovered_as_it_does_itself(broker: Cluster, tmp_path: Path) -> None:
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        config = {
            "log_level": 0,
            "bootstrap.servers": broker.bootstrap,
            "enable.idempotence": True,
            "compression.type": codec,
        }
        producer = Producer({**config, "linger.ms": 5, "batch.num.messages": 20})
        for number in range(200):
            producer.produce("produced", f"{codec}-{number}" * 20, key=str(number), partition=0)
        assert producer.flush(30) == 0
    with broker.killed(1):
        active = max((logs(broker) / "produced-0").glob("*.log"))
        with active.open("ab") as file:
            file.write(b"\0" * 7 + b"torn by a power cut" * 20)
        copy = tmp_path / "logs"
        shutil.copytree(logs(broker), copy)

        folder = LogFolder(copy)
        log, report = folder.open_log("produced", 0, SETTINGS, now_ms=START_MS)

    assert not report.clean
    assert report.cut is not None
    assert report.cut.path.name == active.name
    assert report.cut.size_bytes == 387
    assert log.end_offset == 1_000
    assert [value for _, _, value in contents(log)][::200] == [
        f"{codec}-0".encode() * 20 for codec in ("none", "gzip", "snappy", "lz4", "zstd")
    ]
    assert consumed(broker, "produced", 1_000) == contents(log)
    log.close(now_ms=START_MS)
    theirs, ours = logs(broker) / "produced-0", copy / "produced-0"
    assert (theirs / active.name).read_bytes() == (ours / active.name).read_bytes()
    assert segment_files(theirs) == segment_files(ours)


def test_compaction_leaves_the_same_batches(broker: Cluster, tmp_path: Path) -> None:
    """But for the CRCs and delete horizons of batches with tombstones and markers, which hold the time of day."""
    now_ms = int(time.time() * 1000)
    theirs, ours = logs(broker) / f"{TO_COMPACT}-0", tmp_path / f"{TO_COMPACT}-0"
    with broker.killed(1):
        empty(theirs)
        folder = LogFolder(logs(broker))
        log, _ = folder.open_log(TO_COMPACT, 0, COMPACTING, now_ms=now_ms)
        write_keyed(log, now_ms)
        folder.close({(TO_COMPACT, 0): log}, now_ms=now_ms)
        shutil.copytree(theirs, ours)
    checkpoint = logs(broker) / "cleaner-offset-checkpoint"
    eventually(lambda: checkpoint.exists() and (TO_COMPACT, 0) in read_offsets(checkpoint), "the broker's cleaner")

    checkpointed = Checkpointed(clean=True, high_watermark=log.end_offset)
    log, _ = open_log(ours, COMPACTING, checkpointed, now_ms=now_ms)
    compacted = Compaction(log, None, now_ms=now_ms).run()

    assert compacted.bytes_after < compacted.bytes_before / 2
    assert compacted.cleaned_to == read_offsets(checkpoint)[TO_COMPACT, 0]
    assert timeless(segment_files(ours)) == timeless(segment_files(theirs))
    log.close(now_ms=now_ms)


def timeless(files: dict[str, bytes]) -> dict[str, object]:
    """Logs as batches and records without delete horizons; other files as they are."""
    return {name: batches_of(data) if name.endswith(LOG) else data for name, data in files.items()}


def batches_of(data: bytes) -> list[tuple[object, ...]]:
    return [
        (replace(each, crc=0, base_timestamp=0), each.delete_horizon_ms is None, list(records_of(data, each)))
        for each in batches_in(data)
    ]
