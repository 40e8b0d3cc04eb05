"""What all payloads share: frozen fields, the keys Kafka does not define, the way back to bytes, why one is unusable.

Unknown keys are kept in `extra`, so that decoding and encoding again loses nothing. Decoding is strict first (one pass
in C, about half a microsecond) and lenient only where strict failed. A reason never quotes the payload's values: they
may be secrets. It knows no particular znode and no path.

Kafka's readers ignore unknown keys and key order (`kafka.utils.Json`, `kafka.zk.ZkData`); its writers emit keys in the
order of a Scala map. The fields here are in the order of 3.9, older versions wrote the same keys in another.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Generic, TypeVar, cast

import msgspec
from msgspec import Meta

_TYPES = {
    "object": "an object",
    "array": "a list",
    "int": "a whole number",
    "float": "a fraction",
    "str": "text",
    "bool": "true or false",
    "null": "null",
}
_MISSHAPEN = "is not the JSON that Kafka writes here"


class UnusablePayloadError(ValueError):
    """Raised inside the codecs only; `codec.decode` turns it into an `Unreadable`."""


class Unreadable(msgspec.Struct, frozen=True):
    """A payload that cannot be used: `reason` reads on from the path, "partitions is a list, expected an object".

    `raw` may hold secrets, therefore its bytes are not in the repr; show them through `secrets.redact` only.
    """

    path: str
    kind: str
    reason: str
    raw: bytes

    def __repr__(self) -> str:
        return f"Unreadable({self.path!r}, {self.kind}, {self.reason!r}, {len(self.raw)} bytes)"


def reason_of(error: Exception) -> str:
    """What msgspec (or an UnusablePayloadError) says, in our words."""
    if isinstance(error, UnusablePayloadError):
        return str(error)
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8 text"
    text = str(error)
    for pattern, words in _TRANSLATIONS:
        found = pattern.search(text)
        if found:
            return words(found)
    return _MISSHAPEN


def _place(found: re.Match[str]) -> str:
    """`$.partitions[...][0]` as "partitions[…][0]", a key as "a key of partitions", the whole as "the payload"."""
    key, path = found["key"], (found["path"] or "").removeprefix("$").removeprefix(".").replace("[...]", "[…]")
    return f"a key of {path or 'the payload'}" if key else path or "the payload"


def _types(names: str) -> str:
    words = [_TYPES.get(name, name) for name in names.split(" | ")]
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _missing(found: re.Match[str]) -> str:
    return f"{found['field']} is missing" + (f" in {_place(found)}" if found["path"] else "")


_AT = r"(?: - at (?P<key>`key` in )?`(?P<path>[^`]*)`)?$"
_TRANSLATIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"^Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`" + _AT),
        lambda found: f"{_place(found)} is {_types(found['got'])}, expected {_types(found['expected'])}",
    ),
    (
        re.compile(r"^Expected `[^`]*` >= (?P<limit>-?\d+)" + _AT),
        lambda found: f"{_place(found)} is below {found['limit']}",
    ),
    (
        re.compile(r"^Expected `[^`]*` <= (?P<limit>-?\d+)" + _AT),
        lambda found: f"{_place(found)} is above {found['limit']}",
    ),
    (re.compile(r"^Expected `[^`]*` of length >= 1" + _AT), lambda found: f"{_place(found)} is empty"),
    (re.compile(r"^Object missing required field `(?P<field>[^`]*)`" + _AT), _missing),
    (re.compile(r"out of range"), lambda _: "a number is out of range"),
    (re.compile(r"^Input data was truncated"), lambda _: "the JSON stops too early"),
    (
        re.compile(r"^JSON is malformed: .*\(byte (?P<at>\d+)\)$"),
        lambda found: f"is not JSON (at byte {found['at']})",
    ),
)


INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
MAX_DEPTH = 64
"""Levels of nesting accepted under an unknown key: enough for anybody, and safe to walk by recursion."""

BrokerId = Annotated[int, Meta(ge=0, le=INT32_MAX)]
BrokerIdOrNone = Annotated[int, Meta(ge=-1, le=INT32_MAX)]
"""A broker id, or -1 for none."""
PartitionId = Annotated[int, Meta(ge=0, le=INT32_MAX)]
Epoch = Annotated[int, Meta(ge=-1, le=INT32_MAX)]
Int64 = Annotated[int, Meta(ge=-INT64_MAX - 1, le=INT64_MAX)]
Version = Annotated[int, Meta(ge=1, le=INT32_MAX)]
Name = Annotated[str, Meta(min_length=1)]
Timestamp = str | int | None
"""Milliseconds since the epoch: text since 0.8.1, a number or text in 0.8.0. Read it with `millis`."""

_EXTRA = "(keys that Kafka does not define)"


class LeftOut(msgspec.Struct, frozen=True):
    """A key that Kafka leaves out while it holds `absent`, up to the payload version that always writes it."""

    absent: object
    written_from: int = INT32_MAX + 1


class JsonObject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object: known keys are the fields, in Kafka's order; `extra` holds the others, None if there are none."""

    extra: dict[str, object] | None = msgspec.field(name=_EXTRA, default=None)

    nested: ClassVar[Mapping[str, "type[JsonObject]"]] = {}
    """By JSON key: the kind of the objects in that list or mapping."""
    left_out: ClassVar[Mapping[str, LeftOut]] = {}

    def as_json(self) -> dict[str, object]:
        """The object as Kafka writes it, unknown keys last."""
        version: object = getattr(self, "version", None)
        number = version if isinstance(version, int) else 0
        names = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        values = {key: cast(object, getattr(self, name)) for key, name in names if key != _EXTRA}
        known = {key: _plain(value) for key, value in values.items() if not self._is_left_out(key, value, number)}
        return known | {key: value for key, value in (self.extra or {}).items() if key not in values}

    def _is_left_out(self, key: str, value: object, version: int) -> bool:
        rule = self.left_out.get(key)
        return rule is not None and value == rule.absent and version < rule.written_from


