"""Jars of old ZooKeeper releases, to see that the ways round what they lack work."""

from pathlib import Path

from tests.maven import jars_folder


def zookeeper_jars(version: str) -> list[Path]:
    """The class path of a release. Raises UnavailableError, at first use, without Maven or the network."""
    return sorted(jars_folder(f"zookeeper-{version}", [f"org.apache.zookeeper:zookeeper:{version}"]).glob("*.jar"))
