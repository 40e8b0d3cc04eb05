"""`kdrill topics`, `configs` and `act` on real clusters: the cluster does it, and Kafka's own tool shows it.

Through ZooKeeper on each release, and through the brokers on 3.9.1. Each test has topics of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model.actions.proposal import ApiCall
from model.cluster.cluster_image import state_in
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.records import PartitionState
from model.hosts.acting.admin_writes import AdminWriter
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.harness.kafka import Cluster
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.kraft_forecasts.playing import Foreseen, partitions
from tui.cli.main import main

pytestmark = pytest.mark.conformance

DOES = ("--allow-writes", "--yes")
Kdrill = Callable[..., str]


@pytest.fixture
def kdrill(capfd: pytest.CaptureFixture[str]) -> Kdrill:
    """Runs kdrill with an operator's words, and returns what it printed. Raises RuntimeError where it fails."""

    def run(*words: str) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(words)
        told = capfd.readouterr()
        if ended.value.code:
            raise RuntimeError(f"kdrill {' '.join(words)} failed:\n{told.out}{told.err}")
        return told.out

    return run


def led(cluster: Cluster, topic: str, leaders: dict[int, int]) -> None:
    eventually(
        lambda: all(cluster.state(topic, p).get("leader") == leader for p, leader in leaders.items()),
        f"the leaders of {topic} to be {leaders}",
    )


def same_as_the_tool(cluster: Cluster, commands: Commands, kdrill: Kdrill, topic: str) -> str:
    """What both print of a topic, byte for byte, once brokers that answer from a cache have caught up."""
    asks = () if cluster.kafka.release.commands_use_zookeeper else ("--bootstrap", cluster.bootstrap)
    texts: list[str] = []

    def agree() -> bool:
        try:
            told = commands.describe_text(topic)
        except RuntimeError as error:  # the broker that it asked does not know the topic yet
            told = str(error)
        texts[:] = [told, kdrill("topics", cluster.source_url, "describe", "--topic", topic, *asks)]
        return texts[0] == texts[1]

    eventually(agree, "both to print the same", standing=lambda: texts)
    return texts[1]


def test_a_topic_lives_through_zookeeper(cluster: Cluster, commands: Commands, kdrill: Kdrill) -> None:
    source = cluster.source_url
    kdrill("topics", source, "create", "--topic", "made", "--replica-assignment", "1:2,2:3", *DOES,
           "--config", "retention.ms=3600000", "--config", "segment.bytes=1048576")  # fmt: skip
    # Who leads is not asked: a controller that has only just started may not know all brokers yet.
    eventually(lambda: cluster.state("made", 0) and cluster.state("made", 1), "both partitions")
    assert "retention.ms=3600000" in same_as_the_tool(cluster, commands, kdrill, "made")

    kdrill("configs", source, "alter", "--topic", "made", "--add-config", "max.message.bytes=2000",
           "--delete-config", "retention.ms", *DOES)  # fmt: skip
    kdrill("topics", source, "alter", "--topic", "made", "--partitions", "4", *DOES)
    eventually(lambda: cluster.state("made", 3), "partition 3")
    shown = same_as_the_tool(cluster, commands, kdrill, "made")
    assert "max.message.bytes=2000" in shown
    assert "retention.ms" not in shown
    if cluster.kafka.release.version == "1.1.1":  # 0.8 has no such tool, and 3.9 asks brokers
        assert kdrill("configs", source, "describe", "--topic", "made") == commands.configuration("made")

    kdrill("topics", source, "delete", "--topic", "made", *DOES)
    eventually(lambda: "made" not in cluster.children("/brokers/topics"), "the end of the topic")


def test_preferred_leaders_are_elected_through_zookeeper(cluster: Cluster, commands: Commands, kdrill: Kdrill) -> None:
    reordered(cluster, commands, "led")
    kdrill("act", cluster.source_url, "elect-preferred", "--topic", "led", *DOES)
    led(cluster, "led", {0: 2})
    eventually(lambda: not cluster.text("/admin/preferred_replica_election"), "the controller to take the znode away")


def reordered(cluster: Cluster, commands: Commands, topic: str) -> None:
    """A topic that broker 1 leads and that prefers broker 2."""
    cluster.create(topic, {0: [1, 2]})
    led(cluster, topic, {0: 1})
    eventually(lambda: len(cluster.state(topic, 0)["isr"]) == 2, "both replicas to be in sync")
    commands.reassign(topic, {0: [2, 1]})
    eventually(lambda: cluster.read(f"/brokers/topics/{topic}")["partitions"] == {"0": [2, 1]}, "the new order")
    eventually(lambda: not cluster.text("/admin/reassign_partitions"), "the reassignment to end")


