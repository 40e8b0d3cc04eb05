"""Moments that the operator marked, each with a note. They stay as they were when the timeline has dropped them."""

import msgspec

from model.cluster.changes import Change
from model.sources.feed import Moment
from model.sources.timeline.instant import Instant

MOST_MARKS = 50
KIND = "mark"


class Mark(msgspec.Struct, frozen=True, eq=False):
    """One marked moment."""

    note: str
    instant: Instant
    moment: Moment

    @property
    def change(self) -> Change:
        """As it stands in the list of events."""
        seen = self.moment.image.provenance
        return Change(KIND, self.note, "marked by you", "info", self.instant.at_ms, seen.zxid)


class Marks(msgspec.Struct, frozen=True, eq=False):
    """Marks in the order in which they were made; one a moment."""

    made: tuple[Mark, ...] = ()

    def at(self, seq: int) -> Mark | None:
        """The mark at a moment."""
        return next((mark for mark in self.made if mark.instant.seq == seq), None)

    def named(self, note: str) -> Mark | None:
        """The latest mark of a name, whatever its case."""
        return next((mark for mark in reversed(self.made) if mark.note.casefold() == note.strip().casefold()), None)

    def latest_but(self, seq: int) -> Mark | None:
        """The latest mark at another moment."""
        return next((mark for mark in reversed(self.made) if mark.instant.seq != seq), None)

    def before(self, seq: int) -> Mark | None:
        """The nearest one before a moment."""
        return max((mark for mark in self.made if mark.instant.seq < seq), key=_seq, default=None)

    def after(self, seq: int) -> Mark | None:
        """The nearest one after a moment."""
        return min((mark for mark in self.made if mark.instant.seq > seq), key=_seq, default=None)

    def marked(self, note: str, instant: Instant, moment: Moment) -> "Marks":
        """With one more; a moment's earlier mark goes, and the first one where there are too many."""
        mark = Mark(note.strip() or f"mark {len(self.made) + 1}", instant, moment)
        return Marks((*self.without(instant.seq).made, mark)[-MOST_MARKS:])

    def without(self, seq: int) -> "Marks":
        """Without the one at a moment."""
        return Marks(tuple(mark for mark in self.made if mark.instant.seq != seq))


def _seq(mark: Mark) -> int:
    return mark.instant.seq
