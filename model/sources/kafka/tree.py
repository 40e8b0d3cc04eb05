"""What brokers told, as a tree to browse like znodes: the places are those of kafka-metadata-shell (3.9). Asks nobody.

It goes as far as the Kafka protocol does: ACLs, quotas, client ids and the log of the metadata itself are not in it.
"""

from collections.abc import Callable, Mapping

from model.sources.kafka.views import ClusterView, TopicView
from model.sources.metadata_tree import TreeNode, folder, quorum_at

ROOTS = ("brokers", "clusterId", "configs", "features", "logDirs", "metadataQuorum", "topicIds", "topics")


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
            return folder(brokers)
        case (number,) if number in brokers:
            return folder(("registration",))
        case (number, "registration") if number in brokers:
            broker = brokers[number]
            facts = {"id": int(number), "host": broker.host, "port": broker.port, "rack": broker.rack}
            return TreeNode(facts if view.fenced is None else facts | {"fenced": int(number) in fenced})
        case _:
            return None


def _topics(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return folder(view.topics)
    topic = view.topics.get(parts[0])
    if topic is None:
        return None
    numbers = {str(number): number for number in topic.places}
    match parts[1:]:
        case ():
            return folder(("id", "name", *numbers))
        case ("id",):
            return TreeNode(topic.topic_id)
        case ("name",):
            return TreeNode(parts[0])
        case (number,) if number in numbers:
            return folder(("data",))
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
        return folder(names)
    return TreeNode(names[parts[0]]) if len(parts) == 1 and parts[0] in names else None


def _configs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    kinds = sorted({entity.partition("/")[0] for entity in view.configs})
    match parts:
        case ():
            return folder(kinds)
        case (kind,) if kind in kinds:
            return folder(name for each, _, name in (entity.partition("/") for entity in view.configs) if each == kind)
        case (kind, name) if f"{kind}/{name}" in view.configs:
            return TreeNode(view.configs[f"{kind}/{name}"])
        case _:
            return None


def _cluster_id(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    return None if parts else TreeNode(view.cluster_id)


def _features(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return folder(view.features)
    return TreeNode(view.features[parts[0]]) if len(parts) == 1 and parts[0] in view.features else None


def _log_dirs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    dirs_of = {str(broker): dirs for broker, dirs in view.log_dirs.items()}
    match parts:
        case ():
            return folder(dirs_of)
        case (broker,) if broker in dirs_of:
            return folder(map(str, range(len(dirs_of[broker]))))
        case (broker, number) if broker in dirs_of and number in map(str, range(len(dirs_of[broker]))):
            found = dirs_of[broker][int(number)]
            facts = {"path": found.path, "error": found.error or None, "replicas": len(found.sizes)}
            sizes = {"bytes": sum(found.sizes.values()), "total": found.total_bytes, "usable": found.usable_bytes}
            return TreeNode(facts | sizes)
        case _:
            return None


def _quorum(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    quorum = view.quorum
    if quorum is None:
        return None if parts else TreeNode()
    return quorum_at(quorum, parts, has_offsets=True)


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
