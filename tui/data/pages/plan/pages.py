"""Every list and text of a plan by its name."""

from model.cluster.cluster_image import ClusterImage
from tui.data.analyses.look import Look
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Memory, window
from tui.data.pages.plan.batches import plan_batches
from tui.data.pages.plan.brokers import plan_brokers
from tui.data.pages.plan.changes import plan_changes
from tui.data.pages.plan.review import plan_review
from tui.data.pages.plan.standing import plan_text
from tui.rows import Window

LISTS = {"plan-brokers": plan_brokers, "plan-changes": plan_changes, "plan-batches": plan_batches}


def plan_window(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows asked for."""
    return window(LISTS[query.list](look, query), query, memory, now_ms)


def plan_texts(look: Look, query: TextQuery, now: ClusterImage) -> TextAnswer:
    """The text asked for; `now` is the cluster as it is."""
    if query.about == "plan-review":
        return plan_review(look, query, stale=look.is_stale(now))
    return plan_text(look, query, stale=look.is_stale(now))
