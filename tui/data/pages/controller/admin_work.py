"""What the controller was asked for and has not done: reassignments, preferred elections, topic deletions."""

import numpy as np

from model.cluster.pending_work import PendingWork, pending_work
from model.cluster.words import replicas
from model.sources.feed import Moment
from tui.data.fields import Coded, Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory, place_in, window
from tui.rows import Column, Row, Window, line, span

COLUMNS = (
    Column("work", 8, "<", "work"),
    Column("of", -14, "<", "subject"),
    Column("target", 10, "<", "target"),
    Column("waits for", -28, "<", "waits"),
)
STYLES = {"reassign": "adding", "elect": "changed", "delete": "removed"}
STATES = ("BLOCKED", "under way")


def work_key(work: PendingWork) -> str:
    """`reassign orders-3`: the kind, and what it is about."""
    return f"{work.kind} {work.subject}"


def admin_work_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """Piece by piece. A filter `state:blocked` leaves those that do not go on by themselves."""
    image = moment.image
    made_from = (image.topics, image.brokers, image.admin)
    work = memory.recall("admin work", made_from, lambda: pending_work(image))
    keys = memory.recall("admin work keys", (work,), lambda: [work_key(one) for one in work])
    listing = Listing(
        count=len(work),
        fields=lambda: _fields(work),
        shown=("work", "subject", "target", "waits"),
        row=lambda index: _row(work[index]),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(work,),
        nothing="the controller was asked for nothing that is not done",
    )
    return window(listing, query, memory, now_ms)


def _fields(work: tuple[PendingWork, ...]) -> dict[str, Field]:
    return {
        "work": Texts(lambda: [one.kind for one in work]),
        "subject": Texts(lambda: [one.subject for one in work]),
        "topic": Texts(lambda: [one.topic for one in work]),
        "partition": Numbers(np.array([-1 if one.partition is None else one.partition for one in work], np.int64)),
        "target": Texts(lambda: [_target(one) for one in work]),
        "waits": Texts(lambda: [one.waits_for for one in work]),
        "state": Coded(np.array([not one.blocked for one in work], np.int32), Texts(lambda: STATES)),
    }


def _row(work: PendingWork) -> Row:
    return Row(
        key=work_key(work),
        cells=(
            line(span(work.kind, STYLES[work.kind])),
            line(work.subject),
            line(_target(work)),
            line(span(work.waits_for, "warn" if work.blocked else "")),
        ),
        mark="!" if work.blocked else "",
    )


def _target(work: PendingWork) -> str:
    return replicas(work.target) if work.target else "-"
