"""meta.properties, partition.metadata, the mark of a clean shutdown."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from model.log.checkpoints import (
    mark_clean_shutdown,
    read_meta_properties,
    read_topic_id,
    take_clean_shutdown_mark,
    write_meta_properties,
    write_topic_id,
)
from model.log.names import DamagedFileError


def test_meta_properties_as_a_broker_wrote_them(tmp_path: Path) -> None:
    text = "#\n#Fri Nov 20 19:58:04 UTC 2026\nbroker.id=0\nversion=0\ncluster.id=w5SJVvs3TMmUv1yTSaKLHA\n"
    (tmp_path / "meta.properties").write_text(text)
    read = read_meta_properties(tmp_path)
    assert read == {"broker.id": "0", "version": "0", "cluster.id": "w5SJVvs3TMmUv1yTSaKLHA"}
    write_meta_properties(tmp_path, read)
    assert read_meta_properties(tmp_path) == read


def test_there_may_be_no_meta_properties(tmp_path: Path) -> None:
    assert read_meta_properties(tmp_path) == {}


def test_a_line_that_is_no_property_is_named(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=0\nbroker\n")
    with pytest.raises(DamagedFileError, match=r"meta\.properties, line 2: 'broker' is no key=value"):
        read_meta_properties(tmp_path)


def test_a_topic_id(tmp_path: Path) -> None:
    topic_id = uuid.UUID("c1be7d0c-9b1e-4f1a-8a39-fb6e6e9d2f10")
    write_topic_id(tmp_path, topic_id)
    written = (tmp_path / "partition.metadata").read_bytes()
    assert len(written) == 43
    assert written.startswith(b"version: 0\ntopic_id: ")
    assert read_topic_id(tmp_path) == topic_id


def test_there_may_be_no_topic_id(tmp_path: Path) -> None:
    assert read_topic_id(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        "version: 0",
        *map("version: 0\ntopic_id: {}".format, ("x", "é")),
    ],
)
def test_a_damaged_topic_id_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "partition.metadata").write_text(text)
    with pytest.raises(DamagedFileError, match=r"partition\.metadata, line [12]: "):
        read_topic_id(tmp_path)


def test_the_mark_of_a_clean_shutdown_is_taken_once(tmp_path: Path) -> None:
    assert not take_clean_shutdown_mark(tmp_path)
    mark_clean_shutdown(tmp_path)
    assert (tmp_path / ".kafka_cleanshutdown").read_bytes() == b'{"version":0,"brokerEpoch":-1}'
    assert take_clean_shutdown_mark(tmp_path)
    assert not take_clean_shutdown_mark(tmp_path)


def test_an_empty_mark_of_old_brokers_counts(tmp_path: Path) -> None:
    (tmp_path / ".kafka_cleanshutdown").touch()
    assert take_clean_shutdown_mark(tmp_path)
