"""A connection to brokers for administering them, and what they say just before something is changed.

kafka-python is used only here and by `admin_writes`. Kafka's errors become one line. Nothing is changed here.
"""

import logging
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Self

import msgspec

from model.actions.proposal import ActionRefused
from model.cluster.ids import TopicPartition
from model.hosts.acting.carrying_out import UnansweredError
from model.hosts.wire.names import topic_id_text

CLIENT_ID = "kdrill"
CONNECT_MS = 15_000
ANSWER_MS = 30_000
UNTOLD = -2
"""Where kafka-python says in words only what was refused."""
_ERROR = re.compile(r"^\[Error \d+\] \w+: ")


def library() -> Any:
    """kafka-python. It takes half a second to load, which only those pay for who ask brokers."""
    for part in ("admin", "errors", "structs"):
        import_module(f"kafka.{part}")
    return import_module("kafka")


def admin_client(bootstrap: str, options: Mapping[str, Any]) -> Any:
    """Connected; `options` are kafka-python's for the login. Raises ActionRefused where no broker answers.

    Versions: Kafka 0.11 and later have this API.
    """
    logging.getLogger("kafka").addHandler(logging.NullHandler())  # what went wrong is told once, by us
    kafka = library()
    try:
        return kafka.admin.KafkaAdminClient(
            bootstrap_servers=[each.strip() for each in bootstrap.split(",")],
            client_id=CLIENT_ID,
            bootstrap_timeout_ms=CONNECT_MS,
            request_timeout_ms=ANSWER_MS,
            **options,
        )
    except (kafka.errors.KafkaError, OSError, ValueError) as error:
        raise ActionRefused(f"kafka://{bootstrap}: {one_line(error)}") from None


def asked(call: Any, *arguments: Any, **named: Any) -> Any:
    """What a method of the client answers. Raises ActionRefused for what it cannot ask, else UnansweredError."""
    errors = library().errors
    try:
        return call(*arguments, **named)
    except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError) as error:
        raise ActionRefused(f"these brokers are too old for it: {one_line(error)}; name ZooKeeper as SOURCE") from None
    except (errors.RequestTimedOutError, errors.NetworkExceptionError) as error:
        raise UnansweredError(one_line(error)) from None
    except errors.BrokerResponseError as error:
        raise ActionRefused(refusal(error.errno)) from None
    except (errors.KafkaError, OSError, RuntimeError) as error:
        raise UnansweredError(one_line(error)) from None


class _AllBrokers(str):
    """The empty name, by which all brokers are meant; as a number it is the broker that kafka-python is to ask."""

    __slots__ = ("_asked",)

    def __new__(cls, asked_broker: int) -> Self:
        made = super().__new__(cls)
        made._asked = asked_broker
        return made

    def __int__(self) -> int:
        return self._asked


def config_resource(client: Any, kind: str, name: str, wishes: Mapping[str, object] | None = None) -> Any:
    """`topic` or `broker`, and its name; empty for all brokers."""
    whose = name
    if kind == "broker" and not name:
        whose = _AllBrokers(asked(client.describe_cluster)["brokers"][0]["broker_id"])
    return library().admin.ConfigResource(kind, whose, wishes)


def refusal(code: int, message: str | None = None) -> str:
    """Kafka's name of an error, and what the broker said of it; of an `UNTOLD` one only that."""
    if code == UNTOLD:
        return _ERROR.sub("", message or "refused")
    error = library().errors.for_code(code)
    said = (message or error.description).rstrip(".")
    return f"{said} ({error.message})" if said else str(error.message)


def one_line(error: BaseException) -> str:
    """An exception as one line, without the requests that kafka-python quotes."""
    said = str(error).partition("\n")[0]
    return _ERROR.sub("", said)[:200] or type(error).__name__


OWN = {"topic": 1, "broker": 2, "default": 3}
"""`DescribeConfigsResponse.ConfigSource` of what is set on the thing itself."""
SOURCES = (
    "UNKNOWN", "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG", "DYNAMIC_BROKER_LOGGER_CONFIG", "DYNAMIC_CLIENT_METRICS_CONFIG",
    "GROUP_CONFIG",
)  # fmt: skip
"""`org.apache.kafka.clients.admin.ConfigEntry.ConfigSource` (3.9), by the numbers on the wire."""


