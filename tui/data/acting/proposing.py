"""What is proposed for a request on the cluster as it is now: for the command line and for dashboards alike."""

from collections.abc import Iterable

from model.actions import deletions, elections, groups
from model.actions.basis import Basis
from model.actions.configs import ConfigWish, alter_configs, wish_paths
from model.actions.offsets import reset_offsets, reset_paths
from model.actions.proposal import ActionRefused, Proposal
from model.actions.topics import new_topic_paths
from model.broker.settings.wanted import said_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import ZOOKEEPER
from model.cluster.ids import TopicPartition
from model.drills.staging.rules import rules_of
from model.znodes.paths import topic_path
from tui.data.acting import offsets, topics
from tui.data.acting.drilled import with_drill
from tui.data.acting.requests import (
    AddPartitions,
    AlterConfigs,
    CreateTopic,
    DeleteGroup,
    DeleteTopics,
    ElectPreferred,
    RemoveDeleteMarker,
    Request,
    ResetOffsets,
)
from tui.data.acting.way import Way
from tui.data.opening import Opening


def proposal_of(request: Request, way: Way, opening: Opening) -> Proposal:
    """Without steps where there is nothing to do. `opening`: how brokers are reached, who know where logs end.

    Raises ActionRefused, UnansweredError and ZooKeeperUnavailable with one line, ValueError for a login that is none.
    """
    return with_drill(way.image, _proposed(request, way, opening))


def _proposed(request: Request, way: Way, opening: Opening) -> Proposal:
    match request:
        case CreateTopic(topic=topic):
            return topics.creation(basis_of(way, new_topic_paths(topic)), request)
        case AddPartitions() | DeleteTopics():
            return _on_chosen(request, way)
        case RemoveDeleteMarker(topic):
            return deletions.remove_delete_marker(basis_of(way, deletions.deletion_paths([topic])), topic)
        case AlterConfigs(kind, name, add, remove):
            wish = ConfigWish(f"{kind}/{name}", add, remove)
            return alter_configs(basis_of(way, wish_paths(wish)), wish, said_of(kind, add).remarks)
        case ElectPreferred():
            return elections.elect_preferred(basis_of(way, [elections.ELECTION_PATH]), _elected(way.image, request))
        case ResetOffsets():
            where = offsets.landing_of(request, way.image, opening)
            paths = reset_paths(request.group, list(where.offsets))
            return reset_offsets(basis_of(way, paths), request.group, where)
        case DeleteGroup(group):
            known = way.image.group(group)
            below = groups.group_root(known.name) if known is not None and known.kind == ZOOKEEPER else ""
            return groups.delete_group(basis_of(way, (), below=below), group)


def basis_of(way: Way, paths: Iterable[str], *, below: str = "") -> Basis:
    """What a proposal stands on: these paths where they exist, and all that is `below` one. Raises as Way does."""
    found = way.znodes(paths)
    if found is not None and below:
        found = {**found, **way.tree(below)}
    return Basis(way.image, rules_of(way.image), found)


def _on_chosen(request: AddPartitions | DeleteTopics, way: Way) -> Proposal:
    names = topics.chosen_topics(way.image, request.topic, if_exists=request.if_exists)
    if not names:
        return Proposal(f"topic {request.topic} does not exist", ())
    if isinstance(request, DeleteTopics):
        return deletions.delete_topics(basis_of(way, deletions.deletion_paths(names)), names)
    return topics.growth(basis_of(way, [topic_path(name) for name in names]), request, names)


def _elected(image: ClusterImage, request: ElectPreferred) -> tuple[TopicPartition, ...]:
    if request.listed is not None:
        return request.listed
    if request.topic is None:
        return elections.imbalanced(image)
    known = image.topics.get(request.topic)
    if known is None:
        raise ActionRefused(f"topic {request.topic!r} does not exist")
    return tuple(TopicPartition(known.name, number) for number in request.partitions or known.partitions.tolist())
