"""Kafka's own tools, by real brokers, against a controller of ours: what an operator asks for is done."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,  # pyright: ignore[reportPrivateImportUsage]
    ConfigEntry,  # pyright: ignore[reportPrivateImportUsage]
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
)

from model.hosts.quorum.committed_log import values_of
from model.kraft_controller.compacted import CompactedLog
from model.kraft_controller.partition_change import RESERVED
from model.metadata_log.decoder import Decoded, decode
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.complaints import complaints
from tests.harness.joining_controller import JoiningController, replica
from tests.harness.kraft import KraftCluster
from tests.harness.quorum_voters import Reader, directory_id
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance
SETTINGS = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""
DESCRIBED = re.compile(r"Partition: (\d+)\s+Leader: (\S+)\s+Replicas: (\S+)\s+Isr: ?([\d,]*)")
PERIODS = ("--unclean-election-interval-ms", "1500", "--leader-imbalance-check-interval-s", "0")


@pytest.fixture(scope="module", params=["KRaft 3.9.1", "KRaft 4.4.0"])
def ruled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Brokers 2, 3 and 4; our controller is node 1."""
    folder = tmp_path_factory.mktemp("operated-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with KraftCluster(
        kafka, folder, size=4, voters=1, ours=1, settings=SETTINGS, more_dirs=["more"], our_options=PERIODS
    ) as cluster:
        yield cluster
    shutil.rmtree(folder)


def at(cluster: KraftCluster) -> tuple[str, str]:
    return "--bootstrap-server", cluster.address()


def settled(cluster: KraftCluster, topic: str, wanted: dict[int, tuple[int, list[int], set[int]]]) -> None:
    """Partition → leader, replicas, ISR, as Kafka's own tool describes them."""
    commands = Commands(cluster)

    def now() -> dict[int, tuple[int, list[int], set[int]]]:
        lines = commands.describe_text(topic).splitlines()
        found = (
            re.search(r"Partition: (\d+)\s+Leader: (\S+)\s+Replicas: (\S+)\s+Isr: ?([\d,]*)", line) for line in lines
        )
        return {
            int(each[1]): (
                -1 if each[2] == "none" else int(each[2]),
                [*map(int, each[3].split(","))],
                {int(word) for word in each[4].split(",") if word},
            )
            for each in found
            if each is not None
        }

    eventually(lambda: now() == wanted, f"{topic} as asked for", standing=now)


def known(cluster: KraftCluster, topic: str) -> None:
    """Each broker has heard of it: tools ask any."""
    clients = [Client(cluster.address(number)) for number in (2, 3, 4)]
    eventually(lambda: all(topic in client.topics() for client in clients), f"{topic} to be known")


