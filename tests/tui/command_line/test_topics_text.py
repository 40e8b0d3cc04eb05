"""What `kafka-topics --describe` printed as a SOURCE: every command works on it, and damage is told by its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.cluster.snapshot_file import read_snapshot
from tests.harness.command import failure
from tests.harness.command import kdrill as run
from tests.model.interchange.printed import FOLDER, printed
from tui.cli.main import kdrill

Command = Callable[..., Any]


@pytest.fixture
def asked(capfd: pytest.CaptureFixture[str]) -> Command:
    """The JSON that a command prints when it is asked within this process, which is quicker."""

    def ask(*words: str | Path) -> Any:
        kdrill.main([*map(str, words), "--json"], standalone_mode=False)
        return json.loads(capfd.readouterr().out)

    return ask


def described(name: str) -> Path:
    return FOLDER.absolute() / f"describe-{name}.txt"


@pytest.fixture
def with_brokers(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.txt"
    path.write_bytes(printed("describe-3.9.1-moving-killed") + printed("api-versions-3.9.1"))
    return path


def test_status_through_a_pipe() -> None:
    done = run("status", "-", said=printed("describe-3.9.1-killed").decode())
    assert (done.returncode, done.stderr) == (0, "")
    head, *findings = done.stdout.splitlines()
    assert head == "/dev/stdin: controller unknown, 2 brokers, 2 topics, 6 partitions"
    assert findings[-1].startswith("~ source: it does not tell which brokers live and their racks")


def test_a_snapshot_through_a_pipe(snapshot_file: Path) -> None:
    done = run("status", "-", "--json", said=snapshot_file.read_text())
    assert json.loads(done.stdout)["topics"] > 0


@pytest.mark.parametrize("name", ["0.8.2.2-healthy", "3.9.1-healthy"])
def test_a_drill(name: str, asked: Command) -> None:
    found = asked("drill", described(name), "--kill", "3")
    assert found["partitions"]["notes"]["0"]["outcome"] == "offline"
    assert found["partitions"]["orders"]["2"] == {
        **found["partitions"]["orders"]["2"],
        "outcome": "clean",
        "leader": [3, 1],
        "isr": [[3, 1, 2], [1, 2]],
    }
    assert {number: one["outcome"] for number, one in found["partitions"]["orders"].items()} == {
        **dict.fromkeys("013", "follower-lost"),
        "2": "clean",
    }


def test_a_plan_with_racks_that_another_tool_listed(with_brokers: Path, asked: Command, tmp_path: Path) -> None:
    found = asked("plan", with_brokers, "--topic", "spare", "--replication-factor", "2")
    assert found["cost"]["moves"] == 1
    assert {broker["broker"]: broker["rack"] for broker in found["after"]["brokers"]} == {
        n: f"r{n}" for n in range(1, 5)
    }
    files = [tmp_path / name for name in ("plan.json", "election.json")]
    words = ("--topic", "clicks", "--topic", "notes", "--remove-broker", "2", "--drain-only")
    asked("plan", described("3.9.1-healthy"), *words, "-o", files[0], "--election", files[1], "--format", "topicmappr")
    moves, election = (json.loads(file.read_text()) for file in files)
    replicas = {row["partition"]: row["replicas"] for row in moves["partitions"]}
    assert all(row.keys() == {"topic", "partition", "replicas"} for row in moves["partitions"])
    assert moves.keys() == {"version", "partitions"}
    assert {number: sorted(brokers) for number, brokers in replicas.items()} == {0: [1, 3], 1: [1, 3]}
    others = [number for number, leader in {0: 1, 1: 2}.items() if replicas[number][0] != leader]
    assert election["partitions"] == [{"topic": "clicks", "partition": number} for number in others] != []


def test_another_planners_answer_is_scored_like_kafkas_file(asked: Command, tmp_path: Path) -> None:
    proposal = {"topicPartition": {"topic": "clicks", "partition": 0}, "oldReplicas": [1, 2], "newReplicas": [1, 3]}
    answers = {
        "cruise-control.json": json.dumps({"summary": {}, "proposals": [proposal], "version": 1}),
        "generate.txt": 'Current partition replica assignment\n{"partitions":[]}\n\n'
        'Proposed partition reassignment configuration\n{"partitions":'
        '[{"topic":"clicks","partition":0,"replicas":[1,3]}]}\n',
    }
    for name, text in answers.items():
        file = tmp_path / name
        file.write_text(text)
        found = asked("plan", described("3.9.1-healthy"), "--score", file)
        assert (found["maker"], found["cost"]["moves"], found["cost"]["leader_changes"]) == (str(file), 1, 0)


def test_a_snapshot_keeps_what_is_not_known(with_brokers: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    assert run("snapshot", with_brokers, "-o", kept).returncode == 0
    image = read_snapshot(kept)
    assert "/controller" in image.unreadable
    assert image.brokers[4].rack == "r4"
    assert image.provenance.time_ms == int(with_brokers.stat().st_mtime * 1000)
    assert "controller unknown" in run("status", kept).stdout


@pytest.mark.parametrize("command", [("status",), ("snapshot", "-o", "out.json"), ("plan", "--rebalance")])
def test_damage_is_told_by_its_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "cut.txt"
    path.write_bytes(printed("describe-3.9.1-killed")[:-9])
    done = run(*command, path, cwd=tmp_path)
    assert failure(done).startswith(f"{path}: line 8: no partition's line of kafka-topics --describe: is it cut off?")
    assert done.returncode == 1


def test_a_dashboard_opens_no_pipe() -> None:
    done = run("-", said=printed("describe-3.9.1-killed").decode())
    assert failure(done) == "-: the dashboard opens files and no pipes: write it to a file first"
    assert done.returncode == 1
