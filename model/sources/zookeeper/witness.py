"""Stands between a source and its sink, and remembers what znodes were. Changes nothing of what it passes on."""

import threading
from collections.abc import Mapping
from typing import cast

from model.hosts.zookeeper.values import Missing, Unread, Znode
from model.hosts.zookeeper.znode_columns import columns_of
from model.sources.source import Batch, Sink, SourceStatus
from model.znodes.history import Version, ZnodeHistory
from model.znodes.state_writer import controllers_of


class Witness:
    """A sink in front of another one. What a source read before it could tell is known as far as there was room."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._history = ZnodeHistory()

    def take(self, batch: Batch) -> None:
        """Remembers, then passes on: whoever hears of a change finds it here."""
        read = columns_of(batch.read)
        with self._lock:
            if batch.fresh and batch.part <= 1:
                self._history.forget()
            for row in self._history.worth_seeing(read.paths) if batch.is_listed else range(len(read)):
                path, data = read.paths[row], read.data[row]
                if isinstance(data, Missing):
                    self._history.miss(path, batch.time_ms)
                # What only stands there must not push out what changed.
                elif isinstance(data, bytes) and (not batch.is_listed or self._history.has_room(path, len(data))):
                    self._history.see(path, version_of(cast(Znode, read[row])))
        self._sink.take(batch)

    def report(self, status: SourceStatus) -> None:
        """Passes on."""
        self._sink.report(status)

    def saw(self, znode: Znode | Unread) -> None:
        """Somebody else read a znode. That one is missing is left to the source to tell: it knows the order."""
        if isinstance(znode, Znode):
            with self._lock:
                self._history.see(znode.path, version_of(znode))

    def versions(self, path: str) -> tuple[Version, ...]:
        """What is remembered of a znode, oldest first."""
        with self._lock:
            return self._history.of(path)

    def controllers(self) -> Mapping[int, int]:
        """Controller epoch → broker, as far as is remembered."""
        return controllers_of(self.versions("/controller"), self.versions("/controller_epoch"))


def version_of(znode: Znode) -> Version:
    """What is remembered of an answer."""
    stat = znode.stat
    return Version(stat.mtime_ms, stat.version, stat.mzxid, stat.czxid, znode.data)
