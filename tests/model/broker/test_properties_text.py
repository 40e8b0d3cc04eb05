"""Text in the syntax of Java's properties. What is expected is what `java.util.Properties` of Java 17 said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.broker.settings.server_properties import PropertiesError, ServerProperty, read_properties

JAVA = [
    ("a=1", {"a": "1"}),
    ("a:1", {"a": "1"}),
    ("a 1", {"a": "1"}),
    ("a   =   1", {"a": "1"}),
    ("a\t:\t1", {"a": "1"}),
    (" \t a=1", {"a": "1"}),
    ("a", {"a": ""}),
    ("a=", {"a": ""}),
    ("=1", {"": "1"}),
    ("a==1", {"a": "=1"}),
    ("a= 1 ", {"a": "1 "}),
    ("a=b=c", {"a": "b=c"}),
    ("a = : b", {"a": ": b"}),
    ("#a=1\nb=2", {"b": "2"}),
    ("!a=1\nb=2", {"b": "2"}),
    ("  # c\nb=2", {"b": "2"}),
    ("a=1\\\n  2\n", {"a": "12"}),
    ("a=1\\\n# no comment\nb=2", {"a": "1# no comment", "b": "2"}),
    ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
    ("a=1\\", {"a": "1"}),
    ("a\\=b=1", {"a=b": "1"}),
    ("a\\ b=1", {"a b": "1"}),
    ("a\\:b : 1", {"a:b": "1"}),
    ("a=x\\ty\\nz\\q", {"a": "x\ty\nzq"}),
    ("a=\\u0041\\u00e9", {"a": "Aé"}),
    ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
    ("a=1\na=2", {"a": "2"}),
    ("\n\n \n", {}),
    ("a=\\\\", {"a": "\\"}),
    ("a\\\\=1", {"a\\": "1"}),
    ("a=1\\\n\nb=2", {"a": "1", "b": "2"}),
    ("a\\\n =1", {"a": "1"}),
    ("#c\\\nb=2", {"b": "2"}),
    ("a=\\\\u0041", {"a": "\\u0041"}),
    ("\\u0061=1", {"a": "1"}),
    ("a=x\\\\\\\ny", {"a": "x\\y"}),
    ("a=1\x0cb", {"a": "1\x0cb"}),
    ("a=tab\\\tx", {"a": "tab\tx"}),
    ("key\\\n\n=v", {"": "v", "key": ""}),
    ("\\", {"": ""}),
    ("\\\n", {"": ""}),
    ("a=1\n\\\n#b=2", {"a": "1"}),
    ("a 1\n\\\nb=2", {"a": "1", "b": "2"}),
]


@pytest.mark.parametrize(("text", "expected"), JAVA)
def test_it_is_read_as_java_reads_it(text: str, expected: dict[str, str]) -> None:
    assert {each.key: each.value for each in read_properties(text)} == expected


def test_lines_are_counted_where_a_property_begins() -> None:
    text = "# who\n\nbroker.id=1\\\n  2\nlog.dirs /a,\\\n  /b\n"
    assert read_properties(text) == [ServerProperty("broker.id", "12", 3), ServerProperty("log.dirs", "/a,/b", 5)]


def test_equal_keys_are_all_told() -> None:
    assert [each.value for each in read_properties("a=1\na=2")] == ["1", "2"]


@pytest.mark.parametrize("text", ["a=\\u12", "b=1\na=\\u12x4", "a=\\u"])
def test_half_a_character_names_its_line(text: str) -> None:
    with pytest.raises(PropertiesError, match=rf"^line {text.count(chr(10)) + 1}: .*four hexadecimal digits"):
        read_properties(text)


@given(st.text(alphabet="ab=: \t\\\n\r#!u0041é", max_size=30))
def test_nothing_but_a_half_character_is_refused(text: str) -> None:
    try:
        found = read_properties(text)
    except PropertiesError:
        assert "\\u" in text
    else:
        assert all("\\u" not in each.key or "\\\\" in text for each in found)


def escaped(text: str) -> str:
    """As `Properties.store` would write it."""
    return "".join(f"\\u{ord(each):04x}" for each in text)


@given(
    st.dictionaries(
        st.text(st.characters(max_codepoint=0xFFFF), min_size=1), st.text(st.characters(max_codepoint=0xFFFF))
    )
)
def test_what_is_escaped_comes_back(properties: dict[str, str]) -> None:
    text = "\n".join(f"{escaped(key)}={escaped(value)}" for key, value in properties.items())
    assert {each.key: each.value for each in read_properties(text)} == properties
