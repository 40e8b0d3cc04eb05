"""Snapshot files: there and back, kept fields, hidden secrets, and one line for each file that is refused."""

import json
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage, Provenance
from model.cluster.findings import find
from model.cluster.ids import KAFKA_GENERATIONS, KafkaGeneration, TopicPartition
from model.cluster.image_parts import KraftMetadata, LogDir, Quorum, QuorumReplica
from model.cluster.records import (
    ConfigChanged,
    GenerationRecognised,
    LogDirsDescribed,
    MetadataDescribed,
    PartitionState,
    PartitionStatesWritten,
    QuorumDescribed,
    ReplicasWentOffline,
    TopicAssigned,
    TopicDeletionRequested,
    ViewsDiffered,
)
from model.cluster.snapshot_file import SnapshotError, read_document, read_snapshot, write_snapshot
from model.cluster.texts import redacted
from tests.model.cluster.build import brokers, claims, consumer, image, state, topic, written
from tests.model.cluster.strategies import images

CLUSTER = image(
    *brokers(1, 2, racks=("a", "b")),
    *topic("orders", (1, 2), partitions=2),
    written("orders", state(0, 1, (1,), epoch=3, time_ms=9)),
    consumer("billing", "c1"),
    *claims("billing", "c1-0", 0),
)


