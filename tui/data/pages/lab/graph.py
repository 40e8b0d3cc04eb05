"""What would move, drawn on the group's ownership graph: as it is, and as the strategy tried would have it."""

import numpy as np

from spark_tasks.previews.lab import Comparison
from tui.data.analyses.look import Look
from tui.data.messages import ListQuery
from tui.data.pages.lab.bench import Tried, tried
from tui.data.pages.listing import Memory
from tui.data.pages.ownership.drawing import graph_window
from tui.data.pages.ownership.sharing import NO_OWNER, Sharing, shared
from tui.rows import Window


def lab_graph(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """Of the group in `scope`. Its title says that this is simulated, whatever else is on the screen."""
    one = tried(look, query.scope, query.bench, memory)
    if one is None or one.comparison is None:
        return Window(0, 0, (), note=one.refused if one else look.note or "choose a group")
    compared = one.comparison
    sharing = memory.recall("lab graph", (one,), lambda: _sharing(one, compared, query.bench.leaves))
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
    return shared(compared.topics, topic, number, owner, before, lag, compared.members, states)
