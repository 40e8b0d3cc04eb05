"""The changes of a plan, in the order in which they are to be run."""

from model.cluster.words import replicas
from model.planning.plan import Change
from tui.data.analyses.look import Look
from tui.data.analyses.planned import plan_in
from tui.data.fields import Field, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, place_in
from tui.rows import Column, Row, line, span

COLUMNS = (
    Column("partition", -14, "<", "partition"),
    Column("before", 14),
    Column("after", 14),
    Column("what", 18, "<", "what"),
)


def plan_changes(look: Look, _query: ListQuery) -> Listing:
    """Partition, replicas before and after (the preferred leader first), and what that means."""
    plan = plan_in(look)
    changes = plan.changes if plan else ()
    names = [str(change.name) for change in changes]
    words = [_what(change) for change in changes]

    def fields() -> dict[str, Field]:
        return {"partition": Texts(lambda: names), "what": Texts(lambda: words)}

    return Listing(
        count=len(changes),
        fields=fields,
        shown=("partition", "what"),
        row=lambda index: _row(names[index], changes[index], words[index]),
        place=place_in(names),
        columns=COLUMNS,
        made_from=(look.result,),
        nothing=look.note if plan is None else "nothing has to change",
    )


def _row(name: str, change: Change, what: str) -> Row:
    cells = (
        line(name),
        line(span(replicas(change.before), "dim")),
        line(span(replicas(change.after), "changed" if change.added else "")),
        line(span(what, "info" if change.added else "dim")),
    )
    return Row(name, cells, mark="+" if change.added else "~")


def _what(change: Change) -> str:
    if change.added:
        return "copy to " + " ".join(f"b{broker}" for broker in change.added)
    return f"leader to b{change.after[0]}" if change.after[0] != change.before[0] else "order only"
