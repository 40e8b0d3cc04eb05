"""Columns that a list is searched and sorted by, and the filter language, the same on every list.

    orders               a part of any shown column              ~ordst         the letters in this order (fuzzy:ordst)
    re:^pay.*-(3|4)$     a regular expression                    !ok            everything else
    state:under  broker:5  leader:none  age:<1m  epoch:>=40      a field; :=word is the whole text
    a b                  both                                    a | b, a or b  either

Capital letters do not matter. What is not finished yet (`age:`, `!`, `re:`) matches everything.

A field is asked for all rows at once: which rows have a text that a predicate likes (`matching`), which rows compare
so with a value the operator typed (`compared`), and in which order they come (`ranks`). Knows no list.
"""

import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from model.cluster.topic_image import NOBODY, Flags, Ints, Longs, rows_of

Predicate = Callable[[str], object]
"""Says of a text in lower case whether it is wanted."""

Ranks = NDArray[Any]
"""Numbers, one per row."""

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = tuple(sorted(_OPERATORS, key=len, reverse=True))
"""What may stand between `field:` and a value, longest first."""

_COUNT_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_DURATION_UNITS = {"ms": 1, "": 1_000, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MOST_DIGITS = 15
_MOST_CODE = 2**62
_WIDEST = 1_000_000


class BadValue(Exception):  # noqa: N818 - reads as a fact
    """A value this field cannot be compared with; the message says what it takes."""


class ListField(Protocol):
    """A column of a list."""

    def matching(self, wanted: Predicate) -> Flags:
        """Rows whose text, as shown, is wanted."""
        ...

    def compared(self, sign: str, value: str) -> Flags:
        """Rows that compare so with a value; `sign` is one of OPERATORS. Raises BadValue."""
        ...

    def ranks(self) -> Ranks:
        """A number per row, in the field's own order."""
        ...


def distinct(values: Ranks) -> tuple[Ranks, Longs]:
    """The values that occur, ascending, and for each row which of them it has. Quicker than sorting, if they are near
    each other."""
    low = int(values.min(initial=0))
    if int(values.max(initial=0)) - low > _WIDEST:
        found, places = np.unique(values, return_inverse=True)
        return found, places
    offsets = values.astype(np.int64) - low
    there = np.bincount(offsets) > 0
    return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[offsets]


@dataclass(frozen=True, eq=False)
class Texts:
    """A text per row, made when first asked for; `field:word` finds it inside, `field:=word` is the whole."""

    make: Callable[[], Sequence[str]]

    @cached_property
    def folded(self) -> list[str]:
        """The texts in lower case."""
        return [text.lower() for text in self.make()]

    def matching(self, wanted: Predicate) -> Flags:
        return np.fromiter(map(wanted, self.folded), np.bool_, len(self.folded))

    def compared(self, sign: str, value: str) -> Flags:
        if sign in ("<", "<=", ">", ">="):
            raise BadValue("a text, which has no less or more")
        if not sign:
            return self.matching(lambda text: value in text)
        return self.matching(lambda text: (text == value) == (sign == "="))

    def ranks(self) -> Ranks:
        places = {text: place for place, text in enumerate(sorted(set(self.folded)))}
        return np.fromiter((places[text] for text in self.folded), np.int64, len(self.folded))


@dataclass(frozen=True, eq=False)
class Coded:
    """One of a few texts per row, by its number; `codes` index `labels`."""

    codes: Ints | Longs
    labels: Texts

    def matching(self, wanted: Predicate) -> Flags:
        return self.labels.matching(wanted)[self.codes]

    def compared(self, sign: str, value: str) -> Flags:
        return self.labels.compared(sign, value)[self.codes]

    def ranks(self) -> Ranks:
        """The labels' own order, which may mean something, as with severities."""
        return self.codes.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number per row. `none` stands for no number: it is neither less nor more than another."""

    values: Ranks
    shown: Callable[[int], str] = str
    none: int = -1
    is_duration: bool = False

    def matching(self, wanted: Predicate) -> Flags:
        values, places = distinct(self.values)
        hits = [bool(wanted(self.shown(value).lower())) for value in values.tolist()]
        return np.array(hits, np.bool_)[places]

    def compared(self, sign: str, value: str) -> Flags:
        number = self._number(value)
        rows = _OPERATORS[sign](self.values, number)
        return rows if sign in ("", "=", "!=") else rows & (self.values != self.none)

    def ranks(self) -> Ranks:
        return self.values.astype(np.int64)

    def _number(self, value: str) -> float:
        units = _DURATION_UNITS if self.is_duration else _COUNT_UNITS
        digits = value.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = units.get(value[len(digits) :])
        bare = digits.lstrip("eb").replace(",", "")  # e39 is an epoch, b3 a broker
        if value == "none":
            return self.none
        if unit is None or len(bare) > _MOST_DIGITS or not bare.isascii() or not bare.replace(".", "", 1).isdigit():
            raise BadValue("a time such as 30s, 5m, 2h or 4d" if self.is_duration else "a number, or none")
        return float(bare) * unit


def whole_numbers(values: Iterable[int | None], *, is_duration: bool = False) -> Numbers:
    """One per row; None: no number."""
    return Numbers(np.array([-1 if value is None else value for value in values], np.int64), is_duration=is_duration)


@dataclass(frozen=True, eq=False)
class BrokerSets:
    """Broker ids per row, padded with -1: `field:5` is any of them, `field:none` an empty row."""

    rows: Ints

    @cached_property
    def _codes(self) -> Longs:
        """A number for each row, the same for equal rows: far quicker to look through than the rows."""
        codes = np.zeros(len(self.rows), np.int64)
        most = 1
        for column in self.rows.T:
            base = int(column.max(initial=0)) + 2
            if most * base > _MOST_CODE:
                _, codes = np.unique(codes, return_inverse=True)
                most = len(codes) + 1
            codes, most = codes * base + column + 1, most * base
        return codes

    @cached_property
    def _texts(self) -> Coded:
        codes, places = distinct(self._codes)
        some = np.zeros(len(codes), np.int64)
        some[places] = np.arange(len(places))  # of each code, any row that has it
        return Coded(places, Texts(lambda: [",".join(map(str, ids)) for ids in rows_of(self.rows[some])]))

    def matching(self, wanted: Predicate) -> Flags:
        return self._texts.matching(wanted)

    def compared(self, sign: str, value: str) -> Flags:
        members = self.rows != NOBODY
        if value == "none":
            return members.any(axis=1) if sign == "!=" else ~members.any(axis=1)
        if sign == "!=":
            return ~self.compared("", value)
        found = Numbers(self.rows.ravel()).compared(sign, value).reshape(self.rows.shape)
        return (found & members).any(axis=1)

    def ranks(self) -> Ranks:
        """Ranks by the number of brokers."""
        return (self.rows != NOBODY).sum(axis=1, dtype=np.int64)


class BadFilter(Exception):  # noqa: N818 - reads as a fact
    """A filter that cannot be parsed; the message is one line for the operator."""


_FIELD = re.compile(r"([a-z][a-z_-]*):(.*)", re.DOTALL)
_ADDRESS = re.compile(r"\d+|//.*", re.DOTALL)
"""After a colon, with no field of that name before it: a port or an endpoint, so a text to look for."""
_SHOWN = 40


@dataclass(frozen=True)
class Searched:
    """What a filter is asked of: `count` rows, their fields by name, and which of these the operator sees."""

    count: int
    fields: Mapping[str, ListField]
    shown: Sequence[str]


def matching_rows(text: str, searched: Searched) -> Flags:
    """One flag per row. Raises BadFilter."""
    alternatives = [words for words in _alternatives(text) if words]
    rows = np.full(searched.count, not alternatives, np.bool_)
    for words in alternatives:
        every = np.ones(searched.count, np.bool_)
        for word in words:
            every &= _word(word, searched)
        rows |= every
    return rows


def depends_on_time(text: str) -> bool:
    """Whether the same filter may match other rows later."""
    return "age:" in text.lower()


def _alternatives(text: str) -> Iterator[list[str]]:
    words: list[str] = []
    for word in text.split():
        for number, piece in enumerate(_between_bars(word)):
            if number:
                yield words
                words = []
            if piece:
                words.append(piece)
    yield words


def _between_bars(word: str) -> list[str]:
    if word.lstrip("!").startswith("re:"):
        return [word]  # a bar means something there, and so do capitals (`\D`)
    return ["", ""] if word == "or" else word.lower().split("|")


def _word(word: str, searched: Searched) -> Flags:
    bare = word.lstrip("!")
    if not bare:
        return np.ones(searched.count, np.bool_)
    rows = _bare_word(bare, searched)
    return ~rows if (len(word) - len(bare)) % 2 else rows


def _bare_word(word: str, searched: Searched) -> Flags:
    for prefix, make in _PREFIXES.items():
        if word.startswith(prefix):
            return _anywhere(make(word.removeprefix(prefix)), searched)
    named = _FIELD.fullmatch(word)
    if named is None or (named[1] not in searched.fields and _ADDRESS.fullmatch(named[2])):
        return _anywhere(_contains(word), searched)
    if named[1] not in searched.fields:
        raise BadFilter(f"no field {named[1][:_SHOWN]} here; there are {', '.join(searched.fields)}")
    return _compared(named[1], named[2], searched)


def _compared(name: str, rest: str, searched: Searched) -> Flags:
    sign = next(sign for sign in OPERATORS if rest.startswith(sign))
    value = rest.removeprefix(sign)
    if not value:
        return np.ones(searched.count, np.bool_)
    try:
        return searched.fields[name].compared(sign, value)
    except BadValue as error:
        raise BadFilter(f"{name} is {error}, not {rest[:_SHOWN]}") from error


def _anywhere(wanted: Predicate, searched: Searched) -> Flags:
    rows = np.zeros(searched.count, np.bool_)
    for name in searched.shown:
        rows |= searched.fields[name].matching(wanted)
    return rows


def _contains(part: str) -> Predicate:
    return lambda text: part in text


def _fuzzy(letters: str) -> Predicate:
    """The letters in this order with anything between; never looks back, so it cannot become slow."""
    return re.compile("".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in letters)).match


def _regular(pattern: str) -> Predicate:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern, re.IGNORECASE).search
    except (re.error, OverflowError, RecursionError) as error:
        raise BadFilter(f"re:{pattern[:_SHOWN]}: {error}") from error


_PREFIXES: Mapping[str, Callable[[str], Predicate]] = {"re:": _regular, "fuzzy:": _fuzzy, "~": _fuzzy}
