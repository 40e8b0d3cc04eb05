"""What a name may mean, and what is found beside the segments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model.analyses.scans.folders import NothingToScanError, find_logs
from model.log.checkpoints import write_meta_properties, write_offsets
from model.log.names import CLEAN_SHUTDOWN_FILE, CLEANER_OFFSET_FILE, HIGH_WATERMARK_FILE, LEADER_EPOCH_FILE
from tests.spark.scans.scanning import scan, told

HEX = "52ee84ba46ed4b11b9c0a4cb3da89484"


def found(*names: Path | str, topics: tuple[str, ...] = ()) -> list[str]:
    """Partition folders, by name."""
    logs = find_logs([str(name) for name in names], topics)
    return [Path(partition.path).name for folder in logs for partition in folder.partitions]


def refusal(*names: Path | str, topics: tuple[str, ...] = ()) -> str:
    with pytest.raises(NothingToScanError) as error:
        find_logs([str(name) for name in names], topics)
    return str(error.value)


def test_a_log_folder_a_partition_folder_and_a_folder_of_brokers(partition: Path, tmp_path: Path) -> None:
    for broker in (1, 2):
        shutil.copytree(partition, tmp_path / f"brokers/broker-{broker}/logs/orders.eu-1-{broker}")
    shutil.copytree(partition, tmp_path / "brokers/broker-2/logs/gone-0")
    assert found(partition) == ["t-plain-0"]
    assert found(tmp_path / "brokers/broker-1/logs") == ["orders.eu-1-1"]
    assert found(tmp_path / "brokers") == ["orders.eu-1-1", "gone-0", "orders.eu-1-2"]
    assert found(tmp_path / "brokers", tmp_path / "brokers/broker-1", partition.parent / "t-plain-0") == [
        *("t-plain-0", "orders.eu-1-1", "gone-0", "orders.eu-1-2")
    ]
    assert found(tmp_path / "brokers", topics=("orders.eu-1",)) == ["orders.eu-1-1", "orders.eu-1-2"]


def test_a_copy_of_a_partition_folder_may_have_any_name(partition: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(partition, tmp_path / "evidence")
    (scanned,) = scan(Path(copy)).partitions
    assert (scanned.topic, scanned.partition) == ("evidence", -1)


def test_names_that_mean_no_logs(partition: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    advice = "no logs here: name a broker's log folder (log.dirs) or one in it"
    assert refusal(tmp_path / "empty") == f"{tmp_path}/empty: {advice}"
    assert refusal(tmp_path / "none") == f"{tmp_path}/none: No such file or directory"
    assert refusal(tmp_path / "file") == f"{tmp_path}/file: Not a directory"
    assert refusal(partition, topics=("a", "b")) == f"{partition}: no log of topic a, b here"


def test_what_a_log_folder_says_of_itself(partition: Path) -> None:
    write_meta_properties(partition.parent, {"broker.id": "7", "cluster.id": "prod"})
    (partition.parent / CLEAN_SHUTDOWN_FILE).touch()
    write_offsets(partition.parent / HIGH_WATERMARK_FILE, {("t-plain", 0): 121, ("other", 3): 5})
    result = scan(partition.parent)
    (folder,) = result.log_folders
    assert (folder.broker, folder.cluster_id, folder.clean_stop, folder.partitions) == (7, "prod", True, 1)
    (finding,) = result.findings
    assert (finding.kind, finding.broker) == ("below-high-watermark", 7)
    assert "ends at offset 120, its high watermark was 121" in finding.cause


def test_checkpoints_that_cannot_be_used(partition: Path) -> None:
    (partition.parent / HIGH_WATERMARK_FILE).write_text("0\n2\nt-plain 0 120\n")
    (partition / LEADER_EPOCH_FILE).write_text("9\n")
    assert told(scan(partition.parent)) == [
        ("bad-checkpoint", HIGH_WATERMARK_FILE, None),
        ("bad-checkpoint", LEADER_EPOCH_FILE, None),
    ]


def test_files_that_should_not_be_there(partition: Path) -> None:
    (partition / "00000000000000000000.index").touch()
    (partition / "00000000000000000000.log.deleted").touch()
    (partition / "00000000000000000000.timeindex.deleted").touch()
    result = scan(partition)
    assert told(result) == [("orphaned-index", "00000000000000000000.index", None), ("unfinished", "t-plain-0", None)]
    assert result.findings[1].cause == "2 .deleted files wait for their deletion"
    assert (result.damage, result.warnings) == (0, 1)


def test_folders_that_are_not_current(partition: Path) -> None:
    for role in ("delete", "future", "stray"):
        shutil.copytree(partition, partition.parent / f"t-plain-1.{HEX}-{role}")
    result = scan(partition.parent)
    assert result.counts == {"stray-folder": 1, "unfinished": 2}
    assert [each.role.value for each in result.partitions if each.partition == 1] == ["delete", "future", "stray"]


def test_a_topic_that_was_created_anew(partition: Path) -> None:
    for number in (1, 2):
        shutil.copytree(partition, partition.parent / f"t-plain-{number}")
    (partition / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
    (finding,) = scan(partition.parent).findings
    assert (finding.kind, finding.path) == ("other-topic-id", str(partition))


def test_a_gap_is_no_matter_where_the_cleaner_has_been(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus / "damaged/batch-removed-gap", tmp_path / "orders-0")
    (finding,) = scan(tmp_path).findings
    assert (finding.kind, finding.cause) == ("gap", "20 offsets missing, from 80 on")
    write_offsets(tmp_path / HIGH_WATERMARK_FILE, {("orders", 0): 120})
    assert scan(tmp_path).counts == {"gap": 1}
    write_offsets(tmp_path / CLEANER_OFFSET_FILE, {("orders", 0): 100})
    result = scan(tmp_path)
    assert (result.counts, result.totals.gaps, result.totals.missing_offsets) == ({}, 1, 20)
