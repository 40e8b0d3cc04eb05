"""Names in a log folder."""

from __future__ import annotations

import pytest

from model.log.names import FolderRole, NumberedFile, PartitionFolder, numbered_file, partition_folder

ID = "52ee84ba46ed4b11b9c0a4cb3da89484"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("00000000000000000000.log", NumberedFile(0, ".log")),
        ("00000000000000023060.timeindex", NumberedFile(23060, ".timeindex")),
        ("00000000000000000012.txnindex.deleted", NumberedFile(12, ".txnindex", ".deleted")),
        ("00000000000000000012.log.cleaned", NumberedFile(12, ".log", ".cleaned")),
        ("00000000000000000012.index.swap", NumberedFile(12, ".index", ".swap")),
        ("00000000000000000120.snapshot", NumberedFile(120, ".snapshot")),
    ],
)
def test_files_are_named_by_an_offset(name: str, parts: NumberedFile) -> None:
    assert numbered_file(name) == parts
    assert str(parts) == name


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "1.log", "00000000000000000000.txt", "partition.metadata"])
def test_other_files_are_not(name: str) -> None:
    assert numbered_file(name) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orders-0", PartitionFolder("orders", 0)),
        ("a-b.c-12", PartitionFolder("a-b.c", 12)),
        ("__consumer_offsets-49", PartitionFolder("__consumer_offsets", 49)),
        (f"t-todelete-0.{ID}-delete", PartitionFolder("t-todelete", 0, FolderRole.DELETE, ID)),
        (f"t-1.{ID}-future", PartitionFolder("t", 1, FolderRole.FUTURE, ID)),
        (f"t-1.{ID}-stray", PartitionFolder("t", 1, FolderRole.STRAY, ID)),
    ],
)
def test_a_folder_is_a_partition_and_perhaps_more(name: str, parts: PartitionFolder) -> None:
    assert partition_folder(name) == parts
    assert str(parts) == name


@pytest.mark.parametrize("name", ["orders", "-0", "orders-", "orders-x", "lost+found"])
def test_other_folders_are_no_partitions(name: str) -> None:
    assert partition_folder(name) is None


def test_the_topic_is_cut_where_the_name_would_be_too_long() -> None:
    name = str(PartitionFolder("t" * 249, 7, FolderRole.DELETE, ID))
    assert len(name) == 255
    assert name.endswith(f"tt-7.{ID}-delete")
