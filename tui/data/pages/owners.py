"""The rows of a group's ownership: consumer threads, and nobody. What needs a look comes first.

Draws a row's left half, which the table and the graph share.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model.cluster.ids import TopicPartition
from model.consumers.ownership import (
    dead_threads,
    idle_threads,
    lag_of,
    owned_by,
    ownership_graph,
    threads,
    unowned_partitions,
)
from model.sources.feed import Moment
from tui.data.fields import Field, Numbers, Texts
from tui.data.pages.groups import group_facts, lag_cell
from tui.data.pages.listing import Listing, Memory, place_in
from tui.rows import Column, Line, Row, line, span

if TYPE_CHECKING:
    from model.consumers.ownership import Graph

NOBODY = "no owner"
RANKS = (NOBODY, "dead", "idle", "ok")
_THREAD_NAME = re.compile(
    r"[^_]*_(?P<host>.+)-\d{13}-(?P<tail>[0-9a-f]{1,8}-\d+)"
    r"|(?P<client>.+)-(?P<start>[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
"""`group_host-millis-8hex-thread`, as ZookeeperConsumerConnector (0.8 to 1.1) makes it; `client-uuid`, as a coordinator
does (GroupMetadata.generateMemberId, 3.9)."""
BAR = 8
"""Cells of the bar that compares how much each one owns."""


class Owner(NamedTuple):
    """A thread, or nobody, and what it owns. `state` is one of RANKS."""

    name: str
    state: str
    owned: tuple[TopicPartition, ...]
    lag: int | None

    @property
    def label(self) -> str:
        """The name without what tells an operator nothing: `host 08c87f94-0`, `client 3f2a1b2c`."""
        found = _THREAD_NAME.fullmatch(self.name)
        return " ".join(part for part in found.groups() if part) if found else self.name

    @property
    def mark(self) -> str:
        """The severity's sign."""
        return {NOBODY: "X", "dead": "X", "idle": "!"}.get(self.state, "")

    @property
    def style(self) -> str:
        """The style of its name."""
        return {NOBODY: "error", "dead": "dead", "idle": "warn"}.get(self.state, "")

    @property
    def by_topic(self) -> Mapping[str, list[int]]:
        """Topic → partition numbers, both ascending."""
        topics: dict[str, list[int]] = {}
        for read in self.owned:
            topics.setdefault(read.topic, []).append(read.partition)
        return topics


class Ownership(NamedTuple):
    """A group's graph and its owners: nobody (if there are such partitions), dead owners, idle threads, the rest."""

    graph: "Graph"
    owners: tuple[Owner, ...]


def ownership_of(moment: Moment, name: str, memory: Memory) -> Ownership:
    """A group's ownership, made anew only when it may differ."""
    image = moment.image

    group = image.group(name)
    assert group is not None

    def make() -> Ownership:
        graph = ownership_graph(group, image)
        return Ownership(graph, tuple(sorted(_owners(graph), key=lambda owner: RANKS.index(owner.state))))

    return memory.recall("ownership", (name, *group_facts(image, group)), make)


def _owners(graph: "Graph") -> Iterator[Owner]:
    idle, dead = frozenset(idle_threads(graph)), frozenset(dead_threads(graph))
    unowned = unowned_partitions(graph)
    if unowned:
        yield Owner(NOBODY, NOBODY, unowned, _lag(graph, unowned))
    for name in threads(graph):
        owned = owned_by(graph, name)
        yield Owner(name, "dead" if name in dead else "idle" if name in idle else "ok", owned, _lag(graph, owned))


def _lag(graph: "Graph", reads: Sequence[TopicPartition]) -> int | None:
    known = [lag for read in reads if (lag := lag_of(graph, read)) is not None]
    return sum(known) if known else None


def owner_listing(one: Ownership, name_width: int, last: Column, last_cell: Callable[[Owner], Line]) -> Listing:
    """The owners as a list with one more column at its right end."""
    owners = one.owners
    most = max((len(owner.owned) for owner in owners), default=0)
    return Listing(
        count=len(owners),
        fields=lambda: _fields(owners),
        shown=("thread", "state", "owns"),
        row=lambda i: Row(owners[i].name, (*_cells(owners[i], most), last_cell(owners[i])), mark=owners[i].mark),
        place=place_in([owner.name for owner in owners]),
        columns=(
            Column("consumer thread", name_width, "<", "thread"),
            Column("parts", 5, ">", "partitions"),
            Column("lag", 9, ">", "lag"),
            Column("", BAR),
            last,
        ),
        made_from=(one,),
        nothing="the group has no members and owns nothing",
    )


def _fields(owners: Sequence[Owner]) -> dict[str, Field]:
    return {
        "thread": Texts(lambda: [owner.name for owner in owners]),
        "state": Texts(lambda: [owner.state for owner in owners]),
        "owns": Texts(lambda: [" ".join(map(str, owner.owned)) for owner in owners]),
        "partitions": Numbers(np.array([len(owner.owned) for owner in owners], np.int64)),
        "lag": Numbers(np.array([-1 if owner.lag is None else owner.lag for owner in owners], np.int64)),
    }


def _cells(owner: Owner, most: int) -> tuple[Line, ...]:
    count = len(owner.owned)
    bar = "#" * max(round(count * BAR / most), 1) if count else "idle" if owner.state == "idle" else ""
    return (
        line(span(owner.label, owner.style)),
        line(span(f"{count:,}", "" if count else "dim")),
        lag_cell(owner.lag),
        line(span(bar, owner.style or "isr")),
    )
