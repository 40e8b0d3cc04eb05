"""`kdrill drill --fleet`: each scenario is played, and how long it hurts is told, for people and programs."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from model.analyses.fleets.store import FleetStore, Manifest
from model.cluster.snapshot_file import read_snapshot, write_snapshot
from model.drills.drill import run
from model.drills.scenario import of_brokers
from tests.harness.command import KDRILL, failure, kdrill
from tests.harness.waiting import eventually
from tests.model.drills.clusters import cluster, topic
from tests.thorough import the_rest_when_asked

HURT = 2
_parquet: Any = pq


def test_people_read_the_worst_first(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--fleet", "single,rack", "--engine", "here", "--limit", "3")
    assert (done.returncode, done.stderr) == (HURT, "")
    lines = done.stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("scenario "))
    lost, offline = zip(
        *(map(int, line.rpartition(")")[2].split()[:2]) for line in lines[head + 1 : head + 4]), strict=True
    )
    assert list(zip(lost, offline, strict=True)) == sorted(zip(lost, offline, strict=True), reverse=True)
    assert "none of them worse: --limit lists more" in lines[-1]


def test_programs_read_a_manifest_and_a_line_for_each_scenario(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--fleet", "single", "--engine", "here", "--json")
    manifest, *rows = map(json.loads, done.stdout.splitlines())
    assert (manifest["format"], manifest["scenarios"]) == ("kdrill.fleet/1", len(rows))
    image = read_snapshot(snapshot_file)
    for broker in image.brokers:
        row = next(r for r in rows if r["text"] == f"b{broker} fails" and r["controller"] == image.controller.broker)
        summary = run(image, of_brokers([broker])).summary
        assert (row.get("offline_after", 0), row.get("moved", 0)) == (summary.newly_offline, summary.leaders_moved)


def test_lines_are_json_whatever_racks_are_called(tmp_path: Path) -> None:
    image = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1))
    brokers = {id: msgspec.structs.replace(each, rack=f"ré-{id}") for id, each in image.brokers.items()}
    write_snapshot(tmp_path / "named.json", msgspec.structs.replace(image, brokers=brokers))
    done = kdrill("drill", tmp_path / "named.json", "--fleet", "rack", "--engine", "here", "--json")
    assert any(json.loads(line).get("text") == "rack ré-1 fails" for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fleet", "all"), "--fleet: 'all' is none of single, pair, rack, rolling, pair:K, random:N and every"),
        (("--fleet", "pair:0"), "--fleet: 'pair:0' is not pair:K, as in pair:10, one pair in ten"),
        (("--fleet", "random"), "--fleet: 'random' is not random:N"),
        (("--fleet", "single:3"), "--fleet: 'single:3' is none of"),
        (("--fleet", "single", "--kill", "1"), "choose who fails"),
        (("--fleet", "single", "--each-pair"), "exclude each other"),
        (("--each-pair", "--store", "there"), "--store keeps what a fleet plays: give --fleet"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(snapshot_file: Path, options: tuple[str, ...], said: str) -> None:
    assert said in failure(kdrill("drill", snapshot_file, *options))


def test_every_is_all_kinds(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "two.json", cluster([1, 2], *topic((1, 2), (1, 2), 1)))
    done = kdrill("drill", tmp_path / "two.json", "--fleet", "random:3,every", "--engine", "here", "--json")
    manifest, *rows = map(json.loads, done.stdout.splitlines())
    assert Counter(row["generator"] for row in rows) == {"single": 8, "pair": 6, "rack": 4, "rolling": 2, "random": 3}
    assert [row["number"] for row in rows] == [*range(manifest["scenarios"])]


def test_one_pair_in_so_many_is_said_to_be_one_in_so_many(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "four.json", cluster([1, 2, 3, 4], *topic((1, 2), (1, 2), 1)))
    asked = ("drill", tmp_path / "four.json", "--fleet", "pair:4", "--engine", "here")
    manifest, *rows = map(json.loads, kdrill(*asked, "--json").stdout.splitlines())
    assert (manifest["asked"]["every"], {row["text"][:9] for row in rows}) == (
        4,
        {"b1 and b2", "b2 fails ", "b2 and b4", "b4 fails "},
    )
    assert "sampled: of the pairs of brokers one in 4 is played, the others are left out" in kdrill(*asked).stdout


@pytest.mark.thorough  # Spark starts twice
def test_spark_plays_and_keeps_the_same(tmp_path: Path, snapshot_file: Path) -> None:
    asked = ("drill", snapshot_file, "--fleet", "single,random:40", "--json")
    here, there = kdrill(*asked, "--engine", "here"), kdrill(*asked, "--engine", "spark", "--spark-master", "local[2]")
    assert here.stdout == there.stdout and there.returncode == HURT
    kept = kdrill(*asked[:-1], "--spark-master", "local[2]", "--store", tmp_path / "store")
    assert "computed spark local[2]: as asked; " in kept.stdout
    found = [_parquet.read_table(path) for path in (tmp_path / "store").rglob("*.parquet")]
    ids = sorted(id for table in found for id in table["id"].to_pylist())
    assert ids == [json.loads(line)["number"] for line in here.stdout.splitlines()[1:]]


@pytest.mark.parametrize("engine", the_rest_when_asked(["here", "spark"]))
def test_an_interruption_ends_it_and_whatever_plays(
    tmp_path: Path, engine: str, is_gone: Callable[[int], bool]
) -> None:
    """And a second run goes on where it was."""
    write_snapshot(tmp_path / "two.json", cluster([1, 2], *topic((1, 2), (1, 2), 1)))
    asked = ("drill", str(tmp_path / "two.json"), "--fleet", "random:1000000", "--store", str(tmp_path / "store"))
    manifest = tmp_path / "store" / "manifest.json"
    with subprocess.Popen(
        [*KDRILL, *asked, "--engine", engine], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        eventually(lambda: manifest.exists() and json.loads(manifest.read_bytes())["done"], patience_s=120.0)
        children = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate()
    assert (process.returncode, complaints.strip()) == (130, "")
    eventually(lambda: all(map(is_gone, children)))
    stored = json.loads(manifest.read_bytes())["done"]
    FleetStore(tmp_path / "store", msgspec.json.decode(manifest.read_bytes(), type=Manifest))
    ids = sorted(
        id for part in manifest.parent.rglob("*.parquet") for id in _parquet.read_table(part)["id"].to_pylist()
    )
    assert stored == [[0, len(ids)]] and ids == [*range(len(ids))]
    first, *_, last = said.splitlines()
    assert f": interrupted: {len(ids):,} of 1,000,000 scenarios played" in first  # and what they came to
    assert last == f"… {len(ids) - 20:,} more, none of them worse: --limit lists more"


def children_of(pid: int) -> list[int]:
    """And theirs."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    own = [int(each) for each in found.stdout.split()]
    return [*own, *(each for child in own for each in children_of(child))]


