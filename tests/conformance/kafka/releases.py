"""The Kafka releases that the tests run for real, and how they differ: jars, server settings, command classes.

Running brokers is brokers.py's, running commands commands.py's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from model.sandbox.java import ClassArchive, find_java
from model.sandbox.processes import SandboxError
from tests.maven import UnavailableError, jars_folder, skip_or_fail

JAVA_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""No release needs any flag on Java 17 (none --add-opens): these make JVMs start quicker and leave no files."""
LOGGING = f"-Dlog4j.configuration={Path(__file__).with_name('log4j.properties').as_uri()}"


@dataclass(frozen=True)
class Release:
    """One Kafka release. `classes` maps a command's name to its main class."""

    version: str
    artifacts: tuple[str, ...]
    """Maven coordinates, group:artifact:version."""
    classes: dict[str, str]
    listener_settings: str
    """Template for server.properties; knows {port} and {rack}."""
    commands_use_zookeeper: bool
    """TopicCommand & co. take --zookeeper (until 2.x) or --bootstrap-server."""


@dataclass(frozen=True)
class Installation:
    """A release whose jars are on this machine."""

    release: Release
    jars: Path
    """The folder they are in."""
    java_program: Path
    archive: ClassArchive
    """Of what a broker loads; see quick_start.py."""
    kraft_archive: ClassArchive
    """The same of one that is a controller of KRaft, too."""
    training: tuple[str, ...] = ()
    """Flags of a JVM that writes the archive."""

    def in_kraft(self) -> Installation:
        """The same for nodes of KRaft."""
        return replace(self, archive=self.kraft_archive)

    def java(self, main_class: str, *arguments: str, heap_mb: int) -> list[str]:
        """The command line that runs one of the release's classes."""
        flags = [*JAVA_FLAGS, f"-Xmx{heap_mb}m", LOGGING]
        flags += self.training or self.archive.flags()
        return [str(self.java_program), *flags, "-cp", f"{self.jars}/*", main_class, *arguments]


_SCALA_COMMANDS = {
    "topics": "kafka.admin.TopicCommand",
    "reassign": "kafka.admin.ReassignPartitionsCommand",
    "elect": "kafka.admin.PreferredReplicaLeaderElectionCommand",
    "produce": "kafka.tools.ConsoleProducer",
    "consume": "kafka.tools.ConsoleConsumer",
}
_LISTENERS = "listeners=PLAINTEXT://127.0.0.1:{port}\nbroker.rack={rack}\n"

_TOOLS = {
    "topics": "org.apache.kafka.tools.TopicCommand",
    "configs": "kafka.admin.ConfigCommand",
    "reassign": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "elect": "org.apache.kafka.tools.LeaderElectionCommand",
    "produce": "kafka.tools.ConsoleProducer",
    "consume": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "acls": "kafka.admin.AclCommand",
}

RELEASES = {
    release.version: release
    for release in (
        Release(
            version="0.8.2.2",
            artifacts=("org.apache.kafka:kafka_2.11:0.8.2.2",),
            classes=_SCALA_COMMANDS,
            listener_settings="host.name=127.0.0.1\nport={port}\n",
            commands_use_zookeeper=True,
        ),
        Release(
            version="1.1.1",
            # Without a binding of slf4j the broker starts, but a failure would leave no log to read.
            artifacts=("org.apache.kafka:kafka_2.12:1.1.1", "org.slf4j:slf4j-log4j12:1.7.25"),
            classes={**_SCALA_COMMANDS, "configs": "kafka.admin.ConfigCommand"},
            listener_settings=_LISTENERS,
            commands_use_zookeeper=True,
        ),
        Release(
            version="3.9.1",
            artifacts=("org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools:3.9.1"),
            classes=_TOOLS,
            listener_settings=_LISTENERS,
            commands_use_zookeeper=False,
        ),
    )
}

NEWEST = Release(
    version="4.4.0",
    artifacts=("org.apache.kafka:kafka_2.13:4.4.0", "org.apache.kafka:kafka-tools:4.4.0"),
    classes={
        **_TOOLS,
        "acls": "org.apache.kafka.tools.AclCommand",
        "configs": "org.apache.kafka.tools.ConfigCommand",
        "produce": "org.apache.kafka.tools.ConsoleProducer",
        "share-consume": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        "share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    },
    listener_settings=_LISTENERS,
    commands_use_zookeeper=False,
)
"""The newest that Maven Central has: without ZooKeeper, and with eligible leader replicas (KIP-966)."""
QUORUMS = ("KRaft 3.9.1", f"KRaft {NEWEST.version}")
"""The releases on KRaft that tests are compared with, as parameters of fixtures."""


def install_or_skip(version: str) -> Installation:
    """The release, ready to run; without it the test is skipped, or fails with KDRILL_REQUIRE_CONFORMANCE=1."""
    try:
        return install(NEWEST if version == NEWEST.version else RELEASES[version])
    except UnavailableError as reason:
        skip_or_fail(str(reason))


def install(release: Release) -> Installation:
    """The release, ready to run. Raises UnavailableError without Java, or at first use without Maven or the network."""
    try:
        java = find_java()
    except SandboxError as error:
        raise UnavailableError(str(error)) from None
    jars = jars_folder(f"kafka-{release.version}", release.artifacts)
    files = sorted(jars.glob("*.jar"))
    archive, kraft_archive = (
        ClassArchive.of(java, files, jars.parent, f"{what}{release.version}") for what in ("broker", "kraft")
    )
    return Installation(release, jars, java.program, archive, kraft_archive)
