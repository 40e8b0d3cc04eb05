"""The lists and texts of the analyses, by the first word of their names: sweep, lab, plan."""

from model.cluster.cluster_image import ClusterImage
from tui.data.analyses.look import Look
from tui.data.messages import Answer, ListQuery, TextQuery
from tui.data.pages.lab.pages import lab_texts, lab_window
from tui.data.pages.listing import Memory
from tui.data.pages.plan.pages import plan_texts, plan_window
from tui.data.pages.sweep.pages import sweep_texts, sweep_window

_WINDOWS = {"sweep": sweep_window, "lab": lab_window, "plan": plan_window}


def asked_page(look: Look, query: ListQuery | TextQuery, now: ClusterImage, now_ms: int, memory: Memory) -> Answer:
    """What is asked of the look; `now` is the cluster as it is."""
    if isinstance(query, ListQuery):
        return _WINDOWS[query.list.partition("-")[0]](look, query, now_ms, memory)
    if query.about.startswith("sweep"):
        return sweep_texts(look, query, now)
    if query.about.startswith("plan"):
        return plan_texts(look, query, now)
    return lab_texts(look, query, now, memory)
