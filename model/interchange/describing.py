"""Topics and partitions as `kafka-topics --describe` of 3.9 prints them. The lines hold tabs, and names as they are.

Source: `org.apache.kafka.tools.TopicCommand` (3.9). MarkedForDeletion is of `kafka.admin.TopicCommand` (1.1): later
ones do not know it, and readers of their lines skip it.
"""

from collections.abc import Iterable, Mapping

from model.cluster.topic_image import Ints, TopicImage, told_in, unpadded

_MARK = "\tMarkedForDeletion: true"


def topic_line(topic: TopicImage, config: Mapping[str, str], *, deleting: bool = False) -> str:
    """A topic, with its own settings. The replication factor is that of its first partition, additions not counted."""
    cells = [f"Topic: {topic.name}"]
    if topic.topic_id is not None:
        cells.append(f"TopicId: {topic.topic_id}")
    cells.append(f"PartitionCount: {len(topic)}")
    cells.append(f"ReplicationFactor: {_replication_factor(topic) if len(topic) else 0}")
    cells.append(f"Configs: {','.join(f'{name}={value}' for name, value in config.items())}")
    return "\t".join(cells) + (_MARK if deleting else "")


def partition_line(topic: TopicImage, row: int, *, deleting: bool = False) -> str:
    """One partition, by its row in the image."""
    number, leader = int(topic.partitions[row]), int(topic.leader[row])
    adding, removing = topic.adding.get(number, ()), topic.removing.get(number, ())
    line = (
        f"\tTopic: {topic.name}\tPartition: {number}\tLeader: {leader if leader >= 0 else 'none'}"
        f"\tReplicas: {_ids(unpadded(topic.replicas[row]))}\tIsr: {_ids(unpadded(topic.isr[row]))}"
    )
    moving = f"\tAdding Replicas: {_ids(adding)}\tRemoving Replicas: {_ids(removing)}" if adding or removing else ""
    eligible = f"{_told('Elr', topic.elr[row])}{_told('LastKnownElr', topic.last_known_elr[row])}"
    return f"{line}{_MARK if deleting else ''}{moving}{eligible}"


def _told(name: str, brokers: Ints) -> str:
    told = told_in(brokers)
    return f"\t{name}: {'N/A' if told is None else _ids(told)}"


def _replication_factor(topic: TopicImage) -> int:
    adding = topic.adding.get(int(topic.partitions[0]), ())
    return sum(broker not in adding for broker in unpadded(topic.replicas[0]))


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
