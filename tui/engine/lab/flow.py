"""Who hands partitions to whom: consumers as they are on the left, as they would be on the right, bands in between.

Bands are as thick as the partitions that move, and change from the giver's hue to the taker's on their way; what stays
is calm. Where cells cannot be filled, a band is made of the giver's number, then of the taker's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, Ints
from tui.engine.glyphs import halves
from tui.engine.jobs import AnalysisAnswer
from tui.engine.lab.pages import Dealt, Tried, dealt, preview_of, tried
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.queries import LabFlow
from tui.engine.questions import PLAYED
from tui.engine.rows import Line, line, span
from tui.engine.text import fit_line

TITLE = "partitions that move"
LEFT, RIGHT = 9, 16
"""Cells of the names on either side."""
LEAST_BAND = 12
THICKEST = 2
"""Half lines of one partition, at most."""

SLACK = 0.25
"""Of a half line that a band has to cover before that is drawn."""


class PartitionFlow(NamedTuple):
    """So many partitions that go from one consumer to another, or from one member of a consumer to another of it."""

    giver: int
    taker: int
    partitions: int


@dataclass(frozen=True)
class Flows:
    """N nodes: consumers, and nobody as the last one. `moves` is what changes hands, `stays` what does not."""

    has: tuple[int, ...]
    gets: tuple[int, ...]
    moves: tuple[PartitionFlow, ...]
    stays: tuple[int, ...]


def flows(before: Ints, after: Ints, moved: Ints, count: int) -> Flows:
    """Of `count` consumers; int64[P] are their places or NOBODY, `moved` places of partitions that change hands."""
    nodes = count + 1
    giver, taker = (np.where(owner == NOBODY, count, owner) for owner in (before, after))
    pairs, counts = np.unique(giver[moved] * nodes + taker[moved], return_counts=True)
    kept = np.delete(giver, moved)
    has, gets, stays = (np.bincount(nodes_of, minlength=nodes).tolist() for nodes_of in (giver, taker, kept))
    moves = (
        PartitionFlow(pair // nodes, pair % nodes, n) for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True)
    )
    return Flows(tuple(has), tuple(gets), tuple(moves), tuple(stays))


def folded(one: Flows, most: int) -> tuple[Flows, tuple[int, ...]]:
    """`most` nodes, and which; the last is all others, if need be: who neither comes nor goes, and moves least."""
    there = [node for node in range(len(one.has)) if one.has[node] or one.gets[node] or node < len(one.has) - 1]
    if len(there) <= most:
        kept, rest = there, []
    else:
        busy = [0] * len(one.has)
        for giver, taker, partitions in one.moves:
            busy[giver] += partitions
            busy[taker] += partitions
        stay = [bool(has and gets) for has, gets in zip(one.has, one.gets, strict=True)]
        kept = sorted(sorted(there, key=lambda node: (stay[node], -busy[node], node))[: most - 1])
        rest = [node for node in there if node not in kept]
    to = {node: place for place, node in enumerate(kept)} | dict.fromkeys(rest, len(kept))
    size = len(kept) + bool(rest)

    def summed(values: Sequence[int]) -> tuple[int, ...]:
        sums = [0] * size
        for node in there:
            sums[to[node]] += values[node]
        return tuple(sums)

    moves: dict[tuple[int, int], int] = {}
    for flow in one.moves:
        pair = (to[flow.giver], to[flow.taker])
        moves[pair] = moves.get(pair, 0) + flow.partitions
    together = tuple(PartitionFlow(*pair, count) for pair, count in sorted(moves.items()))
    return Flows(summed(one.has), summed(one.gets), together, summed(one.stays)), tuple(kept)


class Strand(NamedTuple):
    """A band from a stretch of half lines on the left to one on the right; `giver` -1: it stays."""

    left: tuple[float, float]
    right: tuple[float, float]
    giver: int
    taker: int


class Stand(NamedTuple):
    """Half lines for a partition, and between two nodes."""

    scale: float
    gap: int

    def tops(self, values: Sequence[int]) -> list[int]:
        """Half lines where each node begins, and last where they all end: whole lines each, one at least."""
        heights = [2 * max(-(-round(value * self.scale) // 2), 1) for value in values]
        return [sum(heights[:node]) + self.gap * node for node in range(len(heights) + 1)]


def stand_for(one: Flows, lines: int) -> Stand:
    """The largest in which both sides have room."""
    gap = 2 if 2 * len(one.has) - 1 <= lines else 0

    def fits(scale: float) -> bool:
        return max(Stand(scale, gap).tops(side)[-1] for side in (one.has, one.gets)) - gap <= 2 * lines

    low, high = 0.0, float(THICKEST)
    if fits(high):
        return Stand(high, gap)
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Stand(low, gap)


def strands(one: Flows, lines: int) -> tuple[list[Strand], list[int], list[int]]:
    """Bands, what stays first and the thickest before the thinner; and the lines that nodes begin on, on both sides."""
    stand = stand_for(one, lines)
    tops = [stand.tops(side)[:-1] for side in (one.has, one.gets)]
    left, right = ([float(top) for top in side] for side in tops)
    kept = [PartitionFlow(node, node, count) for node, count in enumerate(one.stays) if count]
    out = sorted([*((flow, True) for flow in one.moves), *((flow, False) for flow in kept)])
    starts: dict[tuple[PartitionFlow, bool], float] = {}
    for flow, is_move in out:
        starts[flow, is_move] = left[flow.giver]
        left[flow.giver] += flow.partitions * stand.scale
    found: list[Strand] = []
    for flow, is_move in sorted(out, key=lambda each: (each[0].taker, each[0].giver)):
        start, thick = starts[flow, is_move], flow.partitions * stand.scale
        ends = ((start, start + thick), (right[flow.taker], right[flow.taker] + thick))
        found.append(Strand(*ends, flow.giver if is_move else -1, flow.taker))
        right[flow.taker] += thick
    found.sort(key=lambda strand: (strand.giver >= 0, strand.left[0] - strand.left[1]))
    begins, ends = ([top // 2 for top in side] for side in tops)
    return found, begins, ends


def painted(one: Iterable[Strand], width: int, lines: int, upto: float) -> Ints:
    """int64[half lines, cells]: 0, or 2 + 2 * the node whose hue it has, 1 more if it moves; `upto` is 0 to 1."""
    canvas = np.zeros((2 * lines, width), np.int64)
    across = np.arange(width) / max(width - 1, 1)
    share = across * across * (3 - 2 * across)
    down = np.arange(2 * lines)[:, np.newaxis]
    is_first_half = 2 * np.arange(width) < width
    for strand in one:
        moves = strand.giver >= 0
        top, bottom = (a + (b - a) * share for a, b in zip(strand.left, strand.right, strict=True))
        first = np.clip((top + SLACK).astype(np.int64), 0, 2 * lines - 1)
        last = np.maximum(np.ceil(bottom - SLACK).astype(np.int64), first + 1)
        covered = (down >= first) & (down < last)
        if moves:
            covered[:, round(width * upto) :] = False
        whose = np.where(is_first_half & moves, strand.giver, strand.taker)
        canvas[covered] = np.broadcast_to((whose + 1) * 2 + moves, canvas.shape)[covered]
    return canvas


def lab_flow(look: AnalysisAnswer, query: LabFlow, _: int, memory: AnswerMemo) -> TextAnswer:
    """Of the group in the key, by the strategy that is tried."""
    one = tried(look, query.key, query.trial, memory)
    found = preview_of(look, query.key)
    if one is None or found is None or one.refused:
        said = one.refused if one else look.note or "choose a group"
        return TextAnswer(TITLE, (line(span(said, "dim")),), said)
    deal = dealt(found, look, query.trial, memory)
    made_from = (deal, one.right, query.width, query.height, query.is_filled, query.is_ascii, query.played)
    lines = memory.recall("lab flow", made_from, lambda: _drawn(one, deal, query))
    return TextAnswer(TITLE, lines, "\n".join("".join(text for text, _ in each).rstrip() for each in lines))


def _drawn(one: Tried, deal: Dealt, query: LabFlow) -> tuple[Line, ...]:
    before, gets = deal.dealings.before, deal.dealings.gets[one.right]
    moved = deal.moves(one.right)
    whole = flows(deal.owners(before), deal.owners(gets), moved, len(deal.consumers))
    height, width = query.height - 1, query.width - LEFT - RIGHT - 2
    head = _said(one, before, moved)
    if height < 2 or width < LEAST_BAND:
        return (head,)
    some, kept = folded(whole, height)
    found, left, right = strands(some, height)
    named = [_named(deal, node) for node in kept] + [OTHERS] * (len(some.has) - len(kept))
    is_halved = query.is_filled and not query.is_ascii
    cells = painted(found, width, height, query.played / PLAYED)
    left_side, right_side = _side(left, height), _side(right, height)
    lines: list[Line] = [head]
    for y in range(height):
        rows = cells[2 * y : 2 * y + 2]
        middle = _halved(rows, named) if is_halved else _lettered(rows, named)
        lines.append(
            (*_label(some, named, left_side[y]), (" ", ""), *middle, (" ", ""), *_then(some, named, right_side[y]))
        )
    return tuple(lines)


class FlowNode(NamedTuple):
    """What a node is called and looks like; `sign` stands for it where cells are not filled."""

    name: str
    style: str
    sign: str
    moves: str
    stays: str


OTHERS = FlowNode("others", "dim", "~", "cell-isr", "cell-none")
NOBODY_THERE = FlowNode("nobody", "error", "-", "cell-dead", "cell-none")


def _named(deal: Dealt, node: int) -> FlowNode:
    if node >= len(deal.consumers):
        return NOBODY_THERE
    short = deal.consumers[node]
    return FlowNode(short.name, short.hue, short.number[-1], short.fill, short.kept)


def _said(one: Tried, before: Ints, moved: Ints) -> Line:
    taken = int((before[moved] == NOBODY).sum())
    moves = len(moved) - taken
    said = f"{moves:,} of {len(before):,} partitions move" if moves else "no partition moves"
    more = f", {taken:,} unowned taken up" if taken else ""
    return line(span(f"{one.right}: ", "strong"), span(said, "changed" if moves else "ok"), span(more, "added"))


def _side(starts: Sequence[int], height: int) -> list[int | None]:
    """For each line the node whose name stands there."""
    rows: list[int | None] = [None] * height
    for node, start in enumerate(starts):
        if start < height:
            rows[start] = node
    return rows


def _label(some: Flows, named: Sequence[FlowNode], node: int | None) -> Line:
    if node is None:
        return ((" " * LEFT, ""),)
    name, style = named[node][:2]
    return tuple(fit_line([(name, style), (f" {some.has[node]:,}", "dim")], LEFT, align=">"))


def _then(some: Flows, named: Sequence[FlowNode], node: int | None) -> Line:
    if node is None:
        return ((" " * RIGHT, ""),)
    name, style = named[node][:2]
    gained = sum(flow.partitions for flow in some.moves if flow.taker == node)
    lost = sum(flow.partitions for flow in some.moves if flow.giver == node)
    told = "".join((f" +{gained:,}" if gained else "", f" -{lost:,}" if lost else ""))
    return tuple(fit_line([(name, style), (f" {some.gets[node]:,}", "dim"), (told, "changed")], RIGHT))


def _halved(rows: Ints, named: Sequence[FlowNode]) -> Line:
    styles = ["", "", *(style for node in named for style in (node.stays, node.moves))]
    upper, lower = ([styles[cell] for cell in row] for row in rows.tolist())
    pairs = zip(halves(upper, lower), upper, lower, strict=True)
    return tuple((" ", "") if not above and not below else piece for piece, above, below in pairs)


def _lettered(rows: Ints, named: Sequence[FlowNode]) -> Line:
    """What moves before what stays, where one cell has both."""
    signs = [(" ", ""), (" ", ""), *(piece for node in named for piece in (("·", "dim"), (node.sign, node.style)))]
    upper, lower = rows
    chosen = np.where((upper % 2 == 1) | (upper > 0) & (lower % 2 == 0), upper, lower)
    return tuple(signs[cell] for cell in chosen.tolist())
