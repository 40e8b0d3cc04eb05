"""`kdrill plan`: plans are printed for people and programs, and written for Kafka's own tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from model.cluster.snapshot_file import write_snapshot
from model.controller.requests import requested_moves
from tests.harness.command import failure
from tests.harness.command import kdrill as run
from tests.model.metadata_log.kept import QUORUM
from tests.model.planning.clusters import cluster
from tui.cli.main import kdrill

DONE, FAILED, IMPOSSIBLE = 0, 1, 2
RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}
ORDERS = [[1, 2], [2, 1], [1, 3], [3, 1], [1, 2], [2, 3]]
SIZE = 1_000_000_000


@pytest.fixture
def skewed(tmp_path: Path) -> Path:
    """Four brokers of which the last is empty; sizes are known."""
    path = tmp_path / "skewed.json"
    write_snapshot(path, cluster({"orders": ORDERS, "payments": [[8, 2]]}, RACKS))
    document = json.loads(path.read_text())
    for topic in document["topics"].values():
        for partition in topic["partitions"].values():
            partition["size_bytes"] = SIZE
    path.write_text(json.dumps(document))
    return path


Planned = Callable[..., dict[str, Any]]


@pytest.fixture
def planned(capfd: pytest.CaptureFixture[str]) -> Planned:
    """The object that the command prints when it is asked within this process, which is quicker."""

    def asked(source: Path, *words: str | Path) -> dict[str, Any]:
        kdrill.main(["plan", str(source), *map(str, words), "--json"], standalone_mode=False)
        return json.loads(capfd.readouterr().out)

    return asked


def test_of_kraft_the_offset_is_named() -> None:
    head = run("plan", f"{QUORUM}@60", "--rebalance").stdout.partition("\n")[0]
    assert re.fullmatch(rf"{re.escape(str(QUORUM))}@60, as it was at \S+Z, offset 60", head)


def test_people_read_cost_bound_balance_drills_batches_and_what_moves(skewed: Path, tmp_path: Path) -> None:
    files = [tmp_path / "plan.json", tmp_path / "back.json"]
    words = ["--rebalance", "--batch-size", "1", "--throttle", "10MB", "--batch-files"]
    done = run("plan", skewed, *words, "-o", files[0], "--rollback", files[1])
    assert done.returncode == DONE
    lines = done.stdout.splitlines()
    assert lines[0] == f"{skewed}, as it was at 2023-11-14T22:13:20Z, zxid 0x4d"
    assert lines[1] == "plan       rebalance"
    assert lines[2].startswith("objectives 1. a broker holds a partition once")
    assert f"sizes      size_bytes of {skewed}" in lines
    (copied,) = [line.split() for line in lines if line.startswith("  replicas copied")]
    assert copied[2:] == [copied[2], copied[2], "0.0", "%"]
    assert any(line.startswith("  rack violations ") and line.split()[2:] == ["0", "0"] for line in lines)
    assert any(line.startswith("  worst pair ") for line in lines)
    assert any(line.startswith("throttle   10000000 (10.0 MB/s a broker), as given") for line in lines)
    assert "! Broker 8 is dead and keeps 1 replica, for it may come back; remove it to move" in lines
    assert max(len(line) for line in lines if str(skewed) not in line) <= 80
    moved = requested_moves(files[0].read_bytes()).targets
    numbered = sorted(tmp_path.glob("plan-*.json"))
    assert len(numbered) == len(sorted(tmp_path.glob("back-*.json"))) > 1
    assert {name: r for file in numbered for name, r in requested_moves(file.read_bytes()).targets.items()} == moved
    assert all(f"  {','.join(map(str, ORDERS[name.partition]))} → " in done.stdout for name in moved)
    back = requested_moves(files[1].read_bytes()).targets
    assert {name.partition: list(replicas) for name, replicas in back.items()} == {
        name.partition: ORDERS[name.partition] for name in moved
    }
    assert done.stderr.splitlines()[0] == f"{files[0]}: written"


def test_programs_read_one_object(skewed: Path, planned: Planned) -> None:
    document = planned(skewed, "--remove-broker", "8", "--remove-broker", "1", "--drain-only", "--within", "1h")
    assert document["format"] == "kdrill.plan/1"
    assert (document["zxid"], document["time_ms"], document["source"]) == (77, 1_700_000_000_000, str(skewed))
    assert document["cost"] == {**document["cost"], "moves": 6, "bytes": 6 * SIZE, "touched": 6, "reorders": 0}
    assert document["bound"]["moves"] == 6
    assert document["bound"]["above_percent"]["moves"] == 0
    assert document["after"]["elsewhere"] == 0
    assert [broker["broker"] for broker in document["after"]["brokers"]] == [2, 3, 4]
    assert document["pace"]["seconds"] <= 3600
    assert document["drills"]["after"]["broker"].keys() == {"kill", "rack", "hurt", "offline", "quorum_lost"}
    moved = {(row["topic"], row["partition"]): row["replicas"] for row in document["partitions"]}
    assert moved["payments", 0][0] == [8, 2]
    assert not any({1, 8} & set(after) for _, after in moved.values())
    assert sum(batch["end"] - batch["first"] for batch in document["batches"]) == len(moved) == 6


def test_another_tools_plan_is_held_against_ours(skewed: Path, tmp_path: Path, planned: Planned) -> None:
    theirs = tmp_path / "theirs.json"
    rows = [{"topic": "orders", "partition": n, "replicas": r} for n, r in enumerate([[4, 2], [2, 4], [4, 3]])]
    theirs.write_text(json.dumps({"version": 1, "partitions": rows}))
    alone = planned(skewed, "--score", theirs)
    assert (alone["maker"], alone["cost"]["moves"], alone["bound"]) == (str(theirs), 3, None)
    ours = planned(skewed, "--rebalance")
    held = planned(skewed, "--score", theirs, "--rebalance")
    assert held["bound"]["moves"] == ours["bound"]["moves"] == ours["cost"]["moves"]
    theirs.write_text('{"version":1,"partitions":[{"topic":"ordres","partition":0,"replicas":[1]}]}')
    assert refusal(str(skewed), "--score", str(theirs)) == f"{theirs}: topic ordres: not in this cluster"


def test_a_plan_that_does_less_is_not_called_better(skewed: Path, tmp_path: Path, planned: Planned) -> None:
    theirs = tmp_path / "theirs.json"
    rows = [{"topic": "orders", "partition": 0, "replicas": [2, 1]}]
    theirs.write_text(json.dumps({"version": 1, "partitions": rows}))
    uneven = planned(skewed, "--score", theirs, "--rebalance")
    assert uneven["cost"]["moves"] < uneven["bound"]["moves"]
    assert uneven["standing"] == "not as good as the best plan: replicas are less even"
    assert uneven["bound"]["above_percent"] == {"moves": None, "bytes": None, "leader_changes": None}
    lines = run("plan", skewed, "--score", theirs, "--remove-broker", "1", "--drain-only").stdout.splitlines()
    assert "  this one: no plan for this wish: 5 partitions are on brokers that leave or are" in lines
    assert [line.split()[-1] for line in lines if line.startswith(("  replicas copied", "  leader changes"))] == [
        "-"
    ] * 2


def test_fixing_racks_changes_no_leader_that_may_stay(tmp_path: Path, planned: Planned) -> None:
    path, theirs = tmp_path / "racks.json", tmp_path / "theirs.json"
    write_snapshot(path, cluster({"t": [[1, 4], [1, 4], [1, 4]]}, RACKS))
    made = planned(path, "--fix-racks")
    assert (made["cost"]["moves"], made["cost"]["leader_changes"], made["after"]["rack_violations"]) == (3, 0, 0)
    assert made["bound"]["method"] == "proven optimum"
    rows = [{"topic": "t", "partition": number, "replicas": [1, 2]} for number in range(3)]
    theirs.write_text(json.dumps({"version": 1, "partitions": rows}))
    greedy = planned(path, "--score", theirs, "--fix-racks")
    assert greedy["standing"] == "not as good as the best plan: replicas are less even"
    assert greedy["bound"]["above_percent"] == {"moves": 0.0, "bytes": None, "leader_changes": 0.0}


def test_each_broker_in_turn(skewed: Path, planned: Planned) -> None:
    document = planned(skewed, "--each-broker", "--drain-only")
    assert (document["format"], document["provenance"]["engine"]) == ("kdrill.plans/1", "in process")
    assert {row["broker"]: row["moves"] for row in document["brokers"]} == {1: 5, 2: 6, 3: 3, 4: 0}
    lines = run("plan", skewed, "--each-broker", "--drain-only").stdout.splitlines()
    assert lines[0] == f"{skewed}: each broker removed in turn (only what it has)"
    assert [line.split()[0] for line in lines if line.startswith("  b")] == ["b1", "b2", "b3", "b4"]
    assert max(map(len, lines[1:])) <= 80


def test_nothing_to_move_is_said_and_not_written(tmp_path: Path) -> None:
    path, plan = tmp_path / "even.json", tmp_path / "plan.json"
    write_snapshot(path, cluster({"t": [[1, 2], [2, 1]]}, {1: None, 2: None}))
    done = run("plan", path, "--rebalance", "-o", plan)
    assert (done.returncode, done.stderr) == (DONE, "nothing to move: no file is written\n")
    assert not plan.exists()
    assert "sizes      unknown: no bytes and times are given" in done.stdout
    done = run("plan", path, "--remove-broker", "2")
    assert failure(done).startswith("t-0 needs 2 replicas and 1 broker would stay: add brokers, or lower the")
    assert done.returncode == IMPOSSIBLE


def test_files_that_cannot_be_used(skewed: Path, tmp_path: Path) -> None:
    done = run("plan", skewed, "--remove-broker", "3", "--json", "-o", tmp_path / "none" / "plan.json")
    assert done.stderr.endswith("plan.json: cannot be written: No such file or directory\n")
    assert done.returncode == FAILED
    for arguments, reason in [
        (["--score", "no.json"], "no.json: cannot be read: No such file or directory"),
        (["--sizes", "no.json"], "no.json: cannot be read: No such file or directory"),
    ]:
        assert refusal(str(skewed), "--rebalance", *arguments) == reason


def refusal(*words: str) -> str:
    """What the command says when it is asked within this process."""
    with pytest.raises(click.ClickException) as error:
        kdrill.main(["plan", *words], standalone_mode=False)
    return error.value.format_message()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "nothing to plan: say --rebalance, --remove-broker ID, --add-broker ID or another goal"),
        ("--remove-broker x", "--remove-broker: 'x' is no broker id"),
        ("--add-broker 7:", "--add-broker: '7:': write it as ID or ID:RACK"),
        ("--replace-broker 7", "--replace-broker: '7': write it as OLD:NEW"),
        ("--rebalance --leaders-only", "--rebalance and --leaders-only exclude each other"),
        ("--leaders-only --remove-broker 1", "--leaders-only moves no data"),
        ("--rebalance --drain-only", "--rebalance and --drain-only exclude each other"),
        ("--drain-only", "--drain-only needs a broker that leaves: --remove-broker or --replace-broker"),
        ("--replication-factor 3", "--replication-factor needs --topic: which topics?"),
        ("--rebalance --throttle 5MB --within 5h", "--throttle and --within exclude each other"),
        ("--rebalance --throttle fast", "'fast' is no number of bytes: write it as 500MB"),
        ("--rebalance --within soon", "'soon' is no time: write it as 90m, 6h or 2d"),
        ("--rebalance --batches 3 --batch-size 5", "--batches excludes --batch-size and --batch-bytes"),
        ("--rebalance --batch-files", "--batch-files needs -o or --rollback: where?"),
        ("--each-broker -o plan.json", "--each-broker makes no plan to keep"),
        ("--each-broker --add-broker 9", "--each-broker removes brokers"),
        ("--each-broker --topic orders", "--each-broker is about all topics"),
        ("--rebalance --topic ordres", "no topic matches 'ordres': did you mean 'orders'?"),
        ("--remove-broker 99", "broker 99: neither alive nor holding a replica; there are 1, 2, 3, 4, 8"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(skewed: Path, words: str, reason: str) -> None:
    text = refusal(str(skewed), *words.split())
    assert reason in text
    assert "\n" not in text


def test_the_demo_cluster_is_planned_where_it_is_asked_for() -> None:
    done = run("plan", "--demo", "--rebalance", "--json")
    document = json.loads(done.stdout)
    assert document["source"] == "DEMO, an invented cluster"
    assert document["sizes"] is None
    assert document["after"]["replicas"]["spread"] <= document["before"]["replicas"]["spread"]
