"""`kdrill snapshot`: what is written is what is there, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from model.cluster.snapshot_file import read_snapshot
from tests.demo_tree import DemoTree
from tests.harness.command import failure, kdrill
from tests.model.metadata_log.kept import QUORUM


@pytest.mark.parametrize("name", ["now.json", "now.json.zst"])
def test_it_is_written_and_says_so(tree: DemoTree, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    done = kdrill("snapshot", tree.source, "-o", path)
    assert (done.returncode, done.stdout) == (0, "")
    image = read_snapshot(path)
    counts = f"{len(image.topics):,} topics, {image.partition_count:,} partitions, {len(image.groups)} groups"
    assert done.stderr == f"{path}: {len(image.brokers)} brokers, {counts}\n"
    assert image.provenance.source == tree.source
    assert len(image.topics) > 5


def test_groups_that_nobody_told_of_are_unknown(tmp_path: Path) -> None:
    done = kdrill("snapshot", QUORUM, "-o", tmp_path / "now.json")
    assert done.stderr.endswith(" partitions, groups unknown\n")


def test_a_file_that_exists_is_replaced_and_nothing_else_is_left(snapshot_file: Path) -> None:
    before = snapshot_file.read_bytes()
    target = snapshot_file.with_name("old.json")
    target.write_text("not a snapshot")
    assert kdrill("snapshot", snapshot_file, "--output", target).returncode == 0
    assert json.loads(target.read_bytes())["topics"] == json.loads(before)["topics"]
    assert sorted(path.name for path in target.parent.iterdir()) == ["old.json", "small.json"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("now.txt", "a snapshot's name ends in .json or .json.zst"),
        ("none/now.json", "cannot be written: No such file or directory"),
        ("folder.json", "cannot be written: Is a directory"),
        ("/dev/null/now.json", "cannot be written: Not a directory"),
    ],
)
def test_a_place_that_cannot_be_written(snapshot_file: Path, name: str, reason: str) -> None:
    (snapshot_file.parent / "folder.json").mkdir()
    done = kdrill("snapshot", snapshot_file, "-o", snapshot_file.parent / name)
    assert failure(done).endswith(reason)
    assert done.returncode == 1
    assert sorted(path.name for path in snapshot_file.parent.iterdir()) == ["folder.json", "small.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(snapshot_file: Path) -> None:
    snapshot_file.parent.chmod(0o500)
    done = kdrill("snapshot", snapshot_file, "-o", snapshot_file.parent / "now.json")
    snapshot_file.parent.chmod(0o700)
    assert failure(done).endswith("cannot be written: Permission denied")
