"""Where in time a question leads, seen from one moment; what is typed for a moment; and moments that were marked.

`12:03:58`, `-5m`, `e118`, `zxid:0x1f`, of KRaft `offset:4711` are typed. Times are UTC, as on the screens. What is not
in the window is not searched for here: NoSuchMoment says near which time it may be. Marks stay as they were when the
timeline has dropped them.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from model.cluster.change import Change
from model.cluster.texts import written_at
from model.recordings.folder import parse_time, said
from model.sources.feed import Moment
from model.sources.timeline import MARKED, MARKS, STEADY, Instant, Timeline
from model.sources.timeline_window import TimelineWindow, recorded_ms
from tui.engine.cluster.events import event_key
from tui.engine.cluster.findings import ALERT
from tui.engine.messages import Direction
from tui.engine.sheets import clock_text

MOST_MARKS = 50
MARK = "mark"


class MomentMark(msgspec.Struct, frozen=True, eq=False):
    """One marked moment."""

    note: str
    instant: Instant
    moment: Moment

    @property
    def change(self) -> Change:
        """As it stands in the list of events."""
        seen = self.moment.image.provenance
        return Change(MARK, self.note, "marked by you", "info", self.instant.at_ms, seen.zxid)


class Marks(msgspec.Struct, frozen=True, eq=False):
    """Marks in the order in which they were made; one a moment."""

    made: tuple[MomentMark, ...] = ()

    def at(self, seq: int) -> MomentMark | None:
        """The mark at a moment."""
        return next((mark for mark in self.made if mark.instant.seq == seq), None)

    def named(self, note: str) -> MomentMark | None:
        """The latest mark of a name, whatever its case."""
        return next((mark for mark in reversed(self.made) if mark.note.casefold() == note.strip().casefold()), None)

    def latest_but(self, seq: int) -> MomentMark | None:
        """The latest mark at another moment."""
        return next((mark for mark in reversed(self.made) if mark.instant.seq != seq), None)

    def before(self, seq: int) -> MomentMark | None:
        """The nearest one before a moment."""
        return max((mark for mark in self.made if mark.instant.seq < seq), key=_seq, default=None)

    def after(self, seq: int) -> MomentMark | None:
        """The nearest one after a moment."""
        return min((mark for mark in self.made if mark.instant.seq > seq), key=_seq, default=None)

    def marked(self, note: str, instant: Instant, moment: Moment) -> "Marks":
        """With one more; a moment's earlier mark goes, and the first one where there are too many."""
        mark = MomentMark(note.strip() or f"mark {len(self.made) + 1}", instant, moment)
        return Marks((*self.without(instant.seq).made, mark)[-MOST_MARKS:])

    def without(self, seq: int) -> "Marks":
        """Without the one at a moment."""
        return Marks(tuple(mark for mark in self.made if mark.instant.seq != seq))


def _seq(mark: MomentMark) -> int:
    return mark.instant.seq


UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
FORMS = "12:03:58, -5m, e118 (a controller epoch) or {}"

_DISTANCE = re.compile(r"([+-])(\d{1,9}(?:\.\d{1,3})?)([smhd])")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?")
_EPOCH = re.compile(r"e(\d{1,10})")
_WRITE = re.compile(r"(zxid|offset):(0x[0-9a-f]{1,16}|\d{1,19})")


class NoSuchMoment(Exception):  # noqa: N818 - reads as a fact
    """There is none; the message is one line that says why. `near_ms`: near this time, more was recorded than is known
    here, and it may be there; None: it is nowhere."""

    def __init__(self, why: str, near_ms: int | None = None) -> None:
        super().__init__(why)
        self.near_ms = near_ms


