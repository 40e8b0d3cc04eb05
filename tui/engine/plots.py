"""Plots as text with ANSI colours. The only module that knows plotext, and the only one to import it, when first asked.

plotext 6 has one figure for the whole process, so a lock goes with it. Data is reduced before it is drawn.
"""

import re
import threading
from collections.abc import Sequence
from functools import cache, reduce
from itertools import count, pairwise
from typing import Any, NamedTuple

from model.sources.feed import Moment
from tui.engine.cluster.brokers import BrokerTable, brokers_of
from tui.engine.cluster.queries import BrokerPlot
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.palette import PLOT

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BAR_CELLS = 3
"""A bar, and a blank beside it, need this many cells; brokers beyond that share one."""
_FRAME_CELLS = 9
_TICKS = 4
"""Most numbers on the left side."""
_LEAST_WIDTH, _LEAST_HEIGHT = 10, 4
_MOST_CELLS = 400
_MOST_BAR_CELLS = 6


class Sign(NamedTuple):
    """What a bar is drawn with: beside colours, and alone."""

    coloured: str
    mono: str
    style: str
    """The palette's, which a plot's colour stands for."""

    @property
    def ink(self) -> int:
        return PLOT.index(self.style)

    @property
    def inked(self) -> str:
        """The coloured sign as it is in a plot."""
        return f"\x1b[38;5;{self.ink}m{self.coloured}\x1b[0m"


SIGNS = (Sign("░", ".", "hue0"), Sign("▒", "=", "hue1"), Sign("█", "#", "hue2"))
"""Of bars side by side, in their order."""
LEADERS, REPLICAS = Sign("█", "#", "leader"), Sign("▒", ".", "isr")


def uncoloured(ansi: str) -> str:
    return _COLOUR.sub("", ansi)


def plot_text(moment: Moment, query: BrokerPlot, _: int, memory: AnswerMemo) -> TextAnswer:
    """Leaders and replicas by broker."""
    brokers = brokers_of(moment, memory)
    colour = not query.mono
    ansi = memory.recall(
        "broker plot",
        (brokers, query.width, query.height, colour),
        lambda: plot_brokers(brokers, query.width, query.height, colour),
    )
    return TextAnswer("leaders and replicas by broker", ansi=ansi, plain=uncoloured(ansi))


