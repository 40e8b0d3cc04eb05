"""Znode paths, relative to the chroot: what a path is (`recognise`, `describe`) and how to build one.

Recognising is called for a million paths: the catalogue becomes a tree of dictionaries once, and a path walks down it.
It does not parse payloads, and names stay as they are in the path (see `configs.desanitise`).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from model.znodes.catalogue import CATALOGUE, UNKNOWN_ZNODE, ZnodeDescription, ZnodeKind
from model.znodes.payload import INT32_MAX

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
DELETIONS = "/admin/delete_topics"
REASSIGNMENTS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"
FEATURE = "/feature"
CLUSTER_ID = "/cluster/id"
PRODUCER_IDS = "/latest_producer_id_block"
TOKENS = "/delegation_token/tokens"

PATHS_AT_BROKER_START = (
    "/consumers",
    BROKER_IDS,
    TOPICS,
    "/config/changes",
    DELETIONS,
    "/brokers/seqid",
    ISR_CHANGES,
    PRODUCER_IDS,
    LOG_DIR_EVENTS,
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)
"""What a 3.9 broker creates when it starts, in this order, persistent and without data (`ZkData.PersistentZkPaths`)."""


_STATE_PARTS = 7


class ZnodeMatch(msgspec.Struct, frozen=True, gc=False):
    """What a path is, and its variables. A variable that is not in the path is "" or -1.

    `entity` is a broker's id or an IP address in `/config`, or `<default>`; `sequence` the number ZooKeeper appended.
    """

    kind: ZnodeKind
    topic: str = ""
    partition: int = -1
    broker_id: int = -1
    group: str = ""
    consumer_id: str = ""
    user: str = ""
    client: str = ""
    entity: str = ""
    sequence: int = -1
    resource_type: str = ""
    resource: str = ""
    pattern_type: str = ""
    token_id: str = ""


class _Node:
    """A segment of the catalogue's paths: what may follow it, literally or as a variable."""

    __slots__ = ("child", "is_number", "kind", "literals", "name", "prefix")

    def __init__(self) -> None:
        self.kind = ZnodeKind.UNKNOWN
        self.literals: dict[str, _Node] = {}
        self.child: _Node | None = None
        self.name = ""
        self.prefix = ""
        self.is_number = False


def recognise(path: str) -> ZnodeMatch:
    """The kind of the znode at `path`, with the path's variables; UNKNOWN for what is not Kafka's.

    The chroot itself is "/" or "".
    """
    if path == "/":
        return _CONSTANT[ZnodeKind.ROOT]
    node = _TREE
    variables: dict[str, Any] = {}
    segments = path.split("/")
    if segments.pop(0):
        return _UNKNOWN_MATCH
    for segment in segments:
        literal = node.literals.get(segment)
        if literal is not None:
            node = literal
            continue
        if node.child is None or not segment:
            return _UNKNOWN_MATCH
        if node.is_number:
            number = _number(segment, node.prefix)
            if number < 0:
                return _UNKNOWN_MATCH
            variables[node.name] = number
        else:
            variables[node.name] = segment
        node = node.child
    return ZnodeMatch(node.kind, **variables) if variables else _CONSTANT[node.kind]


def state_place(path: str) -> tuple[str, int] | None:
    """Topic and partition of `/brokers/topics/T/partitions/P/state`; None for any other path. For a million of them."""
    if not path.startswith("/brokers/topics/"):
        return None
    parts = path.split("/")
    if len(parts) != _STATE_PARTS or not parts[3] or parts[4] != "partitions" or parts[6] != "state":
        return None
    partition = _number(parts[5], "")
    return None if partition < 0 else (parts[3], partition)


def state_runs(paths: Sequence[str]) -> Iterator[tuple[str, int, list[int]]]:
    """Where states of a topic stand together among paths: the topic, the place of the first, and their partitions."""
    known: dict[str, int] = {}
    names, partitions = list[str](), list[int]()
    start = 0
    while start < len(paths):
        place = state_place(paths[start])
        if place is None:
            start += 1
            continue
        folder = f"{partitions_path(place[0])}/"
        end = start + len(names)
        may_be_alike = start < end <= len(paths) and paths[end - 1].startswith(folder)
        if not (may_be_alike and paths[start:end] == [folder + name for name in names]):  # as in the folder before
            partitions = _partitions(paths, start, folder, known)
            end = start + len(partitions)
            names = [path[len(folder) :] for path in paths[start:end]]
        yield place[0], start, partitions
        start = end


