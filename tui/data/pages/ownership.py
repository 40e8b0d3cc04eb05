"""Who owns what in one group: as a table, or as a graph with a focus.

The graph has the group's threads on the left and, beside them, what the one under the cursor owns: a focus with its
context stays readable where lines between all of them would be a hairball. ASCII only, so no terminal garbles it.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from model.consumers.ownership import owner_counts, partitions
from model.consumers.partition_ranges import partition_ranges
from model.sources.feed import Moment
from tui.data.messages import ListQuery
from tui.data.pages.listing import Memory, window
from tui.data.pages.owners import NOBODY, Owner, Ownership, owner_listing, ownership_of
from tui.rows import Column, Line, Row, Window, line, span

_WINDOW_PAGES = 3
"""Lists ask for this many pages at once; what the focus owns should fit into one of them."""
_LEAST_BRANCHES = 6
_BESIDE = "\t"
"""Between the focus's key and a number: rows that only carry a branch."""


def ownership_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows of the group `query.scope`; `query.view` is graph or table."""
    if moment.image.group(query.scope) is None:
        nothing = f"there is no group {query.scope} (any more)" if query.scope else "no group is chosen"
        return Window(0, 0, (), note=nothing)
    one = ownership_of(moment, query.scope, memory)
    if query.view == "graph":
        return _graph(one, query, now_ms, memory)
    listing = owner_listing(one, -18, Column("owns", -20), lambda owner: line(span(_owns(owner), owner.style)))
    return window(listing, query, memory, now_ms)


def _owns(owner: Owner) -> str:
    """`orders 0-3,7  payments 1`."""
    text = "  ".join(f"{topic} {partition_ranges(numbers)}" for topic, numbers in owner.by_topic.items())
    return f"owner is gone: {text}" if owner.state == "dead" else text or "idle: owns nothing"


def _graph(one: Ownership, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    key = query.key.partition(_BESIDE)[0]
    width = min(max((len(owner.label) for owner in one.owners), default=0), max(query.width // 3, 15))
    title = Column("   owns: topic, share, others, partitions", -20)
    listing = owner_listing(one, max(width, 15), title, lambda _: ())
    found = window(listing, msgspec.structs.replace(query, key=key), memory, now_ms)
    if not found.rows:
        return found
    name = key if found.cursor >= 0 else found.rows[0].key
    focus = next(owner for owner in one.owners if owner.name == name)
    most = max(query.count // _WINDOW_PAGES, _LEAST_BRANCHES)
    return _beside(found, focus, _branches(one, focus, most), query.key)


def _beside(found: Window, focus: Owner, branches: Sequence[Line], key: str) -> Window:
    """Draws the branches around the focus, and adds rows where there are fewer rows than branches."""
    focus_at = max(found.cursor, found.first)
    top = max(min(focus_at - len(branches) // 2, found.total - len(branches)), 0)
    added = [
        Row(f"{focus.name}{_BESIDE}{number}", ((),) * len(found.columns))
        for number in range(max(len(branches) - found.total, 0))
        if found.first == 0
    ]
    rows = [
        msgspec.structs.replace(row, cells=(*row.cells[:-1], _joint(index == focus_at, branches, index - top)))
        for index, row in enumerate((*found.rows, *added), found.first)
    ]
    there = [row.key for row in added]
    return msgspec.structs.replace(
        found,
        rows=tuple(rows),
        total=found.total + len(added),
        unfiltered_total=found.unfiltered_total + len(added),
        cursor=found.total + there.index(key) if key in there else found.cursor,
    )


def _joint(is_focus: bool, branches: Sequence[Line], place: int) -> Line:
    """The focus is tied to the stem its branches hang on."""
    tie = span("---" if is_focus else "   ", "key")
    return (tie, *branches[place]) if 0 <= place < len(branches) else ()


def _branches(one: Ownership, focus: Owner, most: int) -> list[Line]:
    """A line for each topic of the focus, most partitions first: `+- orders  6/51  +9  0-3,7`."""
    topics = sorted(focus.by_topic.items(), key=lambda item: (-len(item[1]), item[0]))
    if not topics:
        return [line(span("- nothing", "warn"))]
    totals = Counter(read.topic for read in partitions(one.graph))
    owners = owner_counts(one.graph)
    width = min(max(len(topic) for topic, _ in topics), 32)
    lines: list[Line] = []
    for topic, numbers in topics if len(topics) <= most else topics[: most - 1]:
        share = f"{len(numbers):,}/{totals[topic]:,}"
        others = owners.get(topic, 0) - (focus.state != NOBODY)
        shared = f"+{others:,}" if others > 0 else ""
        lines.append(
            line(
                span("+- ", "key"),
                f"{topic:{width}}  ",
                span(f"{share:>9}  ", "number"),
                span(f"{shared:<5} ", "dim"),
                partition_ranges(numbers),
            )
        )
    if len(lines) < len(topics):
        lines.append(line(span(f"+- {len(topics) - len(lines):,} topics more", "dim")))
    return [*lines[:-1], (span("`- ", "key"), *lines[-1][1:])] if len(lines) == len(topics) else lines
