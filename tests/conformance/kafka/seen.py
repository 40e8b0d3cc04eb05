"""What a controller left behind in ZooKeeper, as far as it can be compared between clusters: no names, no times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

REASSIGNMENTS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"


class Znodes(Protocol):
    """What a tool may do."""

    def create(self, path: str, data: bytes) -> None: ...
    def set(self, path: str, data: bytes) -> None: ...
    def delete(self, path: str) -> None: ...
    def get(self, path: str) -> tuple[bytes, int] | None: ...


class PartitionSeen(NamedTuple):
    """A state znode."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int
    recovering: bool


class TopicSeen(NamedTuple):
    """A topic's znode, but for its id."""

    payload_version: int
    replicas: dict[str, list[int]]
    adding: dict[str, list[int]]
    removing: dict[str, list[int]]
    version: int
    has_id: bool
    partitions: dict[int, PartitionSeen | None]


class Seen(NamedTuple):
    """All that a controller writes of these topics. The controller epoch comes with the znode's version."""

    controller_epoch: tuple[bytes, int] | None
    topics: dict[str, TopicSeen | None]
    waiting: tuple[str, ...]
    """Requests that are not done with yet."""

    def lines(self) -> list[str]:
        """As text, to see a difference."""
        found = [f"controller epoch {self.controller_epoch}", f"waiting {self.waiting}"]
        for name, topic in self.topics.items():
            found.append(f"{name} {None if topic is None else topic._replace(partitions={})}")
            found += [f"{name}-{p} {state}" for p, state in (topic.partitions if topic else {}).items()]
        return found


def seen(znodes: Znodes, topics: Sequence[str]) -> Seen:
    """What is there now."""
    requests = [REASSIGNMENTS, PREFERRED_ELECTION, *map(marker, topics)]
    waiting = tuple(path for path in requests if znodes.get(path) is not None)
    found = {topic: _topic(znodes, topic) for topic in topics}
    for topic, there in found.items():
        if there is not None and marker(topic) in waiting:
            # Which copy of a topic that is to go stops first, and so is not the last of the ISR, follows a hash.
            states = {p: state and state._replace(isr=()) for p, state in there.partitions.items()}
            found[topic] = there._replace(partitions=states)
    return Seen(znodes.get("/controller_epoch"), found, waiting)


def marker(topic: str) -> str:
    """The znode that asks for a topic to be deleted."""
    return f"/admin/delete_topics/{topic}"


def _topic(znodes: Znodes, topic: str) -> TopicSeen | None:
    found = znodes.get(f"/brokers/topics/{topic}")
    if found is None:
        return None
    payload, version = json.loads(found[0]), found[1]
    return TopicSeen(
        payload["version"],
        payload["partitions"],
        payload.get("adding_replicas", {}),
        payload.get("removing_replicas", {}),
        version,
        "topic_id" in payload,
        {int(p): _partition(znodes, f"/brokers/topics/{topic}/partitions/{p}/state") for p in payload["partitions"]},
    )


def _partition(znodes: Znodes, path: str) -> PartitionSeen | None:
    found = znodes.get(path)
    if found is None:
        return None
    state = json.loads(found[0])
    return PartitionSeen(
        state["leader"],
        state["leader_epoch"],
        tuple(state["isr"]),
        state["controller_epoch"],
        found[1],
        bool(state.get("leader_recovery_state", 0)),
    )
