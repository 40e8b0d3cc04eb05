"""`kdrill scan`: exit codes, what it prints and how wide, what it says of names that mean no logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.log.records import Record, encode_batch
from tests.harness.command import failure, kdrill
from tests.segment_corpus import unpack
from tui.engine.text import cells

SOUND, FAILED, DAMAGED = 0, 1, 2
NAME = "00000000000000000000.log"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("segments"))


def test_a_clean_folder(corpus: Path) -> None:
    done = kdrill("scan", corpus / "v1-by-3.9")
    assert (done.returncode, done.stderr) == (SOUND, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "1 log folder, 7 topics, 7 partition folders"
    assert "nothing is wrong." in lines
    assert any(line.startswith("d-segs ") and "24.4 KiB" in line for line in lines)


def test_damage_comes_after_the_totals_with_what_it_means(corpus: Path) -> None:
    done = kdrill("scan", corpus / "damaged", "--deep")
    assert done.returncode == DAMAGED
    lines = done.stdout.splitlines()
    places = [
        next(place for place, line in enumerate(lines) if line.startswith(start))
        for start in ("bytes ", "  damage ", "damage bad-crc at byte 1,103", "what it means:", "topics by bytes")
    ]
    assert places == sorted(places)
    assert max(cells(line) for line in lines if str(corpus) not in line) <= 80
    assert f"    {corpus}/damaged/size-negative/00000000000000000060.log" in lines


def test_json_is_one_documented_object(corpus: Path) -> None:
    done = kdrill("scan", corpus / "recovery/before", corpus / "k39-clean", "--topic", "t-plain", "--json", "--deep")
    assert done.returncode == DAMAGED
    document = json.loads(done.stdout)
    assert next(iter(document)) == "format"
    assert document["format"] == "kdrill.scan/1"
    assert [folder["path"] for folder in document["log_folders"]] == [
        f"{corpus}/k39-clean",
        f"{corpus}/recovery/before",
    ]
    assert [(each["topic"], each["partitions"], each["folders"]) for each in document["topics"]] == [("t-plain", 1, 2)]
    assert document["counts"] == {"bad-crc": 1}
    (finding,) = document["findings"]
    assert (finding["kind"], finding["position"], finding["severity"]) == ("bad-crc", 1103, "damage")
    assert document["provenance"]["engine"] == "in process"
    assert document["totals"]["compression_ratio"] is None  # nothing of it is compressed


def test_everything_shows_partitions(corpus: Path) -> None:
    shown, bounded = (kdrill("scan", corpus / "k39-clean", *options).stdout for options in (["--all"], []))
    assert "t-compact-txn-0 b1" in shown
    assert "t-compact-txn-0" not in bounded


def test_replicas_that_end_apart_are_told_with_the_longest_first(tmp_path: Path) -> None:
    entry = encode_batch([Record(0, 1000, b"k", b"v"), Record(1, 1000, b"k", b"v")])
    for broker, data in ((1, b""), (2, entry), (3, entry)):
        (tmp_path / f"broker-{broker}/orders-0").mkdir(parents=True)
        (tmp_path / f"broker-{broker}/meta.properties").write_text(f"broker.id={broker}\n")
        (tmp_path / f"broker-{broker}/orders-0" / NAME).write_bytes(data)
    lines = kdrill("scan", tmp_path).stdout.splitlines()
    start = lines.index("replicas with different ends, newest leader epoch and longest log first")
    assert lines[start + 1] == "  orders-0: b2 at 2, b3 at 2, b1 at 0"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "t-0" / NAME).mkdir(parents=True)
    (tmp_path / "t-0/00000000000000000000.timeindex").touch()
    done = kdrill("scan", tmp_path)
    assert done.returncode == FAILED
    assert "warning unreadable: not a regular file" in done.stdout


def test_names_do_not_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "evil\x1b[2J\u202e-0"
    folder.mkdir()
    (folder / NAME).write_bytes(encode_batch([Record(0, 1000, b"k", b"v")])[:-1])
    done = kdrill("scan", tmp_path)
    assert done.returncode == DAMAGED
    assert "\x1b" not in done.stdout
    assert r"evil\x1b[2J\u202e" in done.stdout
    assert kdrill("scan", tmp_path, "--json").stdout.isascii()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none"], "none: No such file or directory"),
        (["."], ".: no logs here: name a broker's log folder (log.dirs) or one in it"),
        (["t-0", "--topic", "u"], "t-0: no log of topic u here"),
        (["t-0", "--engine", "here", "--spark-master", "local[1]"], "--engine here and --spark-master exclude"),
    ],
)
def test_bad_input_is_told_in_one_line(tmp_path: Path, arguments: list[str], reason: str) -> None:
    (tmp_path / "t-0").mkdir()
    if arguments != ["."]:
        (tmp_path / "t-0" / NAME).touch()
    done = kdrill("scan", *arguments, cwd=tmp_path)
    assert done.returncode in (FAILED, DAMAGED)
    assert failure(done).startswith(reason) or failure(done).endswith(reason)
