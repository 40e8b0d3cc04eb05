"""Keys about logs: where they are, how long and how large they may get, how often they are saved.

Defaults are 3.9's (`kafka.server.KafkaConfig`).
"""

from model.broker.settings.key import Key
from model.broker.settings.kinds import LONG_MAX, Flag, Optional, Real, Text, Words, int_from, long_from

LOG_DIR = Key("log.dir", Text(), "/tmp/kafka-logs")
LOG_DIRS = Key("log.dirs", Optional(Words(type="STRING")), None)
"""Left out, log.dir holds."""
LOG_SEGMENT_BYTES = Key("log.segment.bytes", int_from(14), 1_073_741_824, topic="segment.bytes")
LOG_ROLL_MS = Key("log.roll.ms", Optional(long_from(1)), None, topic="segment.ms")
LOG_ROLL_HOURS = Key("log.roll.hours", int_from(1), 168)
LOG_INDEX_SIZE_MAX_BYTES = Key("log.index.size.max.bytes", int_from(4), 10_485_760, topic="segment.index.bytes")
LOG_INDEX_INTERVAL_BYTES = Key("log.index.interval.bytes", int_from(0), 4_096, topic="index.interval.bytes")
LOG_RETENTION_MS = Key("log.retention.ms", Optional(long_from(-1)), None, topic="retention.ms")
LOG_RETENTION_MINUTES = Key("log.retention.minutes", Optional(int_from()), None)
LOG_RETENTION_HOURS = Key("log.retention.hours", int_from(), 168)
LOG_RETENTION_BYTES = Key("log.retention.bytes", long_from(), -1, topic="retention.bytes")
LOG_RETENTION_CHECK_INTERVAL_MS = Key("log.retention.check.interval.ms", long_from(1), 300_000)
LOG_SEGMENT_DELETE_DELAY_MS = Key("log.segment.delete.delay.ms", long_from(0), 60_000, topic="file.delete.delay.ms")
LOG_CLEANUP_POLICY = Key("log.cleanup.policy", Words(("compact", "delete")), ("delete",), topic="cleanup.policy")
LOG_CLEANER_ENABLE = Key("log.cleaner.enable", Flag(), True)
LOG_CLEANER_BACKOFF_MS = Key("log.cleaner.backoff.ms", long_from(0), 15_000)
LOG_CLEANER_DELETE_RETENTION_MS = Key(
    "log.cleaner.delete.retention.ms", long_from(0), 86_400_000, topic="delete.retention.ms"
)
LOG_CLEANER_MIN_CLEANABLE_RATIO = Key(
    "log.cleaner.min.cleanable.ratio", Real(0, 1), 0.5, topic="min.cleanable.dirty.ratio"
)
LOG_CLEANER_MIN_COMPACTION_LAG_MS = Key(
    "log.cleaner.min.compaction.lag.ms", long_from(0), 0, topic="min.compaction.lag.ms"
)
LOG_CLEANER_MAX_COMPACTION_LAG_MS = Key(
    "log.cleaner.max.compaction.lag.ms", long_from(1), LONG_MAX, topic="max.compaction.lag.ms"
)
LOG_FLUSH_INTERVAL_MESSAGES = Key("log.flush.interval.messages", long_from(1), LONG_MAX, topic="flush.messages")
LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS = Key("log.flush.offset.checkpoint.interval.ms", int_from(0), 60_000)
LOG_PREALLOCATE = Key("log.preallocate", Flag(), False, topic="preallocate")
LOG_MESSAGE_TIMESTAMP_TYPE = Key(
    "log.message.timestamp.type",
    Text(("CreateTime", "LogAppendTime")),
    "CreateTime",
    topic="message.timestamp.type",
)
MESSAGE_MAX_BYTES = Key("message.max.bytes", int_from(0), 1_048_588, topic="max.message.bytes")
COMPRESSION_TYPE = Key(
    "compression.type",
    Text(("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
    "producer",
    topic="compression.type",
)
PRODUCER_ID_EXPIRATION_MS = Key("producer.id.expiration.ms", int_from(1), 86_400_000)
