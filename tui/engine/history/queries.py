"""What can be asked about moments past and recorded history, and wished of the moment that is looked at.

Values; both processes load this.
"""

from collections.abc import Mapping

from tui.engine.messages import ActionRequest, ListQuery, PictureQuery, TextQuery, TimedText
from tui.engine.questions import NO_HISTORY, HistoryQuestion


class PastEventList(ListQuery, frozen=True):
    """All events, whatever moment is looked at."""

    name = "past-events"


class PastEventText(TimedText, frozen=True):
    name = "past-event"


class EventStrip(PictureQuery, frozen=True, kw_only=True):
    """Events over the time that is known; the key is that of the event under the cursor."""

    name = "event-strip"
    at: int = 0
    """As of TimedText."""


class ComparisonText(TimedText, frozen=True):
    """The moment looked at, and the one whose `seq` is the key."""

    name = "past-comparison"


class MarkMoment(ActionRequest, frozen=True):
    """Marks the moment that is looked at."""

    note: str
    at: int = 0


class SaveSnapshot(ActionRequest, frozen=True):
    """Writes the moment that is looked at to a file."""

    path: str
    at: int = 0


# What recordings tell.

LOST, CHURN = "lost", "churn"
MEASURES: Mapping[str, str] = {LOST: "leaderships lost", CHURN: "ISR churn"}
"""What is counted, in the order of the key; ISR churn is each time that a broker left an ISR, or came back to one."""


class HourList(ListQuery, frozen=True, kw_only=True):
    """Brokers by hours: leaderships lost, or ISR churn."""

    name = "history-hours"
    question: HistoryQuestion = NO_HISTORY
    recorded: int = 0
    """Which of the folder's clusters."""
    view: str = ""
    """One of MEASURES."""
    offset: int = 0
    """First column in view."""
    column: str = ""
    """What the cursor that goes across the map is on: a time."""
    is_filled: bool = True
    """Whether cells can be told apart by the colour that fills them."""


class MomentList(ListQuery, frozen=True, kw_only=True):
    """The worst moments; as all keys here, a row's begins with the time that it leads to."""

    name = "history-moments"
    question: HistoryQuestion = NO_HISTORY
    recorded: int = 0


class LeaderlessList(ListQuery, frozen=True, kw_only=True):
    """Topics by how long their partitions had no leader."""

    name = "history-topics"
    question: HistoryQuestion = NO_HISTORY
    recorded: int = 0


class StormList(ListQuery, frozen=True, kw_only=True):
    """Groups by their rebalances."""

    name = "history-groups"
    question: HistoryQuestion = NO_HISTORY
    recorded: int = 0


class HistoryText(TextQuery, frozen=True, kw_only=True):
    """What is known and how far it is read, and the cell under the map's cursor.

    `cell` is the broker, `b1`, when it begins, and when the next one does, `2026-11-20T12:00:00Z`; all empty for none.

    The title of the answer is the folder of the cluster that it is about.
    """

    name = "history"
    question: HistoryQuestion = NO_HISTORY
    recorded: int = 0
    cell: tuple[str, str, str] = ("", "", "")
