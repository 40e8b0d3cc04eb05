"""Znodes read on demand, for a tree that opens lazily, and a witness that remembers what they were before.

What was read is kept until a watch says that it changed. Reads block; callers use a thread. Without a connection what
is kept still answers, and nothing else does. The witness stands between a source and its sink and passes on everything.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar, cast

import msgspec

from model.hosts.zookeeper.protocol import BrowsesZnodes, Connected, ZooKeeperUnavailable
from model.metadata_log.journal import Journal, Logged
from model.sources.source import FactBatch, Sink, SourceStatus
from model.znodes.history import Version, ZnodeHistory, controllers_of
from model.zookeeper import Children, Missing, Stat, Unread, Znode, columns_of

MARK_MS = 5_000
"""How long a change stays marked."""

KEPT = 20_000
"""Znodes kept at most; beyond that the oldest are read again when they are looked at."""

BELIEVED_MS = 2_000
"""How long what was read is believed where no recursive watch stands guard over it (before ZooKeeper 3.6)."""

LARGE = 1_000
"""Names in a folder that is asked, before it is listed again, whether any came or went."""

A = TypeVar("A", Children, Znode)


class ZnodeMark(msgspec.Struct, frozen=True):
    """What happened to a znode lately: `+` appeared, `~` written, `-` gone."""

    sign: str
    at_ms: int


class _Kept(Generic[A]):
    """An answer, and whether it has to be asked for again. Made before the first read, so that no news is missed."""

    def __init__(self) -> None:
        self.answer: A | Unread | None = None
        self.is_stale = True
        self.read_ms = 0
        self.in_order: tuple[str, ...] | None = None
        """The names in an answer, sorted; None until they are asked for."""


class ZnodeBrowser:
    """Names and data of znodes below the chroot. The lock is never held while the server is asked."""

    def __init__(self, reader: BrowsesZnodes, seen: Callable[[Znode | Unread], None] = lambda _: None) -> None:
        """`seen` hears every answer about a znode, under the lock."""
        self._reader = reader
        self._seen = seen
        self._lock = threading.Lock()
        self._names: dict[str, _Kept[Children]] = {}
        self._znodes: dict[str, _Kept[Znode]] = {}
        self._marks: dict[str, ZnodeMark] = {}

    def invalidate(self, paths: Iterable[str]) -> None:
        """Watches told that these paths changed: they and their parents are to be read again."""
        with self._lock:
            for path in paths:
                for each in (path, parent_of(path)):
                    for kept in (self._names.get(each), self._znodes.get(each)):
                        if kept is not None:
                            kept.is_stale = True

    def invalidate_all(self) -> None:
        """A new connection: anything may have changed."""
        with self._lock:
            for kept in (*self._names.values(), *self._znodes.values()):
                kept.is_stale = True

    def children(self, path: str, now_ms: int) -> tuple[str, ...]:
        """Names below a znode, in `natural` order; those that went lately are still among them, marked `-`. The very
        same tuple for as long as nothing changes.

        Raises ZooKeeperUnavailable where they were never read and cannot be now.
        """
        with self._lock:
            kept = self._names.setdefault(path, _Kept())
            before = kept.answer
            wanted = self._begins_read(kept, now_ms)
        if wanted:
            try:
                answer = self._listed(path, before)
            except ZooKeeperUnavailable:
                kept.is_stale = True
                if before is None:
                    raise
            else:
                self._keep_names(path, kept, answer, now_ms)
        with self._lock:
            if kept.in_order is None:
                kept.in_order = tuple(sorted(names_of(kept.answer), key=natural))
            gone = self._gone_below(path, now_ms)
            return tuple(sorted({*kept.in_order, *gone}, key=natural)) if gone else kept.in_order

    def _listed(self, path: str, before: Children | Unread | None) -> Children | Unread:
        """The names below a znode; the answer before where a large folder has neither lost nor got any since."""
        if isinstance(before, Children) and before.stat is not None and len(before.names) >= LARGE:
            stat = self._reader.exists(path)
            if isinstance(stat, Stat) and stat.pzxid == before.stat.pzxid:
                return before
        return self._reader.children(path)

    def znodes(self, paths: Sequence[str], now_ms: int) -> dict[str, Znode | Unread]:
        """Data and Stat of these znodes; one that cannot be read now is left out, or answered as it was last."""
        with self._lock:
            asked = {path: self._znodes.setdefault(path, _Kept()) for path in paths}
            wanted = [path for path, kept in asked.items() if self._begins_read(kept, now_ms)]
        try:
            answers: Sequence[Znode | Unread] = self._reader.read_many(wanted) if wanted else ()
        except ZooKeeperUnavailable:
            answers = ()
            for path in wanted:
                asked[path].is_stale = True
        with self._lock:
            for path, answer in zip(wanted, answers, strict=False):
                self._keep_znode(path, asked[path], answer, now_ms)
            while len(self._znodes) > KEPT:
                del self._znodes[next(iter(self._znodes))]
        return {path: kept.answer for path, kept in asked.items() if kept.answer is not None}

    def broker_sessions(self, now_ms: int) -> dict[int, int]:
        """Session id → the broker that registered with it."""
        paths = [join("/brokers/ids", name) for name in self.children("/brokers/ids", now_ms) if name.isdigit()]
        znodes = self.znodes(paths, now_ms)
        return {
            znode.stat.ephemeral_owner: int(path.rpartition("/")[2])
            for path, znode in znodes.items()
            if isinstance(znode, Znode)
        }

    def mark(self, path: str, now_ms: int) -> str:
        """The sign of what happened to a znode in the last seconds, or nothing."""
        mark = self._marks.get(path)
        return mark.sign if mark is not None and now_ms - mark.at_ms < MARK_MS else ""

    def next_fade_ms(self, now_ms: int) -> int | None:
        """When the next mark goes out, or None; marks that are out are forgotten."""
        with self._lock:
            self._marks = {path: mark for path, mark in self._marks.items() if now_ms - mark.at_ms < MARK_MS}
            return min((mark.at_ms + MARK_MS for mark in self._marks.values()), default=None)

    def _begins_read(self, kept: _Kept[A], now_ms: int) -> bool:
        """Whether to ask the server now. What changes while it answers makes the answer stale again."""
        state = self._reader.state
        is_guarded = not isinstance(state, Connected) or state.server.has_add_watch
        is_old = not is_guarded and now_ms - kept.read_ms >= BELIEVED_MS
        wanted = kept.is_stale or is_old or kept.answer is None
        kept.is_stale = False
        return wanted

    def _keep_names(self, path: str, kept: _Kept[Children], answer: Children | Unread, now_ms: int) -> None:
        with self._lock:
            before, kept.answer, kept.read_ms = kept.answer, answer, now_ms
            if answer is before:
                return
            kept.in_order = None
            if before is None:
                return
            old, new = names_of(before), names_of(answer)
            self._marks.update((join(path, name), ZnodeMark("+", now_ms)) for name in new - old)
            self._marks.update((join(path, name), ZnodeMark("-", now_ms)) for name in old - new)

    def _keep_znode(self, path: str, kept: _Kept[Znode], answer: Znode | Unread, now_ms: int) -> None:
        before, kept.answer, kept.read_ms = kept.answer, answer, now_ms
        self._seen(answer)
        # Those read last are dropped last.
        self._znodes.pop(path, None)
        self._znodes[path] = kept
        if isinstance(before, Znode) and isinstance(answer, Znode) and before.stat.mzxid != answer.stat.mzxid:
            self._marks[path] = ZnodeMark("~", now_ms)

    def _gone_below(self, path: str, now_ms: int) -> list[str]:
        prefix = join(path, "")
        names = [marked.removeprefix(prefix) for marked in self._marks if marked.startswith(prefix)]
        return [name for name in names if "/" not in name and self.mark(prefix + name, now_ms) == "-"]


def names_of(answer: Children | Unread | None) -> frozenset[str]:
    """The names in an answer; none where there is nothing to list."""
    return frozenset(answer.names) if isinstance(answer, Children) else frozenset()


def parent_of(path: str) -> str:
    """`/a/b` → `/a`, `/a` → `/`."""
    return path.rpartition("/")[0] or "/"


def join(path: str, name: str) -> str:
    """A child's path."""
    return f"/{name}" if path == "/" else f"{path}/{name}"