def sought(text: str, window: TimelineWindow, now: Instant) -> Instant:
    """The moment that is meant, seen from `now`. Raises NoSuchMoment."""
    text, timeline = text.strip().lower(), window.timeline
    if found := _EPOCH.fullmatch(text):
        epoch = int(found[1])
        epochs = [each.frame.controller.epoch for each in timeline.instants if each.frame.controller.epoch is not None]
        seen = f"{min(epochs)} to {max(epochs)} were" if epochs else "no controller was"
        why = f"controller epoch {epoch} was not seen: {seen}"
        return _in_window(timeline.with_epoch(epoch), why, window, is_back=bool(epochs) and epoch < min(epochs))
    if found := _WRITE.fullmatch(text):
        zxid = int(found[2], 16 if found[2].startswith("0x") else 10)
        why = f"no moment knows of {found[1]} {found[2]}: {_writes(timeline)}"
        is_back = zxid < timeline.instants[0].frame.provenance.zxid
        return _in_window(timeline.with_zxid(zxid), why, window, is_back=is_back)
    at_ms = _time(text, now)
    began_ms, ended_ms = timeline.instants[0].at_ms, timeline.instants[-1].at_ms
    if at_ms < began_ms:
        why = f"the timeline begins at {clock_text(began_ms)} ({said(began_ms)})"
        raise NoSuchMoment(why, None if window.is_first else at_ms)
    if at_ms > ended_ms and not window.is_last:
        raise NoSuchMoment(f"played until {clock_text(ended_ms)} ({said(ended_ms)})", at_ms)
    instant = timeline.at_time(at_ms)
    assert instant is not None
    return instant


def _in_window(instant: Instant | None, why_not: str, window: TimelineWindow, *, is_back: bool) -> Instant:
    if instant is None:
        is_end, edge = (window.is_first, 0) if is_back else (window.is_last, -1)
        raise NoSuchMoment(why_not, None if is_end else recorded_ms(window.timeline.instants[edge].seq))
    return instant


def _time(text: str, now: Instant) -> int:
    now_ms = now.at_ms
    if found := _DISTANCE.fullmatch(text):
        distance_ms = round(float(found[2]) * UNITS_MS[found[3]])
        return now_ms + (distance_ms if found[1] == "+" else -distance_ms)
    try:
        if found := _CLOCK.fullmatch(text):
            return _last_time_of_day(*(found[part] or "0" for part in range(1, 5)), now_ms=now_ms)
        return parse_time(text.upper())
    except (ValueError, OverflowError):
        write = "offset:4711" if now.frame.generation == "kraft" else "zxid:0x1f"
        raise NoSuchMoment(f"no time {text!r}: write {FORMS.format(write)}") from None


