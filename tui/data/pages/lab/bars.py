"""Bars by consumer: partitions and lag now, by the strategy in use, and by the one that is tried, side by side."""

from itertools import zip_longest

from model.consumers.assignors.group import Ints
from tui.data.analyses.look import Look
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.lab.bench import Tried, tried
from tui.data.pages.lab.shares import Shares, apart, shares_of
from tui.data.pages.listing import Memory
from tui.data.plots import SIGNS, grouped_bars, uncoloured
from tui.text import cells, plain

TITLE = "partitions and lag by consumer"
LEAST_BESIDE = 40
"""Cells of width from which two plots stand side by side."""


def lab_bars(look: Look, query: TextQuery, memory: Memory) -> TextAnswer:
    """Of the group in `key`, as a plot; `view` mono leaves the colours out."""
    one = tried(look, query.key, query.bench, memory)
    shares = shares_of(one) if one is not None else None
    if one is None or shares is None:
        said = plain(one.refused if one else look.note or "choose a group")
        return TextAnswer(TITLE, ansi=said, plain=said)
    made_from = (one, query.width, query.height, query.view, query.bench.leaves)
    ansi = memory.recall("lab bars", made_from, lambda: _drawn(one, shares, query))
    return TextAnswer(TITLE, ansi=ansi, plain=uncoloured(ansi))


def _drawn(one: Tried, shares: Shares, query: TextQuery) -> str:
    colour, width, height = query.view != "mono", query.width, max(query.height - 2, 5)
    kinds = ["has", f"{one.left} gives", *([] if one.left == one.right else [f"{one.right} gives"])]
    signs = [sign.coloured if colour else sign.mono for sign in SIGNS]
    legend = "  ".join(f"{sign} {kind}" for sign, kind in zip(signs, kinds, strict=False))
    names = _names(shares.consumers, query.bench.leaves)
    drawn = [shares.has, shares.left, shares.right][: len(kinds)]
    lags = any(share.lag.any() for share in drawn)
    beside = lags and width >= LEAST_BESIDE
    half = width // 2 if beside else width
    why = "lag needs more room" if lags else "nobody lags" if shares.is_lag_known else "no lag is known"
    title = "partitions" if beside else f"partitions; {why}"
    plots = [_plot(title, names, [share.partitions for share in drawn], (half, height), colour=colour)]
    if beside:
        title = f"lag, {shares.unknown:,} not known" if shares.unknown else "lag, records"
        plots.append(_plot(title, names, [share.lag for share in drawn], (half, height), colour=colour))
    lines = ("".join(_filled(part, half) for part in parts).rstrip() for parts in zip_longest(*plots, fillvalue=""))
    return "\n".join((legend[:width].center(width).rstrip(), *lines))


def _plot(title: str, names: list[str], groups: list[Ints], size: tuple[int, int], *, colour: bool) -> list[str]:
    drawn = grouped_bars(names, [values.tolist() for values in groups], size, colour=colour)
    return [title[: size[0]].center(size[0]), *drawn.split("\n")]


def _filled(text: str, width: int) -> str:
    return text + " " * (width - cells(uncoloured(text)))


def _names(consumers: tuple[str, ...], dies: str) -> list[str]:
    """What tells the consumers apart; X before who dies."""
    each = zip(consumers, apart(consumers), strict=True)
    return [plain(f"X{shown}" if name == dies else shown) for name, shown in each]
