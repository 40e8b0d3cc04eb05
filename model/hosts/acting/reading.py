"""Znodes as they are this moment, by a session that only reads: what a proposal is made from and checked against."""

from collections.abc import Iterable
from typing import Self

from model.actions.found import Found, FoundZnode
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import Settings
from model.hosts.zookeeper.values import Children, Missing, TooLarge, Unread, Znode

CONNECT_S = 15.0


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
        """A znode and all that is below it. Raises as `znodes`."""
        return self.znodes(self._paths_from(path))

    def close(self) -> None:
        """Ends the session."""
        self._reader.close()

    def _paths_from(self, path: str) -> list[str]:
        return [path, *(each for name in self.children(path) for each in self._paths_from(f"{path}/{name}"))]

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
