"""Row one of every screen: which cluster, may I write, how old is this, is the link good, who controls, what is wrong.

It is told the facts and says as many of them as fit into the width. The age goes on counting when no more facts come,
and past a limit LIVE turns into STALE: if the process behind the screen hangs, row one is what says so.
"""

from collections.abc import Callable

import msgspec
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from model.cluster.texts import controller_name
from tui.app.widgets.drawing import StripWidget
from tui.engine.clock import wall_clock_ms
from tui.engine.messages import SANDBOX, HeaderFacts
from tui.engine.rows import Line, Span
from tui.engine.text import cells, cut, fit, plain, short_age


class Stance(msgspec.Struct, frozen=True):
    """What the operator has chosen, as far as row one has to say it."""

    access: str = "READ-ONLY"
    """READ-ONLY, or ARMED with the time left."""
    mode: str = ""
    """PAUSED, REPLAY or SIMULATED; empty when following the source."""
    detail: str = ""
    """`at 12:03:58, 12 new`; follows the mode."""
    brief: str = ""
    """The same where there is little room."""


PHASES = {
    "starting": ("STARTING", "waiting"),
    "connecting": ("CONNECTING", "waiting"),
    "loading": ("LOADING", "waiting"),
    "live": ("LIVE", "live"),
    "stale": ("STALE", "stale"),
    "denied": ("DENIED", "stale"),
    "snapshot": ("SNAPSHOT", "snapshot"),
    "closed": ("CLOSED", "stale"),
}
"""Phase of the source → word and style."""

WAITING = ("starting", "connecting", "loading")
"""Phases in which nothing can be said of the cluster yet."""

LINKS = {
    "connecting": ("ZK connecting", "waiting"),
    "loading": ("ZK ok", "ok"),
    "live": ("ZK ok", "ok"),
    "stale": ("ZK LOST", "error"),
    "denied": ("ZK DENIED", "error"),
    "closed": ("ZK closed", "warn"),
}

NOT_CONNECTED = "NOT CONNECTED"
"""Instead of that it is connecting, once something went wrong."""
REASON_CELLS = 10
"""Less of a reason is not worth showing."""
NO_ZOOKEEPERS = ("kafka://", "controllers://")
"""How sources begin that are brokers, or controllers of KRaft."""
PARTLY = "Kafka PARTLY"
"""Some brokers did not answer, or do not know what was asked."""
BETWEEN_PROOFS_MS = 2_000
"""A source proves so often that it is live: below that an age says nothing, and would be drawn anew every second."""
MODES = {"PAUSED": "paused", "REPLAY": "paused", "SIMULATED": "simulated"}

ORDER = ("mode", "link", "controller", "brokers", "generation", "source", "spark", "findings")
"""Parts behind the cluster's name and the access, as they stand in the line."""

SHORTENINGS = (
    *("spark", "link", "source", "spark", "generation", "brokers", "mode", "brokers"),
    *("controller", "mode", "access", "link", "controller", "findings"),
)
"""Which part gives up words next while the line is too long. What is left of mode, access and findings always stays."""


def is_stale(facts: HeaderFacts, now_ms: int, stale_after_ms: int) -> bool:
    """Whether the image is older than it may be; a source that says it is live is not believed for ever."""
    late = facts.image_time_ms > 0 and now_ms - facts.image_time_ms > stale_after_ms + facts.poll_ms
    return facts.phase in ("stale", "denied", "closed") or (facts.phase == "live" and late)


def next_change_ms(facts: HeaderFacts, now_ms: int) -> int | None:
    """In how many milliseconds row one may say something else though nothing else is heard; None: never."""
    if not facts.image_time_ms:
        return None
    age_ms = now_ms - facts.image_time_ms
    if facts.phase == "live" and age_ms < _unsaid_ms(facts):
        return _unsaid_ms(facts) - age_ms
    unit_ms = 1_000 if age_ms < 60_000 else 60_000
    return unit_ms - age_ms % unit_ms


def _unsaid_ms(facts: HeaderFacts) -> int:
    """Ages below this say nothing of a source that lives."""
    return BETWEEN_PROOFS_MS + facts.poll_ms + facts.rests_ms


def header_line(facts: HeaderFacts, stance: Stance, *, now_ms: int, stale_after_ms: int, width: int) -> Line:
    """Pieces of row one, as many and as long as fit into the width."""
    stale = is_stale(facts, now_ms, stale_after_ms)
    forms = {
        "access": _access(facts, stance),
        "mode": _mode(facts, stance, stale, now_ms),
        "link": _link(facts, stale),
        "controller": _controller(facts),
        "brokers": _brokers(facts),
        "generation": (_generation(facts), ("", "")),
        "source": ((facts.source if facts.source != facts.cluster else "", "dim"), ("", "")),
        "spark": _spark(facts),
        "findings": _findings(facts),
    }
    name = facts.cluster or facts.source or "no cluster"
    levels = dict.fromkeys(forms, 0)
    line = _assembled(name, forms, levels)
    for part in SHORTENINGS:
        if _size(line) <= width:
            if levels["mode"] == 1 and (facts.reason or facts.polled):
                forms["mode"] = (_with_reason(forms["mode"][1], facts, width - _size(line)),) * 2
            return _assembled(name, forms, levels)
        levels[part] = min(levels[part] + 1, len(forms[part]) - 1)
        line = _assembled(name, forms, levels)
    room = cells(plain(name)) - max(0, _size(line) - width)
    return _assembled(fit(plain(name), max(room, 4)), forms, levels)


