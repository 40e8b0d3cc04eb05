"""The rows of an opened tree: found by arithmetic, and the same as by going through all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from model.sources.zookeeper.browser import join, natural
from tui.engine.cluster.znode_tree import Place, places, row_of, tree_of
from tui.engine.listing import AnswerMemo

NAMES = st.sampled_from(["0", "2", "10", "010", "a", "B", "a-1", "topics"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))


def folders(paths: set[str]) -> Mapping[str, tuple[str, ...]]:
    """Path → the names below it, for all of these and what leads to them."""
    names: dict[str, set[str]] = {"/": set()}
    for path in paths:
        above = "/"
        for name in path.strip("/").split("/"):
            names[above].add(name)
            names.setdefault(above := join(above, name), set())
    return {path: tuple(sorted(below, key=natural)) for path, below in names.items()}


def walked(path: str, depth: int, tree: Mapping[str, Sequence[str]], opened: set[str]) -> Iterator[Place]:
    for name in tree[path]:
        below = join(path, name)
        yield below, depth + 1
        if below in opened:
            yield from walked(below, depth + 1, tree, opened)


@given(st.sets(PATHS, max_size=12), st.sets(PATHS, max_size=6), st.sampled_from(["", "a", "0/", "/a", "b", "x"]))
def test_rows_and_their_numbers_are_those_of_a_walk(paths: set[str], opened: set[str], text: str) -> None:
    tree = folders(paths)
    expected = [place for place in walked("/", 0, tree, opened) if text in place[0].lower()]
    memory = AnswerMemo()
    tree_of(opened, "other", tree.__getitem__, memory)
    branch = tree_of(opened, text, tree.__getitem__, memory)
    assert (branch.rows, branch.total) == (len(expected), len([*walked("/", 0, tree, opened)]))
    for first in range(len(expected) + 1):
        assert [*places(branch, range(first + 5, first + 8), 5)] == expected[first : first + 3]
    assert [row_of(path, branch, 5) for path, _ in expected] == [*range(5, 5 + len(expected))]
    hidden = {join(path, name) for path, names in tree.items() for name in names} - {path for path, _ in expected}
    assert all(row_of(path, branch, 5) == -1 for path in hidden)


def test_a_million_names_are_not_gone_through_for_a_page() -> None:
    asked: list[str] = []
    names = tuple(f"entry-{number:07}" for number in range(1_000_000))

    def children(path: str) -> Sequence[str]:
        asked.append(path)
        return ("archive", "brokers") if path == "/" else names

    branch = tree_of({"/archive"}, "", children, AnswerMemo())
    assert branch.names == ("archive", "brokers") and branch.rows == 1_000_002
    assert [*places(branch, range(999_999, 1_000_004), 1)] == [
        ("/archive/entry-0999997", 2),
        ("/archive/entry-0999998", 2),
        ("/archive/entry-0999999", 2),
        ("/brokers", 1),
    ]
    assert row_of("/archive/entry-0500000", branch, 1) == 500_002
    assert asked == ["/", "/archive"]
