"""Every list and text of a sweep by its name."""

from model.cluster.cluster_image import ClusterImage
from tui.data.analyses.look import Look
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Memory, window
from tui.data.pages.sweep.heat import sweep_heat
from tui.data.pages.sweep.scenarios import sweep_scenarios
from tui.data.pages.sweep.standing import scenario_text, sweep_text
from tui.rows import Window


def sweep_window(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows asked for."""
    if query.list == "sweep-heat":
        return sweep_heat(look, query, now_ms, memory)
    return window(sweep_scenarios(look, query), query, memory, now_ms)


def sweep_texts(look: Look, query: TextQuery, now: ClusterImage) -> TextAnswer:
    """The text asked for; `now` is the cluster as it is."""
    if query.about == "sweep-scenario":
        return scenario_text(look, query)
    return sweep_text(look, query, stale=look.is_stale(now))
