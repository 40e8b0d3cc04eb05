"""How a sandbox stands: what is broken and can be undone, and how its load fares."""

from model.sandbox.control.state import LoadView, SandboxState
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import age_text
from tui.data.pages.sheets import Sheet


def sandbox_standing(state: SandboxState, query: TextQuery, now_ms: int) -> TextAnswer:
    """The box beside the processes."""
    sheet = Sheet("Sandbox", query.width)
    if state.load is None:
        sheet.fact("load", "none: kdrill sandbox --load brings a producer and consumers", "dim")
    else:
        _tell_load(sheet, state.load)
    if not state.faults:
        return sheet.gap().say("nothing is broken: K kills the broker under the cursor", "dim").answer()
    sheet.gap().say(f"{len(state.faults)} to be undone, u the newest, 0 all:", "heading")
    for fault in reversed(state.faults):
        undone = "" if fault.repair is not None else "; cannot be undone"
        sheet.fact(f"{age_text(fault.at_ms, now_ms)} ago", fault.text + undone, "warn")
    return sheet.answer()


def _tell_load(sheet: Sheet, load: LoadView) -> None:
    speed = f"{load.acknowledged_per_s:,.0f} of {load.rate:,.0f} a second"
    sheet.fact("produced", f"{load.acknowledged:,} acknowledged, {speed}")
    sheet.fact("waiting", f"{load.waiting:,} without an answer", "warn" if load.waiting > load.rate else "")
    sheet.fact("consumed", f"{load.consumed:,}, {load.consumed_per_s:,.0f}/s")
    sheet.fact("lost", f"{load.lost:,} acknowledged records known to be lost", "error" if load.lost else "ok")
    if load.error:
        sheet.fact("error", load.error, "warn")
