"""Rebalance previews for people to read, 80 columns wide. Prints nothing."""

from collections.abc import Iterable, Iterator, Sequence

from model.cluster.words import counted
from model.consumers.assignors.explanations import Explanation
from spark_tasks.previews.names import GroupNames
from spark_tasks.previews.result import Figures, GroupPreview, StrategyPreview
from tui.text import cells, cut, plain

WIDTH = 80
MOST_BLOCKS = 12
"""More groups than this are summed up by strategy."""
MOST_ROWS = 20
NAME_CELLS = 22
HEAD = f"  {'':<{NAME_CELLS}}{'partitions':>12}{'idle':>7}{'lag':>15}{'moves':>11}{'at least':>10}"


def group_lines(preview: GroupPreview, names: GroupNames, join: int) -> Iterator[str]:
    """One group: how things are, and what each strategy would make of them."""
    yield from wrapped(_about(names))
    for note in names.notes:
        yield from wrapped(note, "  note: ", "        ")
    yield HEAD
    yield _row("now", preview.now, moves=False)
    for each in preview.strategies:
        yield _row(plain(each.strategy), each.rebalanced, used=each.strategy == names.uses)
    yield from _section(f"if {counted(join, 'consumer')} joined:", _joined(preview.strategies))
    yield from _section("if one consumer died, at worst:", _died(preview.strategies, names.consumers))
    for each in preview.strategies:
        if each.rebalanced and each.rebalanced.waits:
            waiting = counted(each.rebalanced.waits, "partition")
            yield from wrapped(f"{each.strategy} takes two rebalances: {waiting} wait for the second")


def _about(names: GroupNames) -> str:
    kind = f"{names.kind} group" + (f", {plain(names.state)}" if names.state else "")
    uses = "" if names.uses is None else f", uses {names.uses} now"
    members = counted(len(names.consumers), "consumer")
    if len(names.members) != len(names.consumers):
        members += f" with {counted(len(names.members), 'thread')}"
    lag = "not known" if names.lag is None else f"{names.lag:,}"
    topics, partitions = counted(len(names.topics), "topic"), counted(names.partitions, "partition")
    return f"{plain(names.key)}: {kind}{uses}; {members}, {topics}, {partitions}, lag {lag}"


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield title
        yield from rows


def _joined(strategies: Sequence[StrategyPreview]) -> Iterator[str]:
    return (_row(plain(each.strategy), each.joined) for each in strategies if each.joined is not None)


def _died(strategies: Sequence[StrategyPreview], consumers: Sequence[str]) -> Iterator[str]:
    for each in strategies:
        worst = each.worst_leave
        if worst is not None:
            yield _row(plain(each.strategy), worst.figures)
            had = f", which has {counted(worst.handed_on, 'partition')}"
            yield f"    {cut(plain(consumers[worst.consumer]), WIDTH - 4 - cells(had))}{had}"


def _row(name: str, figures: Figures | None, *, moves: bool = True, used: bool = False) -> str:
    start = f"{'*' if used else ' '} {name:<{NAME_CELLS}}"
    if figures is None:
        return f"{start}{'refuses this group':>12}"
    shared = _span(figures.partitions_min, figures.partitions_max)
    lag = "" if figures.lag_min is None or figures.lag_max is None else _span(figures.lag_min, figures.lag_max)
    moved = f"{figures.moves:>11,}{figures.moves_lower_bound:>10,}" if moves else ""
    return f"{start}{shared:>12}{figures.idle:>7,}{lag:>15}{moved}".rstrip()


def _span(least: int, most: int) -> str:
    return short(least) if least == most else f"{short(least)}-{short(most)}"


def short(number: int) -> str:
    """At most six characters: `12,345`, `1.2M`."""
    if number < 100_000:
        return f"{number:,}"
    for unit, size in (("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        if number < 1000 * size:
            return f"{number / size:.0f}{unit}" if number >= 100 * size else f"{number / size:.1f}{unit}"
    return f"{number:.0e}"


def summary_lines(previews: Sequence[GroupPreview]) -> Iterator[str]:
    """Many groups, summed up by strategy."""
    yield f"  {'':<{NAME_CELLS}}{'groups':>8}{'refused':>9}{'with idle':>11}{'spread':>8}{'moves':>10}{'at least':>10}"
    yield _sum("now", [preview.now for preview in previews], len(previews))
    names = dict.fromkeys(each.strategy for preview in previews for each in preview.strategies)
    for name in names:
        of = [each.rebalanced for preview in previews for each in preview.strategies if each.strategy == name]
        yield _sum(name, [figures for figures in of if figures is not None], len(of))
    yield "spread: most partitions of a member minus fewest, in the least even group"


def _sum(name: str, figures: Sequence[Figures], groups: int) -> str:
    idle = sum(each.idle > 0 for each in figures)
    spread = max((each.spread for each in figures), default=0)
    moves, least = sum(each.moves for each in figures), sum(each.moves_lower_bound for each in figures)
    moved = f"{short(moves):>10}{short(least):>10}" if name != "now" else ""
    return f"  {name:<{NAME_CELLS}}{groups:>8,}{groups - len(figures):>9,}{idle:>11,}{short(spread):>8}{moved}"


def explanation_lines(strategy: str, balance: str, rows: Sequence[Explanation], *, everything: bool) -> Iterator[str]:
    """Why partitions go where they go under a strategy: first of all those that move."""
    yield from wrapped(f"{strategy}: {balance}")
    changed = sorted(rows, key=lambda row: row.before == row.member)
    shown = changed if everything else changed[:MOST_ROWS]
    for row in shown:
        stays = row.before == row.member
        goes = f"stays with {row.member}" if stays else f"{row.before or 'nobody'} → {row.member or 'nobody'}"
        yield from wrapped(f"{row.topic}-{row.partition}: {goes}", "  ", "    ")
        yield from wrapped(row.why, "    ", "    ")
    if len(rows) > len(shown):
        yield f"  … {len(rows) - len(shown):,} more: --all shows them"


def wrapped(text: str, first: str = "", indent: str = "  ") -> Iterator[str]:
    """Plain text in lines of at most WIDTH cells, where no word is longer; the first begins with `first`."""
    line = ""
    for word in plain(text).split(" "):
        if line and cells(first) + cells(line) + 1 + cells(word) > WIDTH:
            yield first + line
            first, line = indent, word
        else:
            line = f"{line} {word}" if line else word
    yield first + line
