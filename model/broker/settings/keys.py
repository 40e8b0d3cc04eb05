"""The keys of server.properties that have an effect here, and of which kinds keys are: type, default, bounds.

Defaults are 3.9's (`kafka.server.KafkaConfig`).
"""

import re
import sys
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

import msgspec

from model.cluster.ids import release_numbers

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
REAL_MAX = sys.float_info.max
SHORT_MAX = 2**15 - 1


class ValueKind(Protocol[T_co]):
    """`type` is Kafka's name of it, as DescribeConfigs tells it."""

    @property
    def type(self) -> str:
        """BOOLEAN, INT, LONG, SHORT, DOUBLE, STRING, LIST, CLASS or PASSWORD."""
        ...

    @property
    def wanted(self) -> str:
        """What a value must be, to follow "takes"."""
        ...

    def read(self, text: str) -> T_co:
        """The value. Raises ValueError for what is none."""
        ...


class WholeNumber(msgspec.Struct, frozen=True):
    """A whole number within bounds, or one more that stands for something."""

    least: int = -(2**31)
    most: int = INT_MAX
    type: str = "INT"
    also: int | None = None

    @property
    def wanted(self) -> str:
        also = "" if self.also is None else f", or {self.also}"
        return f"a whole number from {self.least} to {self.most}{also}"

    def read(self, text: str) -> int:
        if not text.strip().lstrip("+-").isdecimal() or not text.isascii():
            raise ValueError(text)
        value = int(text)
        return value if value == self.also else _within(value, self.least, self.most)


def int_from(least: int = -(2**31)) -> WholeNumber:
    """A Java int."""
    return WholeNumber(least)


def long_from(least: int = -(2**63)) -> WholeNumber:
    """A Java long."""
    return WholeNumber(least, LONG_MAX, "LONG")


def short_from(least: int = -(2**15)) -> WholeNumber:
    """A Java short."""
    return WholeNumber(least, SHORT_MAX, "SHORT")


class Real(msgspec.Struct, frozen=True):
    """A number within bounds."""

    least: float
    most: float
    type: str = "DOUBLE"

    @property
    def wanted(self) -> str:
        return f"a number from {self.least:g} to {self.most:g}"

    def read(self, text: str) -> float:
        return _within(float(text), self.least, self.most)


class Flag(msgspec.Struct, frozen=True):
    """true or false, or false alone."""

    type: str = "BOOLEAN"
    wanted: str = "true or false"
    only_false: bool = False

    def read(self, text: str) -> bool:
        known = ("false",) if self.only_false else ("false", "true")
        return known.index(text.strip().lower()) == 1


class Text(msgspec.Struct, frozen=True):
    """Any text, or one of some."""

    choices: tuple[str, ...] = ()
    type: str = "STRING"

    @property
    def wanted(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else "text"

    def read(self, text: str) -> str:
        value = text.strip()
        if self.choices and value not in self.choices:
            raise ValueError(text)
        return value


class Release(msgspec.Struct, frozen=True):
    """A release of Kafka, as text; what follows its numbers, as -IV0, is kept."""

    type: str = "STRING"
    wanted: str = "a release of Kafka, as 2.8"

    def read(self, text: str) -> str:
        value = text.strip()
        if not release_numbers(value):
            raise ValueError(text)
        return value


class WordList(msgspec.Struct, frozen=True):
    """Words with commas between them."""

    choices: tuple[str, ...] = ()
    type: str = "LIST"

    @property
    def wanted(self) -> str:
        return f"some of {', '.join(self.choices)}, with commas" if self.choices else "words with commas between them"

    def read(self, text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(",") if word.strip())
        if self.choices and not set(words) <= set(self.choices):
            raise ValueError(text)
        return words


class Matching(msgspec.Struct, frozen=True):
    """Words with commas between them that all match a pattern, or one word that stands for all."""

    pattern: str
    wanted: str
    type: str = "LIST"
    every: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(",") if word.strip())
        if words != (self.every,) and not all(re.fullmatch(self.pattern, word) for word in words):
            raise ValueError(text)
        return words


