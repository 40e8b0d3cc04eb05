"""Metadata logs of real KRaft nodes, and what Kafka's own DumpLogSegments prints of them, kept in `tests/data/kraft`.

    uv run python -m tests.conformance.kafka.metadata_logs 3.3.2 4.1.0 …

formats and starts one combined node of each release, makes a bit of everything that its metadata can hold, ends it, and
keeps the log, the newest snapshot and both texts. All names and passwords are invented.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from confluent_kafka import admin as _admin
from confluent_kafka.admin import AdminClient

from model.cluster.ids import release_numbers
from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import Installation, Release, install
from tests.harness.kafka import KafkaProcess, free_ports
from tests.harness.waiting import eventually

admin: Any = _admin
"""Its names are of a private module, as far as a type checker sees."""

KEPT = Path(__file__).parents[2] / "data" / "kraft"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"

_SETTINGS = """
process.roles=broker,controller
node.id=1
broker.rack=rack-a
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
num.network.threads=1
num.io.threads=2
log.cleaner.enable=false
metadata.log.max.snapshot.interval.ms=6000
metadata.log.max.record.bytes.between.snapshots=4000
"""


def installed(version: str) -> Installation:
    """A release with its tools. Raises UnavailableError."""
    artifacts = tuple(f"org.apache.kafka:{name}:{version}" for name in ("kafka_2.13", "kafka-tools"))
    in_core = release_numbers(version) < (4, 2)
    config = "kafka.admin.ConfigCommand" if in_core else "org.apache.kafka.tools.ConfigCommand"
    return install(Release(version, artifacts, {"configs": config}, "", commands_use_zookeeper=False))


def dumped(kafka: Installation, path: Path) -> bytes:
    """What the release's own DumpLogSegments prints of a log or a snapshot of the metadata."""
    in_tools = release_numbers(kafka.release.version) >= (4, 2)
    tool = "org.apache.kafka.tools.DumpLogSegments" if in_tools else "kafka.tools.DumpLogSegments"
    command = kafka.java(tool, "--cluster-metadata-decoder", "--files", path.name, heap_mb=128)
    return subprocess.run(
        command, cwd=path.parent, capture_output=True, check=True, timeout=120, env=java_environment()
    ).stdout


@contextmanager
def _node(kafka: Installation, folder: Path) -> Iterator[tuple[AdminClient, str]]:
    """A node that serves; it is stopped in order."""
    port, controller = islice(free_ports(), 2)
    has_voters = release_numbers(kafka.release.version) >= (3, 9)
    quorum = f"bootstrap.servers=127.0.0.1:{controller}" if has_voters else f"voters=1@127.0.0.1:{controller}"
    properties = folder / "server.properties"
    properties.write_text(
        f"{_SETTINGS}listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n"
        f"advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n"
        f"controller.quorum.{quorum}\nlog.dirs={folder / 'd1'},{folder / 'd2'}\n"
    )
    words = ("format", "-t", CLUSTER_ID, "-c", str(properties), *(["--standalone"] if has_voters else []))
    command = kafka.java("kafka.tools.StorageTool", *words, heap_mb=128)
    subprocess.run(command, check=True, capture_output=True, timeout=90, env=java_environment())
    process, address = KafkaProcess(kafka, folder), f"127.0.0.1:{port}"
    process.start()
    try:
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})
        eventually(lambda: process.accepts(port) and bool(client.list_topics(timeout=5).brokers), "the node", 90)
        yield client, address
        process.stop()
    finally:
        process.kill()


def _done(futures: dict[Any, Any]) -> None:
    for future in futures.values():
        future.result(30)


def _add_users(client: AdminClient) -> None:
    iterations = admin.ScramCredentialInfo(admin.ScramMechanism.SCRAM_SHA_256, 4096)
    for user in ("alice", "bob"):
        change = admin.UserScramCredentialUpsertion(user, iterations, b"example-secret", b"example-salt")
        _done(client.alter_user_scram_credentials([change]))
    gone = admin.UserScramCredentialDeletion("bob", admin.ScramMechanism.SCRAM_SHA_256)
    _done(client.alter_user_scram_credentials([gone]))


