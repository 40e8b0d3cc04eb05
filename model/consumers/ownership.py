"""Who owns what in a consumer group: as a graph (group → members → consumer threads → partitions), and in numbers.

Rules: `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1). A member runs `<consumer id>-0` … `<consumer id>-n`; a
thread claims a partition by a znode that dies with its session. A member of a classic group is its own thread.
Says what is there, not whether that is bad: see `model.cluster.findings`. Long lists take the numbers, which need no
graph. networkx takes 0.2 s to import and is imported where it is first needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import topics_of
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, ZOOKEEPER, GroupImage
from model.cluster.texts import listed
from model.cluster.topic_image import TopicImage

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.DiGraph[Any]


Kind = Literal["group", "member", "thread", "partition"]

MOST_THREADS = 10_000
"""More threads than this in one member is a damaged znode, not a consumer."""


class Node(NamedTuple):
    """A node of the graph. `name` is a TopicPartition for partitions, a text for the rest."""

    kind: Kind
    name: str | TopicPartition


def ownership_graph(group: GroupImage, image: ClusterImage) -> "Graph":
    """The group's graph, and its partitions that nobody owns as nodes without an edge.

    Nodes have the attributes `kind` and `alive`: of a member or thread whether it is registered, of a partition whether
    the cluster has it. Partitions also have `offset` and `lag` in records, None where unknown.
    """
    import networkx as nx  # noqa: PLC0415

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


def _add_threads(graph: "Graph", member: Node, threads: tuple[str, ...]) -> None:
    for name in threads:
        graph.add_node(Node("thread", name), kind="thread", alive=graph.nodes[member]["alive"])
        graph.add_edge(member, Node("thread", name))


def threads_of(group: GroupImage, name: str) -> tuple[str, ...]:
    """Ids of the threads a registered member runs: as many as its topic with the most streams asks for."""
    if name not in group.members:
        return ()
    if group.kind != ZOOKEEPER:
        return (name,)
    most = max(group.members[name].subscription.values(), default=0)
    return tuple(f"{name}-{number}" for number in range(min(most, MOST_THREADS)))


def subscribed_topics(group: GroupImage, image: ClusterImage) -> tuple[TopicImage, ...]:
    """The group's topics that the cluster has and is not deleting, by name. See `topics_of` on patterns."""
    names = topics_of(group) - image.admin.delete_topics
    return tuple(image.topics[name] for name in sorted(names) if name in image.topics)


def threads(graph: "Graph") -> tuple[str, ...]:
    """Every consumer thread, by name."""
    return tuple(sorted(_names(graph, "thread")))


def owned_by(graph: "Graph", thread: str) -> tuple[TopicPartition, ...]:
    """The partitions a thread owns, in order."""
    node = Node("thread", thread)
    return tuple(sorted(owned.name for owned in graph.successors(node))) if node in graph else ()


def idle_threads(graph: "Graph") -> tuple[str, ...]:
    """Threads of registered members that own nothing, by name."""
    return tuple(
        name for name in threads(graph) if graph.out_degree(Node("thread", name)) == 0 and is_alive(graph, name)
    )


def dead_threads(graph: "Graph") -> tuple[str, ...]:
    """Threads that own partitions although their member is not registered (any more), by name."""
    return tuple(name for name in threads(graph) if not is_alive(graph, name))


def partitions_of_dead(graph: "Graph") -> tuple[TopicPartition, ...]:
    """Partitions owned by threads of members that are gone, in order."""
    return tuple(sorted(owned for thread in dead_threads(graph) for owned in owned_by(graph, thread)))


def unowned_partitions(graph: "Graph") -> tuple[TopicPartition, ...]:
    """Partitions of the group's topics that nobody owns, in order."""
    free = (name for name in _names(graph, "partition") if graph.in_degree(Node("partition", name)) == 0)
    return tuple(sorted(free))


def partitions(graph: "Graph") -> tuple[TopicPartition, ...]:
    """All partitions of the graph, in order."""
    return tuple(sorted(_names(graph, "partition")))


def is_alive(graph: "Graph", thread: str) -> bool:
    """Whether the thread's member is registered."""
    return bool(graph.nodes[Node("thread", thread)]["alive"])


def lag_of(graph: "Graph", read: TopicPartition) -> int | None:
    """How many records the group is behind on a partition, None where that is not known."""
    return graph.nodes[Node("partition", read)]["lag"]


