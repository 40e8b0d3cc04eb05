"""What kdrill sends to brokers, counted by API key between it and a real KRaft cluster.

It only reads until it may write; and what it writes then is seen, so that the counting is known to count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model.actions.proposal import ApiCall
from model.hosts.acting.admin_writes import AdminWriter
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.tui.dashboard import kdrill, opened, press, settled, type_in, until
from tui.cli.main import main

pytestmark = pytest.mark.conformance

Run = Callable[[str], int]

OBSERVING = {"ApiVersions", "DescribeCluster", "DescribeQuorum", "Fetch", "FetchSnapshot"}
"""All that can be asked of a controller."""

WRITING = {
    "topics SOURCE create --topic new --partitions 1 --replication-factor 1": "CreateTopics",
    "topics SOURCE alter --topic asked --partitions 2": "CreatePartitions",
    "configs SOURCE alter --topic asked --add-config retention.ms=5000": "IncrementalAlterConfigs",
    "act SOURCE elect-preferred --topic asked": "ElectLeaders",
    "act SOURCE reassign plan.json --throttle 1MB": "AlterPartitionReassignments",
    "act SOURCE rollback": "AlterPartitionReassignments",
    "act SOURCE reset-offsets --group away --all-topics --to-earliest": "OffsetCommit",
    "act SOURCE delete-group --group away": "DeleteGroups",
    "topics SOURCE delete --topic asked": "DeleteTopics",
    "topics SOURCE delete --topic new": "DeleteTopics",
}
"""What is done one after the other → the API that does it. A reassignment is cancelled in test_reassignments.py."""


@pytest.fixture
def run(kraft: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """kdrill in a folder of its own, by way of the proxies (`SOURCE` in its words); returns how it ended."""
    monkeypatch.chdir(tmp_path)

    def ended(words: str) -> int:
        with pytest.raises(SystemExit) as end:
            main(words.replace("SOURCE", f"kafka://{kraft.counted}").split())
        return int(end.value.code or 0)

    return ended


@pytest.fixture
def asked(kraft: KraftCluster, tmp_path: Path) -> None:
    """A topic whose leader is not the preferred one, a plan that moves it, and a group without members."""
    client = Client(kraft.bootstrap)
    client.create("asked", {0: [1, 2]})
    eventually(lambda: client.partition("asked", 0).isr == {1, 2}, "both replicas to be in sync")
    Commands(kraft).reassign("asked", {0: [2, 1]})
    eventually(lambda: client.partition("asked", 0).replicas == (2, 1), "the new order")
    plan = {"version": 1, "partitions": [{"topic": "asked", "partition": 0, "replicas": [1, 2]}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    commit = ApiCall("OffsetCommit", {"group": "away", "offsets": {"asked": {"0": 1}}})
    admin = AdminWriter(kraft.bootstrap)
    try:
        eventually(lambda: admin.carry_out([commit]).kind == "done", "the coordinator")
    finally:
        admin.close()


@pytest.mark.usefixtures("asked")
def test_nothing_is_written_without_leave(kraft: KraftCluster, run: Run) -> None:
    for words, api in WRITING.items():
        before = kraft.writes
        assert run(f"{words} --yes") == 2, words
        assert kraft.writes == before, words
        assert run(f"{words} --yes --allow-writes") == 0, words
        assert (kraft.writes - before)[api] > 0, words


@pytest.mark.parametrize(
    "words",
    [
        "status SOURCE",
        "snapshot SOURCE -o now.json",
        "topics SOURCE describe",
        "configs SOURCE describe --entity-type brokers --all",
        "preview SOURCE",
        "plan SOURCE --rebalance",
        "drill SOURCE --kill 1",
        "record SOURCE -o recording --for 4s",
    ],
)
def test_who_looks_only_reads(kraft: KraftCluster, run: Run, words: str) -> None:
    """Who stays, also at the metadata log."""
    asked, writes, observed = kraft.asked, kraft.writes, kraft.asked_of_controllers
    run(words)
    assert (kraft.asked - asked)["Metadata"] > 0
    assert kraft.writes == writes
    told = kraft.asked_of_controllers - observed
    assert told.keys() <= OBSERVING
    assert told["Fetch"] > 0 or not words.startswith("record")


async def test_a_dashboard_only_reads(kraft: KraftCluster) -> None:
    asked, writes, observed = kraft.asked, kraft.writes, kraft.asked_of_controllers
    async with opened(f"kafka://{kraft.counted}", size=(120, 40)) as pilot:
        await until(pilot, lambda: kdrill(pilot).facts.phase == "live" and not kdrill(pilot).facts.poll_ms)
        for screen in "1234579bi":
            await press(pilot, screen, "down", "d", "escape")
        await type_in(pilot, ":elect")
        await press(pilot, "enter")
        await settled(pilot)
    assert (kraft.asked - asked)["Metadata"] > 0
    assert (kraft.asked_of_controllers - observed)["Fetch"] > 0
    assert kraft.asked_of_controllers.keys() <= OBSERVING
    assert kraft.writes == writes
