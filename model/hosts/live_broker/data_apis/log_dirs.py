"""DescribeLogDirs. Kafka 3.9 `ReplicaManager.describeLogDirs`."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.api_keys import DESCRIBE_LOG_DIRS
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.server import Api, Request


class LogDirRequests:
    """Failed log dirs are named with KAFKA_STORAGE_ERROR."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {DESCRIBE_LOG_DIRS: Api(0, 4, self._describe)}

    async def _describe(self, request: Request) -> Entity:
        asked = request.body.topics
        names = None
        if asked is not None:
            names = {TopicPartition(topic.topic, number) for topic in asked for number in topic.partitions}
        dirs = self._replicas.log_dirs
        results = tuple(
            self._failed(request, path) if path in dirs.failed else self._dir(request, path, names)
            for path in dirs.paths
        )
        return request.answer("DescribeLogDirsResponse", error_code=ErrorCode.none, results=results)

    def _failed(self, request: Request, path: Path) -> Entity:
        return _result(request, path, ErrorCode.kafka_storage_error, (), -1, -1)

    def _dir(self, request: Request, path: Path, names: Collection[TopicPartition] | None) -> Entity:
        by_topic: dict[str, list[Entity]] = {}
        for name, held in sorted(self._replicas.log_dirs.logs.items()):
            if held.dir.path == path and (names is None or name in names):
                by_topic.setdefault(name.topic, []).append(self._partition(request, name, held))
        shape = request.shape("DescribeLogDirsTopic")
        topics = tuple(shape(name=topic, partitions=tuple(parts)) for topic, parts in by_topic.items())
        disk = os.statvfs(path)
        return _result(
            request, path, ErrorCode.none, topics, disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
        )

    def _partition(self, request: Request, name: TopicPartition, held: HeldLog) -> Entity:
        """`offset_lag`: what a replica here lacks of what is replicated; 0 for the one that is served."""
        partition = self._replicas.partitions.get(name)
        high_watermark = 0 if partition is None else partition.high_watermark
        return request.shape("DescribeLogDirsPartition")(
            partition_index=name.partition,
            partition_size=held.log.size_bytes,
            offset_lag=max(high_watermark - held.log.end_offset, 0),
            is_future_key=False,
        )


def _result(
    request: Request, path: Path, error: ErrorCode, topics: tuple[Entity, ...], total: int, usable: int
) -> Entity:
    return shaped(
        request.shape("DescribeLogDirsResult"),
        error_code=error,
        log_dir=str(path.absolute()),
        topics=topics,
        total_bytes=total,
        usable_bytes=usable,
    )
