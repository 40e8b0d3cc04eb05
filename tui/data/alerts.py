"""Which findings the operator knows of, and which errors are new: what is said of a finding beside what it says itself.
Used on one event loop, but for `take`, which the source's thread calls.
"""

from collections import Counter

from model.cluster.changes import Change
from model.cluster.findings import Finding
from model.sources.feed import Moment
from tui.data.messages import NO_NOTICE, Notice
from tui.data.pages.ages import clock_text
from tui.data.pages.findings import finding_keys

KIND = "alert"
ACKNOWLEDGE = "acknowledge"
"""The verb of the wish."""

NOTICES_APART_MS = 10_000
"""In a storm, one notice tells of all that came within this time."""

MOST_RAISED = 500
"""Alerts that can be read later."""

_What = tuple[str, str]
_State = tuple[_What, str, tuple[int, ...]]


class Alerts:
    """Of one source. Errors of its first whole image are no news: they stand in the list, and are counted."""

    def __init__(self) -> None:
        self.raised: tuple[Change, ...] = ()
        """Errors as they came up, for the list of events; the oldest first."""
        self._acknowledged: frozenset[_State] = frozenset()
        self.known: frozenset[Finding] = frozenset()
        """Findings of the newest moment that the operator has acknowledged, and that did not change since."""
        self._known: tuple[Finding, ...] | None = None
        self._errors: dict[int, Finding] = {}
        """By the object's id."""
        self._told = 0
        """How many of all that came up were told."""
        self._came = 0
        self._notice = NO_NOTICE
        self._told_ms = -NOTICES_APART_MS

    def take(self, moment: Moment) -> None:
        """A moment was published."""
        found = moment.findings.found
        if not moment.image.provenance.complete or found is self._known:
            return
        is_first, self._known = self._known is None, found
        # Most of them are the very same as before: only the others are looked at. Errors come first.
        errors = {id(one): one for one in found[: moment.findings.census.of("error")]}
        known = {_what(one) for place, one in self._errors.items() if place not in errors}
        came = [one for place, one in errors.items() if place not in self._errors]
        new = [] if is_first else [one for one in came if _what(one) not in known]
        self._errors = errors
        seen = moment.image.provenance
        changes = (Change(KIND, one.subject, one.what, "error", seen.time_ms, seen.zxid) for one in new)
        self.raised = (*self.raised, *changes)[-MOST_RAISED:]
        self._came += len(new)
        self._recognise(found)

    def notice(self, now_ms: int) -> Notice:
        """The last thing to be told; not more often than every ten seconds."""
        came, untold = self._came, self.raised[-(self._came - self._told) :]
        if came > self._told and now_ms - self._told_ms >= NOTICES_APART_MS:
            more = came - self._told - 1
            also = f" (and {more:,} more)" if more else ""
            text = f"X {clock_text(untold[0].time_ms)[:8]} {untold[0].subject}: {untold[0].text}{also}"
            self._notice, self._told, self._told_ms = Notice(self._notice.number + 1, text), came, now_ms
        return self._notice

    def tell(self, text: str, now_ms: int) -> None:
        """What the operator asked for has come to its end, one line: that is told at once, and errors wait for it."""
        self._notice, self._told_ms = Notice(self._notice.number + 1, text), now_ms

    def due_ms(self) -> int | None:
        """When there is something to be told; None where there is nothing."""
        return self._told_ms + NOTICES_APART_MS if self._came > self._told else None

    @property
    def counts(self) -> tuple[int, int]:
        """Errors and warnings that are known of."""
        known = Counter(one.severity for one in self.known)
        return known["error"], known["warn"]

    def acknowledge(self, key: str, found: tuple[Finding, ...]) -> str:
        """The operator knows of the finding with this key, or no longer does; what was done, in a sentence."""
        keys = finding_keys(found)
        if key not in keys:
            return "this is not so any more"
        one = found[keys.index(key)]
        was_known = one in self.known
        self._acknowledged ^= {_state(one)}
        self._recognise(found)
        if was_known:
            return f"{one.subject}: no longer acknowledged"
        return f"{one.subject}: acknowledged until it changes; A takes it back"

    def _recognise(self, found: tuple[Finding, ...]) -> None:
        """What is gone, or is otherwise by now, is no longer known of."""
        if self._acknowledged or self.known:
            known = [one for one in found if _state(one) in self._acknowledged]
            self.known, self._acknowledged = frozenset(known), frozenset(map(_state, known))


def _what(finding: Finding) -> _What:
    return finding.kind, finding.subject


def _state(finding: Finding) -> _State:
    """How bad it is, and which partitions it is about; numbers within the sentence may change all the time."""
    return _what(finding), finding.severity, finding.partitions
