"""What can be asked about moments past, and wished of the one that is looked at. Values; both processes load this."""

from tui.engine.messages import ListQuery, PictureQuery, TimedText, Wish


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


class MarkMoment(Wish, frozen=True):
    """Marks the moment that is looked at."""

    note: str
    at: int = 0


class SaveSnapshot(Wish, frozen=True):
    """Writes the moment that is looked at to a file."""

    path: str
    at: int = 0
