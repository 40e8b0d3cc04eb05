"""Where a finding's or an event's subject leads: a table of beginnings. Knows subjects as text, not as things."""

from collections.abc import Callable

from tui.panes.live_app import LiveApp
from tui.panes.live_list import LiveRows

SUBJECT = "subject"
"""Title of the column that says what a finding or an event is about."""

LEADS: dict[str, Callable[[LiveApp, str], None]] = {
    "broker ": lambda app, broker: app.show_partitions(f"broker:{broker}"),
    "group ": lambda app, group: app.show_group(group),
    "/": lambda app, path: app.show_znode(f"/{path}"),
    "cluster": lambda app, _: app.show_screen("partitions"),
    "controller": lambda app, _: app.show_znode("/controller"),
    "": lambda app, name: app.show_partitions(name),
}
"""How a subject begins → where it leads. The last is a topic or a partition, whose name is a filter."""


def subject_of(rows: LiveRows) -> str | None:
    """What the row under the cursor is about; None where the list does not say."""
    titles = [column.title for column in rows.answer.columns]
    if rows.row is None or SUBJECT not in titles:
        return None
    return "".join(text for text, _ in rows.row.cells[titles.index(SUBJECT)])


def follow(app: LiveApp, subject: str) -> None:
    """Goes to what the subject is about."""
    beginning = next(beginning for beginning in LEADS if subject.startswith(beginning))
    LEADS[beginning](app, subject.removeprefix(beginning))
