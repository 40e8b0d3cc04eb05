"""What changed between any two moments: counts on top, then each change. Shows what `changes_between` says."""

from collections import Counter
from typing import NamedTuple

from model.cluster.changes import Change, changes_between
from model.cluster.findings.finding import SEVERITIES, Finding
from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import stamp_text
from tui.data.pages.header import partitions_found
from tui.data.pages.sheets import Sheet
from tui.data.pages.signs import STYLES
from tui.rows import span

COUNTED = 20
"""Cells of a counter's name."""


class Side(NamedTuple):
    """One of the two moments: when it was (ms), and what it is to the operator."""

    moment: Moment
    at_ms: int
    name: str


def comparison_text(earlier: Side, later: Side, query: TextQuery) -> TextAnswer:
    """From the earlier one to the later one."""
    then, now = earlier.moment, later.moment
    sheet = Sheet("compared", query.width)
    for name, side in (("from", earlier), ("to", later)):
        sheet.fact(name, f"{stamp_text(side.at_ms)}, {side.name}", "strong")
    sheet.gap()
    changes = changes_between(then.image, now.image)
    if then.image is now.image or not changes:
        return sheet.say("nothing is different").answer()
    sheet.draw(span(f"{'':{COUNTED}}{'from':>10}{'to':>10}", "dim"))
    for name, old, new in _counters(then, now):
        style = "" if old == new else "changed"
        sheet.draw(span(f"{name:{COUNTED}}", "dim"), span(f"{old:>10}{new:>10}", style))
    sheet.gap()
    for kind, count in Counter(change.kind for change in changes).most_common():
        sheet.draw(span(f"{kind:{COUNTED}}", "dim"), f"{count:>10,}")
    sheet.gap()
    for change in sorted(changes, key=lambda one: SEVERITIES.index(one.severity)):
        _tell(sheet, change)
    for title, found in (("new findings", _apart(now, then)), ("findings gone", _apart(then, now))):
        if found:
            sheet.gap().say(f"{title}: {len(found):,}", "heading")
        for one in found:
            sheet.fact(one.severity, f"{one.subject}: {one.what}", STYLES[one.severity])
    return sheet.answer()


def _tell(sheet: Sheet, change: Change) -> None:
    style = STYLES[change.severity] if change.severity != "info" else ""
    sheet.fact(change.severity, f"{change.subject}: {change.text}", style)


def _counters(then: Moment, now: Moment) -> list[tuple[str, str, str]]:
    def controller(moment: Moment) -> str:
        ruler = moment.image.controller
        return "none" if ruler.broker is None else f"b{ruler.broker} e{ruler.epoch}"

    numbers = (
        ("brokers", lambda moment: len(moment.image.brokers)),
        ("topics", lambda moment: len(moment.image.topics)),
        ("partitions", lambda moment: moment.image.partition_count),
        ("offline", lambda moment: partitions_found(moment, "offline")),
        ("under-replicated", lambda moment: partitions_found(moment, "under-replicated")),
        ("errors", lambda moment: moment.findings.census.of("error")),
    )
    counted = [(name, f"{count(then):,}", f"{count(now):,}") for name, count in numbers]
    return [("controller", controller(then), controller(now)), *counted]


def _apart(some: Moment, others: Moment) -> list[Finding]:
    """Findings of one moment that the other has none like."""
    known = {(one.kind, one.subject) for one in others.findings.found}
    return [one for one in some.findings.found if (one.kind, one.subject) not in known]
