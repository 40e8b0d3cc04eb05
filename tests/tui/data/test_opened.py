"""An opening becomes the source it names, with its login; what cannot be one is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.cluster.snapshot_file import write_snapshot
from model.hosts.client_security import KafkaSecurity, SaslLogin, Secret, Store, Tls
from model.sources.feed import Feed
from model.sources.file_source import SnapshotSource
from model.sources.source import SourceError
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.model.cluster.build import NOW_MS, brokers, image, topic
from tui.engine.messages import Login, Opening
from tui.engine.sources import source_of

CLUSTER = image(*brokers(1, 2), *topic("orders", (1, 2)))


def test_a_zookeeper_is_not_opened_yet() -> None:
    source = source_of(Opening(source="zk://no-such-host.invalid/kafka/"))
    assert isinstance(source, ZooKeeperSource)
    assert source.name == "zk://no-such-host.invalid:2181/kafka"
    assert source.reader is None
    source.close()


@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_a_snapshot_tells_what_it_holds_and_never_changes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_snapshot(path, CLUSTER)
    source = source_of(Opening(source=str(path)))
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
        ("kafka://", "names no broker"),
        ("http://h", "http:// is no kind of source"),
        ("nowhere.json", "no such file"),
        ("zk1:2181", "no such file; for a ZooKeeper write zk://zk1:2181"),
        ("x" * 5000, "no such file"),
        ("", "no such file"),
        (".", "no recording here"),
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


def test_an_address() -> None:
    source = source_of(Opening(source="zk://a:1,b/kafka", login=Login(credentials=(("digest", "ann:secret"),))))
    assert isinstance(source, ZooKeeperSource)
    assert source.name == "zk://a:1,b:2181/kafka"


def test_a_certificate_that_is_not_there_is_named() -> None:
    tls = Tls(truststore=Store(type="PEM", location="none.pem"))
    with pytest.raises(SourceError, match=r"^zk://a:2181: none\.pem cannot be read: No such file or directory$"):
        source_of(Opening(source="zk://a", login=Login(tls=tls)))
    kafka = KafkaSecurity(protocol="SSL", tls=tls)
    with pytest.raises(SourceError, match=r"none\.pem cannot be read: No such file or directory$"):
        source_of(Opening(source="kafka://a:1", login=Login(kafka=kafka)))


def test_secrets_are_not_shown() -> None:
    sasl = SaslLogin(mechanism="PLAIN", username="ann", password=Secret("secret"))
    login = Login(
        credentials=(("digest", "ann:secret"),),
        sasl={"password": "secret"},
        kafka=KafkaSecurity(protocol="SASL_PLAINTEXT", sasl=sasl),
    )
    assert "secret" not in repr(Opening(login=login))


def complaint_of(name: str) -> str:
    with pytest.raises(SourceError) as error:
        source_of(Opening(source=name))
    assert str(error.value).isprintable()
    return str(error.value)
