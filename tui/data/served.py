"""What is refused where the dashboard is shown in a browser: whoever reaches the port is not known. Pure."""

from tui.data.alerts import ACKNOWLEDGE
from tui.data.jobs import STOP
from tui.data.logs.desk import is_of_logs
from tui.data.messages import Answer, ListQuery, Query, TextAnswer, Wish
from tui.data.opening import ONLY_SHOWS
from tui.data.pages.sheets import Sheet
from tui.data.past.marks import KIND as MARK
from tui.rows import Window

NO_WISH = f"{ONLY_SHOWS}: nothing is written, broken or mended"
NO_LOGS = f"{ONLY_SHOWS}: no log folder is read"
NO_PROCESSES = f"{ONLY_SHOWS}: a sandbox is broken in a terminal"

HARMLESS = frozenset({ACKNOWLEDGE, MARK, STOP})
"""Wishes that only the session itself knows of."""


def refused(query: Query) -> Answer | None:
    """The answer to what is not done for a browser; None where it is."""
    if isinstance(query, Wish):
        return None if query.verb in HARMLESS else TextAnswer(NO_WISH)
    of_list = isinstance(query, ListQuery)
    reason = NO_LOGS if is_of_logs(query) else ""
    if (query.list if of_list else query.about).startswith("sandbox"):
        reason = NO_PROCESSES
    if not reason:
        return None
    return Window(0, 0, (), note=reason) if of_list else Sheet("", query.width).say(reason).answer()
