"""Which znodes of a Kafka tree are read, and how changes of them are noticed.

A table has containers and what lies below them. The walk asks for children one level at a time, all containers of a
level together, and never for those of a single partition: a topic's `partitions` znode names them all.

Changes are noticed by one recursive watch, or by one-shot watches and a sweep before ZooKeeper 3.6. Then every
container is watched for children. Data is watched where there is little of it (brokers, controller, topic assignments,
settings …); of what there may be a million of, partition states and what is below /consumers, as much as the budget
allows, and the rest is read again in turn, at a pace. Noticing is all it does.
"""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Protocol

import msgspec

from model.hosts.zookeeper.protocol import Connected, ReadsZnodes
from model.zookeeper import Children, Forbidden, Missing, Unread, Znode


class Below(msgspec.Struct, frozen=True):
    """What to do with each child of a container: what to read of it, and which containers to list in turn.

    `read` is what is appended to the child's path ("" reads the child itself, None reads nothing).
    """

    read: str | None = ""
    containers: tuple[tuple[str, "Below"], ...] = ()


_LEAVES = Below()
_LEAVES_BY_TOPIC = Below(read=None, containers=(("", _LEAVES),))

ROOTS: tuple[tuple[str, Below], ...] = (
    ("/brokers/ids", _LEAVES),
    ("/brokers/topics", Below(containers=(("/partitions", Below(read="/state")),))),
    ("/admin/delete_topics", _LEAVES),
    ("/config/topics", _LEAVES),
    ("/config/brokers", _LEAVES),
    ("/config/clients", _LEAVES),
    ("/config/users", Below(containers=(("/clients", _LEAVES),))),
    ("/config/ips", _LEAVES),
    (
        "/consumers",
        Below(containers=(("/ids", _LEAVES), ("/owners", _LEAVES_BY_TOPIC), ("/offsets", _LEAVES_BY_TOPIC))),
    ),
    ("/isr_change_notification", _LEAVES),
    ("/log_dir_event_notification", _LEAVES),
    ("/kafka-acl", _LEAVES_BY_TOPIC),
    ("/kafka-acl-extended/prefixed", _LEAVES_BY_TOPIC),
    ("/delegation_token/tokens", _LEAVES),
)
"""Containers of a Kafka tree (spec: ZkData of 3.9 and the paths of 0.8). Missing ones are older or newer Kafka's."""

SINGLES = (
    "/controller",
    "/controller_epoch",
    "/cluster/id",
    "/feature",
    "/latest_producer_id_block",
    "/migration",
    "/admin/reassign_partitions",
    "/admin/preferred_replica_election",
)
"""Znodes that are read wherever they stand."""

Listing = Callable[[Sequence[str]], Iterable[Children | Unread]]


class FoundZnodes(msgspec.Struct):
    """What a walk came upon: paths to read, containers that answered, and those this session may not list."""

    paths: list[str]
    listed: set[str]
    forbidden: list[Forbidden]


KAFKAS_OWN = frozenset({"/brokers/ids", "/brokers/topics"})
"""Where neither of these stands, there is no Kafka."""


