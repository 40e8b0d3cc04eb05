"""The names of children: a set that is a value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.hosts.memory_zookeeper.persistent_map import NO_NAMES, Names

names = st.sampled_from([f"n{number}" for number in range(40)])


@given(st.lists(names, unique=True), st.lists(names, max_size=200))
def test_a_set_of_names(listed: list[str], toggled: list[str]) -> None:
    """Each name is added if it is missing, and removed if it is there."""
    versions = [(Names(listed), frozenset(listed))]
    for name in toggled:
        before, expected = versions[-1]
        versions.append((before.with_change(name, name not in expected), expected ^ {name}))
    for version, expected in versions:
        assert sorted(version) == sorted(expected)
        assert (version == versions[0][0]) == (expected == versions[0][1])


def test_many_names() -> None:
    many = NO_NAMES
    for number in range(100_000):
        many = many.with_change(str(number), True)
    assert len(list(many)) == 100_000
    assert many == Names([str(number) for number in range(100_000)])
    assert "many" not in repr(NO_NAMES)