def plot_brokers(brokers: BrokerTable, width: int, height: int, colour: bool) -> str:
    """Bars of replicas with the leaders among them, one for each broker, as lines of `width` cells.

    Where there are more brokers than bars fit, neighbours share a bar as high as the highest of them.
    """
    if not brokers.ids:
        return "no brokers"
    width, height = min(max(width, _LEAST_WIDTH), _MOST_CELLS), min(max(height, _LEAST_HEIGHT), _MOST_CELLS)
    most = max((width - _FRAME_CELLS) // _BAR_CELLS, 1)
    share = -(-len(brokers.ids) // most)
    groups = [brokers.ids[start : start + share] for start in range(0, len(brokers.ids), share)]
    replicas = [max(brokers.counts.replicas[broker] for broker in group) for group in groups]
    leaders = [max(brokers.counts.leaders[broker] for broker in group) for group in groups]
    shared = f", {share} brokers a bar: the most" if share > 1 else ""
    names = [f"{'X' if brokers.table.is_dead(group[0]) else 'b'}{group[0]}" for group in groups]
    drawn = _bars(names, replicas, leaders, (width, height - 1), colour)
    legend = f"{LEADERS.mono} leaders  {REPLICAS.mono} other replicas{shared}"[:width].center(width).rstrip()
    if colour:
        legend = reduce(lambda text, sign: text.replace(sign.mono, sign.inked, 1), (LEADERS, REPLICAS), legend)
    return f"{legend}\n{drawn}"


def grouped_bars(names: Sequence[str], groups: Sequence[Sequence[int]], size: tuple[int, int], *, colour: bool) -> str:
    """For each name the bars of all groups side by side, drawn with SIGNS, as lines of `width` cells.

    Where there are more names than fit, neighbours share bars as high as the highest of them. Nothing has no bar.
    """
    width, height = (min(max(given, least), _MOST_CELLS) for given, least in zip(size, (20, 5), strict=True))
    ticks = _round_ticks(max(1, *(max(values, default=0) for values in groups)))
    labels = [_short(tick) for tick in ticks]
    room = width - max(map(len, labels)) - 2
    share = -(-len(names) * (len(groups) + 1) // room) or 1
    names = [names[start] for start in range(0, len(names), share)]
    cells = max(min((room // max(len(names), 1) - 1) // len(groups), _MOST_BAR_CELLS), 1)
    pitch = cells * len(groups) + 1
    figure, only_one = _figure()
    with only_one:
        _begin(figure, (width, height))
        for place, values in enumerate(groups):
            highest = [max(values[start : start + share]) for start in range(0, len(values), share)]
            columns = [(n * pitch + place * cells + c, v) for n, v in enumerate(highest) if v for c in range(cells)]
            if columns:
                apart = min((after - before for (before, _), (after, _) in pairwise(columns)), default=1)
                marker = _marker(SIGNS[place], colour)
                figure.draw(figure.bar(*map(list, zip(*columns, strict=True)), marker=marker, width=0.5 / apart))
        figure.ruler("x").lim(-1, room - 2)
        figure.ruler("y").lim(0, max(ticks[-1], *(max(values, default=0) for values in groups)))
        figure.ruler("y").ticks(ticks, labels)
        every = -(-4 // pitch)
        middles = [n * pitch + (pitch - 2) / 2 for n in range(len(names))]
        figure.ruler("x").ticks(middles[::every], [name[: pitch * every - 1] for name in names[::every]])
        text = str(figure.build().string()).rstrip("\n")
    return text if colour else uncoloured(text)


def _short(tick: int) -> str:
    """A number shortened to few cells."""
    return next((f"{tick // size}{unit}" for size, unit in _UNITS if tick >= size), str(tick))


_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def _bars(
    names: Sequence[str], replicas: Sequence[int], leaders: Sequence[int], size: tuple[int, int], colour: bool
) -> str:
    places = list(range(1, len(names) + 1))
    figure, only_one = _figure()
    with only_one:
        _begin(figure, size)
        figure.draw(figure.bar(places, list(replicas), marker=_marker(REPLICAS, colour), width=0.7))
        figure.draw(figure.bar(places, list(leaders), marker=_marker(LEADERS, colour), width=0.7))
        ticks = _round_ticks(max(replicas))
        figure.ruler("y").ticks(ticks, [f"{tick:,}" for tick in ticks])
        every = -(-(max(map(len, names)) + 1) * len(names) // max(size[0] - _FRAME_CELLS, 1))
        figure.ruler("x").ticks(places[::every], list(names[::every]))
        text = str(figure.build().string())
    text = text.rstrip("\n")
    return text if colour else uncoloured(text)


@cache
def _figure() -> tuple[Any, threading.Lock]:
    """plotext's only figure, not bound to the terminal's size, and the lock that guards it."""
    import plotext  # noqa: PLC0415

    plotext.terminal.limit(False, False)
    return plotext.figure, threading.Lock()


def _begin(figure: Any, size: tuple[int, int]) -> None:
    """An empty plot of this size, with axes below and on the left."""
    figure.clear()
    figure.plot_size(*size)
    figure.theme("simple")
    figure.axes(False, axis="x", side="upper")
    figure.axes(False, axis="y", side="right")


def _marker(sign: Sign, colour: bool) -> Any:
    import plotext  # noqa: PLC0415

    return plotext.marker(sign.coloured if colour else sign.mono, sign.ink)


def _round_ticks(most: int) -> list[int]:
    """Zero and a few round numbers up to the highest bar."""
    steps = (base * 10**power for power in count() for base in (1, 2, 5))
    step = next(step for step in steps if most // step < _TICKS)
    return list(range(0, most + 1, step))
