"""Who owns what in a consumer group, as a graph: group → members → consumer threads → partitions.

What the product counts and draws from arrays is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import networkx as nx

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import GroupImage
from model.consumers.ownership import subscribed_topics, threads_of

Graph = nx.DiGraph
Kind = Literal["group", "member", "thread", "partition"]


class Node(NamedTuple):
    """A node of the graph. `name` is a TopicPartition for partitions, a text for the rest."""

    kind: Kind
    name: str | TopicPartition


def ownership_graph(group: GroupImage, image: ClusterImage) -> Graph:
    """The group's graph, and its partitions that nobody owns as nodes without an edge.

    Nodes have the attributes `kind` and `alive`: of a member or thread whether it is registered, of a partition whether
    the cluster has it. Partitions also have `offset` and `lag` in records, None where unknown.
    """
    graph: Graph = nx.DiGraph()
    root = Node("group", group.name)
    graph.add_node(root, kind="group", alive=bool(group.members))
    for name in sorted({*group.members, *map(group.member_of, group.owners.values())}):
        member, registered = Node("member", name), group.members.get(name)
        graph.add_node(member, kind="member", alive=registered is not None)
        graph.add_edge(root, member)
        _add_threads(graph, member, threads_of(group, name))
    ends = image.log_ends
    topics = subscribed_topics(group, image)
    there = {TopicPartition(topic.name, p) for topic in topics for p in topic.partitions[~topic.orphaned].tolist()}
    for read in sorted(there | {read for read, _ in group.held}):
        offset = group.offsets.get(read)
        lag = max(ends[read] - offset, 0) if offset is not None and read in ends else None
        graph.add_node(Node("partition", read), kind="partition", alive=read in there, offset=offset, lag=lag)
    for owner in sorted(set(group.owners.values())):
        _add_threads(graph, Node("member", group.member_of(owner)), (owner,))
    graph.add_edges_from((Node("thread", owner), Node("partition", read)) for read, owner in group.held)
    return graph


def _add_threads(graph: Graph, member: Node, threads: tuple[str, ...]) -> None:
    for name in threads:
        graph.add_node(Node("thread", name), kind="thread", alive=graph.nodes[member]["alive"])
        graph.add_edge(member, Node("thread", name))


def threads(graph: Graph) -> tuple[str, ...]:
    """Every consumer thread, by name."""
    return tuple(sorted(_names(graph, "thread")))


def owned_by(graph: Graph, thread: str) -> tuple[TopicPartition, ...]:
    """The partitions a thread owns, in order."""
    node = Node("thread", thread)
    return tuple(sorted(owned.name for owned in graph.successors(node))) if node in graph else ()


def idle_threads(graph: Graph) -> tuple[str, ...]:
    """Threads of registered members that own nothing, by name."""
    return tuple(
        name for name in threads(graph) if graph.out_degree(Node("thread", name)) == 0 and is_alive(graph, name)
    )


def dead_threads(graph: Graph) -> tuple[str, ...]:
    """Threads that own partitions although their member is not registered (any more), by name."""
    return tuple(name for name in threads(graph) if not is_alive(graph, name))


def partitions_of_dead(graph: Graph) -> tuple[TopicPartition, ...]:
    """Partitions owned by threads of members that are gone, in order."""
    return tuple(sorted(owned for thread in dead_threads(graph) for owned in owned_by(graph, thread)))


def unowned_partitions(graph: Graph) -> tuple[TopicPartition, ...]:
    """Partitions of the group's topics that nobody owns, in order."""
    free = (name for name in _names(graph, "partition") if graph.in_degree(Node("partition", name)) == 0)
    return tuple(sorted(free))


def partitions(graph: Graph) -> tuple[TopicPartition, ...]:
    """All partitions of the graph, in order."""
    return tuple(sorted(_names(graph, "partition")))


def is_alive(graph: Graph, thread: str) -> bool:
    """Whether the thread's member is registered."""
    return bool(graph.nodes[Node("thread", thread)]["alive"])


def lag_of(graph: Graph, read: TopicPartition) -> int | None:
    """How many records the group is behind on a partition, None where that is not known."""
    return graph.nodes[Node("partition", read)]["lag"]


def owner_counts(graph: Graph) -> Mapping[str, int]:
    """Topic → how many threads own partitions of it."""
    owners: dict[str, set[str]] = {}
    for thread in threads(graph):
        for topic in {owned.topic for owned in owned_by(graph, thread)}:
            owners.setdefault(topic, set()).add(thread)
    return {topic: len(names) for topic, names in owners.items()}


def _names(graph: Graph, kind: Kind) -> Iterator[Any]:
    return (node.name for node in graph if node.kind == kind)
