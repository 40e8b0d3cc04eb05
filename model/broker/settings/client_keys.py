"""Keys about what clients may do: topics made for them, fetches, consumer groups and their offsets.

Defaults are 3.9's (`kafka.server.KafkaConfig`).
"""

from model.broker.settings.key import Key
from model.broker.settings.kinds import INT_MAX, Flag, int_from, long_from, short_from

AUTO_CREATE_TOPICS_ENABLE = Key("auto.create.topics.enable", Flag(), True)
NUM_PARTITIONS = Key("num.partitions", int_from(1), 1)
FETCH_MAX_BYTES = Key("fetch.max.bytes", int_from(1024), 57_671_680)
MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS = Key("max.incremental.fetch.session.cache.slots", int_from(0), 1_000)
GROUP_MIN_SESSION_TIMEOUT_MS = Key("group.min.session.timeout.ms", int_from(), 6_000)
GROUP_MAX_SESSION_TIMEOUT_MS = Key("group.max.session.timeout.ms", int_from(), 1_800_000)
GROUP_INITIAL_REBALANCE_DELAY_MS = Key("group.initial.rebalance.delay.ms", int_from(), 3_000)
GROUP_MAX_SIZE = Key("group.max.size", int_from(1), INT_MAX)
OFFSET_METADATA_MAX_BYTES = Key("offset.metadata.max.bytes", int_from(), 4_096)
OFFSETS_COMMIT_TIMEOUT_MS = Key("offsets.commit.timeout.ms", int_from(1), 5_000)
OFFSETS_RETENTION_MINUTES = Key("offsets.retention.minutes", int_from(1), 10_080)
OFFSETS_RETENTION_CHECK_INTERVAL_MS = Key("offsets.retention.check.interval.ms", long_from(1), 600_000)
OFFSETS_TOPIC_NUM_PARTITIONS = Key("offsets.topic.num.partitions", int_from(1), 50)
OFFSETS_TOPIC_REPLICATION_FACTOR = Key("offsets.topic.replication.factor", short_from(1), 3)
OFFSETS_TOPIC_SEGMENT_BYTES = Key("offsets.topic.segment.bytes", int_from(1), 104_857_600)