def _fill(kafka: Installation, client: AdminClient, address: str) -> None:
    """A bit of everything."""
    config = {"retention.ms": "7200000", "min.insync.replicas": "1"}
    _done(client.create_topics([admin.NewTopic("orders", 3, 1, config=config), admin.NewTopic("gone", 2, 1)]))
    _done(client.create_partitions([admin.NewPartitions("orders", 4)]))
    password = "listener.name.internal.ssl.key.password", "example-password"
    settings = {
        admin.ConfigResource(admin.ConfigResource.Type.BROKER, "1"): password,
        admin.ConfigResource(admin.ConfigResource.Type.TOPIC, "orders"): ("retention.ms", "3600000"),
    }
    for resource, (name, value) in settings.items():
        entry = admin.ConfigEntry(name, value, incremental_operation=admin.AlterConfigOpType.SET)
        resource.add_incremental_config(entry)
        _done(client.incremental_alter_configs([resource]))
    rule = admin.AclBinding(
        admin.ResourceType.TOPIC, "orders", admin.ResourcePatternType.LITERAL, "User:alice", "*",
        admin.AclOperation.READ, admin.AclPermissionType.ALLOW,
    )  # fmt: skip
    _done(client.create_acls([rule]))
    denied = admin.AclBinding(
        admin.ResourceType.GROUP, "é中😀\"\\\x1f", admin.ResourcePatternType.PREFIXED, "User:bob", "127.0.0.1",
        admin.AclOperation.ALL, admin.AclPermissionType.DENY,
    )  # fmt: skip
    _done(client.create_acls([denied]))
    one = admin.AclBindingFilter(
        admin.ResourceType.TOPIC, "orders", admin.ResourcePatternType.ANY, None, None,
        admin.AclOperation.ANY, admin.AclPermissionType.ANY,
    )  # fmt: skip
    _done(client.delete_acls([one]))
    if release_numbers(kafka.release.version) >= (3, 5):
        _add_users(client)
    _set_quotas(kafka, address)
    _done(client.delete_topics(["gone"]))


def _set_quotas(kafka: Installation, address: str) -> None:
    alice = "--entity-type", "users", "--entity-name", "alice"
    for words in (
        ("--add-config", "producer_byte_rate=1048576,request_percentage=0.00012", *alice),
        ("--add-config", "consumer_byte_rate=123456789012345", "--entity-type", "clients", "--entity-default"),
        ("--delete-config", "producer_byte_rate", *alice),
    ):
        command = kafka.java(
            kafka.release.classes["configs"], "--bootstrap-server", address, "--alter", *words, heap_mb=128
        )
        subprocess.run(command, check=True, capture_output=True, timeout=90, env=java_environment())


def keep(version: str) -> None:
    """Makes the files of one release."""
    kafka, kept = installed(version), KEPT / version
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "d1" / "__cluster_metadata-0"
        with _node(kafka, Path(scratch)) as (client, address):
            _fill(kafka, client, address)
            ids = f"{'[0-9]' * 20}-{'[0-9]' * 10}.checkpoint"
            eventually(lambda: any(path.name > "0" * 19 + "5" for path in log.glob(ids)), "a snapshot", 60)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for path in (log / f"{0:020}.log", max(log.glob(ids))):
            shutil.copyfile(path, kept / path.name)
            (kept / f"{path.name}.txt").write_bytes(dumped(kafka, kept / path.name))
        shutil.copyfile(log / "quorum-state", kept / "quorum-state")
        shutil.copyfile(Path(scratch) / "d1" / "meta.properties", kept / "meta.properties")


if __name__ == "__main__":
    for release in sys.argv[1:]:
        keep(release)
