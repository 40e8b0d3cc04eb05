"""A KRaft cluster's metadata as a tree to browse like znodes: the reader of such trees, and what an image knows as one.

Places are those of kafka-metadata-shell (3.9). Of sources that have the metadata log, a partition says which record
wrote it last, and there is what only the log knows: ACLs, controllers, delegation tokens, producer ids. The reader
answers at once, from what was told last.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from model.cluster.cluster_image import BrokerImage, ClusterImage, directory_ids
from model.cluster.image_parts import KraftMetadata, Quorum, QuorumReplica
from model.cluster.topic_image import TopicImage, told_in, unpadded
from model.hosts.zookeeper.protocol import Connected, ConnectionState, ServerInfo
from model.zookeeper import Children, Missing, Stat, Unread, Znode


class TreeNode(NamedTuple):
    """A place in the tree: what is there, plain values for JSON, None for nothing; and the names below it.

    `offset` and `time_ms` are those of the record of the metadata log that wrote it, `version` its partition epoch.
    """

    value: object = None
    names: tuple[str, ...] = ()
    offset: int = -1
    time_ms: int = 0
    version: int = -1


def folder(names: Iterable[str]) -> TreeNode:
    """A place that holds others, and no value."""
    return TreeNode(names=tuple(names))


TOLD, LOGGED = -1, -2
"""A czxid that no znode has: brokers told the value, or a record of the metadata log wrote it."""
_WATCHLESS = ServerInfo("", None, "", has_multi_read=False, has_add_watch=False)
_CONNECTED = Connected(0, 0, 0, _WATCHLESS, 0, 0, is_new_session=False)


class TreeReader:
    """Counts, for what is looked at, how often it was seen to change: that is its version here."""

    def __init__(self, node_at: Callable[[str], TreeNode | None]) -> None:
        self._node_at = node_at
        self._seen: dict[str, tuple[TreeNode, int, int]] = {}

    @property
    def state(self) -> ConnectionState:
        """No watch stands guard: what was read is believed for a moment only."""
        return _CONNECTED

    def children(self, path: str) -> Children | Unread:
        """The names below a place."""
        node = self._node_at(path)
        return Missing(path) if node is None else Children(path, node.names, self._stat(path, node))

    def exists(self, path: str) -> Stat | Unread:
        node = self._node_at(path)
        return Missing(path) if node is None else self._stat(path, node)

    def read_many(self, paths: Sequence[str]) -> list[Znode | Unread]:
        return [self._read(path) for path in paths]

    def _read(self, path: str) -> Znode | Unread:
        node = self._node_at(path)
        return Missing(path) if node is None else Znode(path, _data(node), self._stat(path, node))

    def _stat(self, path: str, node: TreeNode) -> Stat:
        before, version, at_ms = self._seen.get(path, (node, 0, 0))
        if before != node:
            version, at_ms = version + 1, time.time_ns() // 1_000_000
        self._seen[path] = node, version, at_ms
        is_logged = node.offset >= 0
        return Stat(
            czxid=LOGGED if is_logged else TOLD,
            mzxid=node.offset if is_logged else version,
            ctime_ms=0,
            mtime_ms=node.time_ms if is_logged else at_ms,
            version=max(node.version, 0) if is_logged else version,
            cversion=0,
            aversion=0,
            ephemeral_owner=0,
            data_length=len(_data(node)),
            num_children=len(node.names),
            pzxid=version,
        )


def _data(node: TreeNode) -> bytes:
    return b"" if node.value is None else json.dumps(node.value, separators=(",", ":")).encode()


Parts = tuple[str, ...]
_NOTHING = KraftMetadata()


def node_at(image: ClusterImage, path: str) -> TreeNode | None:
    """What is at a path; None: there is no such place."""
    parts = tuple(part for part in path.split("/") if part)
    if not parts:
        return folder(_BRANCHES)
    branch = _BRANCHES.get(parts[0])
    return None if branch is None else branch(image, parts[1:])


def _values(values: Mapping[str, object], parts: Parts) -> TreeNode | None:
    """A folder of values without anything below them."""
    if not parts:
        return folder(values)
    return TreeNode(values[parts[0]]) if len(parts) == 1 and parts[0] in values else None


def _brokers(image: ClusterImage, parts: Parts) -> TreeNode | None:
    brokers = {str(number): broker for number, broker in sorted({**image.brokers, **image.fenced}.items())}
    match parts:
        case ():
            return folder(brokers)
        case (number,) if number in brokers:
            return folder(("registration",))
        case (number, "registration") if number in brokers:
            return TreeNode(_registration(image, brokers[number]))
        case _:
            return None


def _registration(image: ClusterImage, broker: BrokerImage) -> Mapping[str, object]:
    metadata = image.metadata or _NOTHING
    return {
        "id": broker.id,
        "endpoints": broker.endpoints,
        "rack": broker.rack,
        "brokerEpoch": broker.epoch,
        "fenced": broker.id in image.fenced,
        "inControlledShutdown": bool(broker.in_controlled_shutdown),
        "logDirs": metadata.log_dirs.get(broker.id, ()),
        **({"cordonedLogDirs": metadata.cordoned[broker.id]} if broker.id in metadata.cordoned else {}),
    }


def _topics(image: ClusterImage, parts: Parts) -> TreeNode | None:
    if not parts:
        return folder(image.topics)
    topic = image.topics.get(parts[0])
    if topic is None:
        return None
    match parts[1:]:
        case ():
            return folder(("id", "name", *map(str, topic.partitions.tolist())))
        case ("id",):
            return TreeNode(topic.topic_id)
        case ("name",):
            return TreeNode(topic.name)
        case (number, *below) if number.isdecimal() and int(number) in topic.row_of and str(int(number)) == number:
            if not below:
                return folder(("data",))
            return _partition(image, topic, int(number)) if below == ["data"] else None
        case _:
            return None


def _partition(image: ClusterImage, topic: TopicImage, number: int) -> TreeNode:
    row = topic.row_of[number]
    elr, last_known = told_in(topic.elr[row]), told_in(topic.last_known_elr[row])
    value = {
        "partitionId": number,
        "replicas": unpadded(topic.replicas[row]),
        "isr": unpadded(topic.isr[row]),
        "addingReplicas": topic.adding.get(number, ()),
        "removingReplicas": topic.removing.get(number, ()),
        "leader": int(topic.leader[row]),
        "leaderEpoch": int(topic.leader_epoch[row]),
        "partitionEpoch": int(topic.version[row]),
        "leaderRecoveryState": "RECOVERING" if topic.recovering[row] else "RECOVERED",
        **({} if elr is None else {"elr": elr, "lastKnownElr": last_known or ()}),
        **({} if (folders := directory_ids(image, topic, row)) is None else {"directories": folders}),
    }
    return TreeNode(value, (), int(topic.zxid[row]), int(topic.time_ms[row]), int(topic.version[row]))


def _topic_ids(image: ClusterImage, parts: Parts) -> TreeNode | None:
    return _values({topic.topic_id: topic.name for topic in image.topics.values() if topic.topic_id}, parts)


def _configs(image: ClusterImage, parts: Parts) -> TreeNode | None:
    """Entities are paths themselves, `users/alice/clients/app`: each may be a folder, a value, or both."""
    entities = [(tuple(entity.split("/")), config) for entity, config in image.configs.items()]
    depth = len(parts)
    names = dict.fromkeys(path[depth] for path, _ in entities if path[:depth] == parts and len(path) > depth)
    value = next((config for path, config in entities if path == parts), None)
    return TreeNode(value, tuple(names)) if names or value is not None or not parts else None


def _quorum(image: ClusterImage, parts: Parts) -> TreeNode | None:
    quorum = image.quorum
    if quorum is None:
        return None if parts else TreeNode()
    return quorum_at(quorum, parts, has_offsets=False)


def quorum_at(quorum: Quorum, parts: Parts, *, has_offsets: bool) -> TreeNode | None:
    """The quorum of controllers below its folder. An image has old offsets: that they grow is not told."""
    replicas = {
        kind: {str(each.id): each for each in some}
        for kind, some in (("voters", quorum.voters), ("observers", quorum.observers))
    }
    match parts:
        case ():
            return folder(("leader", *replicas))
        case ("leader",):
            return TreeNode({"leaderId": quorum.leader, "leaderEpoch": quorum.leader_epoch})
        case (kind,) if kind in replicas:
            return folder(replicas[kind])
        case (kind, number) if number in replicas.get(kind, ()):
            return TreeNode(_quorum_replica(replicas[kind][number], has_offsets=has_offsets))
        case _:
            return None


def _quorum_replica(replica: QuorumReplica, *, has_offsets: bool) -> Mapping[str, object]:
    offsets = {"logEndOffset": replica.log_end_offset, "lag": replica.lag_records, "caughtUpMs": replica.caught_up_ms}
    return {
        **({"directoryId": replica.directory_id} if replica.directory_id else {}),
        **({"endpoints": replica.endpoints} if replica.endpoints else {}),
        **(offsets if has_offsets else {}),
    }


def _acls(image: ClusterImage, parts: Parts) -> TreeNode | None:
    acls = (image.metadata or _NOTHING).acls
    return _values({str(number): msgspec.to_builtins(acl) for number, acl in enumerate(acls)}, parts)


def _controllers(image: ClusterImage, parts: Parts) -> TreeNode | None:
    known = (image.metadata or _NOTHING).controllers
    return _values({str(each.id): {"id": each.id, "endpoints": each.endpoints} for each in known}, parts)


def _of_metadata(
    values: Callable[[KraftMetadata], Mapping[str, object]],
) -> Callable[[ClusterImage, Parts], TreeNode | None]:
    def at(image: ClusterImage, parts: Parts) -> TreeNode | None:
        return _values(values(image.metadata or _NOTHING), parts)

    return at


def _cluster_id(image: ClusterImage, parts: Parts) -> TreeNode | None:
    return None if parts else TreeNode(image.cluster_id)


_BRANCHES: Mapping[str, Callable[[ClusterImage, Parts], TreeNode | None]] = {
    "acls": _acls,
    "brokers": _brokers,
    "clusterId": _cluster_id,
    "configs": _configs,
    "controllers": _controllers,
    "delegationTokens": _of_metadata(lambda metadata: metadata.tokens),
    "features": _of_metadata(lambda metadata: metadata.features),
    "metadataQuorum": _quorum,
    "producerIds": _of_metadata(lambda metadata: {"nextProducerId": metadata.next_producer_id}),
    "topicIds": _topic_ids,
    "topics": _topics,
}
