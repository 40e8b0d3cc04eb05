"""`kdrill dump-log`: its exit codes, what it says about bad input, and what reaches a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from model.log.records import Record, encode_batch
from tests.harness.command import KDRILL, failure, kdrill, running
from tests.segment_corpus import printed, unpack

SOUND, UNREADABLE, DAMAGED = 0, 1, 2
NAME = "00000000000000000000.log"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("segments"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.write_bytes(encode_batch([Record(0, 1000, b"k", b"v\x1b[2J\xff")]))
    return path


def test_the_same_as_kafkas_tool(corpus: Path) -> None:
    text = next(text for text in printed(corpus) if text.path.startswith("k39-clean/t-gzip-0/") and text.how == "print")
    done = kdrill("dump-log", "--print-data-log", text.path, cwd=corpus)
    assert (done.returncode, done.stdout.encode(), done.stderr) == (SOUND, text.text, "")


def test_damage_is_told_with_its_place_and_the_rest_is_shown(corpus: Path) -> None:
    path = "damaged/size-negative/00000000000000000060.log"
    done = kdrill("dump-log", path, cwd=corpus)
    assert done.returncode == DAMAGED
    assert done.stderr == (
        f"kdrill: {path}: position 1103, 1536 bytes: bad-length: a length of -1, less than the smallest of 14\n"
    )
    assert [line.split(" lastOffset")[0] for line in done.stdout.splitlines()[2:]] == [
        "baseOffset: 60",
        "baseOffset: 100",
    ]


def test_gaps_are_told_and_are_no_damage(corpus: Path) -> None:
    path = "damaged/batch-removed-gap/00000000000000000060.log"
    done = kdrill("dump-log", "--deep-iteration", path, cwd=corpus)
    assert (done.returncode, done.stderr) == (
        SOUND,
        f"kdrill: {path}: position 0: non-consecutive offsets: 79 is followed by 100\n",
    )


def test_a_folder_stands_for_what_can_be_shown_in_it(corpus: Path) -> None:
    done = kdrill("dump-log", "k39-clean/t-plain-0", cwd=corpus)
    shown = [line.split("/")[-1] for line in done.stdout.splitlines() if line.startswith("Dumping")]
    assert (done.returncode, done.stderr) == (SOUND, "")
    assert shown == [
        "00000000000000000060.index",
        "00000000000000000060.log",
        "00000000000000000060.snapshot",
        "00000000000000000060.timeindex",
        "00000000000000000120.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_json(log: Path) -> None:
    done = kdrill("dump-log", "--json", "--print-data-log", log)
    head, _, record, end = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, done.stderr, head["format"]) == (SOUND, "", "kdrill.dump-log/1")
    assert (record["key"], record["value"]) == ("k", {"base64": "dhtbMkr/"})
    assert end == {"kind": "end", "entries": 2, "damaged": 0}


@pytest.mark.parametrize("kind", [".log", ".index", ".timeindex", ".txnindex"])
def test_what_needs_no_arrays_starts_without_them(log: Path, kind: str) -> None:
    """numpy takes three times as long to load as all else together."""
    path = log.with_suffix(kind)
    path.touch()
    seen = "import sys\nfrom tui.cli import main\ntry: main(['dump-log', '--json', sys.argv[1]])\nfinally: "
    seen += 'sys.exit(f\'loaded: {sorted({*sys.modules} & {"numpy", "rich", "importlib.metadata"})}\')'
    done = subprocess.run([sys.executable, "-c", seen, path], capture_output=True, text=True, timeout=60, check=False)
    assert json.loads(done.stdout.splitlines()[0])["format"] == "kdrill.dump-log/1"
    assert done.stderr.splitlines()[-1] == "loaded: []"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing.log", "No such file or directory"),
        ("notes.txt", "not a file that can be shown: its name should end with one of .log, .index"),
        ("folder.log/inside.log", "No such file or directory"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "folder.log").mkdir()
    done = kdrill("dump-log", name, cwd=tmp_path)
    assert done.returncode == UNREADABLE
    assert failure(done).startswith(f"{name}: {why}")


def test_a_folder_without_anything_to_show(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    done = kdrill("dump-log", NAME, cwd=tmp_path)
    assert (done.returncode, failure(done)) == (UNREADABLE, f"{NAME}: no file in this folder can be shown")


def test_no_file_is_wrong_usage() -> None:
    done = kdrill("dump-log")
    assert (done.returncode, failure(done)) == (2, "Missing argument 'FILE...'; see kdrill dump-log --help")


def test_one_bad_name_does_not_hide_the_other_files(log: Path) -> None:
    done = kdrill("dump-log", "missing.log", log)
    assert (done.returncode, "baseOffset: 0" in done.stdout) == (UNREADABLE, True)


def test_bytes_reach_a_pipe_as_they_are_and_a_terminal_as_escapes(log: Path) -> None:
    piped = subprocess.run([*KDRILL, "dump-log", "--print-data-log", log], capture_output=True, check=True).stdout
    assert piped.endswith(b"key: k payload: v\x1b[2J\xef\xbf\xbd\n")
    shown = on_a_terminal("dump-log", "--print-data-log", str(log))
    assert shown.splitlines()[-1].endswith(b"key: k payload: v\\x1b[2J\xef\xbf\xbd")
    assert b"\x1b" not in shown


def test_a_hostile_file_name(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J.log").write_bytes(b"junk")
    shown = on_a_terminal("dump-log", str(tmp_path / "\x1b[2J.log"))
    assert b"\x1b" not in shown


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(encode_batch([Record(n, 0, b"k", b"v" * 100) for n in range(5000)]))
    with running("dump-log", "--print-data-log", str(path)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) in (-13, 141)
        assert process.stderr.read() == ""


def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """100 MB of batches of 16 KB, and one of 200 MB that nothing can hold."""
    path = tmp_path / NAME
    batch = encode_batch([Record(n, 0, b"key", bytes(180)) for n in range(80)])
    with path.open("wb") as file:
        for _ in range(7):
            file.write(batch * 1000)
        huge = bytearray(encode_batch([Record(0, 0, None, b"v")]))
        huge[8:12] = (200_000_000 - 12).to_bytes(4, "big")
        file.write(huge)
        file.truncate(file.tell() - len(huge) + 200_000_000)
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr)"
    )
    command = [sys.executable, "-c", code, *KDRILL, "dump-log", "--print-data-log", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    returncode, peak_kib, told = done.stdout.split(maxsplit=2)
    assert int(returncode) == DAMAGED
    assert "too-large" in told
    assert int(peak_kib) < 200 * 1024


def on_a_terminal(*arguments: str) -> bytes:
    """Everything that kdrill writes to a terminal."""
    ours, theirs = pty.openpty()
    written = bytearray()
    with subprocess.Popen([*KDRILL, *arguments], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs):
        os.close(theirs)
        with suppress(OSError):  # how the end of a terminal looks
            while piece := os.read(ours, 1 << 16):
                written += piece
    os.close(ours)
    return bytes(written)
