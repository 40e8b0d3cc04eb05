"""Every list and text of the lab by its name, what the lab says as a whole, its bars and its graph.

Bars have partitions and lag now, by the strategy in use, and by the one that is tried, side by side. The ownership
graph has what would move: the group as it is, and as the strategy tried would have it.
"""

from itertools import zip_longest

import numpy as np

from model.analyses.previews.lab import Comparison
from model.cluster.texts import listed
from model.consumers.assignors.group import Ints
from model.consumers.ownership import not_previewed
from tui.engine.analysis import AnalysisAnswer
from tui.engine.consumers.owners import NO_OWNER, Sharing, shared
from tui.engine.consumers.ownership import graph_window
from tui.engine.lab.queries import LabBars, LabGraphList, LabText
from tui.engine.lab.trial import Preview, Shares, Tried, made_up_keys, named_in, preview_of, shares_of, tried
from tui.engine.listing import Memory
from tui.engine.messages import TextAnswer
from tui.engine.plots import SIGNS, grouped_bars, uncoloured
from tui.engine.rows import Window, span
from tui.engine.sheets import Sheet, clock_text
from tui.engine.text import cells, plain

TITLE = "partitions and lag by consumer"
LEAST_BESIDE = 40
"""Cells of width from which two plots stand side by side."""


def lab_bars(look: AnalysisAnswer, query: LabBars, _: int, memory: Memory) -> TextAnswer:
    """Of the group in `key`, as a plot."""
    one = tried(look, query.key, query.trial, memory)
    shares = shares_of(one) if one is not None else None
    if one is None or shares is None:
        said = plain(one.refused if one else look.note or "choose a group")
        return TextAnswer(TITLE, ansi=said, plain=said)
    made_from = (one, query.width, query.height, query.mono, query.trial.leaves)
    ansi = memory.recall("lab bars", made_from, lambda: _drawn(one, shares, query))
    return TextAnswer(TITLE, ansi=ansi, plain=uncoloured(ansi))


def _drawn(one: Tried, shares: Shares, query: LabBars) -> str:
    colour, width, height = not query.mono, query.width, max(query.height - 2, 5)
    kinds = ["has", f"{one.left} gives", *([] if one.left == one.right else [f"{one.right} gives"])]
    signs = [sign.coloured if colour else sign.mono for sign in SIGNS]
    legend = "  ".join(f"{sign} {kind}" for sign, kind in zip(signs, kinds, strict=False))
    named = named_in(one.names, shares.consumers).consumers
    names = [f"X{named[name].name}" if name == query.trial.leaves else named[name].name for name in shares.consumers]
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


def lab_graph(look: AnalysisAnswer, query: LabGraphList, now_ms: int, memory: Memory) -> Window:
    """Of the group in `scope`. Its title says that this is simulated, whatever else is on the screen."""
    one = tried(look, query.scope, query.trial, memory)
    if one is None or one.comparison is None:
        return Window(0, 0, (), note=one.refused if one else look.note or "choose a group")
    compared = one.comparison
    sharing = memory.recall("lab graph", (one,), lambda: _sharing(one, compared, query.trial.leaves))
    moves, taken_up = len(compared.moves_right), int((sharing.before[sharing.moved] == NO_OWNER).sum())
    title = f"SIMULATED {one.right}: {moves:,} would move" + (f", {taken_up:,} be taken up" if taken_up else "")
    return graph_window(sharing, query, now_ms, memory, title=title)


def _sharing(one: Tried, compared: Comparison, leaves: str) -> Sharing:
    there = len(one.names.members)
    dead = np.zeros(len(compared.members), bool)
    if one.consumer_of is not None and leaves in one.names.consumers:
        dead[:there] = one.consumer_of == one.names.consumers.index(leaves)
    gets = np.isin(np.arange(len(compared.members)), compared.right)
    states = [
        "dead" if dead[member] else "joins" if member >= there else "ok" if gets[member] else "idle"
        for member in range(len(compared.members))
    ]
    arrays = (compared.topic, compared.partition, compared.right, compared.before, compared.lag)
    topic, number, owner, before, lag = (np.asarray(each, np.int64) for each in arrays)
    return shared(compared.topics, topic, number, owner, before, lag, compared.members, states, named_in(one.names))


def _leaves(found: Preview | None, name: str) -> str:
    known = named_in(found.names).consumers if found else {}
    return f"{known[name].name}, {name}" if name in known else name or "nobody"


MADE_UP = "it is not there: its consumers are taken to have what range deals them, and no lag is known"


def lab_text(look: AnalysisAnswer, query: LabText, *_: object) -> TextAnswer:
    """What is tried on a group."""
    sheet = Sheet("Lab", query.width)
    if look.stale:
        sheet.draw(span("the cluster has changed since: ", "warn"), span("r", "key"), span(" asks anew", "warn"))
    if look.note:
        sheet.say(look.note)
    trial, found = query.trial, preview_of(look, query.key)
    if found is not None:
        sheet.fact("group", f"{found.names.key}, {found.names.kind} {found.names.state}".rstrip())
        if found.names.key in made_up_keys(look):
            sheet.fact("made up", MADE_UP, "added")
            sheet.fact(
                "reads", listed(found.names.topics, 8) or "no topic: none matches", "" if found.names.topics else "warn"
            )
        for note in found.names.notes:
            sheet.fact("note", note, "warn")
    if others := not_previewed(look.image):
        sheet.say(others, "dim")
    sheet.fact("leaves", _leaves(found, trial.leaves), "dead" if trial.leaves else "")
    sheet.fact("joins", f"{trial.joins or 'nobody'}", "added" if trial.joins else "")
    sheet.fact("at least", "the fewest moves for the same balance", "dim")
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.2f} s")
    if look.spark:
        sheet.fact("Spark", look.spark.removeprefix("Spark "))
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC").answer()
