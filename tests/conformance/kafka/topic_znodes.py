"""A new topic in ZooKeeper, as tools up to 2.3 write it: in milliseconds, where Kafka's own command is a JVM."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

Assignment = Mapping[int, Sequence[int]]
"""Replicas by partition, the preferred leader first."""


def topic_znodes(topic: str, assignment: Assignment, config: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Path and data, in the order in which they are created."""
    yield f"/config/topics/{topic}", json.dumps({"version": 1, "config": dict(config)}).encode()
    yield f"/brokers/topics/{topic}", assignment_payload(assignment)


def assignment_payload(assignment: Assignment) -> bytes:
    """The topic's znode. Later controllers give the topic an id and write it anew."""
    partitions = {str(partition): list(replicas) for partition, replicas in assignment.items()}
    return json.dumps({"version": 1, "partitions": partitions}).encode()
