"""A SOURCE as the operator writes it → a source. Opens nothing yet."""

from pathlib import Path

from model.sources.naming import parse_source
from model.sources.snapshot_source import SnapshotSource
from model.sources.source import Source
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource


def source_named(name: str) -> Source:
    """`zk://…` or a snapshot file; raises SourceError with one line for anything else."""
    named = parse_source(name)
    return SnapshotSource(named) if isinstance(named, Path) else ZooKeeperSource(named)