def test_partitions_are_added(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    commands.create("more", {0: (2, 3)})
    known(ruled, "more")
    commands.add_partitions("more", 3)
    eventually(lambda: len(commands.describe()["more"]) == 3, "three partitions")
    with pytest.raises(RuntimeError, match="already has 3 partition"):
        commands.add_partitions("more", 3)
    with pytest.raises(RuntimeError, match=r"UnknownTopic|does not exist"):
        commands.add_partitions("none", 3)


def test_settings_are_set_appended_to_and_taken_away(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    commands.create("set", {0: (2, 3)})
    known(ruled, "set")
    commands.configure("set", retention_ms="3600000", cleanup_policy="delete")
    appended(ruled, "set", "cleanup.policy", "compact", AlterConfigOpType.APPEND)
    eventually(lambda: "cleanup.policy=delete,compact" in commands.configuration("set"), "both policies")
    appended(ruled, "set", "cleanup.policy", "delete", AlterConfigOpType.SUBTRACT)
    eventually(lambda: "cleanup.policy=compact" in commands.configuration("set"), "one policy")
    assert "retention.ms=3600000" in commands.configuration("set")
    with pytest.raises(RuntimeError, match=r"retention.ms.*abc|abc.*retention.ms"):
        commands.configure("set", retention_ms="abc")
    with pytest.raises(RuntimeError, match=r"retention.ms.*abc|abc.*retention.ms"):
        commands.create("wrong", {0: (2, 3)}, retention_ms="abc")
    named = ("--entity-type", "topics", "--entity-name", "set")
    commands.ask("configs", *at(ruled), "--alter", *named, "--delete-config", "retention.ms")
    eventually(lambda: "retention.ms=3600000" not in commands.configuration("set"), "a setting to go")
    everywhere = ("--entity-type", "brokers", "--entity-default")
    commands.ask("configs", *at(ruled), "--alter", *everywhere, "--add-config", "log.retention.ms=7200000")
    eventually(
        lambda: "log.retention.ms=7200000" in commands.ask("configs", *at(ruled), "--describe", *everywhere),
        "a setting of all brokers",
    )


def appended(cluster: KraftCluster, topic: str, key: str, value: str, operation: AlterConfigOpType) -> None:
    entry = ConfigEntry(key, value, incremental_operation=operation)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    admin.incremental_alter_configs([resource])[resource].result(60)


def test_quotas_and_users_that_log_in(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    alice, bob = (
        ("--entity-type", "users", "--entity-name", "alice"),
        ("--entity-type", "users", "--entity-name", "bob"),
    )

    def told(*named: str) -> str:
        return commands.ask("configs", *at(ruled), "--describe", *named)

    commands.ask(
        "configs", *at(ruled), "--alter", *alice, "--add-config", "producer_byte_rate=1024,request_percentage=12.5"
    )
    eventually(lambda: "producer_byte_rate=1024.0" in told(*alice), "a quota", standing=lambda: told(*alice))
    assert "request_percentage=12.5" in told(*alice)
    commands.ask("configs", *at(ruled), "--alter", *alice, "--delete-config", "producer_byte_rate")
    eventually(lambda: "producer_byte_rate" not in told(*alice), "a quota to go")
    with pytest.raises(RuntimeError, match=r"InvalidRequest|Invalid|Unknown"):
        commands.ask("configs", *at(ruled), "--alter", *alice, "--add-config", "producer_byte_rate=-1")
    password = "SCRAM-SHA-256=[iterations=8192,password=pw]"
    commands.ask("configs", *at(ruled), "--alter", *bob, "--add-config", password)
    eventually(lambda: "SCRAM-SHA-256=iterations=8192" in told(*bob), "a credential", standing=lambda: told(*bob))
    commands.ask("configs", *at(ruled), "--alter", *bob, "--delete-config", "SCRAM-SHA-256")
    eventually(lambda: "SCRAM" not in told(*bob), "a credential to go", standing=lambda: told(*bob))


def test_rules_of_access(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    rule = ("--allow-principal", "User:alice", "--operation", "Read", "--topic", "t")
    commands.ask("acls", *at(ruled), "--add", *rule)
    commands.ask("acls", *at(ruled), "--add", *rule)
    commands.ask("acls", *at(ruled), "--add", *rule[:-1], "pre", "--resource-pattern-type", "prefixed")

    def listed(*words: str) -> str:
        return commands.ask("acls", *at(ruled), "--list", *words)

    eventually(lambda: listed().count("operation=READ") == 2, "two rules", standing=listed)
    matching = listed("--topic", "prefixed-one", "--resource-pattern-type", "match")
    assert "name=pre, patternType=PREFIXED" in matching and "name=t," not in matching
    commands.ask("acls", *at(ruled), "--remove", "--force", "--topic", "t")
    eventually(lambda: listed().count("operation=READ") == 1, "one rule", standing=listed)


def test_replicas_move_and_moves_are_taken_back(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    commands.create("moved", {0: (2, 3), 1: (3, 4)})
    commands.reassign("moved", {0: (4, 3), 1: (4, 2, 3)})
    settled(ruled, "moved", {0: (4, [4, 3], {3, 4}), 1: (3, [4, 2, 3], {2, 3, 4})})
    plan = ("--reassignment-json-file", str(ruled.folder / "reassignment.json"))
    assert commands.ask("reassign", *at(ruled), *plan, "--verify").count("is completed") == 2
    commands.create("slow", {0: (2, 3)})
    producer = Producer({"bootstrap.servers": ruled.bootstrap, "log_level": 0})
    for _ in range(200):
        producer.produce("slow", b"x" * 10_000)
    assert producer.flush(60) == 0
    commands.reassign("slow", {0: (4, 3)}, "--throttle", "1000")
    eventually(lambda: "slow-0" in commands.ask("reassign", *at(ruled), "--list"), "a move under way")
    commands.ask("reassign", *at(ruled), *plan, "--cancel")
    settled(ruled, "slow", {0: (2, [3, 2], {2, 3})})  # the order is not that of the beginning: as in Kafka
    assert "slow-0" not in commands.ask("reassign", *at(ruled), "--list")


def test_leaders_are_elected_as_asked_for(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    commands.create("led", {0: (2, 3)})
    ruled.kill(2)
    settled(ruled, "led", {0: (3, [2, 3], {3})})
    ruled.restore()
    settled(ruled, "led", {0: (3, [2, 3], {2, 3})})
    commands.elect_preferred("led", [0])
    settled(ruled, "led", {0: (2, [2, 3], {2, 3})})
    ruled.kill(3)
    settled(ruled, "led", {0: (2, [2, 3], {2})})
    ruled.kill(2)
    ruled.start(3)
    eventually(lambda: ruled.living() == {3, 4}, "broker 3 to be back")
    settled(ruled, "led", {0: (-1, [2, 3], {2})})
    named = ("--topic", "led", "--partition", "0")
    commands.ask("elect", "--bootstrap-server", ruled.address(3, 4), *named, "--election-type", "unclean")
    settled(ruled, "led", {0: (3, [2, 3], {3})})
    ruled.restore()
    settled(ruled, "led", {0: (3, [2, 3], {2, 3})})


def test_topics_that_allow_it_get_a_leader_that_lacks_records(ruled: KraftCluster) -> None:
    """That they allow it now elects nobody at once: the controller looks from time to time."""
    commands = Commands(ruled)
    commands.create("unclean", {0: (3, 4)})
    ruled.kill(4)
    settled(ruled, "unclean", {0: (3, [3, 4], {3})})
    ruled.kill(3)
    ruled.start(4)
    settled(ruled, "unclean", {0: (-1, [3, 4], {3})})
    commands.configure("unclean", unclean_leader_election_enable="true")
    settled(ruled, "unclean", {0: (4, [3, 4], {4})})
    ruled.restore()


async def test_brokers_say_in_which_directory_replicas_are(ruled: KraftCluster) -> None:
    """Two directories each: which of them a new replica is in, the broker chooses."""
    commands, reader = Commands(ruled), Reader(ruled.ways)
    commands.create("placed", {0: (2, 3), 1: (3, 4)})
    found: list[str] = []
    for _ in range(300):
        await reader.read()
        found = directories(reader, "placed")
        if len(found) == 4 and not RESERVED & set(found):
            break
        await asyncio.sleep(0.2)
    assert len(found) == 4 and not RESERVED & set(found)


def directories(reader: Reader, topic: str) -> list[str]:
    """Of all replicas of a topic, as the metadata log has them."""
    log = CompactedLog()
    behind = (data for offset, data in sorted(reader.committed.items()) if offset >= reader.loaded[0].offset)
    for data in (reader.loaded[1], *behind):
        for value, _ in values_of(data):
            log.take(value, 0)
    told = [decode(record) for record in log.placed()]
    partitions = [each.fields for each in told if isinstance(each, Decoded) and each.schema.name == "PartitionRecord"]
    id_ = log.topic_ids.get(topic)
    found: list[Any] = [each["directories"] for each in partitions if each["topicId"] == id_]
    return [directory for each in found for directory in each]


def test_features_go_up_and_down(ruled: KraftCluster) -> None:
    commands = Commands(ruled)

    def reaches(name: str, wanted: str) -> None:
        eventually(lambda: level(name) == wanted, f"{name} {wanted}", standing=lambda: level(name))

    def level(name: str) -> str:
        lines = commands.ask("features", *at(ruled), "describe").splitlines()
        found = next(line for line in lines if f"Feature: {name}\t" in line or f"Feature: {name} " in line)
        match = re.search(r"FinalizedVersionLevel: (\S+)", found)
        assert match is not None
        return match[1]

    if ruled.kafka.release.version == "3.9.1":
        commands.ask("features", *at(ruled), "downgrade", "--metadata", "3.8")
        reaches("metadata.version", "3.8-IV0")
        with pytest.raises(RuntimeError):
            commands.ask("features", *at(ruled), "downgrade", "--metadata", "3.6")
        commands.ask("features", *at(ruled), "upgrade", "--metadata", "3.9")
        reaches("metadata.version", "3.9-IV0")
    else:
        commands.upgrade_feature("eligible.leader.replicas.version=1")
        reaches("eligible.leader.replicas.version", "1")
        with pytest.raises(RuntimeError):
            commands.upgrade_feature("eligible.leader.replicas.version=2")
        commands.ask("features", *at(ruled), "downgrade", "--feature", "eligible.leader.replicas.version=0")
        reaches("eligible.leader.replicas.version", "0")


def test_tools_that_ask_the_controller_itself(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    here = ("--bootstrap-controller", ruled.controllers)
    assert re.search(r"LeaderId:\s+1\n", commands.ask("quorum", *here, "describe", "--status"))
    assert "metadata.version" in commands.ask("features", *here, "describe")
    everywhere = ("--entity-type", "brokers", "--entity-default")
    commands.ask("configs", *here, "--alter", *everywhere, "--add-config", "log.retention.bytes=3600001")
    assert "log.retention.bytes=3600001" in commands.ask("configs", *here, "--describe", *everywhere)


def test_cordoned_directories_get_no_new_replicas(ruled: KraftCluster) -> None:
    """KIP-1066: each broker tells its controller, which has the next one know it, too."""
    if ruled.kafka.release.version < "4.3":
        pytest.skip("its brokers know none")
    commands = Commands(ruled)
    both = ",".join(str(ruled.folder / "node-4" / name) for name in ("logs", "more"))
    of_4 = ("--entity-type", "brokers", "--entity-name", "4")
    commands.ask("configs", *at(ruled), "--alter", *of_4, "--add-config", f"cordoned.log.dirs=[{both}]")

    def refused() -> bool:
        try:
            commands.create("cordoned", {0: (4,)})
        except RuntimeError as failure:
            return "assignment" in str(failure)
        commands.delete("cordoned")
        return False

    eventually(refused, "its controller to know")
    ruled.kill(1)
    ruled.start(1)
    eventually(refused, "the next one to know")
    commands.ask("configs", *at(ruled), "--alter", *of_4, "--delete-config", "cordoned.log.dirs")
    eventually(lambda: not refused(), "replicas to be placed there again")


def test_a_broker_is_taken_out(ruled: KraftCluster) -> None:
    commands = Commands(ruled)
    ruled.stop(4)
    told = commands.ask("cluster", "unregister", *("--bootstrap-server", ruled.address(2, 3)), "--id", "4")
    assert "no longer registered" in told
    with pytest.raises(RuntimeError, match=r"BrokerIdNotRegistered|not registered"):
        commands.ask("cluster", "unregister", *("--bootstrap-server", ruled.address(2, 3)), "--id", "4")
    ruled.restore()
    assert "ERROR" not in ruled.log(1)
    assert complaints(ruled, (2, 3, 4)) == []


def is_out(cluster: KraftCluster, named: Sequence[str]) -> bool:
    """Who joins by itself votes before that is committed, and until then there is no other change."""
    try:
        Commands(cluster).ask("quorum", *at(cluster), "remove-controller", *named)
    except RuntimeError as refusal:
        if "not committed" not in str(refusal):
            raise
        return False
    return True


def test_a_real_controller_is_added_and_taken_out(ruled: KraftCluster) -> None:
    """By the tool, through a broker; one of 4.4.0 that may adds itself as soon as it has caught up."""
    commands, joins = Commands(ruled), ruled.kafka.release.version >= "4.2"
    ninth = JoiningController(ruled, 9, "controller.quorum.auto.join.enable=true\n" if joins else "")
    named = ("--controller-id", "9", "--controller-directory-id", directory_id(9))

    def now() -> tuple[str, int]:
        return replica(commands, at(ruled), 9)

    ninth.start()
    try:
        if not joins:
            eventually(lambda: now()[1] > 0, "it to be seen", standing=now)
            told = commands.ask("quorum", *at(ruled), "--command-config", str(ninth.properties), "add-controller")
            assert f"CONTROLLER://127.0.0.1:{ninth.port}" in told
        eventually(lambda: now()[0] == "Follower", "it to vote", standing=lambda: f"{now()}\n{ninth.log[-2000:]}")
        commands.create("by-two", {0: (2, 3)})
        with pytest.raises(RuntimeError, match="DuplicateVoter"):
            commands.ask("quorum", *at(ruled), "--command-config", str(ninth.properties), "add-controller")
        eventually(lambda: is_out(ruled, named), "it to be taken out")
        eventually(lambda: joins or now()[0] == "Observer", "it to look on", standing=now)
        if joins:
            eventually(lambda: now()[0] == "Follower", "it to vote again", standing=now)
            commands.create("by-two-again", {0: (2, 3)})
            ninth.pause()  # or it might ask once more before it ends
            assert is_out(ruled, named)
    finally:
        ninth.kill()
    with pytest.raises(RuntimeError, match="VoterNotFound"):
        commands.ask("quorum", *at(ruled), "remove-controller", *named)
    commands.create("by-one-again", {0: (2, 3)})
    assert not re.search(r"\bERROR\b(?!.*Reconfiguration failed)", ninth.log)
    assert "Traceback" not in ruled.log(1)


def test_leaders_go_back_by_themselves(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("balanced-")
    options = ("--leader-imbalance-check-interval-s", "2")
    with KraftCluster(install_or_skip("4.4.0"), folder, size=3, voters=1, ours=1, our_options=options) as cluster:
        Commands(cluster).create("balanced", {0: (2, 3)})
        cluster.kill(2)
        settled(cluster, "balanced", {0: (3, [2, 3], {3})})
        cluster.restore()
        settled(cluster, "balanced", {0: (2, [2, 3], {2, 3})})
        assert complaints(cluster, (2, 3)) == []
    shutil.rmtree(folder)
