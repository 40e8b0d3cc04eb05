"""The znodes below `/brokers/topics`, worked out when somebody asks for one: there may be a million of them.

What an image does not know of a znode, or a controller never asks for, is 0: transactions and times.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from model.cluster.ids import NO_STATE
from model.cluster.image_records import state_of
from model.cluster.topic_image import TopicImage, rows_of
from model.controller.topics import Partition, Topic
from model.hosts.memory_zookeeper.names import NO_NAMES, Names
from model.hosts.memory_zookeeper.tree import Node
from model.hosts.zookeeper.values import Stat
from model.znodes.partition_state import RECOVERING, LeaderIsrAndControllerEpoch
from model.znodes.paths import partition_path, partition_state_path, partitions_path, topic_path
from model.znodes.topics import TopicAssignment


class TopicZnodes:
    """One topic's znodes."""

    def __init__(self, image: TopicImage, topic: Topic | None, version: int) -> None:
        """topic: the same as a controller holds it, which is quicker to read; None if no assignment names a broker."""
        self._image = image
        self._partitions: Mapping[int, Partition] = {} if topic is None else topic.partitions
        self._version = version

    def paths(self) -> Iterator[str]:
        """Every path, parents before children."""
        name = self._image.name
        yield topic_path(name)
        if self._stated:
            yield partitions_path(name)
        for number in self._stated:
            yield partition_path(name, number)
            yield partition_state_path(name, number)

    def node(self, names: list[str]) -> Node | None:
        """The znode at these names below the topic's; None if there is none."""
        if len(names) == 3:  # all but a few
            return self._state(_number(names[1])) if names[0] == "partitions" and names[2] == "state" else None
        match names:
            case []:
                return self._assignment
            case ["partitions"]:
                return _folder(list(map(str, self._stated))) if self._stated else None
            case ["partitions", number]:
                return _folder(["state"]) if _number(number) in self._stated else None
            case _:
                return None

    def _state(self, number: int) -> Node | None:
        known = self._partitions.get(number)
        if known is None or known.leadership is None:
            return self._orphan(number)
        state = known.leadership.state
        payload = LeaderIsrAndControllerEpoch(
            controller_epoch=known.leadership.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            leader_recovery_state=RECOVERING if state.recovering else 0,
        )
        return _state_node(payload, state.partition_epoch)

    def _orphan(self, number: int) -> Node | None:
        """The state of a partition that no assignment names."""
        row = self._stated.get(number)
        if row is None:
            return None
        state = state_of(self._image, row)
        payload = LeaderIsrAndControllerEpoch(
            controller_epoch=state.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            leader_recovery_state=RECOVERING if state.recovering else 0,
        )
        return _state_node(payload, state.version)

    @cached_property
    def _assignment(self) -> Node:
        topic = self._image
        rows = zip(topic.partitions.tolist(), rows_of(topic.replicas), strict=True)
        replicas = {partition: brokers for partition, brokers in rows if brokers}
        payload = TopicAssignment(
            partitions=replicas,
            topic_id=topic.topic_id,
            adding_replicas=topic.adding,
            removing_replicas=topic.removing,
            version=self._version,
        )
        data = payload.to_bytes() if replicas else b""
        children = 1 if self._stated else 0
        return Node(data, _stat(len(data), children=children), Names(["partitions"]) if children else NO_NAMES)

    @cached_property
    def _stated(self) -> dict[int, int]:
        """Partitions with a state znode, and their rows."""
        rows = zip(self._image.partitions.tolist(), self._image.version.tolist(), strict=True)
        return {partition: row for row, (partition, version) in enumerate(rows) if version != NO_STATE}


def _number(name: str) -> int:
    return int(name) if name.isascii() and name.isdigit() else -1


def _state_node(payload: LeaderIsrAndControllerEpoch, version: int) -> Node:
    data = payload.to_bytes()
    return Node(data, _stat(len(data), version=version))


def _folder(names: list[str]) -> Node:
    return Node(b"", _stat(0, children=len(names)), Names(names))


def _stat(length: int, *, children: int = 0, version: int = 0) -> Stat:
    return Stat(0, 0, 0, 0, version, children, 0, 0, length, children, 0)
