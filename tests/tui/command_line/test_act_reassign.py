"""`kdrill act` without leave, without a cluster, and with nothing to do; what it does is tested where brokers are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.cluster.texts import counted
from tests.harness.command import failure, kdrill
from tests.zookeeper.counting_proxy import CountingProxy


@pytest.fixture
def plan(still: str, tmp_path: Path) -> Path:
    """A plan for the demo cluster."""
    file = tmp_path / "plan.json"
    done = kdrill("plan", f"zk://{still}", "--rebalance", "-o", file)
    assert done.returncode == 0, done.stderr
    return file


def test_without_leave_it_only_shows_and_writes_nothing(still: str, plan: Path) -> None:
    server, _, root = still.partition("/")
    with CountingProxy(server) as proxy:
        shown = kdrill("act", f"zk://{proxy.address}/{root}", "reassign", plan, "--throttle", "50MB", "--json")
        assert proxy.writes() == {}
    assert shown.returncode == 2
    assert shown.stderr == "kdrill: nothing was done: repeat this with --allow-writes to do it\n"
    document = json.loads(shown.stdout)
    assert (document["format"], document["outcome"]["kind"]) == ("kdrill.act/1", "proposed")
    assert document["changes"][0].startswith("drill: losing the worst broker hurts")
    assert document["changes"][1].startswith("throttle: 50,000,000 B/s a broker")
    creates = [step for step in document["steps"] if step["path"] == "/admin/reassign_partitions"]
    moved = [entry for step in creates for entry in json.loads(step["after"])["partitions"]]
    assert moved and len(moved) == len(document["changes"]) - 2


@pytest.mark.parametrize(("words", "limit"), [((), 1), (("--batch-size", "100"), 100)])
def test_batches_are_those_of_the_plan_unless_others_are_asked_for(
    still: str, tmp_path: Path, words: tuple[str, ...], limit: int
) -> None:
    file = tmp_path / "plan.json"
    made = kdrill("plan", f"zk://{still}", "--rebalance", "--batch-size", "1", "-o", file)
    assert made.returncode == 0, made.stderr
    scored = kdrill("plan", f"zk://{still}", "--score", file, "--batch-size", str(limit), "--json")
    batches = len(json.loads(scored.stdout)["batches"])
    assert (batches > 1) == (limit == 1)
    shown = kdrill("act", f"zk://{still}", "reassign", file, *words)
    assert f"in {counted(batches, 'batch', 'batches')}: {file}" in shown.stdout


def test_with_leave_and_nobody_to_ask_it_does_nothing(still: str, plan: Path) -> None:
    done = kdrill("act", f"zk://{still}", "reassign", plan, "--allow-writes")
    assert done.returncode == 2
    assert "nothing was done: there is no terminal to ask on; use --yes" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reassign"], "name a plan, or say --resume"),
        (["reassign", "--resume"], "there is nothing to resume"),
        (["rollback"], "there is nothing to roll back"),
        (["cancel-reassign"], "there is nothing to cancel"),
        (["reassign", "absent.json"], "absent.json: cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_line(still: str, words: list[str], said: str) -> None:
    done = kdrill("act", f"zk://{still}", *words)
    assert done.returncode in (1, 2)
    assert failure(done).startswith(said)


def test_only_a_live_cluster_is_acted_on(still: str, tmp_path: Path) -> None:
    snapshot = tmp_path / "before.json"
    assert kdrill("snapshot", f"zk://{still}", "-o", snapshot).returncode == 0
    assert failure(kdrill("act", snapshot, "rollback")) == f"{snapshot} is no live cluster: nothing can be done to it"
    assert failure(kdrill("act", "rollback")).startswith("SOURCE is missing: which cluster?")


def test_a_browser_never_writes(still: str) -> None:
    refused = failure(kdrill(f"zk://{still}", "--serve", "--allow-writes"))
    assert refused.startswith("--allow-writes and --serve exclude each other")
