"""A key of server.properties, and the kinds of values: how they are read, and what is said of a value that is none.

Source: `org.apache.kafka.common.config.ConfigDef.parseType` and its validators (3.9).
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


class Kind(Protocol[T_co]):
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


class Whole(msgspec.Struct, frozen=True):
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


def int_from(least: int = -(2**31)) -> Whole:
    """A Java int."""
    return Whole(least)


def long_from(least: int = -(2**63)) -> Whole:
    """A Java long."""
    return Whole(least, LONG_MAX, "LONG")


def short_from(least: int = -(2**15)) -> Whole:
    """A Java short."""
    return Whole(least, SHORT_MAX, "SHORT")


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


class Words(msgspec.Struct, frozen=True):
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

    kind: Kind[T]

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
    kind: Kind[T_co]
    default: T_co
    topic: str = ""
    in_files: bool = True

    def read(self, text: str, called: str = "") -> T_co:
        """A value. Raises ValueError with a line for the user that names the key, or what it was `called`."""
        try:
            return self.kind.read(text)
        except ValueError:
            raise ValueError(f"{called or self.name} takes {self.kind.wanted}, not {text[:80]!r}") from None
