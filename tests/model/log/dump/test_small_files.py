"""Producer snapshots, checkpoints and properties: files that Kafka's tool shows in part, or not at all."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from model.log.dump.facts import FileKind, file_name
from model.log.records import DamageKind
from tests.model.log.dump.dumping import JSON, dump, lines


def snapshot(*producers: tuple[int, ...], count: int | None = None) -> bytes:
    body = struct.pack(">i", len(producers) if count is None else count)
    body += b"".join(struct.pack(">qhiqiqiq", *producer) for producer in producers)
    return struct.pack(">hI", 1, crc32c(body)) + body


def file(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_producers(tmp_path: Path) -> None:
    data = snapshot((4, 0, 3, 22, 4, 1795, 0, 0), (5, 1, -1, -1, 0, 1796, 2, -1))
    first, second = lines(file(tmp_path, "00000000000000000024.snapshot", data))
    assert first == (
        "producerId: 4 producerEpoch: 0 coordinatorEpoch: 0 currentTxnFirstOffset: OptionalLong[0] lastTimestamp: 1795 "
        "firstSequence: 2147483647 lastSequence: 3 lastOffset: 22 offsetDelta: 4 timestamp: 1795"
    )
    assert second.endswith("currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 1796 ")


@pytest.mark.parametrize(
    ("data", "kinds", "shown"),
    [
        (snapshot((1,) * 8)[:-1], [DamageKind.BAD_CRC, DamageKind.BAD_RECORDS], 0),
        (snapshot((1,) * 8) + b"x", [DamageKind.BAD_CRC, DamageKind.BAD_RECORDS], 1),
        (snapshot((1,) * 8, count=2**31 - 1), [DamageKind.BAD_RECORDS], 1),
        (b"\0\1", [DamageKind.TORN], 0),
        (b"\0\2" + snapshot()[2:], [DamageKind.BAD_ENTRY], 0),
    ],
)
def test_a_damaged_snapshot_shows_what_is_there(tmp_path: Path, data: bytes, kinds: list[str], shown: int) -> None:
    text, damage, _ = dump(file(tmp_path, "00000000000000000024.snapshot", data))
    assert [each.kind for each in damage] == kinds
    assert text.count(b"producerId") == shown


def test_checkpoints(corpus: Path) -> None:
    broker = corpus / "k39-clean"
    assert "topic: t-delrec partition: 0 offset: 57" in lines(broker / "log-start-offset-checkpoint")
    assert lines(broker / "t-plain-0/leader-epoch-checkpoint") == ["epoch: 0 startOffset: 60"]
    for path in [*corpus.rglob("*-checkpoint"), *corpus.rglob("meta.properties"), *corpus.rglob("partition.metadata")]:
        assert dump(path)[1:] == ([], []), path


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("recovery-point-offset-checkpoint", b"1\n0\n", "version '1'"),
        ("recovery-point-offset-checkpoint", b"0\n2\nt 0 5\n", "'2' entries are declared, 1 are there"),
        ("recovery-point-offset-checkpoint", b"0\n1\nt 0\n", "has 2 words, not 3"),
        ("recovery-point-offset-checkpoint", b"0\n1\nt 0 x\n", "no number of 64 bits"),
        ("leader-epoch-checkpoint", b"0\n2\n1 5\n1 6\n", "comes after epoch 1 from 5"),
        ("meta.properties", b"broker.id\n", "without a key and a value"),
    ],
)
def test_damaged_text(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    _, (damage,), _ = dump(file(tmp_path, name, data))
    assert why in damage.cause


def test_properties(tmp_path: Path) -> None:
    path = file(tmp_path, "meta.properties", b"#\n#Sat Nov 21\nbroker.id=1\ncluster.id=a=b\n")
    assert lines(path) == ["broker.id: 1", "cluster.id: a=b"]
    assert lines(file(tmp_path, "partition.metadata", b"version: 0\ntopic_id: abc")) == ["version: 0", "topic_id: abc"]


@given(data=st.binary(max_size=300), name=st.sampled_from(["meta.properties", "x-offset-checkpoint", "1.snapshot"]))
def test_any_bytes_are_shown_or_named(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    path = file(tmp_path_factory.mktemp("any"), name, data)
    dump(path)
    dump(path, JSON)


@pytest.mark.parametrize(
    ("name", "kind", "base"),
    [
        ("00000000000000000012.log", FileKind.LOG, 12),
        ("00000000000000000012.timeindex.deleted", FileKind.TIME_INDEX, 12),
        ("00000000000000000012.log.swap", FileKind.LOG, 12),
        ("replication-offset-checkpoint.tmp", FileKind.OFFSET_CHECKPOINT, None),
        ("leader-epoch-checkpoint", FileKind.EPOCH_CHECKPOINT, None),
        ("00000000000000000050-0000000001.checkpoint", FileKind.METADATA_SNAPSHOT, None),
    ],
)
def test_kinds_by_name(name: str, kind: FileKind, base: int | None) -> None:
    found = file_name(name)
    assert found is not None
    assert (found.kind, found.base_offset) == (kind, base)


@pytest.mark.parametrize("name", ["passwd", "a.txt", "log", ".lock", "x.log.gz"])
def test_other_names_are_nothing(name: str) -> None:
    assert file_name(name) is None


def test_kraft_snapshots_have_titles(corpus: Path) -> None:
    assert lines(corpus / "kraft/bootstrap.checkpoint")[0] == "KRaft bootstrap snapshot"
    (path,) = (corpus / "kraft/__cluster_metadata-0").glob("*.checkpoint")
    head, _, header, *_ = lines(path)
    assert head == "Snapshot end offset: 50, epoch: 1"
    assert header.endswith('SnapshotHeader {"version":0,"lastContainedLogTimestamp":1795245999029}')
