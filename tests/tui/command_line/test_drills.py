"""`kdrill drill --each-broker` and its like: every scenario is counted, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage, Provenance
from model.cluster.findings import find
from model.cluster.snapshot_file import write_snapshot
from tests.harness.command import Done, failure, kdrill
from tests.model.drills.clusters import cluster, topic

SURVIVED, FAILED, HURT = 0, 1, 2


def document(done: Done) -> dict[str, Any]:
    assert done.stderr == ""
    return json.loads(done.stdout)


def snapshot(folder: Path, image: ClusterImage) -> Path:
    image = msgspec.structs.replace(image, provenance=Provenance("zk://there", 5, 1, complete=True))
    write_snapshot(folder / "cluster.json", image, find(image, None).found)
    return folder / "cluster.json"


def test_people_read_the_worst_first_fatal_sets_and_how_probable_a_loss_is(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--each-pair", "--limit", "3", "--failure-rate", "2")
    assert (done.returncode, done.stderr) == (HURT, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{snapshot_file}: what if any two brokers (10 pairs) failed"
    assert lines[2].startswith("computed in process in ")
    assert (
        "scenarios          10, of which 10 hurt: partitions go offline, fall below min.insync.replicas, "
        in done.stdout
    )
    place = lines.index(
        "who fails     new offline  new under min  unclean  under-replicated  leaders moved  most leaders"
    )
    assert lines[place + 1].split() == ["brokers", "1,", "2", "1", "1", "0", "5", "1", "2", "on", "b3"]
    assert lines[place + 4] == "… 7 more, none of them worse: --limit lists more"
    assert "6  1  1  2  2  ·" in lines
    assert "minimal fatal sets 3 of 2: brokers that hold all in-sync replicas of a partition" in lines
    assert "  brokers 3, 4: 1 partition" in lines
    assert "  2 brokers: 30 %; 0.3 partitions on average" in lines
    assert any(line.startswith("  each broker with probability 2 %: 0.1") for line in lines)


def test_programs_read_one_object(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--each-broker", "--engine", "here", "--json")
    drills = document(done)
    assert done.returncode == HURT
    assert (drills["format"], drills["scenario_count"], drills["hurting"]) == ("kdrill.drills/1", 5, 3)
    assert [one["kill"] for one in drills["scenarios"]] == [[4], [3], [6], [1], [2]]
    single = document(kdrill("drill", snapshot_file, "--kill", "4", "--json"))["summary"]
    summary = drills["scenarios"][0]["summary"]
    for name in ("offline", "under_min_isr", "under_replicated", "unclean", "leaders_moved", "newly_under_min_isr"):
        assert summary[name] == single[name], name
    led = {broker: after for broker, (_, after) in single["leaders_by_broker"].items() if broker != "4"}
    assert summary["leaders_by_broker"] == led
    assert (summary["most_leaders"], summary["most_leaders_on"]) == (1, 1)
    assert drills["before"] == {
        **{name: drills["before"][name] for name in single["before"]},
        "leaders_by_broker": {broker: before for broker, (before, _) in single["leaders_by_broker"].items()},
    }
    worst = {one["of"]: one["kill"] for one in drills["worst"]}
    assert (worst["newly_under_min_isr"], worst["under_replicated"]) == ([4], [1])
    assert {"kill": [3, 4], "partitions": 1} in drills["minimal_fatal_sets"]
    assert drills["minimal_fatal_set_counts"] == {"2": 3}
    provenance = drills["provenance"]
    assert (provenance["source"], provenance["zxid"], provenance["engine"]) == (str(snapshot_file), 5, "in process")
    assert provenance["parameters"] == {"scenarios": "each-broker", "unclean": False, "failure_rate": 0.01}
    assert provenance["seconds"] >= 0


@pytest.mark.parametrize("arguments", [("drill", "--each-broker"), ("plan", "--each-broker")])
def test_a_partition_too_wide_to_be_counted_is_named_in_one_line(tmp_path: Path, arguments: tuple[str, str]) -> None:
    many = range(1, 64)
    file = snapshot(tmp_path, cluster(many, *topic(many, many, 1)))
    done = kdrill(arguments[0], file, *arguments[1:])
    assert failure(done).startswith(
        f"{file}: t-0 has 63 replicas (strangers in ISRs counted): 62 at most can be counted"
    )
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert kdrill("drill", file, "--kill", "2").returncode == SURVIVED
    fits = snapshot(tmp_path, cluster(many, *topic(many[:-1], many[:-1], 1)))
    assert kdrill("drill", fits, "--each-broker").returncode == SURVIVED


def test_a_cluster_that_survives_every_scenario_ends_with_zero(tmp_path: Path) -> None:
    file = snapshot(tmp_path, cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1)))
    done = kdrill("drill", file, "--each-broker")
    assert (done.returncode, done.stderr) == (SURVIVED, "")
    assert "scenarios          3, of which 0 hurt" in done.stdout
    assert kdrill("drill", file, "--each-rack").returncode == SURVIVED
    done = kdrill("drill", file, "--random", "2:9", "--seed", "4", "--json", "--limit", "1")
    assert (document(done)["scenario_count"], len(document(done)["scenarios"])) == (3, 1)
    assert document(done)["provenance"]["parameters"]["seed"] == 4


def test_racks_die_as_a_whole_and_with_a_broker_of_another(snapshot_file: Path) -> None:
    racks = document(kdrill("drill", snapshot_file, "--each-rack", "--json"))["scenarios"]
    assert {one["rack"]: one["kill"] for one in racks} == {"r1": [1, 4], "r2": [2], "r3": [3, 6]}
    both = document(kdrill("drill", snapshot_file, "--each-broker-and-rack", "--json"))
    assert len(both["scenarios"]) == both["scenario_count"] == 10
    assert [one["kill"] for one in both["scenarios"] if one["rack"] == "r3"] == [[3, 4, 6], [1, 3, 6], [2, 3, 6]]


def test_names_are_fit_to_print_and_it_is_written_to_a_file(tmp_path: Path) -> None:
    image = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1))
    first = msgspec.structs.replace(image.brokers[1], rack="\x1b[31mr\u202e1")
    file = snapshot(tmp_path, msgspec.structs.replace(image, brokers={**image.brokers, 1: first}))
    done = kdrill("drill", file, "--each-rack", "-o", tmp_path / "drills.txt")
    assert (done.returncode, done.stdout, done.stderr) == (SURVIVED, "", "")
    text = (tmp_path / "drills.txt").read_text()
    assert "rack" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--each-broker", "--each-pair"], "exclude each other"),
        (["--each-broker", "--random", "2:5"], "exclude each other"),
        (["--each-broker", "--kill", "1"], "leave out --kill, --rack, --stop and --start"),
        (["--each-rack", "--rack", "r1"], "leave out --kill, --rack, --stop and --start"),
        (["--each-broker", "--restart-after", "5"], "--restart-after is for one scenario"),
        (["--each-broker", "--session-timeout", "5"], "--session-timeout is for one scenario"),
        (["--each-broker", "--all"], "--all is for one scenario: --limit says how many are listed"),
        (["--random", "3"], "--random: '3' is not K:N, as in 3:1000"),
        (["--random", "0:5"], "--random: '0:5' is not K:N"),
        (["--random", "2:²"], "is not K:N"),
        (["--each-broker", "--failure-rate", "101"], "is not in the range"),
        (["--each-broker", "--engine", "here", "--spark-master", "local[2]"], "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(snapshot_file: Path, arguments: list[str], reason: str) -> None:
    done = kdrill("drill", snapshot_file, *arguments)
    assert reason in failure(done)
    assert done.returncode == HURT


def test_scenarios_that_nobody_outlives_are_refused(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--random", "5:10")
    assert failure(done) == "5 live brokers: too few, for somebody has to outlive every scenario"
    assert done.returncode == FAILED
