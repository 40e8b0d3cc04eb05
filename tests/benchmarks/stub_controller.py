"""A controller that plays partition changes at a pace: `python -m tests.benchmarks.stub_controller`, with arguments.

It leads alone, so all that it writes is committed. It has a snapshot of so many partitions and no log before it. It
prints its port, waits for a line on standard input, plays, prints how many changes it wrote, and ends with its input.
Real controllers gather what they append for 25 ms (`controller.quorum.append.linger.ms`); this one does for less.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from bisect import bisect_right

from kio.schema.errors import ErrorCode

from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Api, Request, Server
from model.log.records import Record, encode_batch
from tests.model.metadata_log.snapshot_writer import IDS, replicas_of, snapshot
from tests.model.metadata_log.writing import written

CONTROLLER, EPOCH, START = 1, 1, 1_000
LINGER_S = 0.01
VOTE = 52
PIECE, MOST = 1 << 20, 1 << 20
"""Bytes of a snapshot, and of the log, in an answer."""
NEWEST_FETCH = 18


class StubController:
    """For one event loop."""

    def __init__(self, topics: int, partitions: int) -> None:
        self._partitions = partitions
        self._snapshot = b"".join(snapshot(topics, partitions, EPOCH))
        self._bases, self._batches, self._end = list[int](), list[bytes](), START
        self._news = asyncio.Event()
        apis = {
            ApiKey.FETCH: Api(13, NEWEST_FETCH, self._fetch, until_gone=True),
            ApiKey.FETCH_SNAPSHOT: Api(0, 1, self._fetch_snapshot),
            ApiKey.DESCRIBE_CLUSTER: Api(1, 1, self._describe_cluster),
            VOTE: Api(0, 0, self._fetch),
        }
        self._server = Server(apis)
        self._port = 0

    async def listen(self) -> int:
        self._port = await self._server.start("127.0.0.1", 0)
        return self._port

    async def close(self) -> None:
        await self._server.close()

    async def play(self, chosen: list[int], rate: int) -> None:
        """Another replica leads each of these partitions, so many a second."""
        forms = [_change(replicas_of(number)) for number in range(12)]
        began_s, done = time.monotonic(), 0
        while done < len(chosen):
            await asyncio.sleep(LINGER_S)
            due = min(int(rate * (time.monotonic() - began_s)), len(chosen))
            self._append([self._value(forms, number) for number in chosen[done:due]])
            done = due

    def _value(self, forms: list[bytes], number: int) -> bytes:
        topic, partition = divmod(number, self._partitions)
        form = forms[partition % len(forms)]
        return form[: IDS.start] + partition.to_bytes(4) + (topic + 1).to_bytes(16) + form[IDS.stop :]

    def _append(self, values: list[bytes]) -> None:
        if not values:
            return
        now_ms = time.time_ns() // 1_000_000
        records = [Record(self._end + index, now_ms, None, value) for index, value in enumerate(values)]
        self._bases.append(self._end)
        self._batches.append(encode_batch(records, base_offset=self._end, leader_epoch=EPOCH))
        self._end += len(values)
        self._news.set()
        self._news.clear()

    async def _fetch(self, request: Request) -> Entity:
        part = request.body.topics[0].partitions[0]
        shape, more, error = request.shape, dict[str, object](), "NONE"
        if part.current_leader_epoch < EPOCH:
            error = "FENCED_LEADER_EPOCH"
        elif part.fetch_offset < START:
            more["snapshot_id"] = shape("SnapshotId")(end_offset=START, epoch=EPOCH)
        elif part.fetch_offset >= self._end:
            await self._appended(request.body.max_wait.total_seconds())
        data = shape("PartitionData")(
            partition_index=0,
            error_code=error_code(error),
            high_watermark=self._end,
            current_leader=shape("LeaderIdAndEpoch")(leader_id=CONTROLLER, leader_epoch=EPOCH),
            aborted_transactions=None,
            records=b"" if more or error != "NONE" else self._from(part.fetch_offset),
            **more,
        )
        topic = shape("FetchableTopicResponse")(topic_id=request.body.topics[0].topic_id, partitions=(data,))
        node = shape("NodeEndpoint")(node_id=CONTROLLER, host="127.0.0.1", port=self._port)
        return request.answer("FetchResponse", error_code=ErrorCode.none, responses=(topic,), node_endpoints=(node,))

    async def _appended(self, patience_s: float) -> None:
        """Or so long nothing was."""
        try:
            async with asyncio.timeout(patience_s):
                await self._news.wait()
        except TimeoutError:
            pass

    def _from(self, offset: int) -> bytes:
        found, size = list[bytes](), 0
        for batch in self._batches[max(bisect_right(self._bases, offset) - 1, 0) if offset < self._end else None :]:
            found.append(batch)
            if (size := size + len(batch)) >= MOST:
                break
        return b"".join(found)

    async def _fetch_snapshot(self, request: Request) -> Entity:
        part = request.body.topics[0].partitions[0]
        data = request.shape("PartitionSnapshot")(
            index=0,
            error_code=ErrorCode.none,
            snapshot_id=request.shape("SnapshotId")(end_offset=START, epoch=EPOCH),
            current_leader=request.shape("LeaderIdAndEpoch")(leader_id=CONTROLLER, leader_epoch=EPOCH),
            size=len(self._snapshot),
            position=part.position,
            unaligned_records=self._snapshot[part.position : part.position + PIECE],
        )
        topic = request.shape("TopicSnapshot")(name="__cluster_metadata", partitions=(data,))
        return request.answer("FetchSnapshotResponse", error_code=ErrorCode.none, topics=(topic,))

    async def _describe_cluster(self, request: Request) -> Entity:
        broker = request.shape("DescribeClusterBroker")(broker_id=CONTROLLER, host="127.0.0.1", port=self._port)
        return request.answer(
            "DescribeClusterResponse", error_code=ErrorCode.none, cluster_id="stub", brokers=(broker,)
        )


def _change(replicas: list[int]) -> bytes:
    """The preferred replica leaves the ISR, and the second leads."""
    return written("PartitionChange", isr=replicas[1:], leader=replicas[1])


def chosen(topics: int, partitions: int, count: int, is_by_topic: int) -> list[int]:
    """Numbers of partitions, each once: `topic * partitions + partition`; topic after topic, or in any order."""
    found = random.Random(count).sample(range(topics * partitions), count)
    return sorted(found) if is_by_topic else found


async def serve(topics: int, partitions: int, count: int, rate: int, is_by_topic: int) -> None:
    stub = StubController(topics, partitions)
    print(await stub.listen(), flush=True)
    if await asyncio.to_thread(sys.stdin.readline):
        await stub.play(chosen(topics, partitions, count, is_by_topic), rate)
        print(count, flush=True)
        await asyncio.to_thread(sys.stdin.readline)
    await stub.close()


if __name__ == "__main__":
    asyncio.run(serve(*map(int, sys.argv[1:])))
