"""Where in time a question leads, seen from one moment: pure functions. What is not in the window is not searched for
here: NoSuchMoment says near which time it may be.
"""

from collections.abc import Callable, Mapping

import msgspec

from model.cluster.changes import Change
from model.sources.timeline.instant import MARKED, MARKS, STEADY, Instant
from model.sources.timeline.timeline import Timeline
from model.sources.timeline.window import Window, recorded_ms
from tui.data.alerts import KIND as ALERT
from tui.data.messages import Direction
from tui.data.pages.events import event_key
from tui.data.past.marks import Marks
from tui.data.past.times import NoSuchMoment, sought

KINDS = (*MARKS, "alert", "mark", "event")
"""What one may go to the next of; mark: what the operator marked; event: anything but what always happens."""


class Standing(msgspec.Struct, frozen=True, eq=False):
    """What there is, and where somebody stands in it. `newest` is the newest moment; of a recording, the one opened."""

    window: Window
    marks: Marks
    newest: Instant
    here: Instant

    @property
    def timeline(self) -> Timeline:
        return self.window.timeline


def gone(to: Direction, standing: Standing, text: str) -> Instant:
    """The moment that is meant. Raises NoSuchMoment."""
    return _GOING[to](standing, text)


def happened(instant: Instant) -> str:
    """What the moment began with, one line; what matters most of it first."""
    changes = sorted(instant.changes, key=lambda change: (change.kind not in MARKED, change.kind in STEADY))
    if not changes:
        return "nothing is known to have changed"
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    return f"{changes[0].subject}: {changes[0].text}{more}"


def _back(standing: Standing, text: str) -> Instant:
    timeline, here = standing.timeline, standing.here
    found = timeline.before(here.seq, lambda each: each.is_event)
    if found is None and here.seq > timeline.instants[0].seq and standing.window.is_first:
        return timeline.instants[0]
    return _there(found, "the timeline begins here", standing, is_back=True)


def _on(standing: Standing, text: str) -> Instant:
    timeline, here = standing.timeline, standing.here
    found = timeline.after(here.seq, lambda each: each.is_event)
    if found is None and here.seq < timeline.instants[-1].seq and standing.window.is_last:
        return timeline.instants[-1]
    if standing.newest.seq < timeline.instants[-1].seq:
        return _there(found, "the recording ends here", standing)
    return _there(found, "this is the newest moment: p follows the cluster again", standing)


def _mark_before(standing: Standing, text: str) -> Instant:
    text = _kind(text)
    wanted, marks = _wanted(text), standing.marks if text in ("", "mark") else Marks()
    found, mark = standing.timeline.before(standing.here.seq, wanted), marks.before(standing.here.seq)
    if mark is not None and (found is None or mark.instant.seq > found.seq):
        return mark.instant
    return _there(found, _no_mark(text), standing, is_back=True)


def _mark_after(standing: Standing, text: str) -> Instant:
    text = _kind(text)
    wanted, marks = _wanted(text), standing.marks if text in ("", "mark") else Marks()
    found, mark = standing.timeline.after(standing.here.seq, wanted), marks.after(standing.here.seq)
    if mark is not None and (found is None or mark.instant.seq < found.seq):
        return mark.instant
    return _there(found, _no_mark(text), standing)


def _kind(text: str) -> str:
    """`leader`, also where `Leaders` was typed."""
    return text.strip().lower().removesuffix("s")


def _wanted(text: str) -> Callable[[Instant], bool]:
    if not text:
        return lambda each: each.is_mark
    if text in MARKS:
        return lambda each: any(change.kind in MARKS[text] for change in each.changes)
    kinds: Mapping[str, Callable[[Instant], bool]] = {
        "alert": lambda each: each.more_errors,
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


def _there(found: Instant | None, why_not: str, standing: Standing, *, is_back: bool = False) -> Instant:
    if found is not None:
        return found
    window = standing.window
    is_end, edge = (window.is_first, 0) if is_back else (window.is_last, -1)
    raise NoSuchMoment(why_not, None if is_end else recorded_ms(window.timeline.instants[edge].seq))


def _event(standing: Standing, key: str) -> Instant:
    time = key.partition("/")[0]
    mark = next((mark for mark in standing.marks.made if event_key(mark.change) == key), None)
    if mark is not None:
        return mark.instant

    def is_it(change: Change) -> bool:
        return str(change.time_ms) == time and event_key(change) == key

    def is_alert(each: Instant) -> bool:
        seen = each.frame.provenance
        return each.more_errors and key.startswith(f"{seen.time_ms}/{seen.zxid}/{ALERT}/")

    found = standing.timeline.first(lambda each: any(map(is_it, each.changes)) or is_alert(each))
    if found is None:
        raise NoSuchMoment("the timeline does not reach back to this event")
    return found


def _other(standing: Standing, text: str) -> Instant:
    """What the moment looked at is compared with."""
    mark = standing.marks.named(text) if text else standing.marks.latest_but(standing.here.seq)
    if mark is not None:
        return mark.instant
    if text.strip().casefold() not in ("", "live"):
        return sought(text, standing.window, standing.here)
    if standing.newest.seq == standing.here.seq:
        raise NoSuchMoment("this is the newest moment: go back first, or mark another one")
    return standing.newest


_GOING: Mapping[Direction, Callable[[Standing, str], Instant]] = {
    "now": lambda standing, _: standing.newest,
    "back": _back,
    "on": _on,
    "mark-before": _mark_before,
    "mark-after": _mark_after,
    "time": lambda standing, text: sought(text, standing.window, standing.here),
    "event": _event,
    "other": _other,
}
"""Where a TimeQuery wants to go → how it is found."""
