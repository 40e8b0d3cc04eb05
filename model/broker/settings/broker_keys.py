"""Keys about the broker itself: who it is, where it listens, its ZooKeeper, how it rules and stops.

Defaults are 3.9's (`kafka.server.KafkaConfig`).
"""

from model.broker.settings.key import Key
from model.broker.settings.kinds import Flag, Optional, Text, int_from, long_from

BROKER_ID = Key("broker.id", int_from(), -1)
"""-1: ZooKeeper gives it one, unless broker.id.generation.enable is false."""
BROKER_ID_GENERATION_ENABLE = Key("broker.id.generation.enable", Flag(), True)
RESERVED_BROKER_MAX_ID = Key("reserved.broker.max.id", int_from(0), 1_000)
BROKER_RACK = Key("broker.rack", Optional(Text()), None)
INTER_BROKER_PROTOCOL_VERSION = Key("inter.broker.protocol.version", Text(), "3.9-IV0")
"""Also the release whose rules of replication hold here."""

LISTENERS = Key("listeners", Text(), "PLAINTEXT://:9092")
ADVERTISED_LISTENERS = Key("advertised.listeners", Optional(Text()), None)
LISTENER_SECURITY_PROTOCOL_MAP = Key(
    "listener.security.protocol.map",
    Text(),
    "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
)
INTER_BROKER_LISTENER_NAME = Key("inter.broker.listener.name", Optional(Text()), None)
SOCKET_REQUEST_MAX_BYTES = Key("socket.request.max.bytes", int_from(1), 104_857_600)
REQUEST_TIMEOUT_MS = Key("request.timeout.ms", int_from(), 30_000)
CONNECTIONS_MAX_IDLE_MS = Key("connections.max.idle.ms", long_from(), 600_000)

ZOOKEEPER_CONNECT = Key("zookeeper.connect", Optional(Text()), None)
ZOOKEEPER_SESSION_TIMEOUT_MS = Key("zookeeper.session.timeout.ms", int_from(), 18_000)
ZOOKEEPER_CONNECTION_TIMEOUT_MS = Key("zookeeper.connection.timeout.ms", Optional(int_from()), None)
ZOOKEEPER_MAX_IN_FLIGHT_REQUESTS = Key("zookeeper.max.in.flight.requests", int_from(1), 10)

CONTROLLED_SHUTDOWN_ENABLE = Key("controlled.shutdown.enable", Flag(), True)
CONTROLLED_SHUTDOWN_MAX_RETRIES = Key("controlled.shutdown.max.retries", int_from(), 3)
CONTROLLED_SHUTDOWN_RETRY_BACKOFF_MS = Key("controlled.shutdown.retry.backoff.ms", long_from(), 5_000)

AUTO_LEADER_REBALANCE_ENABLE = Key("auto.leader.rebalance.enable", Flag(), True)
LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS = Key("leader.imbalance.check.interval.seconds", long_from(1), 300)
LEADER_IMBALANCE_PER_BROKER_PERCENTAGE = Key("leader.imbalance.per.broker.percentage", int_from(), 10)
DELETE_TOPIC_ENABLE = Key("delete.topic.enable", Flag(), True)