class Optional(msgspec.Struct, Generic[T], frozen=True):
    """A kind whose default is to be left out. A value that is given is one of the kind."""

    kind: ValueKind[T]

    @property
    def type(self) -> str:
        return self.kind.type

    @property
    def wanted(self) -> str:
        return self.kind.wanted

    def read(self, text: str) -> T | None:
        return self.kind.read(text)


Number = TypeVar("Number", int, float)


def _within(value: Number, least: Number, most: Number) -> Number:
    if not least <= value <= most:
        raise ValueError(value)
    return value


def as_text(value: object) -> str:
    """A value as text that its kind reads, numbers as Java writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and "e" in (text := repr(value)):
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
    return ",".join(cast(tuple[str, ...], value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True)
class Key(Generic[T_co]):
    """`topic`: the name under which a topic's configuration overrides it; empty if none does.

    `in_files`: server.properties may have it; other keys are set in ZooKeeper alone.
    """

    name: str
    kind: ValueKind[T_co]
    default: T_co
    topic: str = ""
    in_files: bool = True

    def read(self, text: str, called: str = "") -> T_co:
        """A value. Raises ValueError with a line for the user that names the key, or what it was `called`."""
        try:
            return self.kind.read(text)
        except ValueError:
            raise ValueError(f"{called or self.name} takes {self.kind.wanted}, not {text[:80]!r}") from None


BROKER_ID = Key("broker.id", int_from(), -1)
"""-1: ZooKeeper gives it one, unless broker.id.generation.enable is false."""
BROKER_ID_GENERATION_ENABLE = Key("broker.id.generation.enable", Flag(), True)
RESERVED_BROKER_MAX_ID = Key("reserved.broker.max.id", int_from(0), 1_000)
NODE_ID = Key("node.id", int_from(), -1)
"""The same as broker.id; Kafka has each of them for the other."""
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

PROCESS_ROLES = Key("process.roles", WordList(("broker", "controller")), ())
"""`broker`: in KRaft mode; none: ZooKeeper has the cluster's metadata. A broker is no controller here."""
CONTROLLER_QUORUM_BOOTSTRAP_SERVERS = Key("controller.quorum.bootstrap.servers", WordList(), ())
CONTROLLER_QUORUM_VOTERS = Key("controller.quorum.voters", WordList(), ())
BROKER_HEARTBEAT_INTERVAL_MS = Key("broker.heartbeat.interval.ms", int_from(), 2_000)
INITIAL_BROKER_REGISTRATION_TIMEOUT_MS = Key("initial.broker.registration.timeout.ms", int_from(), 60_000)
LOG_DIR_FAILURE_TIMEOUT_MS = Key("log.dir.failure.timeout.ms", long_from(1), 30_000)

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

LEADER_THROTTLED_RATE = Key("leader.replication.throttled.rate", long_from(0), LONG_MAX, in_files=False)
"""Bytes a second that a leader sends to followers out of sync, of the partitions that its topics name (KIP-73)."""
FOLLOWER_THROTTLED_RATE = Key("follower.replication.throttled.rate", long_from(0), LONG_MAX, in_files=False)
"""The same, of what a follower fetches."""
_REPLICAS = Matching(r"[0-9]+:[0-9]+", "PARTITION:BROKER, with commas, or *", every="*")
LEADER_THROTTLED_REPLICAS = Key(
    "leader.replication.throttled.replicas",
    _REPLICAS,
    (),
    topic="leader.replication.throttled.replicas",
    in_files=False,
)
FOLLOWER_THROTTLED_REPLICAS = Key(
    "follower.replication.throttled.replicas",
    _REPLICAS,
    (),
    topic="follower.replication.throttled.replicas",
    in_files=False,
)
REPLICA_ALTER_LOG_DIRS_RATE = Key(
    "replica.alter.log.dirs.io.max.bytes.per.second", long_from(0), LONG_MAX, in_files=False
)
ALTER_LOG_DIRS_QUOTA_WINDOW_NUM = Key("alter.log.dirs.replication.quota.window.num", int_from(1), 11)
ALTER_LOG_DIRS_QUOTA_WINDOW_SIZE_SECONDS = Key("alter.log.dirs.replication.quota.window.size.seconds", int_from(1), 1)
REPLICATION_QUOTA_WINDOW_NUM = Key("replication.quota.window.num", int_from(1), 11)
REPLICATION_QUOTA_WINDOW_SIZE_SECONDS = Key("replication.quota.window.size.seconds", int_from(1), 1)
QUOTA_WINDOW_NUM = Key("quota.window.num", int_from(1), 11)
QUOTA_WINDOW_SIZE_SECONDS = Key("quota.window.size.seconds", int_from(1), 1)


