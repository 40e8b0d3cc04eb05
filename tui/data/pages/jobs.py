"""What is under way and takes a while, and how each of it is stopped. Stops nothing."""

from collections.abc import Sequence

from tui.data.jobs import Jobs
from tui.data.messages import STOPPABLE, TextAnswer, TextQuery
from tui.data.pages.sheets import Sheet

WHERE = "What a screen asked for (a drill, a sweep, previews, a plan) is stopped there: esc. All else by esc or :stop."


def jobs_text(jobs: Jobs, asked: Sequence[str], query: TextQuery) -> TextAnswer:
    """`asked`: what the screens asked for, a line each."""
    sheet = Sheet("jobs", query.width)
    for each in (*map(str, jobs.under_way), *asked):
        sheet.say(each.removesuffix(f"; {STOPPABLE}"))
    if not (jobs.under_way or asked):
        sheet.say("nothing is under way", "dim")
    return sheet.gap().say(WHERE, "dim").answer()