def _last_time_of_day(hour: str, minute: str, second: str, fraction: str, *, now_ms: int) -> int:
    """The time of day that is nearest: shortly after midnight, 23:59 was yesterday."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    micros = int(fraction.ljust(3, "0")) * 1000
    then = now.replace(hour=int(hour), minute=int(minute), second=int(second), microsecond=micros)
    if then > now + timedelta(hours=12):
        then -= timedelta(days=1)
    elif then < now - timedelta(hours=12):
        then += timedelta(days=1)
    return round(then.timestamp() * 1000)


def _writes(timeline: Timeline) -> str:
    first, last = timeline.instants[0].frame, timeline.instants[-1].frame
    if first.provenance.zxid < 0:
        return "the source has none"
    known = (written_at(each.generation, each.provenance.zxid)[1] for each in (first, last))
    return f"known are {' to '.join(known)}"


KINDS = (*MARKS, "finding", "mark", "event")
"""What one may go to the next of; mark: what the operator marked; event: anything but what always happens."""


class TimePosition(msgspec.Struct, frozen=True, eq=False):
    """What there is, and where somebody stands in it. `newest` is the newest moment; of a recording, the one opened."""

    window: TimelineWindow
    marks: Marks
    newest: Instant
    here: Instant

    @property
    def timeline(self) -> Timeline:
        return self.window.timeline


def gone(to: Direction, position: TimePosition, text: str) -> Instant:
    """The moment that is meant. Raises NoSuchMoment."""
    return _GOING[to](position, text)


def happened(instant: Instant) -> str:
    """What the moment began with, one line; what matters most of it first."""
    changes = sorted(instant.changes, key=lambda change: (change.kind not in MARKED, change.kind in STEADY))
    if not changes:
        return "nothing is known to have changed"
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    return f"{changes[0].subject}: {changes[0].text}{more}"


def _back(position: TimePosition, text: str) -> Instant:
    timeline, here = position.timeline, position.here
    found = timeline.before(here.seq, lambda each: each.is_event)
    if found is None and here.seq > timeline.instants[0].seq and position.window.is_first:
        return timeline.instants[0]
    return _found(found, "the timeline begins here", position, is_back=True)


def _on(position: TimePosition, text: str) -> Instant:
    timeline, here = position.timeline, position.here
    found = timeline.after(here.seq, lambda each: each.is_event)
    if found is None and here.seq < timeline.instants[-1].seq and position.window.is_last:
        return timeline.instants[-1]
    if position.newest.seq < timeline.instants[-1].seq:
        return _found(found, "the recording ends here", position)
    return _found(found, "this is the newest moment: p follows the cluster again", position)


def _mark_before(position: TimePosition, text: str) -> Instant:
    text = _kind(text)
    wanted, marks = _wanted(text), position.marks if text in ("", "mark") else Marks()
    found, mark = position.timeline.before(position.here.seq, wanted), marks.before(position.here.seq)
    if mark is not None and (found is None or mark.instant.seq > found.seq):
        return mark.instant
    return _found(found, _no_mark(text), position, is_back=True)


def _mark_after(position: TimePosition, text: str) -> Instant:
    text = _kind(text)
    wanted, marks = _wanted(text), position.marks if text in ("", "mark") else Marks()
    found, mark = position.timeline.after(position.here.seq, wanted), marks.after(position.here.seq)
    if mark is not None and (found is None or mark.instant.seq < found.seq):
        return mark.instant
    return _found(found, _no_mark(text), position)


def _kind(text: str) -> str:
    """`leader`, also where `Leaders` was typed."""
    return text.strip().lower().removesuffix("s")


def _wanted(text: str) -> Callable[[Instant], bool]:
    if not text:
        return lambda each: each.is_mark
    if text in MARKS:
        return lambda each: any(change.kind in MARKS[text] for change in each.changes)
    kinds: Mapping[str, Callable[[Instant], bool]] = {
        "finding": lambda each: each.more_errors,
        "mark": lambda _: False,
        "event": lambda each: each.is_event,
    }
    if text not in kinds:
        raise NoSuchMoment(f"no kind of moment {text!r}: {', '.join(KINDS)}")
    return kinds[text]


def _no_mark(text: str) -> str:
    if text:
        return f"no {text} there"
    return "no mark there: brokers, controllers, leaders, faults, errors and yours are marks"


def _found(found: Instant | None, why_not: str, position: TimePosition, *, is_back: bool = False) -> Instant:
    if found is not None:
        return found
    window = position.window
    is_end, edge = (window.is_first, 0) if is_back else (window.is_last, -1)
    raise NoSuchMoment(why_not, None if is_end else recorded_ms(window.timeline.instants[edge].seq))


def _event(position: TimePosition, key: str) -> Instant:
    time = key.partition("/")[0]
    mark = next((mark for mark in position.marks.made if event_key(mark.change) == key), None)
    if mark is not None:
        return mark.instant

    def is_it(change: Change) -> bool:
        return str(change.time_ms) == time and event_key(change) == key

    def is_finding(each: Instant) -> bool:
        seen = each.frame.provenance
        return each.more_errors and key.startswith(f"{seen.time_ms}/{seen.zxid}/{ALERT}/")

    found = position.timeline.first(lambda each: any(map(is_it, each.changes)) or is_finding(each))
    if found is None:
        raise NoSuchMoment("the timeline does not reach back to this event")
    return found


def _other(position: TimePosition, text: str) -> Instant:
    """What the moment looked at is compared with."""
    mark = position.marks.named(text) if text else position.marks.latest_but(position.here.seq)
    if mark is not None:
        return mark.instant
    if text.strip().casefold() not in ("", "live"):
        return sought(text, position.window, position.here)
    if position.newest.seq == position.here.seq:
        raise NoSuchMoment("this is the newest moment: go back first, or mark another one")
    return position.newest


_GOING: Mapping[Direction, Callable[[TimePosition, str], Instant]] = {
    "now": lambda position, _: position.newest,
    "back": _back,
    "on": _on,
    "mark-before": _mark_before,
    "mark-after": _mark_after,
    "time": lambda position, text: sought(text, position.window, position.here),
    "event": _event,
    "other": _other,
}
"""Where a TimeQuery wants to go → how it is found."""
