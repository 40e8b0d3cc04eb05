"""The answer to a request that failed, or is refused whole, in the layout of its API.

The error stands where the response has room for one: above all, and beside each thing that was asked about. Numbers are
those of nothing known. What failed is not told; the broker's log says it.

Source: `org.apache.kafka.common.requests.*Request.getErrorResponse`, `kafka.server.RequestHandlerHelper.handleError`
(3.9).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kio.schema.errors import ErrorCode
from kio.static.primitive import i32Timedelta

from model.hosts.wire.fields import Entity, WireField, fields_of
from model.hosts.wire.messages import RequestStart, response_schema
from model.hosts.wire.names import ApiKey

MESSAGE = "the broker failed while it worked on this; its log says why"

_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "topics": ("topics", "topic_states"),
    "partitions": ("partitions", "partition_indexes"),
    "responses": ("topic_data", "topics", "topic_names", "resources"),
    "partition_responses": ("partition_data",),
    "partition_errors": (
        "ungrouped_partition_states",
        "ungrouped_partitions",
        "topics.partition_indexes",
        "topic_states.partition_states",
        "partition_states",
    ),
    "results": ("resources", "dirs.topics", "topics", "groups_names", "users"),
    "groups": ("groups",),
    "coordinators": ("coordinator_keys",),
    "replica_election_results": ("topic_partitions",),
    "partition_result": ("partitions",),
    "entries": ("entries",),
    "entity": ("entity",),
}
"""Array of a response → where requests have what its entries are about; the first that there is."""

_NOT_EACH: Final[Mapping[tuple[int, str], int]] = {
    (ApiKey.FETCH, "responses"): 13,
    (ApiKey.OFFSET_FETCH, "topics"): 2,
    (ApiKey.DESCRIBE_LOG_DIRS, "results"): 0,
    (ApiKey.OFFSET_DELETE, "topics"): 0,
    (ApiKey.ALTER_PARTITION, "topics"): 0,
}
"""API and array → the version from which it stays empty: one error stands for all."""

_CALLED: Final = (
    ("name", "topic", "topic_name"),
    ("index", "partition", "partition_id", "partition_index"),
    *(("topic_id",), ("group_id",), ("key",), ("session_id",)),
    *(("resource_type",), ("resource_name",), ("entity_type",), ("entity_name",)),
)
_IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {name: names for names in _CALLED for name in names}
"""Field that says what an entry is about → what requests call it."""

_OF_ONE_VALUE = {str: ("name", "topic_name", "group_id", "key"), int: ("partition_index",)}
"""What an entry is about that was asked for by a name or a number alone."""
_VALUES: Final[Mapping[str, object]] = {
    "throttle_time": i32Timedelta.resolution * 0,
    "metadata": "",
    "producer_id_start": 0,
    "producer_id_len": 0,
}
_WITH_MESSAGE = frozenset({ApiKey.FIND_COORDINATOR, ApiKey.DESCRIBE_CONFIGS, ApiKey.ALTER_CLIENT_QUOTAS})
_EMPTY: Final[Mapping[str, object]] = {"string": "", "bytes": b"", "bool": False}

Known = Mapping[str, object]
"""What an entry is about, by the names of requests' fields."""


def error_response(
    start: RequestStart, body: Entity, error: ErrorCode = ErrorCode.unknown_server_error
) -> Entity | None:
    """None: nothing can be told (a produce with acks=0), so the connection has to end."""
    if start.api_key == ApiKey.PRODUCE and body.acks == 0:
        return None
    return _Told(start, error).entity(response_schema(start.api_key, start.version), body, _identity(body))


class _Told:
    """Of one request."""

    def __init__(self, start: RequestStart, error: ErrorCode) -> None:
        self._error = error
        self._key = start.api_key
        self._version = start.version

    def entity(self, shape: type[Entity], asked: Entity, known: Known) -> Entity:
        return shape(
            **{field.name: self._value(field, asked, known) for field in fields_of(shape) if field.tag is None}
        )

    def _value(self, field: WireField, asked: Entity, known: Known) -> object:
        if field.is_array:
            return self._array(field, asked, known)
        if field.name == "error_code":
            return self._error
        if field.name in _VALUES:
            return _VALUES[field.name]
        for name in _IDENTITY.get(field.name, ()):
            if name in known:
                return known[name]
        is_failure = self._error is ErrorCode.unknown_server_error
        if is_failure and field.name == "error_message" and self._key in _WITH_MESSAGE:
            return MESSAGE
        return _unknown(field)

    def _array(self, field: WireField, asked: Entity, known: Known) -> tuple[Entity, ...] | None:
        shape = field.shape
        if shape is None or self._version >= _NOT_EACH.get((self._key, field.name), self._version + 1):
            return ()
        path = next((path for path in _ASKED.get(field.name, ()) if hasattr(asked, path.partition(".")[0])), None)
        if path is None:
            return None if field.default is None or self._key == ApiKey.DESCRIBE_CLIENT_QUOTAS else ()
        entries = tuple(self.entity(shape, one, about) for one, about in _each(asked, path, known))
        if field.name == "responses" and self._key == ApiKey.PRODUCE:
            return tuple(entry for entry in entries if entry.partition_responses)  # Kafka tells partitions, by topic
        return entries


def _each(asked: Entity, path: str, known: Known) -> Iterator[tuple[Entity, Known]]:
    """All that the path leads to, and what each is about."""
    name, _, rest = path.partition(".")
    for one in getattr(asked, name) or ():
        about = {**known, **_identity(one)}
        if rest:
            yield from _each(one, rest, about)
        else:
            yield one, about


def _identity(asked: Any) -> Known:
    names = next((names for kind, names in _OF_ONE_VALUE.items() if isinstance(asked, kind)), None)
    if names is not None:
        return dict.fromkeys(names, asked)
    return {name: getattr(asked, name) for name in _IDENTITY if hasattr(asked, name)}


def _unknown(field: WireField) -> object:
    if isinstance(field.default, int | str):
        return field.default
    if field.is_nullable or field.kind in ("uuid", "datetime_i64"):
        return None
    return _EMPTY.get(field.kind, -1)
