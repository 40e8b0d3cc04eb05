"""One-shot watches that are set and have not fired: what to set again after a reconnect. It sends nothing.

Source: `org.apache.zookeeper.ZKWatchManager` (3.9).
"""

from collections.abc import Iterator

from model.controller.zookeeper import Answer, Children, Code, Exists, Read, ZooKeeperRequest
from model.hosts.zookeeper.requests import SetWatches
from model.hosts.zookeeper.values import EventKind

WATCHES_AT_ONCE = 500
"""A SetWatches must stay below the server's jute.maxbuffer of 1 MB."""


class ArmedWatches:
    """Changed on the connection's thread only. Paths are without the chroot."""

    def __init__(self) -> None:
        self._data: set[str] = set()
        self._existence: set[str] = set()
        self._children: set[str] = set()

    def note(self, request: ZooKeeperRequest, answer: Answer) -> None:
        """A request was answered: it may have left a watch."""
        if not isinstance(request, Read | Exists | Children) or not request.watch:
            return
        if isinstance(request, Exists) and answer.code is Code.NO_NODE:
            self._existence.add(request.path)
        elif answer.ok:
            (self._children if isinstance(request, Children) else self._data).add(request.path)

    def fired(self, path: str, kind: EventKind) -> None:
        """A watch has fired and is gone."""
        if kind is not EventKind.CHILDREN_CHANGED:
            self._data.discard(path)
            self._existence.discard(path)
        if kind in (EventKind.CHILDREN_CHANGED, EventKind.DELETED):
            self._children.discard(path)

    def again(self, chroot: str, zxid: int) -> Iterator[SetWatches]:
        """Requests that set them all; those whose znode changed after `zxid` fire at once."""
        every = [
            *((path, 0) for path in sorted(self._data)),
            *((path, 1) for path in sorted(self._existence)),
            *((path, 2) for path in sorted(self._children)),
        ]
        for start in range(0, len(every), WATCHES_AT_ONCE):
            some = every[start : start + WATCHES_AT_ONCE]
            data, existence, children = (tuple(path for path, kind in some if kind == which) for which in range(3))
            yield SetWatches(chroot, zxid, data, existence, children)
