"""A disk that is full and a folder that cannot be written: one line that names it, and no half of a file."""

from __future__ import annotations

import mmap
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import Provenance
from model.cluster.findings import find
from model.cluster.snapshot_file import write_snapshot
from model.cluster.whole_file import write_new, write_whole
from tests.demo_tree import DemoTree, demo_tree
from tests.harness.command import in_terminal
from tests.tui.data.small_cluster import small_image
from tui.cli.main import main

FILLER = "filler"
ROOM = 64 << 10
"""Bytes of the small disk."""
ROOM_LEFT = 84
"""Bytes that fit into the last block of a file on a full disk: less than a line of the audit log."""


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own without room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        (disk / FILLER).write_bytes(bytes(ROOM))
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.fixture(params=["full", "under a file"])
def nowhere(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder in which nothing can be written."""
    if request.param == "full":
        return request.getfixturevalue("full")
    (tmp_path / "file").touch()
    return tmp_path / "file" / "below"


@pytest.fixture
def tree(zookeeper: str) -> Iterator[DemoTree]:
    with demo_tree(zookeeper) as tree:
        yield tree


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    image = msgspec.structs.replace(small_image(), provenance=Provenance("zk://there", 5, 1, complete=True))
    write_snapshot(tmp_path / "small.json", image, find(image, None).found)
    return tmp_path / "small.json"


def refused(words: str, capfd: pytest.CaptureFixture[str]) -> str:
    """The one line that a command says."""
    with pytest.raises(SystemExit) as end:
        main(words.split())
    said = capfd.readouterr()
    assert end.value.code == 1
    assert said.out == ""
    assert said.err.startswith("kdrill: ")
    assert said.err.count("\n") == 1, said.err
    return said.err


@pytest.mark.parametrize(
    "words",
    [
        "snapshot SNAPSHOT -o PLACE/now.json",
        "snapshot SNAPSHOT -o PLACE/now.json.zst",
        "status SNAPSHOT --json -o PLACE/status.json",
        "status SNAPSHOT -o PLACE/status.txt",
        "plan SNAPSHOT --rebalance -o PLACE/plan.json",
        "plan SNAPSHOT --rebalance --rollback PLACE/back.json",
        "drill SNAPSHOT --kill 1 --json -o PLACE/drill.json",
        "drill SNAPSHOT --each-broker --engine here -o PLACE/drills.txt",
        "record LIVE -o PLACE/recording --for 1s",
        "sandbox --headless --brokers 1 --dir PLACE/lab",
        "sandbox --headless --brokers 1 --keep --dir PLACE/lab",
    ],
)
def test_a_command_says_so_in_one_line(
    words: str, nowhere: Path, snapshot: Path, tree: DemoTree, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, meant in (("PLACE", nowhere), ("SNAPSHOT", snapshot), ("LIVE", tree.source)):
        words = words.replace(name, str(meant))
    said = refused(words, capfd)
    assert str(nowhere.parent) in said
    assert left(nowhere) == []


def left(place: Path) -> list[str]:
    """Files there, beside what takes the room, and locks."""
    files = (each for each in place.rglob("*") if each.is_file()) if place.is_dir() else ()
    return [str(each) for each in files if each.name not in (FILLER, "lock", ".lock")]


def test_nothing_is_done_to_a_cluster_that_cannot_be_written_down(
    full: Path, tree: DemoTree, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(full))
    audit = full / "kdrill" / "audit.jsonl"
    before = b'{"time_ms":1}\n'.rjust(mmap.PAGESIZE - ROOM_LEFT)
    (full / FILLER).write_bytes(bytes(ROOM - mmap.PAGESIZE))
    audit.parent.mkdir()
    audit.write_bytes(before)
    create = "--topic made --partitions 1 --replication-factor 1 --allow-writes --yes --json"
    said = refused(f"topics create {tree.source} {create}", capfd)
    assert said == f"kdrill: {audit} cannot be written: No space left on device; nothing was done\n"
    assert audit.read_bytes() == before
    with pytest.raises(SystemExit):
        main(["topics", "list", tree.source])
    assert "made" not in capfd.readouterr().out.split()


def test_a_disk_that_fills_up_while_a_sandbox_starts(full: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (full / FILLER).write_bytes(bytes(ROOM // 2))
    with pytest.raises(SystemExit) as end:
        main(["sandbox", "--headless", "--brokers", "1", "--dir", str(full / "lab")])
    assert end.value.code == 1
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == f"kdrill: can't use {full}/lab: its disk is full. Choose a folder with room, by --dir or TMPDIR."
    assert left(full) == []


def test_what_was_there_stays_where_there_is_no_room_for_the_new(full: Path) -> None:
    (full / FILLER).unlink()
    (full / "old.json").write_text("old")
    (full / FILLER).write_bytes(bytes(ROOM - 4096))
    with pytest.raises(OSError, match="No space left"):
        write_whole(full / "old.json", bytes(ROOM))
    assert (full / "old.json").read_text() == "old"
    with pytest.raises(OSError, match="No space left"):
        write_new(full / "new.json", "x" * ROOM)
    with pytest.raises(FileExistsError):
        write_new(full / "old.json", "new")
    assert sorted(each.name for each in full.iterdir()) == [FILLER, "old.json"]


def test_links_and_devices_are_written_to_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for text in (b"first", b"second"):
        write_whole(tmp_path / "link", text)
        assert (tmp_path / "file").read_bytes() == text
    assert (tmp_path / "link").is_symlink()
    reading, writing = os.pipe()
    write_whole(Path(f"/proc/self/fd/{writing}"), b"through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    os.close(writing)
    with pytest.raises(OSError, match="No space left"):
        write_whole(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()


def test_a_dashboard_lives_on_and_says_what_it_cannot_keep(nowhere: Path, snapshot: Path) -> None:
    environment = {"XDG_STATE_HOME": str(nowhere), "HOME": "/"}
    with in_terminal(str(snapshot), columns=160, environment=environment) as terminal:
        terminal.shows("SNAPSHOT", "Brokers")
        if not nowhere.is_dir():
            terminal.shows("nothing will be remembered")
        terminal.press(f":export {nowhere}/screen.txt\r")
        terminal.shows("cannot be written")
        terminal.press("Q")
        assert terminal.exit_code() == 0
        after = terminal.sent.rpartition(b"\x1b[?1006l")[2].decode().strip()
        if nowhere.is_dir():
            assert "cannot be written: No space left on device" in after
        else:
            assert after == ""
        assert "\n" not in after
        assert left(nowhere) == []
