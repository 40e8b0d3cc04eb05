"""Which partitions were moved from whom to whom in one run, so that moving one way and back cancels out.

Source: `PartitionMovements` of `AbstractStickyAssignor` and `UniformHeterogeneousAssignmentBuilder` (3.9). If one is to
go where another of the same topic came from, that other one goes back instead.
"""

from collections.abc import Callable

from model.consumers.assignors.group import Group
from model.consumers.assignors.java_hashing import HashSet
from model.consumers.assignors.java_strings import signed

Pair = tuple[int, int]


class Movements:
    """The movements so far. `code` is a partition's hash code in Java, which decides which of several goes back."""

    def __init__(self, code: Callable[[int], int]) -> None:
        self._code = code
        self._of_partition: dict[int, Pair] = {}
        self._moved: dict[tuple[int, Pair], HashSet] = {}

    def goes(self, partition: int, topic: int, source: int, to: int) -> int:
        """The partition that is really moved if this one is to go from its owner `source` to another member."""
        source = self._of_partition.get(partition, (source, to))[0]
        opposite = self._moved.get((topic, (to, source)))
        return partition if opposite is None else opposite.first()

    def has(self, partition: int) -> bool:
        """Whether the partition was moved, and not back."""
        return partition in self._of_partition

    def moved(self, partition: int, topic: int, source: int, to: int) -> None:
        """Takes down a movement; one that leads back to where the partition was at first leaves no trace."""
        known = self._of_partition.pop(partition, None)
        if known is not None:
            partitions = self._moved[topic, known]
            partitions.remove(partition)
            if not len(partitions):
                del self._moved[topic, known]
            source = known[0]
        if source != to:
            self._of_partition[partition] = (source, to)
            self._moved.setdefault((topic, (source, to)), HashSet()).add(partition, self._code(partition))


def topic_partition_code(group: Group, partition: int) -> int:
    """`TopicPartition.hashCode` as an unsigned 32-bit number."""
    topic = int(group.topic_of[partition])
    return (31 * (31 + partition - int(group.first[topic])) + int(group.topic_hashes[topic])) & 0xFFFFFFFF


def topic_id_partition_code(group: Group, partition: int) -> int:
    """`TopicIdPartition.hashCode` as an unsigned 32-bit number; the group's hashes are those of topic ids."""
    topic = int(group.topic_of[partition])
    return (31 * (31 + signed(int(group.topic_hashes[topic]))) + partition - int(group.first[topic])) & 0xFFFFFFFF
