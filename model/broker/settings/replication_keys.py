"""Keys about replicas: how they are fetched, when they are in sync, who may lead.

Defaults are 3.9's (`kafka.server.KafkaConfig`).
"""

from model.broker.settings.key import Key
from model.broker.settings.kinds import Flag, int_from, long_from

DEFAULT_REPLICATION_FACTOR = Key("default.replication.factor", int_from(), 1)
MIN_INSYNC_REPLICAS = Key("min.insync.replicas", int_from(1), 1, topic="min.insync.replicas")
UNCLEAN_LEADER_ELECTION_ENABLE = Key(
    "unclean.leader.election.enable", Flag(), False, topic="unclean.leader.election.enable"
)
REPLICA_LAG_TIME_MAX_MS = Key("replica.lag.time.max.ms", long_from(), 30_000)
REPLICA_LAG_MAX_MESSAGES = Key("replica.lag.max.messages", long_from(), 4_000)
"""Up to 0.8.2 only: it counts if inter.broker.protocol.version is one of 0.8."""
REPLICA_FETCH_MIN_BYTES = Key("replica.fetch.min.bytes", int_from(), 1)
REPLICA_FETCH_MAX_BYTES = Key("replica.fetch.max.bytes", int_from(0), 1_048_576)
REPLICA_FETCH_RESPONSE_MAX_BYTES = Key("replica.fetch.response.max.bytes", int_from(0), 10_485_760)
REPLICA_FETCH_WAIT_MAX_MS = Key("replica.fetch.wait.max.ms", int_from(), 500)
REPLICA_FETCH_BACKOFF_MS = Key("replica.fetch.backoff.ms", int_from(0), 1_000)
REPLICA_SOCKET_TIMEOUT_MS = Key("replica.socket.timeout.ms", int_from(), 30_000)
NUM_REPLICA_FETCHERS = Key("num.replica.fetchers", int_from(), 1)
REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS = Key("replica.high.watermark.checkpoint.interval.ms", long_from(), 5_000)