class ReplicaViews(msgspec.Struct, frozen=True):
    """A partition's replicas as its brokers see them; while it is reassigned, old and new ones."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...] = ()


class Reassigned(msgspec.Struct, frozen=True):
    """What a partition's replicas are to gain and to lose."""

    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class Described(msgspec.Struct, frozen=True):
    """A setting; `value` None where it is sensitive. `synonyms`: (source, name, value), strongest first."""

    name: str
    value: str | None
    source: int
    is_sensitive: bool
    synonyms: tuple[tuple[str, str, str | None], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether nobody set it anywhere."""
        return self.source == SOURCES.index("DEFAULT_CONFIG")


class AdminReads:
    """Asks through a client that stays its owner's. Raises ActionRefused and UnansweredError."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def topic_ids(self, topics: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Topic id (empty for none) and number of partitions of those that exist."""
        found: dict[str, tuple[str, int]] = {}
        for topic in asked(self._client.describe_topics, list(topics)) if topics else ():
            if topic["error_code"] == 0:
                number = uuid.UUID(topic["topic_id"]) if topic.get("topic_id") else None
                found[topic["name"]] = (topic_id_text(number) or "", len(topic["partitions"]))
        return found

    def alive(self) -> frozenset[int]:
        """The brokers that are up."""
        told = asked(self._client.describe_cluster)["brokers"]
        return frozenset(each["broker_id"] for each in told if not each.get("is_fenced"))

    def partitions(self, topics: Sequence[str]) -> dict[TopicPartition, ReplicaViews]:
        """Those of these topics."""
        known = asked(self._client.describe_topics, list(topics)) if topics else ()
        return {
            TopicPartition(topic["name"], each["partition_index"]): ReplicaViews(
                tuple(each["replica_nodes"]), tuple(each["isr_nodes"])
            )
            for topic in known
            for each in topic["partitions"]
        }

    def reassignments(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, Reassigned]:
        """Those of these partitions that are being reassigned. Refused by brokers before 2.4 and without the right to.

        A refusal is no answer: whoever took it for "nothing moves" would end a run whose replicas are under way.
        """
        numbers: dict[str, list[int]] = {}
        for topic, number in partitions:
            numbers.setdefault(topic, []).append(number)
        moving: Mapping[Any, Any] = asked(self._client.list_partition_reassignments, numbers) if numbers else {}
        return {
            TopicPartition(*each): Reassigned(tuple(now["adding_replicas"]), tuple(now["removing_replicas"]))
            for each, now in moving.items()
        }

    def described(self, kind: str, names: Sequence[str]) -> dict[str, tuple[Described, ...]]:
        """All settings of these topics or brokers, in the brokers' order; a name empty stands for all brokers."""
        resources = [config_resource(self._client, kind, name) for name in names]
        answer = asked(self._client.describe_configs, resources, include_synonyms=True, config_filter="all")
        told = answer.get(kind, {})
        return {name: tuple(_described(key, each) for key, each in told.get(name, {}).items()) for name in names}

    def configs(self, kind: str, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """What is set on each of these topics or brokers itself; a broker's name empty stands for all brokers."""
        return {
            name: {each.name: each.value or "" for each in told if each.source == OWN[kind if name else "default"]}
            for name, told in self.described(kind, names).items()
        }

    def members(self, group: str) -> int:
        """How many are in a group; none in one that does not exist."""
        described = asked(self._client.describe_groups, [group])[group]
        if described["error"]:
            if "GROUP_ID_NOT_FOUND" in described["error"]:
                return 0
            raise ActionRefused(f"group {group}: {described['error']}")
        return len(described["members"])

    def offsets(self, group: str) -> dict[TopicPartition, int]:
        """What a group has committed."""
        answer = asked(self._client.list_group_offsets, {group: None})[group]
        return {TopicPartition(each.topic, each.partition): found.offset for each, found in answer.items()}

    def log_offsets(self, partitions: Sequence[TopicPartition], time_ms: int) -> dict[TopicPartition, int]:
        """Offsets at a time, or at EARLIEST or LATEST; partitions without a record from then on are left out."""
        asked_for = {library().structs.TopicPartition(*each): time_ms for each in partitions}
        answer = asked(self._client.list_partition_offsets, asked_for)
        return {TopicPartition(*each): found.offset for each, found in answer.items() if found.offset >= 0}


def _described(name: str, each: Mapping[str, Any]) -> Described:
    synonyms = tuple((str(s["source"]), str(s["name"]), s["value"]) for s in each.get("synonyms") or ())
    source = SOURCES.index(str(each["config_source"]))
    return Described(name, each["value"], source, bool(each["is_sensitive"]), synonyms)
