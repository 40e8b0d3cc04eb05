"""Why a payload cannot be used, in an operator's words. Never quotes the payload's values: they may be secrets."""

import re
from collections.abc import Callable

import msgspec

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
