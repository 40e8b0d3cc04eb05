"""Properties files are read as `java.util.Properties` reads them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.client_security import SecurityError
from model.hosts.properties_file import Property, parse_properties


def values(text: str) -> dict[str, str]:
    return {key: found.value for key, found in parse_properties(text).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a:b", {"a": "b"}),
        ("a b", {"a": "b"}),
        (" \t a \t = \t b \t ", {"a": "b \t "}),
        ("a = = b", {"a": "= b"}),
        ("a:=b", {"a": "=b"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("=b", {"": "b"}),
        ("# a=b\n! c=d\n  # e=f\ng=#h!", {"g": "#h!"}),
        ("a=b\r\nc=d\re=f\n\n", {"a": "b", "c": "d", "e": "f"}),
        ("fruits  apple, \\\n   banana, \\\r\n\tpear", {"fruits": "apple, banana, pear"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\\n# c", {"a": "b# c"}),
        ("a=b\\", {"a": "b"}),
        ("a\\=b\\:c\\ d=e", {"a=b:c d": "e"}),
        ("a\\\\=b", {"a\\": "b"}),
        ("a=\\t\\n\\r\\f\\q\\u00e4\\\\", {"a": "\t\n\r\fqä\\"}),
        ("a=1\na=2", {"a": "2"}),
        ("", {}),
        ("a\fb", {"a": "b"}),
    ],
)
def test_lines_mean_what_java_says(text: str, expected: dict[str, str]) -> None:
    assert values(text) == expected


def test_each_key_knows_its_line() -> None:
    text = "# a comment\n\na=1 \\\n  2\nb=3"
    assert parse_properties(text) == {"a": Property("a", "1 2", 3), "b": Property("b", "3", 5)}


def test_a_broken_escape_is_named_by_its_line_and_not_shown() -> None:
    with pytest.raises(SecurityError, match=r"^2: \\u without four hexadecimal digits") as error:
        parse_properties("a=1\npassword=canary\\u12")
    assert "canary" not in str(error.value)


def stored(text: str, *, is_key: bool) -> str:
    """As `Properties.store` writes it."""
    escapes = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"} | {c: f"\\{c}" for c in "=:#!"}
    written = "".join(escapes.get(c) or (c if " " <= c <= "~" else f"\\u{ord(c):04x}") for c in text)
    if is_key:
        return written.replace(" ", "\\ ")
    return f"\\{written}" if written.startswith(" ") else written


TEXTS = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=("Cs",)))


@given(st.dictionaries(TEXTS, TEXTS))
def test_what_java_stores_comes_back(properties: dict[str, str]) -> None:
    lines = [f"{stored(key, is_key=True)}={stored(value, is_key=False)}\n" for key, value in properties.items()]
    assert values("".join(lines)) == properties


@given(TEXTS)
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    with contextlib.suppress(SecurityError):
        assert all(1 <= found.line <= len(text) + 1 for found in parse_properties(text).values())
