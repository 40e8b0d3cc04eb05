"""Which rows an opened tree has, without going through them: a folder may hold millions of znodes.

All of it takes as long as there are open znodes and rows asked for. Asks nobody itself, and draws nothing.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from model.sources.zookeeper.browser import join, natural, parent_of
from tui.data.pages.listing import Memory

Children = Callable[[str], Sequence[str]]
"""Path → the names below it in `natural` order: the very same object for as long as nothing changes."""

Place = tuple[str, int]
"""(path, depth)"""


class Branch(NamedTuple):
    """What lies below an open znode. `branches` are open in their turn: each stands behind so many of `names`."""

    path: str
    depth: int
    names: Sequence[str]
    branches: Sequence[tuple[int, "Branch"]]
    rows: int
    """Those that match the filter, those of `branches` included."""
    total: int
    """What `rows` would be without the filter."""


def tree_of(opened: Iterable[str], text: str, children: Children, memory: Memory) -> Branch:
    """What lies below the root, and of it the rows whose path holds `text`, whatever the case."""
    below: defaultdict[str, list[str]] = defaultdict(list)
    for path in {*opened} - {"/"}:
        below[parent_of(path)].append(path.rpartition("/")[2])
    return _branch("/", 0, below, text.lower(), children, memory)


def _branch(
    path: str, depth: int, opened: Mapping[str, list[str]], text: str, children: Children, memory: Memory
) -> Branch:
    every = names = children(path)
    prefix = join(path, "")
    if text not in prefix.lower():
        names = memory.recall(f"znodes {path}", (every, text), partial(_matching, every, prefix.lower(), text))
    branches: list[tuple[int, Branch]] = []
    for name in sorted(opened.get(path, ()), key=natural):
        place = bisect_left(every, natural(name), key=natural)
        if every[place : place + 1] == (name,):
            behind = bisect_right(names, natural(name), key=natural)
            branches.append((behind, _branch(prefix + name, depth + 1, opened, text, children, memory)))
    rows = len(names) + sum(branch.rows for _, branch in branches)
    total = len(every) + sum(branch.total for _, branch in branches)
    return Branch(path, depth, names, branches, rows, total)


def _matching(names: Sequence[str], prefix: str, text: str) -> tuple[str, ...]:
    return tuple(name for name in names if text in prefix + name.lower())


def places(branch: Branch, wanted: range, row: int) -> Iterator[Place]:
    """Those rows below a znode that are wanted; `row` is the number of the first one."""
    prefix, done = join(branch.path, ""), 0
    for place, below in (*branch.branches, (len(branch.names), None)):
        first, last = done + max(wanted.start - row, 0), min(done + max(wanted.stop - row, 0), place)
        yield from ((prefix + name, branch.depth + 1) for name in branch.names[first:last])
        row += place - done
        done = place
        if below is not None:
            if row < wanted.stop and row + below.rows > wanted.start:
                yield from places(below, wanted, row)
            row += below.rows


def row_of(path: str, branch: Branch, row: int) -> int:
    """The row of a znode below another one, whose first row this is; -1 if it is not in sight."""
    prefix = join(branch.path, "")
    name, _, rest = path.removeprefix(prefix).partition("/")
    if rest:
        for place, below in branch.branches:
            if below.path == prefix + name:
                return row_of(path, below, row + place)
            row += below.rows
        return -1
    place = bisect_left(branch.names, natural(name), key=natural)
    if place == len(branch.names) or branch.names[place] != name:
        return -1
    return row + place + sum(below.rows for behind, below in branch.branches if behind <= place)
