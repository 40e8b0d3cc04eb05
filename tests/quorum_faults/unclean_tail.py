"""A leader that the other voters do not hear any more goes on appending: once it is deposed, nobody may show its tail.

What kdrill asks of it still arrives, so kdrill has read the tail when it is truncated.
"""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from model.hosts.observing.observing import CLIENT_ID
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped
from model.hosts.wire.names import ApiKey, WireError
from tests.harness.kraft import KraftCluster

ANSWERED_S = 1.5
"""By then the leader has answered what others had asked it for: it appends something every half second."""
APPENDED_S, DEPOSED_S = 3.0, 20.0
LOOK_S = 0.1


async def leave_tail(cluster: KraftCluster, leader: int, topic: str, is_deposed: Callable[[], bool]) -> bool:
    """Whether this topic stands in the leader's log alone, and another leads by now: then it was never committed."""
    with _parted(cluster, leader):
        await asyncio.sleep(ANSWERED_S)
        asking = asyncio.create_task(_ask_for(topic, cluster, leader))
        try:
            if not await _within(APPENDED_S, lambda: has_written(cluster, leader, topic)):
                return False
            others = [voter for voter in cluster.voters if voter != leader]
            return await _within(DEPOSED_S, is_deposed) and not any(
                has_written(cluster, voter, topic) for voter in others
            )
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


def has_written(cluster: KraftCluster, voter: int, topic: str) -> bool:
    """Whether a voter's log has a record that names the topic."""
    for path in cluster.metadata_folder(voter).glob("*.log"):
        with suppress(FileNotFoundError):
            if topic.encode() in path.read_bytes():
                return True
    return False


@contextmanager
def _parted(cluster: KraftCluster, leader: int) -> Iterator[None]:
    link = cluster.link(leader)
    link.part()
    try:
        yield
    finally:
        link.rejoin()


async def _ask_for(topic: str, cluster: KraftCluster, leader: int) -> None:
    """Of the controller itself, which appends it and waits in vain for others to have it; or does not lead any more."""
    host, port = cluster.ways[leader]
    with suppress(WireError):
        connection = await Connection.open(host, port, CLIENT_ID, APPENDED_S)
        try:
            module = connection.request_shapes(ApiKey.CREATE_TOPICS)
            assigned = module.CreatableReplicaAssignment(partition_index=0, broker_ids=(leader,))
            new = shaped(
                module.CreatableTopic,
                name=topic,
                num_partitions=-1,
                replication_factor=-1,
                assignments=(assigned,),
                configs=(),
            )
            timeout = datetime.timedelta(seconds=APPENDED_S)
            request = shaped(module.CreateTopicsRequest, topics=(new,), timeout=timeout, validate_only=False)
            await connection.ask(request, 2 * APPENDED_S)
        finally:
            await connection.close()


async def _within(patience_s: float, holds: Callable[[], bool]) -> bool:
    until_s = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() >= until_s:
            return False
        await asyncio.sleep(LOOK_S)
    return True
