"""Which znodes of a Kafka tree are read, and how they are found: a table of containers and what lies below them.

The walk asks for children one level at a time, all containers of a level together, and never for those of a single
partition: a topic's `partitions` znode names them all.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from model.zookeeper.znodes import Children, Forbidden, Unread


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


class Found(msgspec.Struct):
    """What a walk came upon: paths to read, containers that answered, and those this session may not list."""

    paths: list[str]
    listed: set[str]
    forbidden: list[Forbidden]


KAFKAS_OWN = frozenset({"/brokers/ids", "/brokers/topics"})
"""Where neither of these stands, there is no Kafka."""


def walk(list_children: Listing, containers: Iterable[tuple[str, Below]] = ROOTS) -> Found:
    """Finds every path to read below `containers`, level by level."""
    found = Found([], set(), [])
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
