"""`kdrill history`: a summary in 80 columns, or one object, of what was recorded."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from model.sources.addresses import METADATA_LOG
from tests.harness.command import failure, kdrill
from tests.model.metadata_log.kept import LOG, QUORUM
from tests.spark.history.months import recorded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recordings"))


def test_it_is_said_in_80_columns(folder: Path) -> None:
    done = kdrill("history", ".", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "busy",
        "  recorded        2024-10-03T23:00:00Z to 2024-10-04T01:20:05Z",
        "                  2 h 20 min known, 8 moments of change",
        "  leader changes  5 in 1 topic",
    ]
    for part in (
        "orders                        5  on 3 partitions",
        "orders-0 3x",
        "orders                  1 h 10 min in 3, longest 1 h 10 min",
        "longest         orders-2                1 h 10 min from 2024-10-03T23:10:00Z",
        "leadership      5 times lost; a cell is 1 h",
        "       1         4  █ ▃",
        "ISR churn       4 times out, 4 times back in; a cell is 1 h",
        "2024-10-03T23:10:00Z  broker 1 → broker 2",
        "  worst moment    2024-10-03T23:10:00Z: 4 offline, 0 under-replicated",
        "1 of 2 brokers would have done harm by failing then, too;",
        "broker 3 most: 1 more offline",
        "  storms          g                      7 in 6 min 0 s, 2024-10-03T23:57Z",
        "  worst moment    none: nothing was ever offline or under-replicated",
    ):
        assert part in done.stdout, done.stdout
    assert not [line for line in lines if len(line) > 80 and "kdrill " not in line]
    assert lines[-1].startswith("3 cluster-days, 0.")
    assert lines[-1].endswith("in process")


def test_it_is_said_in_ascii_too(folder: Path) -> None:
    done = kdrill("history", folder, "--cluster", "busy", "--ascii", "--no-drill", "--all")
    assert "       1         4  @ -\n" in done.stdout
    assert "broker 1 > broker 2" in done.stdout and done.stdout.isascii()


def test_the_document_has_what_is_printed(folder: Path) -> None:
    document = json.loads(kdrill("history", folder, "--json").stdout)
    busy, _ = document["clusters"]
    assert {(one["broker"], one["hour_ms"]): one["lost"] for one in busy["hours"] if one["lost"]} == {
        (1, 1727996400000): 3,
        (1, 1728003600000): 1,
        (2, 1728003600000): 1,
    }
    assert [(one["topic"], one["outages"]) for one in busy["leaderless"]["topics"]] == [("orders", 3), ("old", 1)]
    assert [one["offline"] for one in busy["moments_by_hour"]] == [4]
    assert busy["unknown"] == []


def test_the_worst_moment_is_opened_as_it_says(folder: Path) -> None:
    document = json.loads(kdrill("history", folder, "--cluster", "busy", "--json").stdout)
    assert document["format"] == "kdrill.history/1"
    assert document["provenance"]["engine"] == "in process"
    ((_, worst),) = [(each["cluster"], each["worst"]) for each in document["clusters"]]
    status = json.loads(kdrill("status", worst["source"], "--json").stdout)
    offline = [found for found in status["findings"] if "offline" in found["what"]]
    assert sum(int(found["what"].split()[0]) for found in offline) == worst["offline"] == 4


def leader_changes(log_text: Path) -> dict[str, int]:
    """By topic, out of what Kafka's own tool prints of a log: somebody leads who did not, or leads again."""
    leaders: dict[tuple[str, int], int] = {}
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    for line in log_text.read_text().splitlines():
        record = json.loads(line.partition("payload: ")[2] or "{}")
        said, data = record.get("type"), record.get("data", {})
        if said == "TOPIC_RECORD":
            names[data["topicId"]] = data["name"]
        elif said in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
            one = (data["topicId"], data["partitionId"])
            before, leader = leaders.get(one), data.get("leader", leaders.get(one))
            found[names[data["topicId"]]] += before is not None and leader not in (-1, before)
            leaders[one] = leader
    return {name: count for name, count in found.items() if count}


def test_a_metadata_log_tells_all_of_its_past(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    folder.mkdir()
    shutil.copy(QUORUM / LOG, folder)
    document = json.loads(kdrill("history", tmp_path, "--json").stdout)
    (told,) = document["clusters"]
    assert {one["topic"]: one["changes"] for one in told["topics"]} == leader_changes(QUORUM / f"{LOG}.txt")
    assert (told["from_ms"], told["to_ms"], told["gaps"]) == (1795486235511, 1795486439598, 0)
    assert [(each["before"], each["after"]) for each in told["controllers"]] == [(3, 2), (2, 1)]
    status = json.loads(kdrill("status", told["worst"]["source"], "--json").stdout)
    assert sum(len(found["partitions"]) for found in status["findings"] if found["kind"] == "offline") == 2
    assert told["worst"]["source"].startswith(f"{folder}@")
    on_spark = json.loads(kdrill("history", tmp_path, "--json", "--spark-master", "local[1]").stdout)
    assert on_spark["provenance"]["engine"] == "spark local[1]"
    assert on_spark["clusters"] == document["clusters"]


def test_of_a_damaged_metadata_log_what_stands_before_is_told(tmp_path: Path) -> None:
    data = bytearray((QUORUM / LOG).read_bytes())
    data[-10] ^= 1
    (tmp_path / LOG).write_bytes(data)
    done = kdrill("history", tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[3].startswith("  leader changes  9 in 2 topics")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"kdrill: {tmp_path}: {LOG} is damaged at byte ")


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ("history", 2, "Missing argument 'DIR...'"),
        ("history none", 1, "none: cannot be read: No such file or directory"),
        ("history zk://c1:2181", 1, "zk://c1:2181: not recorded yet; kdrill record SOURCE -o DIR does"),
        (f"history {QUORUM}@2000-01-01", 1, "what is here begins at 2026-11-"),
        (f"history {QUORUM}@noon", 1, "'noon' is neither an offset nor a time"),
        ("history DIR --cluster other", 1, "no recording of cluster 'other'; there are: busy, stormy"),
        ("history DIR --from 2025-01-01", 1, "nothing is recorded of that time"),
        ("history DIR --last 30d", 1, "nothing is recorded of that time"),
        ("history DIR --from noon", 2, "'noon' is no time: write 2026-11-20"),
        ("history DIR --from 2024-10-04 --to 2024-10-03", 2, "--from is not before --to"),
    ],
)
def test_bad_input_is_told_in_one_line(folder: Path, arguments: str, code: int, reason: str) -> None:
    done = kdrill(*(str(folder) if word == "DIR" else word for word in arguments.split()), cwd=folder)
    assert reason in failure(done)
    assert done.returncode == code
