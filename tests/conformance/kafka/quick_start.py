"""A broker run once for the classes it loads: from an archive of them all JVMs of a release start in half the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.conformance.kafka.releases import Installation
from tests.harness.kafka import Cluster


def archive_classes(kafka: Installation, live: Callable[[Installation], None]) -> None:
    """Does nothing where there is an archive, or another process makes it.

    `live` starts a broker of the installation that it is given, and ends it in order.
    """
    if not kafka.training:
        kafka.archive.build(lambda file: live(replace(kafka, training=(f"-XX:ArchiveClassesAtExit={file}",))))


def live_under_zookeeper(kafka: Installation, zookeeper: str, folder: Path) -> None:
    """One broker, started and ended. `zookeeper` is a chroot of its own."""
    with Cluster(kafka, zookeeper, folder, size=1) as cluster:
        cluster.brokers[1].stop()
