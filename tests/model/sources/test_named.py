"""A SOURCE as written on the command line: what it names, or one line that says what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.cluster.snapshot_file import write_snapshot
from model.sources.feed import Feed
from model.sources.named import source_named
from model.sources.snapshot_source import SnapshotSource
from model.sources.source import SourceError
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.model.cluster.build import NOW_MS, brokers, image, topic

CLUSTER = image(*brokers(1, 2), *topic("orders", (1, 2)))


def test_a_zookeeper_is_named_by_its_address_and_not_opened() -> None:
    source = source_named("zk://no-such-host.invalid/kafka/")
    assert isinstance(source, ZooKeeperSource)
    assert source.name == "zk://no-such-host.invalid:2181/kafka"
    assert source.reader is None
    source.close()


@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_a_snapshot_tells_what_it_holds_and_never_changes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_snapshot(path, CLUSTER)
    source = source_named(str(path))
    assert isinstance(source, SnapshotSource)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    source.close()
    moment = feed.moment
    assert (moment.image.brokers, moment.image.topics) == (CLUSTER.brokers, CLUSTER.topics)
    assert moment.image.provenance.complete
    assert (moment.status.phase, moment.status.since_ms, moment.status.reason) == ("snapshot", NOW_MS, "taken of test")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("zk://", "names no host"),
        ("kafka://h:9092", "kafka:// is no kind of source: write zk://"),
        ("http://h", "http:// is no kind of source"),
        ("nowhere.json", "no such file"),
        ("zk1:2181", "no such file; for a ZooKeeper write zk://zk1:2181"),
        ("x" * 5000, "no such file"),
        ("", "no such file"),
        (".", "cannot be read: Is a directory"),
    ],
)
def test_what_names_no_source(name: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint in complaint_of(name)


def test_a_snapshot_of_a_newer_format(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"format": "kdrill.snapshot/2"}))
    assert "kdrill.snapshot/2: this kdrill reads /1; upgrade kdrill" in complaint_of(str(path))


@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_a_snapshot_that_is_cut_off(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_snapshot(path, CLUSTER)
    path.write_bytes(path.read_bytes()[:-20])
    assert "cut off" in complaint_of(str(path))


def complaint_of(name: str) -> str:
    with pytest.raises(SourceError) as error:
        source_named(name)
    assert str(error.value).isprintable()
    return str(error.value)
