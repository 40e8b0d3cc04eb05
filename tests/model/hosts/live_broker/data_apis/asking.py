"""Requests of single APIs over a real connection, in any version, to a broker of a test's cluster."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import topic_uuid
from tests.harness.live_brokers import Cluster

FETCH = 1
NO_EPOCH = -1


@asynccontextmanager
async def connected(cluster: Cluster, broker: int) -> AsyncIterator[Connection]:
    connection = await Connection.open("127.0.0.1", cluster.nodes[broker].port, "test")
    try:
        yield connection
    finally:
        await connection.close()


class FetchWish(NamedTuple):
    """The fields of a fetch request, and of all its partitions. `session`: its id and epoch."""

    version: int = 17
    session: tuple[int, int] = (0, -1)
    forgotten: Sequence[tuple[str, int]] = ()
    min_bytes: int = 1
    max_wait_ms: int = 0
    max_bytes: int = 1 << 20
    partition_max_bytes: int = 1 << 20
    isolation: int = 0
    topic_id: uuid.UUID | None = None
    leader_epoch: int = NO_EPOCH
    last_fetched_epoch: int = NO_EPOCH
    replica: int = -1


def fetch_request(cluster: Cluster, *offsets: tuple[str, int, int], **fields: Any) -> Entity:
    """`offsets`: topic, partition and where to read. `fields` are those of FetchWish."""
    wish = FetchWish(**fields)
    module: Any = shapes(FETCH, wish.version, "request")
    state = {}
    if hasattr(module, "ReplicaState"):
        state["replica_state"] = module.ReplicaState(replica_id=wish.replica, replica_epoch=-1)
    return shaped(
        module.FetchRequest,
        **state,
        replica_id=wish.replica,
        max_wait=timedelta(milliseconds=wish.max_wait_ms),
        min_bytes=wish.min_bytes,
        max_bytes=wish.max_bytes,
        isolation_level=wish.isolation,
        session_id=wish.session[0],
        session_epoch=wish.session[1],
        topics=tuple(
            _topic(cluster, wish, module.FetchTopic, name, _partition(wish, module, number, offset))
            for name, number, offset in offsets
        ),
        forgotten_topics_data=tuple(
            _topic(cluster, wish, module.ForgottenTopic, name, number) for name, number in wish.forgotten
        ),
        rack_id="",
    )


def _topic(cluster: Cluster, wish: FetchWish, shape: type[Entity], name: str, partition: object) -> Entity:
    topic_id = wish.topic_id or topic_uuid(cluster.topic_ids.get(name))
    return shaped(shape, topic=name, topic_id=topic_id, partitions=(partition,))


def _partition(wish: FetchWish, module: Any, number: int, offset: int) -> Entity:
    return shaped(
        module.FetchPartition,
        partition=number,
        current_leader_epoch=wish.leader_epoch,
        fetch_offset=offset,
        last_fetched_epoch=wish.last_fetched_epoch,
        log_start_offset=-1,
        partition_max_bytes=wish.partition_max_bytes,
    )


def partitions_of(response: Entity) -> list[Entity]:
    """All partitions of a response, whatever their topics."""
    return [each for topic in response.responses for each in topic.partitions]