def walk(list_children: Listing, containers: Iterable[tuple[str, Below]] = ROOTS) -> FoundZnodes:
    """Finds every path to read below `containers`, level by level."""
    found = FoundZnodes([], set(), [])
    level: list[tuple[str, Below, Sequence[str]]] = [(path, step, ()) for path, step in containers]
    while level:
        following: list[tuple[str, Below, Sequence[str]]] = []
        for (path, step, parent), answer in zip(level, list_children([each[0] for each in level]), strict=True):
            found.paths += parent
            if isinstance(answer, Forbidden):
                found.forbidden.append(answer)
            if not isinstance(answer, Children):
                continue
            found.listed.add(path)
            reads, inner = children_of(path, step, answer.names)
            if not inner:
                found.paths += reads
            # A child is read just before what is below it, so that a topic becomes known in one piece.
            each = len(step.containers)
            following += [
                (*one, reads[index // each : index // each + 1] if index % each == 0 else ())
                for index, one in enumerate(inner)
            ]
        level = following
    return found


def children_of(path: str, below: Below, names: Collection[str]) -> tuple[list[str], list[tuple[str, Below]]]:
    """What to read and which containers to list in turn, given the names below a container."""
    reads = [f"{path}/{name}{below.read}" for name in names] if below.read is not None else []
    if not below.containers:
        return reads, []
    return reads, [(f"{path}/{name}{suffix}", step) for name in names for suffix, step in below.containers]


def below(path: str) -> Below | None:
    """What lies below a container, or None where the path is none. Needed where children are watched one by one."""
    for root, step in ROOTS:
        if path == root:
            return step
        if path.startswith(root + "/"):
            return _descend(step, path[len(root) + 1 :])
    return None


def _descend(step: Below, rest: str) -> Below | None:
    _, slash, tail = rest.partition("/")
    for suffix, inner in step.containers:
        remaining = slash + tail
        if remaining == suffix:
            return inner
        if remaining.startswith(suffix + "/"):
            return _descend(inner, remaining[len(suffix) + 1 :])
    return None


WATCH_BUDGET = 20_000
"""Data watches this session sets at most on what is plentiful: each costs the server about 300 bytes of heap."""

SWEEP_PER_S = 2_000
"""Znodes without a watch that are read again each second."""

LONGEST_SWEEP_S = 5.0
"""A sweep makes up for no more time than this: after a pause it does not read everything at once."""


class OneShotWatching:
    """Remembers what it watches and what children it saw. Made anew for every connection: watches die with it."""

    def __init__(self, reader: ReadsZnodes, budget: int = WATCH_BUDGET, sweep_per_s: int = SWEEP_PER_S) -> None:
        self._reader = reader
        self._budget = budget
        self._sweep_per_s = sweep_per_s
        self._names: dict[str, tuple[str, ...]] = {}
        self._watched: set[str] = set()
        self._swept: dict[str, None] = {}
        self._gone: set[str] = set()
        self._swept_at_s = time.monotonic()

    def arm(self) -> None:
        """Nothing yet: these watches are set by reading."""

    def children(self, paths: Sequence[str]) -> Sequence[Children | Unread]:
        answers = list(self._reader.children_many(paths, watch=True))
        for index in self._appeared_since(answers):
            answers[index] = self._reader.children(paths[index], watch=True)
        self._names.update((answer.path, answer.names if isinstance(answer, Children) else ()) for answer in answers)
        return answers

    def read(self, paths: Sequence[str]) -> Sequence[Znode | Unread]:
        # What is gone is not asked for: if it is there again, the listing that finds it sets the watches.
        answers: dict[str, Znode | Unread] = {path: Missing(path) for path in paths if path in self._gone}
        watched = [path for path in paths if self._is_watched(path)]
        read = self._reader.read_many(watched, watch=True)
        answers.update(zip(watched, read, strict=True))
        for index in self._appeared_since(read):
            answers[watched[index]] = self._reader.read(watched[index], watch=True)
        rest = [path for path in paths if path not in answers]
        answers.update(zip(rest, self._reader.read_many(rest), strict=True))
        self._swept.update(dict.fromkeys(rest))
        return [answers[path] for path in paths]

    def expand(self, changed: Sequence[str], relist: Sequence[str]) -> Sequence[str]:
        """A container's children are compared with those it had; nothing but new ones is walked."""
        self._gone.clear()
        containers = {path for path in (*changed, *relist) if path in self._names}
        paths = [path for path in changed if path not in containers]
        for container in sorted(containers):  # from the top: what is gone with its parent is not looked at again
            if container in self._names:
                paths += self._relist(container)
        return paths

    def due(self) -> Sequence[str]:
        now_s = time.monotonic()
        count = int(min(now_s - self._swept_at_s, LONGEST_SWEEP_S) * self._sweep_per_s)
        if not count:
            return ()
        self._swept_at_s = now_s
        paths = list(islice(self._swept, count))
        for path in paths:
            self._swept[path] = self._swept.pop(path)
        return paths

    @property
    def watches(self) -> int:
        return len(self._watched) + len(self._names)

    def _appeared_since(self, answers: Sequence[Znode | Children | Unread]) -> list[int]:
        """Which of the missing znodes are there by now; the creation of the others is watched for."""
        missing = [(index, answer.path) for index, answer in enumerate(answers) if isinstance(answer, Missing)]
        stats = self._reader.exist_many([path for _, path in missing], watch=True)
        return [index for (index, _), stat in zip(missing, stats, strict=True) if not isinstance(stat, Missing)]

    def _is_watched(self, path: str) -> bool:
        """Whether to read this path with a watch; the budget is spent in the order in which paths are found."""
        if path in self._watched:
            return True
        if path in self._gone or path in self._swept or (_is_plentiful(path) and self._budget <= 0):
            return False
        self._watched.add(path)
        self._budget -= _is_plentiful(path)
        return True

    def _relist(self, container: str) -> list[str]:
        step = below(container)
        before = self._names[container]
        self.children([container])
        after = self._names[container]
        if step is None:
            return []
        gone = self._forget(*children_of(container, step, set(before).difference(after)))
        reads, containers = children_of(container, step, sorted(set(after).difference(before)))
        found = [*reads, *walk(self.children, containers).paths]
        self._gone.difference_update(found)
        return [*gone, *found]

    def _forget(self, reads: list[str], containers: list[tuple[str, Below]]) -> list[str]:
        """Paths of branches that are gone."""
        paths = [*reads, *walk(self._recalled, containers).paths]
        for path in paths:
            self._swept.pop(path, None)
            if path in self._watched:
                self._watched.remove(path)
                self._budget += _is_plentiful(path)
        self._gone.update(paths)
        return paths

    def _recalled(self, containers: Sequence[str]) -> Iterable[Children]:
        return [Children(path, self._names.pop(path, ()), None) for path in containers]


def _is_plentiful(path: str) -> bool:
    return path.endswith("/state") or path.startswith("/consumers/")


Answer = Znode | Unread


class Watching(Protocol):
    """Reads in such a way that what changes afterwards is noticed."""

    def arm(self) -> None:
        """Called first on every new connection, before anything is read."""
        ...

    def children(self, paths: Sequence[str]) -> Sequence[Children | Unread]: ...

    def read(self, paths: Sequence[str]) -> Sequence[Answer]: ...

    def expand(self, changed: Sequence[str], relist: Sequence[str]) -> Sequence[str]:
        """The paths to read again, given what watches told."""
        ...

    def due(self) -> Sequence[str]:
        """Paths to read again because no watch stands guard over them."""
        ...

    @property
    def watches(self) -> int: ...


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
