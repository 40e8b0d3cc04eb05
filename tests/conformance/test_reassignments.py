"""Real brokers are reassigned by us: throttled, killed half-way, resumed or stopped, and back exactly as it was."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from confluent_kafka.admin import (
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
    ConfigSource,  # pyright: ignore[reportPrivateImportUsage]
)

from tests.conformance.kafka.client import Client
from tests.harness.command import Done, kdrill, running
from tests.harness.kafka import Cluster
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.zookeeper.counting_proxy import CountingProxy

pytestmark = pytest.mark.conformance

Replicas = dict[str, dict[int, list[int]]]

BEFORE: Replicas = {"heavy": {0: [1, 2]}, "light": {0: [1, 2], 1: [2, 3], 2: [3, 1], 3: [2, 1]}}
AFTER: Replicas = {"heavy": {0: [3, 2]}, "light": {0: [2, 1], 1: [1, 3], 2: [3, 1], 3: [3, 1]}}
SET = {ConfigSource.DYNAMIC_TOPIC_CONFIG, ConfigSource.DYNAMIC_BROKER_CONFIG}
SLOW = 20_000
"""Bytes/s. A broker fetches 1 MB at once, and again when its quota's window of 11 s has passed."""
HEAVY = 12_000
"""Messages of 1 kB: two minutes' copying, for all that is tried meanwhile."""


class Site:
    """Two topics of a cluster, and kdrill's way to it: its ZooKeeper, or its brokers."""

    before: ClassVar[Replicas] = BEFORE
    after: ClassVar[Replicas] = AFTER

    def __init__(self, cluster: Cluster, way: str) -> None:
        self.cluster = cluster
        self.client = Client(cluster.bootstrap)
        self.create = cluster.create
        self.suffix = f"-{way}"
        self.source = cluster.source_url
        self.way = ["--bootstrap", cluster.bootstrap] if way == "brokers" else []

    def make(self) -> None:
        heavy = "heavy" + self.suffix
        for topic, assignment in self.before.items():
            self.create(topic + self.suffix, assignment)
        self.client.produce(heavy, ["x" * 1000] * HEAVY)
        eventually(
            lambda: len(self.client.partition(heavy, 0).isr) == len(self.before["heavy"][0]), "all to be in sync"
        )

    def act(self, *words: str | Path, source: str = "", elsewhere: Path | None = None) -> Done:
        """`elsewhere`: where another kdrill keeps what it has done."""
        environment = {"XDG_STATE_HOME": str(elsewhere)} if elsewhere else {}
        return kdrill("act", source or self.source, *words, *self.way, environment=environment)

    def plan(self, file: Path) -> Path:
        entries = [
            {"topic": topic + self.suffix, "partition": number, "replicas": brokers}
            for topic, partitions in self.after.items()
            for number, brokers in partitions.items()
        ]
        file.write_text(json.dumps({"version": 1, "partitions": entries}))
        return file

    def replicas(self) -> Replicas:
        znodes = {topic: self.cluster.read(f"/brokers/topics/{topic}{self.suffix}") for topic in self.before}
        return {
            topic: {int(number): brokers for number, brokers in sorted(znode["partitions"].items())}
            for topic, znode in znodes.items()
        }

    def is_heavy_under_way(self) -> bool:
        heavy = "heavy" + self.suffix
        asked = heavy in self.cluster.text("/admin/reassign_partitions")
        return asked or bool(self.cluster.read(f"/brokers/topics/{heavy}").get("adding_replicas"))

    def throttled(self) -> set[str]:
        """Where anything is set of a throttle."""
        kinds = ("topics", "brokers")
        paths = [f"/config/{kind}/{name}" for kind in kinds for name in self.cluster.children(f"/config/{kind}")]
        return {path for path in paths if "throttled" in self.cluster.text(path)}

    def killed_half_way(self, plan: Path) -> None:
        """kdrill begins, and is gone while the heavy partition is copied."""
        words = ["reassign", str(plan), "--batch-size", "1", "--throttle", str(SLOW), "--allow-writes", "--yes"]
        with running("act", self.source, *words, *self.way) as first:
            eventually(lambda: self.is_heavy_under_way() or first.poll() is not None, "the heavy one to be under way")
            first.kill()
            assert first.wait() == -signal.SIGKILL, first.communicate()
        assert self.throttled()

    def resumed_and_undone(self) -> None:
        """What was killed is brought to its end, and then back, order included."""
        resumed = self.act("reassign", "--resume", "--throttle", "500MB", "--allow-writes", "--yes", "--json")
        assert resumed.returncode == 0, resumed.stderr
        many = sum(goal != self.before[topic][n] for topic, goals in self.after.items() for n, goal in goals.items())
        said = {"kind": "done", "said": f"{many} partitions: all as planned"}
        assert json.loads(resumed.stdout)["outcome"] == said
        self.comes_to(self.after)

        undone = self.act("rollback", "--allow-writes", "--yes")
        assert undone.returncode == 0, undone.stderr
        self.comes_to(self.before)
        assert not self.is_heavy_under_way()

    def comes_to(self, replicas: Replicas) -> None:
        """Brokers of KRaft tell what they know, and hear of a change after the controller that acknowledged it."""
        eventually(lambda: (self.replicas(), self.throttled()) == (replicas, set()))


