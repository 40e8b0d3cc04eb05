"""Short names of consumers: unique, short, and the same whoever else is asked about."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.engine.consumers.names import naming, readable

hosts = st.from_regex(r"[a-z]{1,8}-?[0-9]{0,3}", fullmatch=True)
ids = st.builds(lambda host, tail: f"g_{host}-1700000000000-{tail:08x}", hosts, st.integers(0, 2**32 - 1)) | st.text(
    min_size=1, max_size=30
)
consumers = st.sets(ids, max_size=30)


@given(consumers, consumers)
def test_names_are_unique_short_and_of_the_form_that_screens_promise(there: set[str], others: set[str]) -> None:
    named = naming(there).with_others(others).consumers
    assert named.keys() == there | others
    shorts = [short.name for short in named.values()]
    assert len(set(shorts)) == len(shorts)
    assert all(re.fullmatch(r"c[0-9]{1,3}", each) for each in shorts)
    assert sorted(short.place for short in named.values()) == list(range(len(named)))


@given(consumers, consumers)
def test_whoever_is_there_keeps_the_name_that_it_has_without_those_who_left_or_join(
    there: set[str], others: set[str]
) -> None:
    alone, beside = naming(there).consumers, naming(there).with_others(others).consumers
    assert {name: beside[name] for name in there} == alone
    assert naming(sorted(there, reverse=True)).consumers == alone


@given(consumers, st.lists(st.integers(0, 12), max_size=4), st.booleans())
def test_threads_are_unique_and_in_their_consumers_hue(there: set[str], numbers: list[int], is_threaded: bool) -> None:
    threads = [f"{name}-{number}" for name in there for number in numbers] if is_threaded else sorted(there)
    named = naming(there, is_threaded=is_threaded)
    shorts = named.of(threads)
    assert shorts.keys() == set(threads)
    assert len({short.name for short in shorts.values()}) == len(shorts)
    assert all(len(short.name) <= 8 for short in shorts.values())


@pytest.mark.parametrize(
    ("there", "names"),
    [
        (["g_web-4-1700000000000-0a", "g_web-17-1700000000000-0b"], ["c17", "c4"]),
        (["g_web-4-1700000000000-0a", "g_web-4-1700000000000-0b"], ["c1", "c2"]),
        (["g_web-4-1700000000000-0a", "g_db-5-1700000000000-0b"], ["c1", "c2"]),
        (["web-007", "web-008"], ["c1", "c2"]),
        (["alone-3"], ["c3"]),
        ([], []),
    ],
)
def test_a_number_in_which_alone_the_hosts_differ_is_the_consumers(there: list[str], names: list[str]) -> None:
    assert [short.name for short in naming(there).consumers.values()] == names


def test_one_of_that_kind_who_left_keeps_its_number_and_who_joins_gets_the_next() -> None:
    known = naming(["web-1", "web-3"]).with_others(["web-2", "~new-1"]).consumers
    assert {name: short.name for name, short in known.items()} == {
        "web-1": "c1",
        "web-3": "c3",
        "web-2": "c2",
        "~new-1": "c4",
    }


def test_threads_have_numbers_only_where_a_consumer_has_several() -> None:
    named = naming(["g_web-1-1700000000000-0a", "g_web-2-1700000000000-0b"], is_threaded=True)
    one_each = named.of(["g_web-1-1700000000000-0a-0", "g_web-2-1700000000000-0b-0"])
    assert [short.name for short in one_each.values()] == ["c1", "c2"]
    several = named.of(["g_web-1-1700000000000-0a-0", "g_web-1-1700000000000-0a-1", "g_web-2-1700000000000-0b-0"])
    assert [short.name for short in several.values()] == ["c1-0", "c1-1", "c2-0"]


def test_what_is_read_of_an_id_is_its_host_or_its_client() -> None:
    assert readable("billing_host-a-1700000000000-08c87f94-3") == "host-a"
    assert readable("app-3f2a1b2c-1111-2222-3333-444444444444") == "app"
    assert readable("anything") == "anything"
