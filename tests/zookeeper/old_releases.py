"""Jars of old ZooKeeper releases, to see that the ways round what they lack work."""

from pathlib import Path

from tests.maven import UnavailableError, jars_folder, skip_or_fail


def zookeeper_jars(version: str) -> list[Path]:
    """The class path of a release. Without it the test is skipped, or fails with KDRILL_REQUIRE_CONFORMANCE=1."""
    try:
        return sorted(jars_folder(f"zookeeper-{version}", [f"org.apache.zookeeper:zookeeper:{version}"]).glob("*.jar"))
    except UnavailableError as reason:
        skip_or_fail(str(reason))