class KraftSite(Site):
    """Of two brokers without ZooKeeper, as another client sees them; kdrill comes by the counting proxies."""

    before: ClassVar[Replicas] = {"heavy": {0: [1]}, "light": {0: [1, 2], 1: [1, 2]}}
    after: ClassVar[Replicas] = {"heavy": {0: [2]}, "light": {0: [2, 1], 1: [2]}}

    def __init__(self, cluster: KraftCluster) -> None:
        self.client = Client(cluster.bootstrap)
        self.create = self.client.create
        self.suffix = "-kraft"
        self.source = f"kafka://{cluster.counted}"
        self.way = []

    def replicas(self) -> Replicas:
        seen = self.client.admin.list_topics(timeout=60).topics
        return {
            topic: {number: each.replicas for number, each in sorted(seen[topic + self.suffix].partitions.items())}
            for topic in self.before
        }

    def is_heavy_under_way(self) -> bool:
        return len(self.replicas()["heavy"][0]) > 1

    def throttled(self) -> set[str]:
        names = [("topic", topic + self.suffix) for topic in self.before] + [("broker", "1"), ("broker", "2")]
        asked = [self.client.admin.describe_configs([ConfigResource(*name)]) for name in names]  # one broker at a time
        answers = [answer.result(60) for each in asked for answer in each.values()]
        settings = [each for answer in answers for each in answer.values()]
        return {each.name for each in settings if "throttled" in each.name and ConfigSource(each.source) in SET}


@pytest.mark.parametrize("cluster", ["1.1.1", "3.9.1"], indirect=True)
def test_a_reassignment_survives_sigkill_and_is_undone_exactly(cluster: Cluster, tmp_path: Path) -> None:
    site = Site(cluster, "znodes")
    site.make()
    plan = site.plan(tmp_path / "plan.json")

    server, _, chroot = cluster.zookeeper.partition("/")
    with CountingProxy(server) as proxy:
        counted = f"zk://{proxy.address}/{chroot}"
        shown = site.act("reassign", plan, source=counted)
        assert (shown.returncode, proxy.writes()) == (2, {}), shown.stderr
        assert "heavy-znodes-0: 1,2 → 3,2" in shown.stdout
        assert "nothing was done" in shown.stderr

        site.killed_half_way(plan)
        assert {f"/config/brokers/{broker}" for broker in (1, 2, 3)} < site.throttled()
        again = site.act("reassign", plan, "--allow-writes", "--yes")
        assert again.returncode == 2
        assert "reassign --resume goes on with it" in again.stderr
        for words in (["reassign", "--resume"], ["cancel-reassign"], ["rollback"]):
            assert site.act(*words, source=counted).returncode == 2
        assert proxy.writes() == {}
    site.resumed_and_undone()


def test_in_a_kraft_cluster_too(kraft: KraftCluster, tmp_path: Path) -> None:
    site = KraftSite(kraft)
    site.make()
    before = kraft.writes
    site.killed_half_way(site.plan(tmp_path / "plan.json"))
    begun = kraft.writes
    assert (begun - before).keys() == {"IncrementalAlterConfigs", "AlterPartitionReassignments"}
    for words in (["reassign", "--resume"], ["cancel-reassign"], ["rollback"]):
        assert site.act(*words).returncode == 2
    taken_back_by_another(site, tmp_path / "elsewhere", lambda: kraft.writes == begun)
    site.resumed_and_undone()


def taken_back_by_another(site: Site, elsewhere: Path, nothing_is_written: Callable[[], bool]) -> None:
    """Who did not begin it is shown it, and has to say --all."""
    found = site.act("cancel-reassign", "--allow-writes", "--yes", elsewhere=elsewhere)
    assert (found.returncode, nothing_is_written()) == (2, True)
    assert "others are reassigning 1 partition (heavy-kraft-0 to 2); --all cancels those too" in found.stderr
    shown = site.act("cancel-reassign", "--all", elsewhere=elsewhere)
    assert (shown.returncode, nothing_is_written()) == (2, True)
    assert "heavy-kraft-0: 2,1 → 1" in shown.stdout
    stopped = site.act("cancel-reassign", "--all", "--allow-writes", "--yes", elsewhere=elsewhere)
    assert stopped.returncode == 0, stopped.stderr
    eventually(lambda: site.replicas()["heavy"] == site.before["heavy"])
    assert not site.is_heavy_under_way()


@pytest.mark.parametrize("cluster", ["3.9.1"], indirect=True)
def test_through_brokers_what_is_under_way_is_taken_back(cluster: Cluster, tmp_path: Path) -> None:
    site = Site(cluster, "brokers")
    site.make()
    site.killed_half_way(site.plan(tmp_path / "plan.json"))

    stopped = site.act("cancel-reassign", "--allow-writes", "--yes")
    assert stopped.returncode == 0, stopped.stderr
    assert site.replicas()["heavy"] == BEFORE["heavy"]
    assert site.throttled() == set()

    undone = site.act("rollback", "--allow-writes", "--yes")
    assert undone.returncode == 0, undone.stderr
    assert (site.replicas(), site.throttled()) == (BEFORE, set())
