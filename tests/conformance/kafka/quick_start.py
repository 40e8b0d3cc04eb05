"""A broker run once for the classes it loads: from an archive of them all JVMs of a release start in half the time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.conformance.kafka.releases import Installation
from tests.harness.kafka import Cluster


def archive_classes(kafka: Installation, zookeeper: str, folder: Path) -> None:
    """Does nothing where there is an archive, or another process makes it. `zookeeper` is a chroot of its own."""

    def train(file: Path) -> None:
        training = replace(kafka, training=(f"-XX:ArchiveClassesAtExit={file}",))
        with Cluster(training, zookeeper, folder, size=1) as cluster:
            cluster.brokers[1].stop()

    kafka.archive.build(train)
