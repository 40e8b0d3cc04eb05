"""An opening becomes the source it names, with its login; what cannot be one is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sources.snapshot_source import SnapshotSource
from model.sources.source import SourceError
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tui.data.opened import source_of
from tui.data.opening import Login, Opening


def test_an_address() -> None:
    source = source_of(Opening(source="zk://a:1,b/kafka", login=Login(credentials=(("digest", "ann:secret"),))))
    assert isinstance(source, ZooKeeperSource)
    assert source.name == "zk://a:1,b:2181/kafka"


def test_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"format":"kdrill.snapshot/1"}')
    assert isinstance(source_of(Opening(source=str(tmp_path / "a.json"))), SnapshotSource)


def test_a_certificate_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match=r"^zk://a:2181: TLS file none\.pem does not exist; check the path$"):
        source_of(Opening(source="zk://a", login=Login(tls={"ca": "none.pem"})))


def test_secrets_are_not_shown() -> None:
    login = Login(credentials=(("digest", "ann:secret"),), sasl={"password": "secret"}, tls={"keyfile": "secret"})
    assert "secret" not in repr(Opening(login=login))
