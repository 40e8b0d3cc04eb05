"""What brokers told, as a tree to browse like znodes: the places are those of kafka-metadata-shell (3.9). Asks nobody.

It goes as far as the Kafka protocol does: ACLs, quotas, client ids and the log of the metadata itself are not in it.
The reader answers at once, from the last look.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from model.hosts.zookeeper.protocol import Connected, ConnectionState, Server
from model.sources.kafka.views import ClusterView, TopicView
from model.zookeeper.operations import Children, Missing, Stat, Unread, Znode

ROOTS = ("brokers", "clusterId", "configs", "features", "logDirs", "metadataQuorum", "topicIds", "topics")


class TreeNode(NamedTuple):
    """A place in the tree: what is there, plain values for JSON, None for nothing; and the names below it."""

    value: object = None
    names: tuple[str, ...] = ()


def node_at(view: ClusterView, path: str) -> TreeNode | None:
    """What is at a path; None: there is no such place."""
    parts = tuple(part for part in path.split("/") if part)
    if not parts:
        return TreeNode(names=ROOTS)
    branch = _BRANCHES.get(parts[0])
    return None if branch is None else branch(view, parts[1:])


def _brokers(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    fenced = view.fenced or {}
    brokers = {str(number): broker for number, broker in {**view.brokers, **fenced}.items()}
    match parts:
        case ():
            return _folder(brokers)
        case (number,) if number in brokers:
            return _folder(("registration",))
        case (number, "registration") if number in brokers:
            broker = brokers[number]
            facts = {"id": int(number), "host": broker.host, "port": broker.port, "rack": broker.rack}
            return TreeNode(facts if view.fenced is None else facts | {"fenced": int(number) in fenced})
        case _:
            return None


def _topics(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return _folder(view.topics)
    topic = view.topics.get(parts[0])
    if topic is None:
        return None
    numbers = {str(number): number for number in topic.places}
    match parts[1:]:
        case ():
            return _folder(("id", "name", *numbers))
        case ("id",):
            return TreeNode(topic.topic_id)
        case ("name",):
            return TreeNode(parts[0])
        case (number,) if number in numbers:
            return _folder(("data",))
        case (number, "data") if number in numbers:
            return TreeNode(_partition(topic, numbers[number]))
        case _:
            return None


def _partition(topic: TopicView, number: int) -> Mapping[str, object]:
    place, (adding, removing) = topic.places[number], topic.moves.get(number, ((), ()))
    return {
        "partitionId": number,
        "replicas": place.replicas,
        "isr": place.isr,
        "addingReplicas": adding,
        "removingReplicas": removing,
        "offlineReplicas": place.offline,
        "leader": place.leader,
        "leaderEpoch": place.leader_epoch,
        **({} if place.elr is None else {"elr": place.elr, "lastKnownElr": place.last_known_elr}),
    }


def _topic_ids(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    names = {topic.topic_id: name for name, topic in view.topics.items() if topic.topic_id}
    if not parts:
        return _folder(names)
    return TreeNode(names[parts[0]]) if len(parts) == 1 and parts[0] in names else None


def _configs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    kinds = sorted({entity.partition("/")[0] for entity in view.configs})
    match parts:
        case ():
            return _folder(kinds)
        case (kind,) if kind in kinds:
            return _folder(name for each, _, name in (entity.partition("/") for entity in view.configs) if each == kind)
        case (kind, name) if f"{kind}/{name}" in view.configs:
            return TreeNode(view.configs[f"{kind}/{name}"])
        case _:
            return None


def _cluster_id(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    return None if parts else TreeNode(view.cluster_id)


def _features(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return _folder(view.features)
    return TreeNode(view.features[parts[0]]) if len(parts) == 1 and parts[0] in view.features else None


def _log_dirs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    folders = {str(broker): dirs for broker, dirs in view.log_dirs.items()}
    match parts:
        case ():
            return _folder(folders)
        case (broker,) if broker in folders:
            return _folder(map(str, range(len(folders[broker]))))
        case (broker, number) if broker in folders and number in map(str, range(len(folders[broker]))):
            folder = folders[broker][int(number)]
            facts = {"path": folder.path, "error": folder.error or None, "replicas": len(folder.sizes)}
            sizes = {"bytes": sum(folder.sizes.values()), "total": folder.total_bytes, "usable": folder.usable_bytes}
            return TreeNode(facts | sizes)
        case _:
            return None


def _quorum(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    quorum = view.quorum
    if quorum is None:
        return None if parts else TreeNode()
    replicas = {
        "voters": {str(each.id): each for each in quorum.voters},
        "observers": {str(each.id): each for each in quorum.observers},
    }
    match parts:
        case ():
            return _folder(("leader", *replicas))
        case ("leader",):
            return TreeNode({"leaderId": quorum.leader, "leaderEpoch": quorum.leader_epoch})
        case (kind,) if kind in replicas:
            return _folder(replicas[kind])
        case (kind, number) if number in replicas.get(kind, ()):
            each = replicas[kind][number]
            return TreeNode(
                {"logEndOffset": each.log_end_offset, "lag": each.lag_records, "caughtUpMs": each.caught_up_ms}
            )
        case _:
            return None


def _folder(names: Iterable[str]) -> TreeNode:
    return TreeNode(names=tuple(names))


_BRANCHES: Mapping[str, Callable[[ClusterView, tuple[str, ...]], TreeNode | None]] = {
    "brokers": _brokers,
    "clusterId": _cluster_id,
    "configs": _configs,
    "features": _features,
    "logDirs": _log_dirs,
    "metadataQuorum": _quorum,
    "topicIds": _topic_ids,
    "topics": _topics,
}


UNTRUE = -1
"""A czxid that no znode has."""
_WATCHLESS = Server("", None, "", has_multi_read=False, has_add_watch=False)
_CONNECTED = Connected(0, 0, 0, _WATCHLESS, 0, 0, is_new_session=False)


class TreeReader:
    """Counts, for what is looked at, how often it was seen to change: that is its version here."""

    def __init__(self, view: Callable[[], ClusterView]) -> None:
        self._view = view
        self._seen: dict[str, tuple[TreeNode, int, int]] = {}

    @property
    def state(self) -> ConnectionState:
        """No watch stands guard: what was read is believed for a moment only."""
        return _CONNECTED

    def children(self, path: str) -> Children | Unread:
        """The names below a place."""
        node = node_at(self._view(), path)
        return Missing(path) if node is None else Children(path, node.names, self._stat(path, node))

    def exists(self, path: str) -> Stat | Unread:
        node = node_at(self._view(), path)
        return Missing(path) if node is None else self._stat(path, node)

    def read_many(self, paths: Sequence[str]) -> list[Znode | Unread]:
        return [self._read(path) for path in paths]

    def _read(self, path: str) -> Znode | Unread:
        node = node_at(self._view(), path)
        return Missing(path) if node is None else Znode(path, _data(node), self._stat(path, node))

    def _stat(self, path: str, node: TreeNode) -> Stat:
        before, version, at_ms = self._seen.get(path, (node, 0, 0))
        if before != node:
            version, at_ms = version + 1, time.time_ns() // 1_000_000
        self._seen[path] = node, version, at_ms
        return Stat(
            czxid=UNTRUE,
            mzxid=version,
            ctime_ms=0,
            mtime_ms=at_ms,
            version=version,
            cversion=0,
            aversion=0,
            ephemeral_owner=0,
            data_length=len(_data(node)),
            num_children=len(node.names),
            pzxid=version,
        )


def _data(node: TreeNode) -> bytes:
    return b"" if node.value is None else json.dumps(node.value, separators=(",", ":")).encode()