class JsonPayload(JsonObject, frozen=True, kw_only=True):
    """A payload that is a JSON object."""

    def problem(self) -> str | None:
        """Why these well-typed fields are unusable all the same, in an operator's words; None if they are usable."""
        return None

    def to_bytes(self) -> bytes:
        """The payload as Kafka writes it."""
        return msgspec.json.encode(self.as_json())


class TextPayload(msgspec.Struct, frozen=True):
    """A payload that is plain text."""

    def to_bytes(self) -> bytes:
        """The payload as Kafka writes it."""
        raise NotImplementedError


Payload = JsonPayload | TextPayload
P = TypeVar("P", bound=JsonPayload)


class JsonCodec(Generic[P]):
    """Reads one kind of JSON payload."""

    def __init__(self, payload: type[P]) -> None:
        self._payload = payload
        self._decoder = msgspec.json.Decoder(payload)

    def __call__(self, data: bytes) -> P:
        """The payload; raises UnusablePayloadError."""
        try:
            payload = self._decoder.decode(data)
            if payload.extra is not None:
                payload = self._lenient(data)
        except msgspec.ValidationError:
            payload = self._lenient(data)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise UnusablePayloadError(reason_of(error)) from None
        problem = payload.problem()
        if problem is not None:
            raise UnusablePayloadError(problem)
        return payload

    def many(self, every: Sequence[bytes]) -> list[P | None]:
        """The payloads, None for those that cannot be used; quicker than one by one, unless one of them is odd."""
        try:
            payloads: list[P | None] = list(map(self._decoder.decode, every))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return [self._or_none(data) for data in every]
        is_odd = any(payload.extra is not None or payload.problem() is not None for payload in payloads if payload)
        return [self._or_none(data) for data in every] if is_odd else payloads

    def _or_none(self, data: bytes) -> P | None:
        try:
            return self(data)
        except UnusablePayloadError:
            return None

    def _lenient(self, data: bytes) -> P:
        try:
            fields = _set_unknown_apart(self._payload, msgspec.json.decode(data))
            return msgspec.convert(fields, self._payload, str_keys=True)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise UnusablePayloadError(reason_of(error)) from None


def millis(timestamp: Timestamp) -> int | None:
    """A znode's `timestamp` in ms since the epoch; None if it holds none."""
    if isinstance(timestamp, int):
        return timestamp
    if timestamp is None or not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        return None
    return int(timestamp)


def whole_number(data: bytes) -> int:
    """A text payload as a 64-bit number; raises UnusablePayloadError."""
    text = data.strip()
    if not text.lstrip(b"+-").isdigit() or len(text) > 20:
        raise UnusablePayloadError("is not a whole number")
    try:
        number = int(text)
    except ValueError:
        raise UnusablePayloadError("is not a whole number") from None
    if not -INT64_MAX - 1 <= number <= INT64_MAX:
        raise UnusablePayloadError("is out of range")
    return number


def text_of(data: bytes) -> str:
    """A text payload; raises UnusablePayloadError."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UnusablePayloadError("is not UTF-8 text") from None


def replicas_problem(replicas: Sequence[int]) -> str | None:
    """What makes a list of replicas unusable, reading on from what it belongs to; None if it is usable."""
    if not replicas:
        return "has no replicas"
    twice = [broker for position, broker in enumerate(replicas) if broker in replicas[:position]]
    return f"has broker {twice[0]} twice among its replicas" if twice else None


def _plain(value: object) -> object:
    if isinstance(value, JsonObject):
        return value.as_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in cast(tuple[object, ...], value)]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in cast(Mapping[object, object], value).items()}
    return value


def _set_unknown_apart(payload: type[JsonObject], value: object) -> object:
    """The parsed object with its unknown keys under `extra`, here and in nested objects; other values unchanged."""
    if not isinstance(value, dict):
        return value
    fields: dict[str, object] = {}
    unknown: dict[str, object] = {}
    for key, item in cast(dict[str, object], value).items():
        inner = payload.nested.get(key)
        if inner is not None:
            fields[key] = _nested_set_apart(inner, item)
        elif key in payload.__struct_encode_fields__ and key != _EXTRA:
            fields[key] = item
        elif _too_deep(item, MAX_DEPTH):
            raise UnusablePayloadError(f"is nested more than {MAX_DEPTH} levels deep")
        else:
            unknown[key] = item
    if unknown:
        fields[_EXTRA] = unknown
    return fields


def _nested_set_apart(inner: type[JsonObject], value: object) -> object:
    if isinstance(value, list):
        return [_set_unknown_apart(inner, item) for item in cast(list[object], value)]
    if isinstance(value, dict):
        return {key: _set_unknown_apart(inner, item) for key, item in cast(dict[str, object], value).items()}
    return value


def _too_deep(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(cast(dict[str, object], value).values())
    if not isinstance(value, list):
        return False
    return levels == 0 or any(_too_deep(item, levels - 1) for item in cast(list[object], value))
