"""`kdrill drill`: what would happen is printed, for people and programs, and nothing is written to the cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.demo_tree import DemoTree
from tests.harness.command import Done, failure, kdrill

SURVIVED, FAILED, HURT = 0, 1, 2


def document(done: Done) -> dict[str, Any]:
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_people_read_what_was_assumed_who_suffers_and_how_it_went(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--kill", "3,4")
    assert (done.returncode, done.stderr) == (HURT, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{snapshot_file}: what if brokers 3, 4 failed"
    assert lines[1].startswith("assumed: session timeout 18 s, 2 ms per ZooKeeper write, 15 ms per request, rules of ")
    assert "offline            2 → 3" in lines
    assert "controller         b4 → one of b1, b2, b6, epoch 118 → 119" in lines
    assert "3 partitions affected, worst first:" in lines
    assert "  offline        orders-2   leader 3→none, ISR 3,4→4, epoch 39→41, never led again" in lines
    assert "       0.000 s  Brokers 3, 4 failed; ZooKeeper does not know yet" in lines


def test_programs_read_one_object(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--kill", "3", "--json")
    drill = document(done)
    assert done.returncode == HURT  # orders-2 falls below its min.insync.replicas
    assert drill["format"] == "kdrill.drill/1"
    assert drill["scenario"] == {"kill": [3], "rack": None, "unclean": False, "restart_after_ms": None, "then": []}
    assert drill["assumptions"]["session_timeout_ms"] == 18_000
    assert drill["assumptions"]["zookeeper_write_ms"] == 2
    assert drill["partitions"]["orders"].keys() == {"2", "10"}
    moved = drill["partitions"]["orders"]["2"]
    assert {key: moved[key] for key in ("leader", "isr", "leader_epoch", "outcome")} == {
        "leader": [3, 4],
        "isr": [[3, 4], [4]],
        "leader_epoch": [39, 40],
        "outcome": "clean",
    }
    assert moved["without_leader_ms"][0] == 0 < 18_000 < moved["without_leader_ms"][1]
    summary = drill["summary"]
    assert (summary["leaders_moved"], summary["offline"], summary["under_min_isr"], summary["unclean"]) == (1, 2, 1, 0)
    assert summary["leaders_by_broker"]["3"] == [1, 0]
    assert (summary["controller"], summary["controller_candidates"]) == ([4, 4], [4])
    times = [row["at_ms"] for row in drill["timeline"]]
    assert times == sorted(times)
    assert [row["what"] for row in drill["timeline"]][:2] == ["broker-killed", "session-expired"]
    (write,) = [row for row in drill["timeline"] if row.get("path") == "/brokers/topics/orders/partitions/2/state"]
    assert (write["version"], write["leader"], write["by"]) == (40, [3, 4], 4)


def test_all_lists_what_nothing_happens_to(snapshot_file: Path) -> None:
    drill = document(kdrill("drill", snapshot_file, "--kill", "3", "--json", "--all"))
    counts = {topic: len(partitions) for topic, partitions in drill["partitions"].items()}
    assert counts == {"orders": 3, "payments": 3}
    assert drill["partitions"]["orders"]["3"]["outcome"] == "unaffected"


def test_a_cluster_that_survives_ends_with_zero(snapshot_file: Path) -> None:
    done = kdrill("drill", snapshot_file, "--kill", "2", "--json")
    assert done.returncode == SURVIVED
    assert document(done)["summary"]["newly_offline"] == 0


def test_victims_may_be_named_several_ways(snapshot_file: Path) -> None:
    for words in (["--kill", "4,1"], ["--kill", "1", "--kill", "4"], ["--rack", "r1"]):
        assert document(kdrill("drill", snapshot_file, *words, "--json"))["scenario"]["kill"] == [1, 4]


def test_times_and_rules_can_be_set(snapshot_file: Path) -> None:
    times = ["--session-timeout", "6000", "--zookeeper-write", "10", "--request", "4"]
    drill = document(kdrill("drill", snapshot_file, "--kill", "3", *times, "--unclean", "--json"))
    assumed = drill["assumptions"]
    assert [assumed[f"{name}_ms"] for name in ("session_timeout", "zookeeper_write", "request")] == [6_000, 10, 4]
    assert drill["scenario"]["unclean"] is True
    expired = [row["at_ms"] for row in drill["timeline"] if row["what"] == "session-expired"]
    assert expired == [6_000]


def test_victims_may_come_back(snapshot_file: Path) -> None:
    drill = document(kdrill("drill", snapshot_file, "--kill", "3", "--restart-after", "30000", "--json"))
    assert drill["partitions"]["orders"]["2"]["isr"] == [[3, 4], [4, 3]]
    assert [row["at_ms"] for row in drill["timeline"] if row["what"] == "broker-returned"] == [30_000]


def test_brokers_are_killed_stopped_and_started_in_the_order_given(snapshot_file: Path) -> None:
    words = ["--stop", "1", "--kill", "3", "--kill", "4", "--start", "3", "--start", "5"]
    done = kdrill("drill", snapshot_file, *words, "--json")
    assert document(done)["scenario"]["then"] == [
        {"deed": "stop", "brokers": [1]},
        {"deed": "kill", "brokers": [3, 4]},
        {"deed": "start", "brokers": [3, 5]},
    ]
    lines = kdrill("drill", snapshot_file, *words).stdout.splitlines()
    assert lines[0].endswith(": what if broker 1 shut down, then brokers 3, 4 failed, then brokers 3, 5 started again")
    assert any("broker 1 asked b4 for a controlled shutdown" in line for line in lines)


def test_a_dead_broker_of_the_cluster_starts(snapshot_file: Path) -> None:
    drill = document(kdrill("drill", snapshot_file, "--start", "5", "--json"))
    assert drill["scenario"]["kill"] == []
    assert drill["summary"]["before"]["under_replicated"] > drill["summary"]["under_replicated"]
    assert {"follower-back"} <= {one["outcome"] for topic in drill["partitions"].values() for one in topic.values()}
    assert "What broker 5 registers is not known: no listeners, no rack." in drill["assumptions"]["notes"]


def test_of_the_controllers_heirs_all_are_named(snapshot_file: Path) -> None:
    summary = document(kdrill("drill", snapshot_file, "--kill", "4", "--json"))["summary"]
    assert (summary["controller"], summary["controller_candidates"]) == ([4, None], [1, 2, 3, 6])
    summary = document(kdrill("drill", snapshot_file, "--kill", "1,2,3,4", "--json"))["summary"]
    assert (summary["controller"], summary["controller_candidates"]) == ([4, 6], [6])


def test_it_is_written_to_a_file(snapshot_file: Path, tmp_path: Path) -> None:
    done = kdrill("drill", snapshot_file, "--kill", "3", "--json", "-o", tmp_path / "drill.json")
    assert (done.stdout, done.stderr) == ("", "")
    assert json.loads((tmp_path / "drill.json").read_text())["format"] == "kdrill.drill/1"
    done = kdrill("drill", snapshot_file, "--kill", "3", "-o", tmp_path / "none" / "drill.txt")
    assert failure(done).endswith("cannot be written: No such file or directory")
    assert done.returncode == FAILED


def test_a_live_cluster_is_only_read(tree: DemoTree) -> None:
    before = kdrill("status", tree.source, "--json").stdout
    drill = document(kdrill("drill", tree.source, "--kill", "1", "--json"))
    assert drill["source"] == tree.source
    assert drill["summary"]["leaders_moved"] > 10
    after = kdrill("status", tree.source, "--json").stdout
    assert json.loads(after)["findings"] == json.loads(before)["findings"]


def test_the_demo_cluster_is_drilled_where_it_is_asked_for() -> None:
    drill = document(kdrill("drill", "--demo", "--kill", "2", "--json"))
    assert drill["source"] == "DEMO, an invented cluster"
    assert drill["summary"]["leaders_by_broker"]["2"][1] == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "nobody to kill: give --kill ID[,ID...], --rack NAME, --each-broker or one of its like"),
        (["--kill", "1", "--rack", "r1"], "--kill and --rack exclude each other"),
        (["--kill", "9"], "broker 9: not alive here; alive: 1, 2, 3, 4, 6"),
        (["--kill", "x,1"], "--kill: 'x' is no broker id"),
        (["--kill", "1,"], "--kill: '' is no broker id"),
        (["--kill", "-1"], "--kill: '-1' is no broker id"),
        (["--stop", "9"], "broker 9: not alive here; alive: 1, 2, 3, 4, 6"),
        (["--kill", "1", "--stop", "1"], "broker 1: not alive then; alive: 2, 3, 4, 6"),
        (["--start", "1"], "broker 1: alive already; dead: 5"),
        (["--start", "9"], "broker 9: unknown here, no replica is assigned to it; dead: 5"),
        (["--start", "five"], "--start: 'five' is no broker id"),
        (["--kill", "1", "--restart-after", "5", "--start", "1"], "--restart-after is for one death and nothing else"),
        (["--stop", "1", "--each-broker"], "choose who fails: leave out --kill, --rack, --stop and --start"),
        (["--kill", "1,2,3,4,6"], "that is every live broker (1, 2, 3, 4, 6): nobody is left to take over"),
        (["--rack", "r9"], "no live broker is in rack 'r9'; racks: r1, r2, r3"),
        (["--kill", "1", "--request", "-1"], "-1.0 is not in the range 0<=x<=86400000"),
        (["--kill", "1", "--session-timeout", "soon"], "'soon' is not a valid float range"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(snapshot_file: Path, arguments: list[str], reason: str) -> None:
    done = kdrill("drill", snapshot_file, *arguments)
    assert reason in failure(done)
    assert done.returncode == HURT


def metadata_log(at: int) -> str:
    """One controller, 100, and six brokers; broker 6 is dead, and 2 at 199."""
    return f"{Path(__file__).parents[2] / 'data/kraft/deaths/4.4.0/__cluster_metadata-0'}@{at}"


def test_a_majority_of_the_voters_dies() -> None:
    done = kdrill("drill", metadata_log(200), "--kill-controller", "majority")
    assert (done.returncode, done.stderr) == (HURT, "")
    lines = done.stdout.splitlines()
    assert lines[1].endswith("what if controller 100 failed")
    assert "still served       67 partitions as before, 0 without acks=all, 2 not at all" in lines
    assert "controller         100 → nobody" in lines
    quorum = document(kdrill("drill", metadata_log(200), "--kill-controller", "active", "--json"))
    assert (quorum["quorum"]["is_lost"], quorum["still_served"]["not_served"]) == (True, 2)


def test_voters_are_added_before_one_dies() -> None:
    drill = document(
        kdrill(
            "drill", metadata_log(200), "--add-voter", "101,102", "--kill-controller", "100", "--kill", "1", "--json"
        )
    )
    assert drill["scenario"]["kill"] == [1, 100]
    assert drill["quorum"] == {
        "voters": [100, 101, 102], "left": [101, 102], "majority": 2, "candidates": [101, 102], "is_lost": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kill-controller", "7"), "7: no voter; voters: 100"),
        (("--fail-dir", "1:/x"), "b1: its log folders are not known"),
        (("--fail-dir", "/x"), "'/x' is not BROKER:PATH"),
        (("--remove-voter", "100"), "nobody would be left to vote"),
        (("--remove-voter", "x"), "--remove-voter: 'x' is no broker id"),
        (("--each-broker", "--add-voter", "7"), "choose who fails"),
    ],
)
def test_nodes_that_cannot_be_meant(options: tuple[str, ...], message: str) -> None:
    done = kdrill("drill", metadata_log(200), *options)
    assert done.returncode == HURT and message in failure(done)