def refused(path: Path) -> str:
    with pytest.raises(SnapshotError) as caught:
        read_snapshot(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def edited(path: Path, **fields: object) -> Path:
    write_snapshot(path, CLUSTER)
    document = json.loads(path.read_bytes())
    for place, value in fields.items():
        *parents, last = place.split("__")
        inner = document
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    path.write_text(json.dumps(document))
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(images)
@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_there_and_back_is_the_same_image(tmp_path: Path, name: str, taken: ClusterImage) -> None:
    write_snapshot(tmp_path / name, taken, find(taken).found)

    configs = {entity: redacted(entity, config) for entity, config in taken.configs.items()}
    assert read_snapshot(tmp_path / name) == msgspec.structs.replace(taken, configs=configs)


def test_the_file_holds_what_the_format_promises(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_snapshot(path, CLUSTER, find(CLUSTER).found)

    document = json.loads(path.read_bytes())

    assert document["format"] == "kdrill.snapshot/1"
    assert document["controller"] == {"broker": 1, "epoch": 1, "since_ms": 0}
    assert document["topics"]["orders"]["partitions"]["0"] == {
        "replicas": [1, 2],
        "adding": [],
        "removing": [],
        "leader": 1,
        "leader_epoch": 3,
        "isr": [1],
        "controller_epoch": 0,
        "version": 0,
        "time_ms": 9,
    }
    assert document["groups"]["billing"]["owners"] == {"orders": {"0": "c1-0"}}
    assert {"under-replicated", "unowned-partition"} <= {one["kind"] for one in document["findings"]}


def test_eligible_leaders_are_kept_and_told_apart_from_untold_ones(tmp_path: Path) -> None:
    file = tmp_path / "elr.json"
    taken = image(
        PartitionStatesWritten(
            topic="orders",
            states=(
                PartitionState(0, -1, 3, (), elr=(4, 2), last_known_elr=(4,)),
                PartitionState(1, 1, 3, (1,), elr=(), last_known_elr=()),
                PartitionState(2, 1, 3, (1,)),
            ),
        )
    )
    write_snapshot(file, taken)
    document = json.loads(file.read_text())
    told = [(one.get("elr"), one.get("last_known_elr")) for one in document["topics"]["orders"]["partitions"].values()]
    assert told == [([4, 2], [4]), ([], []), (None, None)]
    assert read_snapshot(file) == taken


def test_secrets_stay_behind(tmp_path: Path) -> None:
    secret = ConfigChanged(entity="brokers/1", config={"ssl.keystore.password": "hunter2", "log.retention.ms": "5"})
    write_snapshot(tmp_path / "a.json", image(secret, ConfigChanged(entity="users/bob", config={"custom": "hunter2"})))

    assert b"hunter2" not in (tmp_path / "a.json").read_bytes()
    assert read_snapshot(tmp_path / "a.json").configs["brokers/1"] == {
        "ssl.keystore.password": "[hidden]",
        "log.retention.ms": "5",
    }


def test_settings_of_a_topic_are_with_the_topic_and_others_by_themselves(tmp_path: Path) -> None:
    retention = {"retention.ms": "1"}
    of = ("topics/orders", "topics/gone", "brokers/1")
    write_snapshot(
        tmp_path / "a.json", image(*(ConfigChanged(entity=each, config=retention) for each in of), base=CLUSTER)
    )
    document = json.loads((tmp_path / "a.json").read_bytes())
    assert document["topics"]["orders"]["config"] == retention
    assert document["configs"] == {"topics/gone": retention, "brokers/1": retention}


@pytest.mark.parametrize("generation", KAFKA_GENERATIONS)
def test_the_generation_of_kafka_is_kept(tmp_path: Path, generation: KafkaGeneration) -> None:
    write_snapshot(tmp_path / "a.json", image(GenerationRecognised(generation=generation), base=CLUSTER))
    assert read_snapshot(tmp_path / "a.json").generation == generation


def test_the_file_is_in_order_however_the_image_came_about(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(9)]
    for turn in (names, names[::-1]):
        parts = [each for name in turn for each in (consumer(name, "c"), TopicDeletionRequested(topic=name))]
        write_snapshot(tmp_path / "a.json", image(*parts, base=CLUSTER))
        document = json.loads((tmp_path / "a.json").read_bytes())
        assert list(document["groups"]) == ["billing", *names]
        assert document["admin"]["delete_topics"] == names


def test_unknown_fields_are_kept_for_what_still_exists(tmp_path: Path) -> None:
    path = edited(
        tmp_path / "a.json",
        note="mine",
        controller__host="h",
        topics__orders__owner="team",
        topics__orders__partitions__0__size_bytes=77,
        topics__orders__partitions__1__size_bytes=88,
        groups__billing__team="money",
        groups__billing__members__c1__host="h",
    )
    kept = read_document(path)
    later = image(TopicAssigned(topic="orders", replicas={0: (1, 2), 2: (1, 2)}), base=read_snapshot(path))

    write_snapshot(tmp_path / "b.json.zst", later, kept=kept)
    document = read_document(tmp_path / "b.json.zst")

    assert document["note"] == "mine"
    assert document["controller"]["host"] == "h"
    assert document["topics"]["orders"]["owner"] == "team"
    assert document["topics"]["orders"]["partitions"]["0"]["size_bytes"] == 77
    assert "size_bytes" not in document["topics"]["orders"]["partitions"]["2"]
    assert document["groups"]["billing"]["team"] == "money"
    assert document["groups"]["billing"]["members"]["c1"]["host"] == "h"


def test_a_snapshot_by_another_program_may_leave_fields_out(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"format":"kdrill.snapshot/1","topics":{"t":{"partitions":{"0":{"replicas":[1],"leader":1}}}}}')

    assert list(read_snapshot(path).topics["t"].rows()) == [(0, (1,), 1, ())]


@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_snapshot(path, CLUSTER)
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert refused(path) in {"the file is empty", "the file is cut off; take the snapshot again"}


def test_a_flipped_bit_in_a_compressed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.json.zst"
    write_snapshot(path, CLUSTER)
    damaged = bytearray(path.read_bytes())
    damaged[-6] ^= 1
    path.write_bytes(damaged)

    assert refused(path) == "the file is damaged (zstd); take the snapshot again"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"hello", "not a kdrill snapshot: it is not JSON"),
        (b"\xff\xfe{}", "not a kdrill snapshot: it is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "not a kdrill snapshot: its format is not kdrill.snapshot/1"),
        (b"[1]", "not a kdrill snapshot: its format is not kdrill.snapshot/1"),
        (b"{}", "not a kdrill snapshot: its format is not kdrill.snapshot/1"),
        (b'{"format":"kdrill.snapshot/2"}', "kdrill.snapshot/2: this kdrill reads /1; upgrade kdrill"),
        (b'{"format":"kdrill.drill/1"}', "this is kdrill.drill/1, not a snapshot (kdrill.snapshot/1)"),
        (b'{"format":"kdrill.snapshot/1","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", None),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, reason: str | None) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)

    assert refused(path) == (reason or "not a kdrill snapshot: it is not JSON")


def test_compressed_nonsense_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"hello"))

    assert refused(path) == "not a kdrill snapshot: it is not JSON"


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("brokers", 7, "brokers: expected array, got int"),
        ("kafka_generation", "5.x", "kafka_generation: invalid enum value '5.x'"),
        (
            "topics__orders__partitions__1__leader",
            "one",
            "topics.orders.partitions.1.leader: expected int, got str",
        ),
        ("topics__orders__partitions__1__isr", [1, None], "topics.orders.partitions.1.isr.1: expected int, got null"),
        ("topics__orders__partitions__x", {}, "topics.orders.partitions.x: object missing required field replicas"),
        (
            "topics__orders__partitions__0__leader",
            2**31,
            "topics.orders.partitions.0.leader: expected int <= 2147483647",
        ),
        ("groups__billing__offsets", {"orders": {"-1": 3}}, "groups.billing.offsets.orders: expected int >= 0"),
        ("taken_at_ms", 2**64, "taken_at_ms: expected int <= 9223372036854775807"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(tmp_path: Path, place: str, value: object, reason: str) -> None:
    assert refused(edited(tmp_path / "a.json", **{place: value})) == reason


def test_no_such_file_and_no_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.json") == "no such file"
    assert refused(tmp_path) == "cannot be read: Is a directory"


def test_a_name_that_says_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"ends in \.json or \.json\.zst"):
        write_snapshot(tmp_path / "a.yaml", CLUSTER)


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    taken = tmp_path / "a.json"
    (taken / "inside").mkdir(parents=True)

    with pytest.raises(SnapshotError, match="cannot be written"):
        write_snapshot(taken, CLUSTER)
    with pytest.raises(SnapshotError, match="cannot be written: No such file or directory"):
        write_snapshot(tmp_path / "nowhere" / "a.json", CLUSTER)

    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_writing_again_replaces_the_file_and_leaves_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_snapshot(path, image())
    write_snapshot(path, CLUSTER)

    assert read_snapshot(path) == CLUSTER
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(
    "found", [b'"taken_at_ms":1e999', b'"note":1e999', b'"source":"\xff"', b'"topics":' + b'{"a":' * 20_000]
)
def test_a_document_that_breaks_its_decoder_is_refused(tmp_path: Path, found: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"format":"kdrill.snapshot/1",' + found + b"}")
    with pytest.raises(SnapshotError) as caught:
        read_document(path)
    assert "\n" not in str(caught.value)


def test_what_brokers_tell_and_zookeeper_does_not_is_kept(tmp_path: Path) -> None:
    at = TopicPartition("orders", 1)
    told = image(
        LogDirsDescribed(broker=1, folders=(LogDir("/a", "", {at: 7}, 100, 60), LogDir("/b", "KAFKA_STORAGE_ERROR"))),
        ReplicasWentOffline(replicas={at: (1, 2)}),
        ViewsDiffered(differences={"broker 1": "ZooKeeper does not know it"}),
        QuorumDescribed(quorum=Quorum(3, 9, 70, (QuorumReplica(3, 70, 0, 5),), (QuorumReplica(1, 60, 10, 4),))),
        MetadataDescribed(metadata=KraftMetadata()),
        base=CLUSTER,
    )
    write_snapshot(tmp_path / "a.json", told)
    read = read_snapshot(tmp_path / "a.json")
    assert read == told
    assert (read.offline_replicas, read.log_dirs) == (told.offline_replicas, told.log_dirs)
    assert told.offline_replicas and told.log_dirs and told.differences


def test_an_image_that_is_not_whole_stays_so(tmp_path: Path) -> None:
    half = ClusterDelta(CLUSTER).apply(Provenance("test", 5, 6, complete=False))
    write_snapshot(tmp_path / "a.json", half)
    assert json.loads((tmp_path / "a.json").read_bytes())["complete"] is False
    assert not read_snapshot(tmp_path / "a.json").provenance.complete


def test_bytes_that_were_read_already_are_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_snapshot(path, CLUSTER)
    raw = path.read_bytes()
    whole = read_document(path)
    path.unlink()
    assert (read_snapshot(path, raw), read_document(path, raw)) == (CLUSTER, whole)


def test_a_small_file_that_becomes_a_huge_one_is_refused(tmp_path: Path) -> None:
    """A frame of 33 KiB that holds a GiB of zeros."""
    compressor = zstandard.ZstdCompressor().compressobj()
    zeros = bytes(1 << 22)
    pieces = [*(compressor.compress(zeros) for _ in range((1 << 30 >> 22) + 1)), compressor.flush()]
    path = tmp_path / "a.json.zst"
    path.write_bytes(b"".join(pieces))
    assert refused(path) == "holds more than 1,073,741,824 bytes of JSON; no snapshot is that large"
