"""A reassignment carried out in a real ZooKeeper, with a controller that does at once what it is asked."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model.actions.proposal import ActionRefused
from model.actions.reassignment import OperatorDecided, ReassignmentPlan, ReplicaMove, RunState
from model.actions.reassignment_run import Decision, decide, started
from model.cluster.cluster_image import ClusterImage
from model.hosts.acting.carrying_out import AuditLog, UnwrittenError, Writers
from model.hosts.acting.reassigning import ReassignmentJournal, ZooKeeperRoute, reassign
from model.hosts.acting.zookeeper_writes import ZnodeReading, ZooKeeperWriter
from model.hosts.zookeeper.settings import ZooKeeperSettings
from tests.harness.zookeeper import kazoo
from tests.limited_room import room_in

MOVES = (
    ReplicaMove("orders", 0, (1, 2), (2, 3)),
    ReplicaMove("orders", 1, (2, 1), (1, 2)),
    ReplicaMove("pay", 0, (3, 1), (3, 2)),
)
BEFORE = {"orders": {"0": [1, 2], "1": [2, 1]}, "pay": {"0": [3, 1]}}
AFTER = {"orders": {"0": [2, 3], "1": [1, 2]}, "pay": {"0": [3, 2]}}
ASKED = "/admin/reassign_partitions"


class Crash(Exception):  # noqa: N818 - it is no error here
    """kdrill is gone at this point."""


class Site:
    """A cluster with its controller, and a folder for state."""

    def __init__(self, zookeeper: str, client: Any, folder: Path) -> None:
        server, slash, chroot = zookeeper.partition("/")
        settings = ZooKeeperSettings(server, slash + chroot)
        self.client = client
        for topic, partitions in BEFORE.items():
            self.client.create(f"/brokers/topics/{topic}", self._topic(partitions), makepath=True)
            self.client.create(f"/config/topics/{topic}", b'{"version":1,"config":{"own":"stays"}}', makepath=True)
        for path in ("/brokers/ids/1", "/brokers/ids/2", "/brokers/ids/3", "/config/changes", "/config/brokers"):
            self.client.ensure_path(path)
        self.client.ensure_path("/admin")
        self.folder = folder
        self.reading = ZnodeReading(settings, 30)
        self.writer = ZooKeeperWriter(settings, self.reading, 30)
        image = ClusterImage(cluster_id="c", generation="2.x")
        self.route = ZooKeeperRoute(image, self.reading, Writers(znodes=self.writer))
        self.audit = AuditLog(folder, f"zk://{zookeeper}")
        self.journal = ReassignmentJournal(folder, "c")

    def run(self, state: RunState, *, crash_at: int = -1) -> Decision:
        """To its end, or to the step at which kdrill is gone."""
        steps = 0

        def told(_: Decision) -> None:
            nonlocal steps
            steps += 1
            if steps == crash_at:
                raise Crash

        with self.journal as journal:
            return reassign(state, self.route, journal, self.audit, told=told, asked=self.controls)

    def last(self) -> RunState:
        """What the journal knows."""
        state = self.journal.read()
        assert state is not None
        return state

    def controls(self, _wait_s: float) -> Iterable[OperatorDecided]:
        """What the controller does while kdrill waits."""
        if self.client.exists(ASKED):
            for entry in json.loads(self.client.get(ASKED)[0])["partitions"]:
                path = f"/brokers/topics/{entry['topic']}"
                partitions = json.loads(self.client.get(path)[0])["partitions"]
                self.client.set(path, self._topic({**partitions, str(entry["partition"]): entry["replicas"]}))
            self.client.delete(ASKED)
        return ()

    def replicas(self) -> dict[str, Any]:
        return {topic: json.loads(self.client.get(f"/brokers/topics/{topic}")[0])["partitions"] for topic in BEFORE}

    def configs(self) -> list[dict[str, str]]:
        paths = [
            f"/config/{k}/{name}" for k in ("topics", "brokers") for name in self.client.get_children(f"/config/{k}")
        ]
        return [json.loads(self.client.get(path)[0])["config"] for path in paths]

    def close(self) -> None:
        self.writer.close()
        self.reading.close()

    @staticmethod
    def _topic(partitions: dict[str, list[int]]) -> bytes:
        return json.dumps({"version": 1, "partitions": partitions}).encode()


@pytest.fixture
def site(zookeeper: str, tmp_path: Path) -> Iterator[Site]:
    with kazoo(zookeeper) as client, closing(Site(zookeeper, client, tmp_path / "state")) as site:
        yield site


def a_run() -> RunState:
    run = ReassignmentPlan(
        source="zk://a", plan="plan.json", begun_ms=1, route="zookeeper", moves=MOVES, ends=(2, 3), rate=1000
    )
    return started(run)


def is_untouched(configs: list[dict[str, str]]) -> bool:
    return all(config in ({}, {"own": "stays"}) for config in configs)


def test_it_ends_as_planned_and_leaves_no_throttle(site: Site) -> None:
    assert site.run(a_run()).said == "3 partitions: all as planned"
    assert site.replicas() == AFTER
    assert is_untouched(site.configs())
    titles = [line.get("title", line.get("outcome")) for line in map(json.loads, site.audit.file.open())]
    assert titles[:4] == ["plan.json: sets a throttle of 1,000 B/s a broker", "done", *titles[2:3], "done"]
    assert len(titles) == 8  # throttle on, two batches, throttle off; each before and after
    assert stat.S_IMODE(site.journal.file.stat().st_mode) == 0o600


@pytest.mark.parametrize("crash_at", range(1, 9))
def test_killed_at_any_step_it_goes_on_from_its_journal_and_can_be_undone_exactly(site: Site, crash_at: int) -> None:
    with pytest.raises(Crash):
        site.run(a_run(), crash_at=crash_at)
    kept = site.journal.read()
    assert kept is not None
    if crash_at % 2:
        assert site.run(kept).said == "3 partitions: all as planned"
        assert site.replicas() == AFTER
        kept = site.journal.read()
        assert kept is not None
    assert site.run(decide(kept, OperatorDecided("roll-back")).state).said == "3 partitions: all as they were"
    assert site.replicas() == BEFORE
    assert is_untouched(site.configs())


def test_where_only_the_end_of_a_batch_cannot_be_written_down_it_stops_and_goes_on_later(site: Site) -> None:
    site.audit.file.parent.mkdir(parents=True)
    site.audit.file.write_bytes(b"\n" * 100_000)
    said, room = "", 0
    while not said:  # the line before the first step fits, the shorter one after it does not
        room += 100
        with room_in(site.audit.file, room):
            try:
                assert site.run(a_run()).is_stuck
            except UnwrittenError as error:
                said = str(error)
    assert said.startswith("plan.json: sets a throttle of 1,000 B/s a broker: done, but not written down: ")
    assert said.endswith("audit.jsonl cannot be written: File too large; nothing goes on")
    assert site.audit.file.read_bytes().endswith(b"\n")
    assert site.replicas() == BEFORE
    assert site.run(site.last()).said == "3 partitions: all as planned"
    assert is_untouched(site.configs())


def test_nothing_is_sent_where_it_cannot_be_written_down(site: Site) -> None:
    site.audit.file.parent.mkdir(parents=True)
    site.audit.file.write_bytes(b"\n" * 100_000)
    with room_in(site.audit.file, 20):
        decision = site.run(a_run())
    assert decision.is_stuck
    assert "audit.jsonl cannot be written: File too large; nothing was done" in decision.said
    assert len(site.audit.file.read_bytes()) == 100_000
    assert site.replicas() == BEFORE
    assert is_untouched(site.configs())


def test_only_one_kdrill_at_a_time(site: Site) -> None:
    with site.journal, pytest.raises(ActionRefused, match="another kdrill carries out a reassignment of this cluster"):
        ReassignmentJournal(site.folder, "c").open()
    ReassignmentJournal(site.folder, "c").open().close()


def test_a_journal_that_is_none_is_no_way_to_go_on(site: Site) -> None:
    assert site.journal.read() is None
    site.journal.file.parent.mkdir(parents=True)
    site.journal.file.write_text("{")
    with pytest.raises(ActionRefused, match=r"cannot be used: .*; move it away if no reassignment runs"):
        site.journal.read()


def test_a_topic_that_changed_between_look_and_write_is_looked_at_again(site: Site) -> None:
    said: list[str] = []

    def told(decision: Decision) -> None:
        said.append(decision.said)
        if len(said) == 1:  # decided, and not done yet
            path = "/brokers/topics/orders"
            site.client.set(path, site.client.get(path)[0])  # the same once more: another version

    state = started(msgspec.structs.replace(a_run().run, rate=None))
    with site.journal as journal:
        end = reassign(state, site.route, journal, site.audit, told=told, asked=site.controls)
    assert said[1] == "/brokers/topics/orders was changed meanwhile: nothing was written; look again"
    assert end.said == "3 partitions: all as planned"
    assert site.replicas() == AFTER