def test_what_is_stored_is_not_played_again(tmp_path: Path) -> None:
    write_snapshot(
        tmp_path / "three.json", cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *topic((1,), (1,), 1, name="x"))
    )
    asked = ("drill", tmp_path / "three.json", "--fleet", "single", "--engine", "here", "--store", tmp_path / "store")
    manifest, *rows = map(json.loads, kdrill(*asked, "--json").stdout.splitlines())
    assert (manifest["stored"], len(rows)) == (0, 12)
    stored = json.loads((tmp_path / "store" / "manifest.json").read_bytes())
    assert stored["done"] == [[0, 12]]
    (manifest,) = map(json.loads, kdrill(*asked, "--json").stdout.splitlines())
    assert manifest["stored"] == 12
    told = kdrill(*asked)
    assert (told.returncode, told.stderr) == (HURT, "")
    assert "12 scenarios played in virtual time, 12 of them before" in told.stdout
    assert "b1 fails" in told.stdout
    said = failure(kdrill(*asked, "--seed", "1"))
    assert "--store: " in said and "a fleet of another question" in said


def test_rows_come_while_it_plays(tmp_path: Path) -> None:
    """Whoever reads no more ends it, long before a million have been played."""
    write_snapshot(tmp_path / "two.json", cluster([1, 2], *topic((1, 2), (1, 2), 1)))
    asked = ("drill", str(tmp_path / "two.json"), "--fleet", "random:1000000", "--engine", "here", "--json")
    with subprocess.Popen([*KDRILL, *asked], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        manifest, row = (json.loads(process.stdout.readline()) for _ in range(2))
        assert (manifest["scenarios"], row["number"]) == (1_000_000, 0)
        process.kill()
