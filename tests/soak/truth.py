"""What a fresh load says of the cluster, and where a followed image differs from it. Both as snapshot documents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from model.cluster.snapshot_file import read_document, write_snapshot
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Feed, Moment
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource

PATIENCE_S = 120.0
SEEN_HAPPENING = ("taken_at_ms", "source", "zxid")
"""What depends on when and from where somebody looked, beside the rebalances of groups."""
SHOWN = 10


def load(source: str, path: Path) -> None:
    """A snapshot of what a source that is opened now says. Raises AssertionError when it is not live in time."""
    live, moments = threading.Event(), list[Moment]()

    def publish(moment: Moment) -> None:
        if moment.status.phase == "live":
            moments[:] = [moment]
            live.set()

    zookeeper = ZooKeeperSource(parse_zookeeper_address(source))
    with closing(zookeeper):
        zookeeper.open(Feed(zookeeper.name, publish))
        assert live.wait(PATIENCE_S), f"{source}: no fresh load within {PATIENCE_S:.0f} s"
        write_snapshot(path, moments[0].image, moments[0].findings.found)


def differences(followed: Path, fresh: Path) -> list[str]:
    """The first places where two snapshots differ; none: nothing was lost. Raises SnapshotError."""
    found = _different("", _facts(followed), _facts(fresh))
    return [each for each, _ in zip(found, range(SHOWN), strict=False)]


def _facts(path: Path) -> dict[str, Any]:
    document = read_document(path)
    for name in SEEN_HAPPENING:
        document.pop(name, None)
    for group in document["groups"].values():
        group.pop("rebalances", None)
    return document


def _different(where: str, one: Any, other: Any) -> Iterator[str]:
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from _different(f"{where}/{key}", one.get(key), other.get(key))
    else:
        yield f"{where}: followed {str(one)[:200]}, there {str(other)[:200]}"