def owner_counts(graph: "Graph") -> Mapping[str, int]:
    """Topic → how many threads own partitions of it."""
    owners: dict[str, set[str]] = {}
    for thread in threads(graph):
        for topic in {owned.topic for owned in owned_by(graph, thread)}:
            owners.setdefault(topic, set()).add(thread)
    return {topic: len(names) for topic, names in owners.items()}


def _names(graph: "Graph", kind: Kind) -> Iterator[Any]:
    return (node.name for node in graph if node.kind == kind)


class GroupCounts(NamedTuple):
    """Numbers of one group. `threads` are those of registered members; `lag` is in records, None where not known.

    Of a share group `owned` is what at least one member reads, and idle is who reads nothing.
    """

    members: int
    threads: int
    idle_threads: int
    dead_threads: int
    topics: int
    owned: int
    unowned: int
    lag: int | None


def group_counts(group: GroupImage, image: ClusterImage) -> GroupCounts:
    """Counts what `ownership_graph` of the same group would show."""
    assigned = {
        topic.name: frozenset(topic.partitions[~topic.orphaned].tolist()) for topic in subscribed_topics(group, image)
    }
    owners = frozenset(group.owners.values())
    dead = {owner for owner in owners if group.member_of(owner) not in group.members}
    named = {thread for name in group.members for thread in threads_of(group, name)}
    held = {read for read, _ in group.held}
    held_there = sum(read.partition in assigned.get(read.topic, ()) for read in held)
    idle = {name for name, member in group.members.items() if not member.reads}
    return GroupCounts(
        members=len(group.members),
        threads=len(named | (owners - dead)),
        idle_threads=len(idle if group.kind == SHARE else named - owners),
        dead_threads=len(dead),
        topics=len({name for name, there in assigned.items() if there} | {read.topic for read in held}),
        owned=len(held),
        unowned=sum(map(len, assigned.values())) - held_there,
        lag=_lag(group, image, assigned),
    )


def _lag(group: GroupImage, image: ClusterImage, assigned: Mapping[str, frozenset[int]]) -> int | None:
    ends = image.log_ends
    known = [
        max(ends[read] - offset, 0)
        for read, offset in group.offsets.items()
        if read in ends and (read in group.owners or read.partition in assigned.get(read.topic, ()))
    ]
    return sum(known) if known else None


NONE = "no consumer groups"
NOT_ASKED = (
    "no consumer groups in ZooKeeper; brokers were not asked for theirs: "
    "--bootstrap host:port, or kafka in the configuration"
)
"""Since 0.9 consumers have their groups at brokers."""


def no_groups(image: ClusterImage) -> str:
    """One line, for an image without groups."""
    return NONE if image.provenance.asks_brokers else NOT_ASKED


def not_previewed(image: ClusterImage) -> str:
    """One line for groups that no strategy applies to; empty where there is none."""
    others = sorted((key, group.kind) for key, group in image.every_group() if not group.has_owners)
    if not others:
        return ""
    named = listed(f"{key} ({kind})" for key, kind in others)
    return f"not previewed: {named}; strategies here apply to groups in which each partition has one owner"


LEAST_RUN = 3
"""Numbers with a step above one that make a range; two of them are shorter as they are."""


def partition_ranges(numbers: Sequence[int], most_cells: int | None = None) -> str:
    """Ascending numbers as ranges; beyond `most_cells` characters the rest is counted (`0-3,7 +12`)."""
    text, written = "", 0
    for run in _runs(numbers):
        longer = f"{text},{_written(run)}" if text else _written(run)
        left = len(numbers) - written - len(run)
        if most_cells is not None and text and len(longer) + (len(f" +{left}") if left else 0) > most_cells:
            return f"{text} +{len(numbers) - written}"
        text, written = longer, written + len(run)
    return text


def _written(run: Sequence[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    step = run[1] - run[0]
    return f"{run[0]}-{run[-1]}" + (f"/{step}" if step > 1 else "")


def _runs(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    start = 0
    while start < len(numbers):
        end = start + 1
        if end < len(numbers):
            step = numbers[end] - numbers[start]
            while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            if step > 1 and end - start < LEAST_RUN:
                end = start + 1
        yield numbers[start:end]
        start = end
