"""Plots as text with ANSI colours. The only module that knows plotext, and the only one to import it, when first asked.

plotext 6 has one figure for the whole process, so a lock goes with it. Data is reduced before it is drawn.
"""

import re
import threading
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.brokers import Brokers, brokers_of
from tui.data.pages.listing import Memory

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BAR_CELLS = 3
"""A bar, and a blank beside it, need this many cells; brokers beyond that share one."""
_FRAME_CELLS = 9
_TICKS = 4
"""Most numbers on the left side."""
_LEAST_WIDTH, _LEAST_HEIGHT = 10, 4
_MOST_CELLS = 400


def plot_text(moment: Moment, query: TextQuery, memory: Memory) -> TextAnswer:
    """The plot `query.key`; there is one, brokers. `query.view` mono leaves the colours out."""
    brokers = brokers_of(moment, memory)
    colour = query.view != "mono"
    ansi = memory.recall(
        "broker plot",
        (brokers, query.width, query.height, colour),
        lambda: plot_brokers(brokers, query.width, query.height, colour),
    )
    return TextAnswer("leaders and replicas by broker", ansi=ansi, plain=_COLOUR.sub("", ansi))


def plot_brokers(brokers: Brokers, width: int, height: int, colour: bool) -> str:
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
    names = [f"{'X' if brokers.state(group[0]) == 'DOWN' else 'b'}{group[0]}" for group in groups]
    drawn = _bars(names, replicas, leaders, (width, height - 1), colour)
    legend = f"{'█' if colour else '#'} leaders  {'░' if colour else '.'} other replicas{shared}"
    return f"{legend[:width].center(width).rstrip()}\n{drawn}"


def _bars(
    names: Sequence[str], replicas: Sequence[int], leaders: Sequence[int], size: tuple[int, int], colour: bool
) -> str:
    places = list(range(1, len(names) + 1))
    figure, only_one = _figure()
    with only_one:
        figure.clear()
        figure.plot_size(*size)
        figure.theme("simple" if colour else "colorless")
        figure.draw(figure.bar(places, list(replicas), marker="░" if colour else ".", width=0.7))
        figure.draw(figure.bar(places, list(leaders), marker="full" if colour else "#", width=0.7))
        ticks = _round_ticks(max(replicas))
        figure.ruler("y").ticks(ticks, [f"{tick:,}" for tick in ticks])
        every = -(-(max(map(len, names)) + 1) * len(names) // max(size[0] - _FRAME_CELLS, 1))
        figure.ruler("x").ticks(places[::every], list(names[::every]))
        text = str(figure.build().string())
    text = text.rstrip("\n")
    return text if colour else _COLOUR.sub("", text)


@cache
def _figure() -> tuple[Any, threading.Lock]:
    """plotext's one figure, which need not fit the terminal, and the lock that keeps its users apart."""
    import plotext  # noqa: PLC0415

    plotext.terminal.limit(False, False)
    return plotext.figure, threading.Lock()


def _round_ticks(most: int) -> list[int]:
    """Zero and a few round numbers up to the highest bar."""
    steps = (base * 10**power for power in count() for base in (1, 2, 5))
    step = next(step for step in steps if most // step < _TICKS)
    return list(range(0, most + 1, step))