def _size(line: Line) -> int:
    return sum(cells(plain(text)) for text, _ in line)


def _assembled(name: str, forms: dict[str, tuple[Span, ...]], levels: dict[str, int]) -> Line:
    parts = {key: forms[key][level] for key, level in levels.items()}
    line: list[Span] = [(" ", ""), (name, "cluster"), ("  ", ""), parts["access"]]
    for key in ORDER:
        if parts[key][0]:
            line += [(" | ", ""), parts[key]]
    return tuple(line)


def _access(facts: HeaderFacts, stance: Stance) -> tuple[Span, ...]:
    if facts.allows_writes:
        kind = f"{SANDBOX}, " if facts.kind == SANDBOX else ""
        return ((f"{kind}WRITES ALLOWED", "armed"), ("WRITES ALLOWED", "armed"))
    if facts.kind == SANDBOX:
        return ((SANDBOX, "armed"),)
    if stance.access == "READ-ONLY":
        return (("READ-ONLY", "read-only"), ("RO", "read-only"))
    return ((stance.access, "armed"),)


def _mode(facts: HeaderFacts, stance: Stance, stale: bool, now_ms: int) -> tuple[Span, ...]:
    age_ms = now_ms - facts.image_time_ms
    age = short_age(age_ms if stale or age_ms >= _unsaid_ms(facts) else 0) if facts.image_time_ms else ""
    demo = "DEMO " if facts.kind == "DEMO" else ""
    if stale:
        word = PHASES[facts.phase][0] if facts.phase != "live" else "STALE"
        demo = f"{demo}{stance.mode} " if stance.mode in ("PAUSED", "REPLAY") else demo
        old = f"{demo}{word} {age} old" if age else demo + word
        reason = facts.reason or ("no news" if facts.phase == "live" else "")
        return _wrong(old, reason, f"!! {demo}{word} {age}".rstrip())
    if stance.mode:
        style = MODES.get(stance.mode, "paused")
        details = (stance.detail, stance.detail, stance.brief)
        return tuple((f"{demo}{stance.mode} {detail}".rstrip(), style) for detail in details)
    word, style = PHASES.get(facts.phase, (facts.phase.upper(), "waiting"))
    done, of = facts.progress
    long, short = f"{demo}{word} {age} old" if age else demo + word, f"{demo}{word} {age}".rstrip()
    why = ""
    if facts.phase == "live" and facts.poll_ms:
        long = f"{word} polls {facts.poll_ms / 1000:g} s" + (f", {age} old" if age_ms >= _unsaid_ms(facts) else "")
        why = facts.polled and f" ({facts.polled})"
    if facts.phase == "connecting" and facts.reason:
        return _wrong(NOT_CONNECTED, facts.reason, f"!! {NOT_CONNECTED} !!")
    if facts.phase == "starting":
        long, short = f"{word} {facts.reason}", word
    if facts.phase == "loading" and of:
        long, short = f"{demo}{word} {done:,} of {of:,}", f"{demo}{word} {100 * done // of}%"
    return ((long + why, style), (long, style), (short, style))


def _wrong(what: str, reason: str, short: str) -> tuple[Span, ...]:
    """What is wrong, with the reason and without; `_with_reason` puts as much of it in again as there is room for."""
    texts = (f"!! {what}: {reason} !!" if reason else f"!! {what} !!", f"!! {what} !!", short)
    return tuple((text, "stale") for text in texts)


def _with_reason(bare: Span, facts: HeaderFacts, room: int) -> Span:
    """How it fares, with as much of the reason as goes into so many cells more; as it is where that says nothing."""
    text, style = bare
    what, is_wrong, _ = text.rpartition(" !!")
    shown, reason, before, behind = (what, facts.reason, ": ", "… !!") if is_wrong else (text, facts.polled, " (", "…)")
    room += cells(text) - cells(shown + before + behind)
    return (f"{shown}{before}{cut(plain(reason), room)}{behind}", style) if reason and room >= REASON_CELLS else bare


def _link(facts: HeaderFacts, stale: bool) -> tuple[Span, ...]:
    if facts.phase not in LINKS:
        return (("", ""),)
    word, style = LINKS[facts.phase]
    if stale and facts.phase == "live":
        word, style = "ZK ?", "warn"
    if facts.source.startswith(NO_ZOOKEEPERS):
        word = word.replace("ZK", "Kafka")
        if facts.phase == "live" and facts.reason:
            return ((f"{PARTLY}: {facts.reason}", "warn"), (PARTLY, "warn"), (PARTLY, "warn"))
    long = f"{word} {facts.zookeeper}" if facts.zookeeper and style == "ok" else word
    return ((long, style), (word, style), ("", "") if style == "ok" else (word, style))


