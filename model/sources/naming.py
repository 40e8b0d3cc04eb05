"""A SOURCE as the operator writes it → what it names. Opens nothing, and loads nothing that could."""

import os
from pathlib import Path

from model.sources.source import SourceError
from model.sources.zookeeper.address import SCHEME, ZooKeeperAddress, parse_address


def parse_source(name: str) -> ZooKeeperAddress | Path:
    """`zk://…` or the path of a file that exists; raises SourceError with one line for anything else."""
    if name.startswith(SCHEME):
        return parse_address(name)
    if "://" in name:
        scheme = name.partition("://")[0]
        raise SourceError(f"{name!r}: {scheme}:// is no kind of source: write zk://host:port[/chroot] or a file's path")
    if not os.path.lexists(name):  # Path.exists raises for a name that is too long
        hint = f"; for a ZooKeeper write zk://{name}" if ":" in name else ""
        raise SourceError(f"{name!r}: no such file{hint}")
    return Path(name)
