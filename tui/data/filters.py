"""The filter language, the same on every list. Decides which rows match; where they are shown is not its business.

    orders               a part of any shown column              ~ordst         the letters in this order (fuzzy:ordst)
    re:^pay.*-(3|4)$     a regular expression                    !ok            everything else
    state:under  broker:5  leader:none  age:<1m  epoch:>=40      a field; :=word is the whole text
    a b                  both                                    a | b, a or b  either

Capital letters do not matter. What is not finished yet (`age:`, `!`, `re:`) matches everything.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.cluster.topic_image import Flags
from tui.data.fields import OPERATORS, BadValue, Field, Predicate


class BadFilter(Exception):  # noqa: N818 - reads as a fact
    """A filter that cannot be understood; the message is one line for its author."""


_FIELD = re.compile(r"([a-z][a-z_-]*):(.*)", re.DOTALL)
_ADDRESS = re.compile(r"\d+|//.*", re.DOTALL)
"""After a colon, with no field of that name before it: a port or an endpoint, so a text to look for."""
_SHOWN = 40


@dataclass(frozen=True)
class Searched:
    """What a filter is asked of: `count` rows, their fields by name, and which of these the operator sees."""

    count: int
    fields: Mapping[str, Field]
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
    """Whether the same filter on the same rows may find something else later."""
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