def natural(name: str) -> tuple[int, int, str]:
    """Orders names as people count: numbers by their value, before everything else."""
    return (0, int(name), name) if name.isascii() and name.isdigit() and len(name) < 19 else (1, 0, name)


class Witness:
    """A sink in front of another one. What a source read before it could tell is known as far as there was room."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._history = ZnodeHistory()
        self._journal = Journal()

    def take(self, batch: FactBatch) -> None:
        """Remembers, then passes on: whoever hears of a change finds it here."""
        read = columns_of(batch.read)
        with self._lock:
            if batch.fresh and batch.part <= 1:
                self._history.forget()
                self._journal.forget()
            self._journal.take(batch.logged)
            for row in self._history.worth_seeing(read.paths) if batch.is_listed else range(len(read)):
                path, data = read.paths[row], read.data[row]
                if isinstance(data, Missing):
                    self._history.miss(path, batch.time_ms)
                # What only stands there must not push out what changed.
                elif isinstance(data, bytes) and (not batch.is_listed or self._history.has_room(path, len(data))):
                    self._history.see(path, version_of(cast(Znode, read[row])))
        self._sink.take(batch)

    def report(self, status: SourceStatus) -> None:
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

    def records(self) -> tuple[Logged, ...]:
        """Records of the metadata log, oldest first: the very same object for as long as none comes."""
        with self._lock:
            return self._journal.records

    def terms(self) -> tuple[Logged, ...]:
        """Elections of the quorum and its sets of voters, oldest first."""
        with self._lock:
            return self._journal.terms

    def controllers(self) -> Mapping[int, int]:
        """Controller epoch → broker, as far as is remembered."""
        return controllers_of(self.versions("/controller"), self.versions("/controller_epoch"))


def version_of(znode: Znode) -> Version:
    """What is remembered of an answer."""
    stat = znode.stat
    return Version(stat.mtime_ms, stat.version, stat.mzxid, stat.czxid, znode.data)
