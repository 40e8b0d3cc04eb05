"""Asks one broker for its log folders, and how much the replicas in them take. Nothing is sent here.

Source: DescribeLogDirs as `kafka-log-dirs --describe` sends it (KIP-113, KIP-827).
"""

from model.cluster.ids import TopicPartition
from model.cluster.log_dirs import LogDir
from model.hosts.wire.api_keys import DESCRIBE_LOG_DIRS
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shapes
from model.hosts.wire.names import error_name

UNKNOWN = -1


def describe_log_dirs(connection: Connection) -> Entity:
    """All of them, with all replicas."""
    module = shapes(DESCRIBE_LOG_DIRS, connection.newest(DESCRIBE_LOG_DIRS), "request")
    return module.DescribeLogDirsRequest(topics=None)


def described_log_dirs(response: Entity) -> tuple[LogDir, ...]:
    """In the order of their paths."""
    folders = [
        LogDir(
            path=str(result.log_dir),
            error="" if (error := error_name(result.error_code)) == "NONE" else error,
            sizes={
                TopicPartition(str(topic.name), int(each.partition_index)): int(each.partition_size)
                for topic in result.topics
                for each in topic.partitions
                if not each.is_future_key
            },
            total_bytes=int(getattr(result, "total_bytes", UNKNOWN)),
            usable_bytes=int(getattr(result, "usable_bytes", UNKNOWN)),
        )
        for result in response.results
    ]
    return tuple(sorted(folders, key=lambda one: one.path))