def _controller(facts: HeaderFacts) -> tuple[Span, ...]:
    if facts.quorum:
        return ((f"NO QUORUM: {facts.quorum}", "error"), ("NO QUORUM", "error"))
    if facts.controller is None:
        unknown = facts.phase in WAITING or not facts.is_controller_told
        return (("", ""),) if unknown else (("NO CONTROLLER", "error"), ("NO CTL", "error"))
    epoch = "" if facts.controller_epoch is None else f" e{facts.controller_epoch}"
    short = f"{controller_name(facts.controller, facts.generation)}{epoch}"
    return ((f"controller {short}", ""), (short, ""), ("", ""))


def _brokers(facts: HeaderFacts) -> tuple[Span, ...]:
    if facts.brokers_unconfirmed:
        unsure = f"{facts.brokers_unconfirmed} unconfirmed"
        down = f" {facts.brokers_down} DOWN" if facts.brokers_down else ""
        return ((f"brokers {facts.brokers_up} up {unsure}{down}", "error"), (unsure + down, "error"), ("", ""))
    if not facts.brokers_down:
        up = (f"{facts.brokers_up} broker{'s' * (facts.brokers_up != 1)} up", "") if facts.brokers_up else ("", "")
        return (up, ("", ""))
    down = f"{facts.brokers_down} DOWN"
    return ((f"brokers {facts.brokers_up} up {down}", "error"), (down, "error"), ("", ""))


def _generation(facts: HeaderFacts) -> Span:
    return ("", "") if facts.generation in ("", "unknown") else (f"Kafka {facts.generation}", "")


def _spark(facts: HeaderFacts) -> tuple[Span, ...]:
    style = "warn" if facts.spark.startswith("no ") else "dim"
    return ((facts.spark, style), (facts.spark.partition(",")[0].partition(":")[0], style), ("", ""))


def _findings(facts: HeaderFacts) -> tuple[Span, ...]:
    known_errors, known_warnings = facts.acknowledged
    errors, known = facts.errors - known_errors, known_errors + known_warnings
    total = facts.errors + facts.warnings - known
    if not total and not known and facts.phase in WAITING:
        return (("", ""),)
    style = "error" if errors > 0 else "warn" if total else ""
    long = f"{total} FINDING{'S' * (total != 1)}" + (f", {known} acknowledged" if known else "")
    return ((long, style), (f"{total}!" if total else "", style))


LATE_S = 0.02
"""What is to change at a moment has surely changed so long after it."""


class HeaderLine(StripWidget):
    """One line; when the data is stale, all of it is in the style that says so."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"
    fades = False

    class StalenessChanged(Message):
        """The screen should fade by now, or no longer."""

    def __init__(
        self,
        *,
        now_ms: Callable[[], int] = wall_clock_ms,
        stale_after_ms: int = 15_000,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._stale_after_ms = stale_after_ms
        self._facts = HeaderFacts()
        self._stance = Stance()
        self._drawn: Line = ()
        self._timer: Timer | None = None
        self._due_ms = 0

    def show(self, facts: HeaderFacts) -> None:
        self._facts = facts
        self.tick()

    def stand(self, stance: Stance) -> None:
        """What the operator chose: access, pause, replay."""
        self._stance = stance
        self.tick()

    @property
    def is_stale(self) -> bool:
        """Whether the screen should fade: what it shows may no longer be so."""
        return is_stale(self._facts, self._now_ms(), self._stale_after_ms)

    def on_mount(self) -> None:
        self.tick()

    def tick(self) -> None:
        """Draw the line again if its words changed, and look again when they will; does nothing while out of sight."""
        if not self.screen.is_active:
            return
        if self._line() != self._drawn:
            self.refresh()
        if self.is_stale != getattr(self.app, "faded", self.is_stale):
            self.post_message(self.StalenessChanged())
        self._look_again()

    def _look_again(self) -> None:
        """Sleeps until the words change by themselves: a program that nobody touches should not wake every second."""
        now_ms = self._now_ms()
        after_ms = next_change_ms(self._facts, now_ms)
        if after_ms is None or (self._timer is not None and self._due_ms <= now_ms + after_ms):
            return
        if self._timer is not None:
            self._timer.stop()
        self._due_ms = now_ms + after_ms
        self._timer = self.set_timer(after_ms / 1000 + LATE_S, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.tick()

    def strip_at(self, y: int) -> Strip:
        self._drawn = self._line()
        return self.fill(self._drawn, over="stale" if self.is_stale else "", under="header")

    def _line(self) -> Line:
        return header_line(
            self._facts,
            self._stance,
            now_ms=self._now_ms(),
            stale_after_ms=self._stale_after_ms,
            width=self.size.width,
        )
