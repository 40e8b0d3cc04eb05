"""The text of `sasl.jaas.config` → its login module and options. Looks nothing up.

Source: Kafka 3.9 `JaasConfig`: `MODULE FLAG name="value" …;`, as the configuration files of Java's login have it.
"""

import re
from typing import NamedTuple

from model.hosts.client_security.values import SecurityError

_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/ | (?P<quoted>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*') | (?P<sign>[=;])
    | (?P<word>(?:[^\s=;"'/]|/(?![/*]))+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
WRITE_IT = 'write: MODULE required username="…" password="…";'


class JaasLogin(NamedTuple):
    """One entry. The options hold the password: not to be shown."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"JaasLogin({self.module!r}, ***)"


def parse_jaas(text: str) -> JaasLogin:
    """Raises SecurityError, which quotes nothing of the text."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[-1] != (";", True) or tokens[1][0] not in _FLAGS:
        raise SecurityError(f"is no login; {WRITE_IT}")
    options: dict[str, str] = {}
    rest = tokens[2:-1]
    for place in range(0, len(rest), 3):
        match rest[place : place + 3]:
            case [(name, False), ("=", True), (value, False)]:
                options[name] = value
            case _:
                raise SecurityError(f"option {place // 3 + 1} is not name=value; {WRITE_IT}")
    return JaasLogin(tokens[0][0], options)


def _tokens(text: str) -> list[tuple[str, bool]]:
    """(text, whether it is a sign and no word)."""
    tokens: list[tuple[str, bool]] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise SecurityError(f"a quote is not closed, or a sign has to be in quotes; {WRITE_IT}")
        place = found.end()
        if quoted := found["quoted"]:
            tokens.append((_ESCAPED.sub(_meant, quoted[1:-1]), False))
        elif word := found["word"] or found["sign"]:
            tokens.append((word, found["sign"] is not None))
    return tokens


def _meant(escape: re.Match[str]) -> str:
    what = escape[1]
    return chr(int(what, 8)) if what[0] in "01234567" else _LETTERS.get(what, what)
