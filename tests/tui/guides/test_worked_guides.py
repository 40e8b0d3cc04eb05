"""The worked guides say what happens: each of their commands is run, on a sandbox where they name zk1."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Member
from model.cluster.records import GroupDescribed
from model.cluster.snapshot_file import write_snapshot
from model.sources.addresses import METADATA_LOG
from tests.architecture.source_tree import ROOT
from tests.harness.command import KDRILL, NO_CONFIG
from tests.harness.sandbox import headless_sandbox
from tests.harness.waiting import eventually
from tests.model.cluster.build import brokers, image, topic
from tests.model.drills.clusters import cluster, several
from tests.model.metadata_log.kept import LOG, QUORUM
from tests.segment_corpus import unpack
from tests.tui.guides.console import Shown, missing, shown_commands
from tests.tui.guides.listening_quorum import listening_quorum

GUIDES = ROOT / "tui/guides"
WORKED = (
    "live-cluster", "kraft-cluster", "post-mortem", "drill-in-ci", "damaged-log", "preview-assignors", "how-safe",
    "decommission",
)  # fmt: skip
"""The last one changes the cluster."""
ENSEMBLE = "zk1:2181,zk2:2181,zk3:2181/kafka"
VOTERS = "c1:9093,c2:9093,c3:9093"
DAMAGED = "damaged/crc-flip-payload/00000000000000000060.log"
ONE_RACK = ("--topic", "clicks", "--replica-assignment", "2:4,4:2", "--allow-writes", "--yes")
"""A topic that is lost with rack r2."""
PATIENT = ("--set", "zookeeper.session.timeout.ms=60000", "--set", "replica.lag.time.max.ms=120000")
"""On a busy machine nobody dies and nobody falls behind."""
OWNERS = {TopicPartition("orders", number): f"billing-{number // 5 + 1}" for number in range(12)}
NOON = image(
    *brokers(1, 2, 3),
    *topic("orders", (1, 2, 3), partitions=12),
    GroupDescribed(
        group="billing",
        state="Stable",
        protocol_type="consumer",
        protocol="sticky",
        coordinator=1,
        members={owner: Member({"orders": 1}) for owner in OWNERS.values()},
        owners=OWNERS,
    ),
)
"""The members of the group have 5, 5 and 2 partitions."""


PROD = cluster(
    range(1, 7),
    *several("orders", {number: (1 + number % 6, 1 + (number + 1) % 6, 1 + (number + 2) % 6) for number in range(12)}),
    *several("payments", {0: (1, 4, 2), 1: (4, 1, 3), 2: (2, 5, 3), 3: (5, 2, 1)}),
)
"""Three racks: brokers 1 and 4, 2 and 5, 3 and 6. Partitions of payments have two replicas in one rack."""


class Desk:
    """A folder with the files that guides speak of, and a shell in which `kdrill` is ours."""

    def __init__(self, folder: Path, zookeeper: str, controllers: str) -> None:
        self._folder = folder
        self._called = {
            ENSEMBLE: zookeeper,
            VOTERS: controllers,
            "/var/lib/kafka": "kafka-logs",
            "/var/lib/kraft": "kraft-logs",
        }
        binary = folder / "bin/kdrill"
        binary.parent.mkdir()
        binary.write_text(f'#!/bin/sh\nexec {shlex.join(KDRILL)} "$@"\n')
        binary.chmod(0o755)
        partition = folder / "kafka-logs/orders-0"
        partition.mkdir(parents=True)
        shutil.copy(unpack(folder / "corpus") / DAMAGED, partition)
        metadata = folder / "kraft-logs" / METADATA_LOG
        metadata.mkdir(parents=True)
        for name in (LOG, "quorum-state"):
            shutil.copy(QUORUM / name, metadata)

    def begin(self) -> None:
        """The snapshots that guides begin with; some write over them."""
        write_snapshot(self._folder / "noon.json.zst", NOON, ())
        write_snapshot(self._folder / "prod.json.zst", PROD, ())

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """In bash; what it printed names servers and folders as the guides do."""
        path = f"{self._folder / 'bin'}:{os.environ['PATH']}"
        state = str(self._folder / "state")
        done = subprocess.run(
            ["bash", "-c", _replaced(command, self._called)],
            cwd=self._folder,
            env={**os.environ, **NO_CONFIG, "PATH": path, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": state},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        names = {called: name for name, called in self._called.items()}
        done.stdout = _replaced(done.stdout, {f"{self._folder}/": "", **names})
        return done


def _replaced(text: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with headless_sandbox("--brokers", "4", "--racks", "2", *PATIENT) as (_, ready), listening_quorum() as controllers:
        desk = Desk(tmp_path_factory.mktemp("desk"), ready["zookeeper"], controllers)
        made = desk.run(f"kdrill topics zk://{ENSEMBLE} create {' '.join(ONE_RACK)}")
        assert made.returncode == 0, made.stdout
        describe = f"kdrill topics zk://{ENSEMBLE} describe --topic clicks"
        eventually(lambda: "Isr: 2,4" in (said := desk.run(describe).stdout) and "Isr: 4,2" in said)
        yield desk


@pytest.mark.parametrize("name", WORKED)
def test_every_command_of_the_guide_prints_what_is_shown(name: str, desk: Desk) -> None:
    shown = [*shown_commands((GUIDES / f"{name}.md").read_text(encoding="utf-8")), Shown("", ())]
    assert len(shown) > 2
    desk.begin()
    for one, after in pairwise(shown):
        if one.command == "echo $?":
            continue
        done = desk.run(one.command)
        assert not missing(one, done.stdout), done.stdout
        code = int(after.lines[0]) if after.command == "echo $?" else 0
        assert done.returncode == code, done.stdout


def test_a_line_that_was_not_printed_is_noticed() -> None:
    (shown,) = shown_commands("```console\n$ true\nleaders moved   …9\n…\nend\n```")
    assert not missing(shown, "leaders moved   19\nmore\nend\n")
    assert missing(shown, "end\nleaders moved   19\n") == "end"
    assert missing(shown, "leaders moved   18\nend\n") == "leaders moved   …9"