def _partitions(paths: Sequence[str], start: int, folder: str, known: dict[str, int]) -> list[int]:
    """Partitions of the states in a folder, from `start` to the first path that is none; `known`: by path in there."""
    partitions, skip = list[int](), len(folder)
    for row in range(start, len(paths)):
        path = paths[row]
        if not path.startswith(folder):
            break
        partition = known.get(path[skip:])
        if partition is None:
            place = state_place(path)
            if place is None:
                break
            partition = known[path[skip:]] = place[1]
        partitions.append(partition)
    return partitions


def describe(path: str) -> ZnodeDescription:
    """What to know about the znode at `path`, for people."""
    return _DESCRIPTIONS[recognise(path).kind]


def broker_path(broker_id: int) -> str:
    """`/brokers/ids/N`."""
    return f"/brokers/ids/{broker_id}"


def topic_path(topic: str) -> str:
    """`/brokers/topics/T`."""
    return f"/brokers/topics/{topic}"


def partitions_path(topic: str) -> str:
    """`/brokers/topics/T/partitions`."""
    return f"/brokers/topics/{topic}/partitions"


def partition_path(topic: str, partition: int) -> str:
    """`/brokers/topics/T/partitions/P`."""
    return f"/brokers/topics/{topic}/partitions/{partition}"


def partition_state_path(topic: str, partition: int) -> str:
    """`/brokers/topics/T/partitions/P/state`."""
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def delete_topic_path(topic: str) -> str:
    """`/admin/delete_topics/T`."""
    return f"/admin/delete_topics/{topic}"


def config_path(entity_path: str) -> str:
    """`/config/` and a sanitised entity path: `topics/orders`, `users/u/clients/c`, `brokers/<default>`."""
    return f"/config/{entity_path}"


def sequential_path(kind: ZnodeKind, sequence: int | None = None) -> str:
    """A notification's path; without `sequence` the prefix to create a sequential znode with."""
    pattern = _DESCRIPTIONS[kind].pattern
    return pattern.replace("{sequence}", "" if sequence is None else f"{sequence:010d}")


def members_path(group: str) -> str:
    """`/consumers/G/ids`."""
    return f"/consumers/{group}/ids"


def member_path(group: str, consumer_id: str) -> str:
    """`/consumers/G/ids/C`."""
    return f"/consumers/{group}/ids/{consumer_id}"


def owner_path(group: str, topic: str, partition: int) -> str:
    """`/consumers/G/owners/T/P`."""
    return f"/consumers/{group}/owners/{topic}/{partition}"


def offset_path(group: str, topic: str, partition: int) -> str:
    """`/consumers/G/offsets/T/P`."""
    return f"/consumers/{group}/offsets/{topic}/{partition}"


def acl_path(resource_type: str, resource: str, pattern_type: str = "literal") -> str:
    """Where the ACLs of a resource are: `/kafka-acl/…`, or `/kafka-acl-extended/…` for other patterns than literal."""
    root = "/kafka-acl" if pattern_type == "literal" else f"/kafka-acl-extended/{pattern_type}"
    return f"{root}/{resource_type}/{resource}"


def token_path(token_id: str) -> str:
    """`/delegation_token/tokens/I`."""
    return f"/delegation_token/tokens/{token_id}"


@lru_cache(maxsize=4096)
def _number(segment: str, prefix: str) -> int:
    """The number after `prefix`, -1 if there is none. Only sequence numbers, which have a prefix, may start with 0."""
    digits = segment.removeprefix(prefix) if prefix else segment
    if prefix and len(digits) == len(segment):
        return -1
    if not (digits.isdigit() and digits.isascii()) or len(digits) > 10:
        return -1
    number = int(digits)
    return number if number <= INT32_MAX and (prefix or digits[0] != "0" or len(digits) == 1) else -1


def _tree() -> _Node:
    root = _Node()
    for row in CATALOGUE:
        node = root
        for segment in row.pattern.split("/")[1:] if row.pattern != "/" else ():
            node = _child(node, segment)
        node.kind = row.kind
    return root


def _child(node: _Node, segment: str) -> _Node:
    if "{" not in segment:
        return node.literals.setdefault(segment, _Node())
    prefix, _, name = segment.removesuffix("}").partition("{")
    if node.child is None:
        node.name, node.prefix = name, prefix
        node.is_number = ZnodeMatch.__annotations__[name] is int
        node.child = _Node()
    return node.child


_TREE = _tree()
_CONSTANT = {kind: ZnodeMatch(kind) for kind in ZnodeKind}
_UNKNOWN_MATCH = _CONSTANT[ZnodeKind.UNKNOWN]
_DESCRIPTIONS = {row.kind: row for row in (UNKNOWN_ZNODE, *CATALOGUE)}