LOG_DIR = Key("log.dir", Text(), "/tmp/kafka-logs")
LOG_DIRS = Key("log.dirs", Optional(WordList(type="STRING")), None)
"""Left out, log.dir holds."""
LOG_SEGMENT_BYTES = Key("log.segment.bytes", int_from(14), 1_073_741_824, topic="segment.bytes")
LOG_ROLL_MS = Key("log.roll.ms", Optional(long_from(1)), None, topic="segment.ms")
LOG_ROLL_HOURS = Key("log.roll.hours", int_from(1), 168)
LOG_INDEX_SIZE_MAX_BYTES = Key("log.index.size.max.bytes", int_from(4), 10_485_760, topic="segment.index.bytes")
LOG_INDEX_INTERVAL_BYTES = Key("log.index.interval.bytes", int_from(0), 4_096, topic="index.interval.bytes")
LOG_RETENTION_MS = Key("log.retention.ms", Optional(long_from()), None, topic="retention.ms")
LOG_RETENTION_MINUTES = Key("log.retention.minutes", Optional(int_from()), None)
LOG_RETENTION_HOURS = Key("log.retention.hours", int_from(), 168)
LOG_RETENTION_BYTES = Key("log.retention.bytes", long_from(), -1, topic="retention.bytes")
LOG_RETENTION_CHECK_INTERVAL_MS = Key("log.retention.check.interval.ms", long_from(1), 300_000)
LOG_SEGMENT_DELETE_DELAY_MS = Key("log.segment.delete.delay.ms", long_from(0), 60_000, topic="file.delete.delay.ms")
LOG_CLEANUP_POLICY = Key("log.cleanup.policy", WordList(("compact", "delete")), ("delete",), topic="cleanup.policy")
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
LOG_MESSAGE_FORMAT_VERSION = Key("log.message.format.version", Release(), "3.0-IV1", topic="message.format.version")
"""It counts below inter.broker.protocol.version 3.0 only; left out, that holds, with which Kafka would not start."""
LOG_MESSAGE_DOWNCONVERSION_ENABLE = Key(
    "log.message.downconversion.enable", Flag(), True, topic="message.downconversion.enable"
)
COMPRESSION_TYPE = Key(
    "compression.type",
    Text(("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
    "producer",
    topic="compression.type",
)
PRODUCER_ID_EXPIRATION_MS = Key("producer.id.expiration.ms", int_from(1), 86_400_000)


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


KDRILL_FAULT_FOLDER = Key("kdrill.fault.folder", Optional(Text()), None)
"""A folder in which files say what is to go wrong, at any time. Left out, nothing is."""

LOG_DIR_LIMIT_FILE = "log.dir.bytes.limit"
"""Holds how many bytes all logs may have; what would be more fails as on a full disk."""
CONTROLLER_STOP_FILE = "controller.stop.at"
"""Holds one of FAILOVER_STEPS: the process of a controller that reaches it is killed, once."""
FAILOVER_STEPS = ("elected", "loaded", "written", "told")
"""In order. `elected`: `/controller` and the epoch are written; `loaded`: all is read; `written`: new leaders are in
their znodes, and nobody has been told; `told`: the first broker has answered who leads.
"""