@pytest.mark.parametrize("cluster", ["1.1.1"], indirect=True)
def test_a_group_in_zookeeper_is_set_and_removed(cluster: Cluster, kdrill: Kdrill) -> None:
    cluster.create("read", {0: [1]})
    led(cluster, "read", {0: 1})
    Client(cluster.bootstrap).produce("read", ["a", "b", "c"])
    path = "/consumers/gone"
    for each in (path, f"{path}/ids", f"{path}/offsets", f"{path}/offsets/read"):
        cluster.write(each)
    cluster.write(f"{path}/offsets/read/0", "1")

    named = ("--group", "gone")
    kdrill("act", cluster.source_url, "reset-offsets", *named, "--all-topics", "--to-latest", *DOES)
    assert cluster.text(f"{path}/offsets/read/0") == "3"
    kdrill("act", cluster.source_url, "reset-offsets", *named, "--topic", "read:0", "--shift-by", "-9", *DOES)
    assert cluster.text(f"{path}/offsets/read/0") == "0"
    kdrill("act", cluster.source_url, "delete-group", *named, *DOES)
    assert "gone" not in cluster.children("/consumers")


@pytest.mark.parametrize("cluster", ["3.9.1"], indirect=True)
def test_a_topic_and_a_group_live_through_the_brokers(cluster: Cluster, commands: Commands, kdrill: Kdrill) -> None:
    live_through_brokers(cluster.source_url, cluster.bootstrap, commands, kdrill)


