"""A mapping that is a value, whatever is done with its other versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from model.hosts.memory_zookeeper.persistent_map import PersistentMap

keys = st.integers(0, 60)
changes = st.dictionaries(keys, st.none() | st.integers(), max_size=4)


class Asked(Mapping[str, int]):
    """A base that works its values out, and remembers what it was asked for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys_asked: set[str] = set()

    def __getitem__(self, key: str) -> int:
        self.keys_asked.add(key)
        if not 0 <= int(key) < self.size:
            raise KeyError(key)
        return int(key)

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.size))

    def __len__(self) -> int:
        return self.size


@given(st.dictionaries(keys, st.integers()), st.lists(st.tuples(st.integers(0), changes, st.integers(0)), max_size=80))
def test_every_version_stays_what_it_was(
    base: dict[int, int], steps: list[tuple[int, dict[int, int | None], int]]
) -> None:
    versions = [(PersistentMap(base), base)]
    for parent, changed, reader in steps:
        mapping, expected = versions[parent % len(versions)]
        after = {key: value for key, value in {**expected, **changed}.items() if value is not None}
        versions.append((mapping.changed(changed), after))
        mapping, expected = versions[reader % len(versions)]
        assert {key: mapping.get(key) for key in range(61)} == {key: expected.get(key) for key in range(61)}
    for mapping, expected in versions:
        assert dict(mapping.items()) == expected


def test_equal_by_content() -> None:
    one, other = PersistentMap({1: 1, 2: 2}), PersistentMap[int, int]().changed({1: 1, 2: 2, 3: 3})
    assert one != other
    assert one == other.changed({3: None})
    assert one != {1: 1, 2: 2}


def test_a_lazy_base_is_asked_only_for_what_is_read() -> None:
    base = Asked(1_000_000)
    mapping = PersistentMap(base).changed({"5": 50})
    assert (mapping.get("5"), mapping.get("6"), mapping.get("1000000")) == (50, 6, None)
    assert base.keys_asked == {"6", "1000000"}


def test_a_long_history_can_be_walked_and_dropped() -> None:
    first = PersistentMap[int, int]().changed(dict.fromkeys(range(100), 0))
    last = first
    for number in range(200_000):
        last = last.changed({number % 100: number})
    assert first.get(7) == 0
    assert last.get(7) == 199_907
    del first, last
