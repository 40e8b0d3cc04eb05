"""How changes are noticed: one recursive watch where the server has them. `one_shot` is the way of older servers."""

from collections.abc import Callable, Sequence
from typing import Protocol

from model.hosts.zookeeper.protocol import ReadsZnodes
from model.hosts.zookeeper.values import Children, Connected, Unread, Znode
from model.sources.zookeeper.one_shot import OneShotWatching

Answer = Znode | Unread


class Watching(Protocol):
    """Reads in such a way that what changes afterwards is noticed."""

    def arm(self) -> None:
        """Called first on every new connection, before anything is read."""
        ...

    def children(self, paths: Sequence[str]) -> Sequence[Children | Unread]:
        """Children of containers."""
        ...

    def read(self, paths: Sequence[str]) -> Sequence[Answer]:
        """Data of znodes."""
        ...

    def expand(self, changed: Sequence[str], relist: Sequence[str]) -> Sequence[str]:
        """The paths to read again, given what watches told."""
        ...

    def due(self) -> Sequence[str]:
        """Paths to read again because no watch stands guard over them."""
        ...

    @property
    def watches(self) -> int:
        """How many there are on the server."""
        ...


class RecursiveWatching:
    """One persistent recursive watch over the whole chroot (ZooKeeper 3.6 and later), for any number of znodes."""

    def __init__(self, reader: ReadsZnodes) -> None:
        self._reader = reader

    def arm(self) -> None:
        self._reader.watch_recursive("/")

    def children(self, paths: Sequence[str]) -> Sequence[Children | Unread]:
        return self._reader.children_many(paths)

    def read(self, paths: Sequence[str]) -> Sequence[Answer]:
        return self._reader.read_many(paths)

    def expand(self, changed: Sequence[str], relist: Sequence[str]) -> Sequence[str]:
        return changed

    def due(self) -> Sequence[str]:
        return ()

    @property
    def watches(self) -> int:
        return 1


ChooseWatching = Callable[[ReadsZnodes, Connected], Watching]
"""Made anew for every connection: watches die with it."""


def watching_for(reader: ReadsZnodes, state: Connected) -> Watching:
    """The way that the server behind this connection allows."""
    return RecursiveWatching(reader) if state.server.has_add_watch else OneShotWatching(reader)