@pytest.mark.parametrize("cluster", ["3.9.1"], indirect=True)
def test_brokers_tell_their_groups_beside_zookeeper(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create("beside", {0: [1]})
    admin = AdminWriter(cluster.bootstrap)
    commit = ApiCall("OffsetCommit", {"group": "aside", "offsets": {"beside": {"0": 0}}})
    try:
        eventually(lambda: admin.carry_out([commit]).kind == "done", "the coordinator")
    finally:
        admin.close()
    file = tmp_path / "now.json"
    for words, groups in (([], set[str]()), (["--bootstrap", cluster.bootstrap], {"aside"})):
        with pytest.raises(SystemExit):
            main(["snapshot", cluster.source_url, "-o", str(file), *words])
        assert json.loads(file.read_bytes())["groups"].keys() & {"aside"} == groups


def test_a_topic_and_a_group_live_in_a_kraft_cluster(kraft: KraftCluster, kdrill: Kdrill) -> None:
    live_through_brokers(kraft.source_url, kraft.bootstrap, Commands(kraft), kdrill)


def live_through_brokers(source: str, bootstrap: str, commands: Commands, kdrill: Kdrill) -> None:
    asked = ("--topic", "sent", "--bootstrap", bootstrap)

    def do(*words: str) -> None:
        kdrill(*words, "--bootstrap", bootstrap, *DOES)

    def described(partitions: int, setting: str) -> None:
        """By both alike, byte for byte, once all that was asked for has come about."""
        texts: list[str] = []

        def agree() -> bool:
            texts[:] = [commands.describe_text("sent"), kdrill("topics", source, "describe", *asked)]
            return texts[0] == texts[1] and texts[0].count("Partition: ") == partitions and setting in texts[0]

        eventually(agree, "both to print the same", standing=lambda: texts)

    do("topics", source, "create", "--topic", "sent", "--partitions", "2", "--replication-factor", "2",
       "--config", "retention.ms=3600000")  # fmt: skip
    described(2, "retention.ms=3600000")
    do("topics", source, "alter", "--topic", "sent", "--partitions", "3")
    do("configs", source, "alter", "--topic", "sent", "--add-config", "cleanup.policy=[compact,delete]",
       "--delete-config", "retention.ms")  # fmt: skip
    described(3, "cleanup.policy=compact,delete")
    assert kdrill("configs", source, "describe", *asked) == commands.configuration("sent")

    client = Client(bootstrap)
    leader_is_elected(source, client, commands, do)
    client.produce("voted", ["a", "b", "c"])
    admin = AdminWriter(bootstrap)
    try:
        group_lives(source, admin, do)
        stale = {"sent-0": [7], "partitions sent": 9, "topic-id sent": "x", "config topic sent retention.ms": "1"}
        for fact, was in stale.items():
            assert "nothing was sent; look again" in admin.check([ApiCall("DeleteTopics", {}, {fact: was})])
    finally:
        admin.close()
    do("topics", source, "delete", "--topic", "sent")
    eventually(lambda: "sent" not in commands.describe(), "the end of the topic")


def leader_is_elected(source: str, client: Client, commands: Commands, do: Callable[..., None]) -> None:
    """The preferred one of a topic whose replicas change their order."""
    client.create("voted", {0: [1, 2]})
    eventually(lambda: client.partition("voted", 0).isr == {1, 2}, "both replicas to be in sync")
    commands.reassign("voted", {0: [2, 1]})
    eventually(lambda: client.partition("voted", 0).replicas == (2, 1), "the new order")
    do("act", source, "elect-preferred", "--topic", "voted")
    eventually(lambda: client.partition("voted", 0).leader == 2, "the preferred leader")


def group_lives(source: str, admin: AdminWriter, do: Callable[..., None]) -> None:
    """A group without members is set and removed."""
    commit = ApiCall("OffsetCommit", {"group": "left", "offsets": {"voted": {"0": 0}}})
    eventually(lambda: admin.carry_out([commit]).kind == "done", "the coordinator")
    stale = ApiCall("DeleteGroups", {"groups": ["left"]}, {"members left": 0, "offset left voted-0": 7})
    assert admin.check([stale]).startswith("offset left voted-0 is 0 by now and was 7: nothing was sent")
    do("act", source, "reset-offsets", "--group", "left", "--all-topics", "--to-latest")
    assert admin.reads.offsets("left") == {TopicPartition("voted", 0): 3}
    do("act", source, "delete-group", "--group", "left")
    assert admin.reads.offsets("left") == {}


class Acted:
    """A real quorum to which things are done, and a topic of it as its metadata log has it."""

    def __init__(self, cluster: KraftCluster, kdrill: Kdrill) -> None:
        self.cluster = cluster
        self.source = f"controllers://{cluster.controllers}"
        self._seen = Foreseen(cluster)
        self._kdrill = kdrill

    def does(self, *words: str) -> str:
        """Through its brokers, confirmed; what was proposed."""
        return self._kdrill(*words[:1], self.source, *words[1:], "--bootstrap", self.cluster.bootstrap, *DOES)

    def state(self, topic: str, number: int) -> PartitionState:
        state = state_in(self._seen.image(), TopicPartition(topic, number))
        assert state is not None
        return state

    def becomes(self, what: Callable[[], object]) -> None:
        def is_so() -> bool:
            assert not (wrongly := {each for each in self._seen.image().fenced if self.cluster.nodes[each]}), wrongly
            return bool(what())

        eventually(is_so, "what was proposed", 60, standing=lambda: partitions(self._seen.image()))

    def moves(self, plan: Path) -> None:
        """Under a throttle, then with a preferred election: to the epoch what the plan's forecast says."""
        told = json.loads(self._kdrill("plan", self.source, "--score", str(plan), "--json"))["partitions"]
        assert all(each["waits_for"] == [] for each in told)
        said = self.does("act", "reassign", str(plan), "--throttle", "50MB")
        assert "! Leaders move: 1 with the reassignment itself, where the old one goes; 1 with" in said
        assert [self.state("acted", each["partition"]).leader for each in told] == [each["leader"][1] for each in told]
        said = self.does("act", "elect-preferred", "--topic", "acted")
        assert "acted-1: leader 1 → 3, leader epoch" in said and "acted-0" not in said.partition("in this order")[0]
        for each in told:
            state = self.state("acted", each["partition"])
            assert (state.leader, state.leader_epoch, state.version) == (
                each["leader"][2], each["leader_epoch"][1], each["partition_epoch"][1],
            )  # fmt: skip

    def loses_and_elects(self) -> None:
        """One after the other of two dies, and the first comes back without what was written since."""
        for broker in (3, 4):
            self.dies(broker)
        self.becomes(lambda: self.state("lossy", 0).leader == NO_LEADER)
        self.cluster.start(3)
        eventually(lambda: not self.is_fenced(3), "broker 3", 90)
        before = self.state("lossy", 0)
        said = self.does("act", "elect-unclean", "--topic", "lossy")
        epochs = f"leader epoch {before.leader_epoch} → {before.leader_epoch + 1}"
        assert f"lossy-0: leader none → 3, {epochs}" in said
        assert "broker 4 has all that was acknowledged: with it back nothing is lost" in said
        self.becomes(lambda: self.state("lossy", 0).leader == 3)
        after = self.state("lossy", 0)
        assert (after.isr, after.leader_epoch, after.elr or ()) == ((3,), before.leader_epoch + 1, ())

    def dies(self, broker: int) -> None:
        self.cluster.kill(broker)
        self.becomes(lambda: self.is_fenced(broker) and set(self.state("lossy", 0).isr) <= {4})

    def is_fenced(self, broker: int) -> bool:
        return broker in self._seen.image().fenced


def test_what_is_done_to_a_kraft_cluster_is_what_was_proposed(
    quorum: KraftCluster, kdrill: Kdrill, tmp_path: Path
) -> None:
    Foreseen(quorum).wait_for_sync()
    it, client, plan = Acted(quorum, kdrill), Client(quorum.bootstrap), tmp_path / "plan.json"
    client.create("acted", {0: [4, 1, 2], 1: [1, 4, 2]})
    client.create("lossy", {0: [4, 3]}, min_insync_replicas="1")
    targets = {0: [1, 2, 3], 1: [3, 1, 2]}
    entries = [{"topic": "acted", "partition": number, "replicas": to} for number, to in targets.items()]
    plan.write_text(json.dumps({"version": 1, "partitions": entries}))
    it.becomes(lambda: set(it.state("acted", 0).isr) == {1, 2, 4} and set(it.state("lossy", 0).isr) == {3, 4})
    try:
        it.moves(plan)
        it.does("topics", "create", "--topic", "placed", "--partitions", "4", "--replication-factor", "3")
        it.does("configs", "alter", "--topic", "acted", "--add-config", "min.insync.replicas=2")
        it.becomes(lambda: len(it.state("placed", 3).isr) == 3)
        it.loses_and_elects()
    finally:
        quorum.restore()
        Client(quorum.bootstrap).delete(["acted", "lossy", "placed"])
