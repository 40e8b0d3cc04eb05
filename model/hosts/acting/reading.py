"""Znodes as they are this moment, by a session that only reads: what a proposal is made from and checked against."""

import time
from collections.abc import Iterable
from typing import Self

from model.actions.found import Found, FoundZnode
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import Settings
from model.hosts.zookeeper.values import Children, Missing, TooLarge, Unread, Znode

CONNECT_S = 15.0
TREE_ZNODES, TREE_S = 1_000_000, 60.0
"""More are not looked for, nor for longer, below one znode: only who lies has so many, or takes so long."""


class Reading:
    """Connected for as long as its `with` block lasts."""

    def __init__(self, settings: Settings, timeout_s: float = CONNECT_S) -> None:
        self._reader = ZooKeeperReader.open(settings, on_events=_unheard, on_state=_unheard)
        self._timeout_s = timeout_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def znodes(self, paths: Iterable[str]) -> Found:
        """Those that are there. Raises ZooKeeperUnavailable, one line, also for one that may not be read."""
        self._catch_up()
        found = [one for one in self._reader.read_many(list(paths)) if not _is_missing(one)]
        return {one.path: FoundZnode(one.data, one.stat.version) for one in found if isinstance(one, Znode)}

    def children(self, path: str) -> tuple[str, ...]:
        """The names below a znode; none where it does not exist. Raises as `znodes`."""
        self._catch_up()
        found = self._reader.children(path)
        return found.names if not _is_missing(found) and isinstance(found, Children) else ()

    def tree(self, path: str) -> Found:
        """A znode and all that is below it. Raises as `znodes`, also where that is more than Kafka has anywhere."""
        return self.znodes(self._paths_from(path))

    def close(self) -> None:
        """Ends the session."""
        self._reader.close()

    def _paths_from(self, path: str) -> list[str]:
        self._catch_up()
        paths, level, ends_s = [path], [path], time.monotonic() + TREE_S
        while level:
            if len(paths) > TREE_ZNODES or time.monotonic() > ends_s:
                raise ZooKeeperUnavailable(f"{path} has no end: more than {len(paths):,} znodes were found below it")
            found = [each for each in self._reader.children_many(level) if not _is_missing(each)]
            level = [f"{each.path}/{name}" for each in found if isinstance(each, Children) for name in each.names]
            paths += level
        return paths

    def _catch_up(self) -> None:
        """The server behind the connection may lag behind the ensemble's leader."""
        self._reader.wait_connected(self._timeout_s)
        self._reader.sync()


def _is_missing(found: Znode | Children | Unread) -> bool:
    if isinstance(found, Znode | Children | Missing):
        return isinstance(found, Missing)
    if isinstance(found, TooLarge):
        raise ZooKeeperUnavailable(f"{found.path} cannot be read: {found.length:,} bytes are too large to be Kafka's")
    raise ZooKeeperUnavailable(f"{found.path} cannot be read: log in as somebody who may")


def _unheard(_news: object) -> None:
    """Nothing is followed here."""
