"""Something is done, and the disk is full: what a script is told, so that it does not do it twice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.demo_tree import DemoTree
from tests.harness.command import KDRILL, Done, kdrill
from tests.limited_room import room_in

FAILED, UNWRITTEN = 1, 3
LINES = b'{"time_ms":1}\n' * 100_000
"""Of earlier days; nothing else that kdrill writes gets as long."""


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The audit log, in a folder for state of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("KDRILL_CONFIG", os.devnull)
    audit = tmp_path / "kdrill" / "audit.jsonl"
    audit.parent.mkdir()
    audit.write_bytes(LINES)
    return audit


def create(tree: DemoTree, topic: str, *more: str) -> list[str]:
    return [
        *("topics", "create", tree.source, "--topic", topic, "--partitions", "1", "--replication-factor", "1"),
        *("--allow-writes", "--yes", *more),
    ]


def has(tree: DemoTree, topic: str) -> bool:
    return topic in kdrill("topics", tree.source, "list").stdout.splitlines()


def said(done: Done) -> str:
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_what_is_done_is_told_by_the_exit_code_whatever_can_be_written(tree: DemoTree, audit: Path) -> None:
    with room_in(audit, 84):
        done = kdrill(*create(tree, "not-begun"))
    assert done.returncode == FAILED
    assert said(done) == f"kdrill: {audit} cannot be written: File too large; nothing was done\n"
    assert audit.read_bytes() == LINES
    assert not has(tree, "not-begun")

    assert kdrill(*create(tree, "measured")).returncode == 0
    first = audit.read_bytes().removeprefix(LINES).splitlines(keepends=True)[0]
    audit.write_bytes(LINES)
    with room_in(audit, len(first) + 10):
        done = kdrill(*create(tree, "done-now"))
    assert done.returncode == UNWRITTEN
    assert said(done).endswith(f": done, but not written down: {audit} cannot be written: File too large\n")
    assert audit.read_bytes().removeprefix(LINES).count(b"\n") == 1
    assert has(tree, "done-now")


@pytest.mark.parametrize("words", ["status", "topics list", "drill --kill 1 --json", "drill --kill 1", "--help"])
def test_an_output_without_room_is_no_defect(words: str, snapshot_file: Path) -> None:
    source = [] if words == "--help" else [snapshot_file]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*KDRILL, *words.split(), *source], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == FAILED
    assert done.stderr == b"kdrill: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("streams", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_where_the_output_cannot_be_written_it_is_done_all_the_same(
    tree: DemoTree, audit: Path, streams: tuple[str, ...]
) -> None:
    with open("/dev/full", "wb") as full:
        out, err = (full if name in streams else subprocess.PIPE for name in ("stdout", "stderr"))
        done = subprocess.run([*KDRILL, *create(tree, "made", "--json")], stdout=out, stderr=err, check=False)
    assert done.returncode == UNWRITTEN
    if "stderr" not in streams:
        assert done.stderr.endswith(b"done, but the output cannot be written: No space left on device\n")
    assert has(tree, "made")
    assert audit.read_bytes().removeprefix(LINES).count(b"\n") == 2
