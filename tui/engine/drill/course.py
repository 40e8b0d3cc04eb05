"""The course of a drill: how many partitions fared how badly over its time, and the scrubber, on one axis.

What matters in a drill happens within milliseconds, after seconds of silence. So long silences are folded, and marked
as such: the axis is even in time between them. Every step has a cell of its own where there is room. Where steps share
a cell, it has the worst of their counts and the most telling of their signs.

Areas are stacked as follows: partitions without a leader below; those that are led under min ISR on them; and the top
edge is where under-replicated ones are counted, where these are more. Without colours each has lines of its own.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise, zip_longest
from operator import itemgetter

from model.cluster.ids import NO_LEADER
from model.drills.rows import AnyRow, BrokerFenced, FolderFailed, QuorumShrank, StateWritten
from model.drills.sentences import SentenceRows
from model.hosts.virtual.journal import ControllerElected, SessionEnded
from tui.engine.drill.playback import MARKS, DrillAnswer, MomentCounts, Playback
from tui.engine.drill.queries import CoursePicture
from tui.engine.glyphs import FOLD, area
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.palette import drawn
from tui.engine.rows import Line, Span, line, span
from tui.engine.sheets import Sheet

SILENCE_MS = 1_000
"""Shorter silences are never folded."""
ROOM_FOR_A_FOLD = 22
"""Cells of the axis for each fold, at least; so that steps have half of it."""
LEAST_FOLD = len("K⋯ 1.23 s ⋯")
"""Cells that it takes to say how long it was."""

SIGN_STYLES: Mapping[str, str] = {
    "K": "dead",
    "x": "dead",
    "*": "controller",
    "U": "added",
    "w": "changed",
    "r": "info",
}
SIGN_RANKS = {sign: rank for rank, sign in enumerate((*MARKS, *"wr."))}
"""Where steps share a cell, the first of these is seen."""
HERE = "@"
ROOM_FOR_LABELS = 9
"""Lines of a picture in which labels may take two of them."""


def seconds(at_ms: float) -> str:
    """`+18.240`: seconds after the deaths."""
    return f"+{at_ms / 1000:,.3f}"


@dataclass(frozen=True)
class Fold:
    """A silence that is shorter on the axis than it was: from a cell to another one, which has the next step."""

    start: int
    end: int
    ms: float

    @property
    def text(self) -> str:
        """`⋯ 18 s ⋯`."""
        return f"{FOLD} {self.ms / 1000:.3g} s {FOLD}"


@dataclass(frozen=True)
class Axis:
    """`cells`: where each step stands, from 0 to the last cell."""

    width: int
    cells: tuple[int, ...]
    folds: tuple[Fold, ...] = ()

    def step_at(self, cell: int) -> int:
        """The step that a cell means: the first that begins in it, else the last that began before; -1 for none."""
        if not self.cells or self.width <= 0:
            return -1
        return self.within(max(0, min(cell, self.width - 1))).start

    def within(self, cell: int) -> range:
        """The steps whose state a cell shows: those that begin in it, else the one that lasts."""
        first, after = bisect_left(self.cells, cell), bisect_right(self.cells, cell)
        return range(first, after) if first < after else range(max(first - 1, 0), max(first, 1))


def axis_of(times_ms: Sequence[float], width: int) -> Axis:
    """Steps at these times, in order, on so many cells: the first at the left end, the last at the right one."""
    gaps = [max(after - before, 0.0) for before, after in pairwise(times_ms)]
    if width <= 0 or not gaps:
        return Axis(max(width, 0), (0,) * len(times_ms))
    long = sorted((place for place, gap in enumerate(gaps) if gap >= SILENCE_MS), key=lambda place: -gaps[place])
    folded = set(long[: width // ROOM_FOR_A_FOLD])
    spare = width - 1 - len(gaps)
    each = max(spare // (2 * len(folded)), LEAST_FOLD) if folded else 0
    others = [0.0 if place in folded else gap for place, gap in enumerate(gaps)]
    # Each step has a cell of its own if there is room. What the folds leave is shared out as time is.
    own = 1 if spare >= len(folded) * each else 0
    extra = _divided(others, [place not in folded for place in range(len(gaps))], width - 1 - len(folded) * each, own)
    steps = [each if place in folded else extra[place] for place in range(len(gaps))]
    cells = (*(min(cell, width - 1) for cell in accumulate(steps[:-1], initial=0)), width - 1)
    return Axis(width, cells, tuple(Fold(cells[at], cells[at + 1], gaps[at]) for at in sorted(folded)))


def _divided(weights: Sequence[float], takes: Sequence[bool], room: int, own: int) -> list[int]:
    """Cells for those that take some: `own` for each, the rest as the weights are; all of the same where none weighs.

    With none of their own, all weigh the same.
    """
    total = sum(weights) if own else 0.0
    count = sum(takes) or 1
    shares = [weight / total if total > 0 else took / count for weight, took in zip(weights, takes, strict=True)]
    left = room - own * sum(takes)
    ends = [round(left * part) for part in accumulate(shares, initial=0.0)]
    return [after - before + own * took for (before, after), took in zip(pairwise(ends), takes, strict=True)]


SEVERITIES = (
    ("no leader", "leaderless", "heat7", "error"),
    ("under min ISR", "under_min_isr", "heat5", "warn"),
    ("under-repl", "under_replicated", "heat3", "info"),
)
"""Name, field of Counts, and the style of the area and of a line; the worst first."""

Numbers = tuple[int, int, int]
"""As SEVERITIES."""


def numbers_of(counts: MomentCounts) -> Numbers:
    """What is drawn of the counts after a step."""
    return counts.leaderless, counts.under_min_isr, counts.under_replicated


@dataclass(frozen=True, eq=False)
class DrillCourse:
    """A drill's counts on an axis: `columns` by cell, `peaks` and `longest_ms`, without a leader, of all its time."""

    axis: Axis
    columns: tuple[Numbers, ...]
    peaks: Numbers
    longest_ms: float
    words: tuple[str, ...]
    """By step, what it is called on the axis."""

    @property
    def gutter(self) -> int:
        """Cells before the axis."""
        return gutter_of(self.peaks)


def gutter_of(peaks: Numbers) -> int:
    """Cells before the axis: names, and the numbers now and at worst."""
    return max(len("longest outage 18.1 s "), len("▇ under min ISR ") + 2 * (_digits(peaks) + 1) + 1)


def _digits(peaks: Numbers) -> int:
    return max(len("peak"), *(len(f"{peak:,}") for peak in peaks))


def _peaks(all_numbers: Sequence[Numbers]) -> Numbers:
    leaderless, under_min, under = (max(some) for some in zip(*all_numbers, strict=True))
    return leaderless, under_min, under


def course_of(playback: Playback, width: int) -> DrillCourse:
    """On a picture of this width. There is a step at least."""
    numbers = [numbers_of(counts) for counts in playback.counts]
    peaks = _peaks(numbers)
    axis = axis_of([step.at_ms for step in playback.steps], max(width - gutter_of(peaks), 1))
    spans = (axis.within(cell) for cell in range(axis.width))
    columns = tuple(_peaks(numbers[steps.start : steps.stop]) for steps in spans)
    rows = playback.drill.timeline.rows
    words = tuple(word_of(step, rows[step.first : step.end]) for step in playback.steps)
    return DrillCourse(axis, columns, peaks, max(counts.longest_ms for counts in playback.counts), words)


def step_in_cell(playback: Playback, cell: int, width: int) -> int:
    """The step that a cell of a picture of this width means; -1 for none."""
    if not playback.steps or width <= 0:
        return -1
    course = course_of(playback, width)
    return course.axis.step_at(cell - course.gutter)


def course_picture(look: DrillAnswer, query: CoursePicture, _: int, memory: AnswerMemo) -> TextAnswer:
    """Areas over folded time, the scrubber below them, and what happened when."""
    playback = look.playback
    if playback is None or not playback.steps or query.width <= 0:
        return Sheet("Course", query.width).gap().say(look.note, "dim").answer()
    course = memory.recall("drill course", (playback, query.width), lambda: course_of(playback, query.width))
    made_from = (playback, playback.step(query.moment), query.width, query.height, query.is_filled, query.is_ascii)
    return memory.recall("drill course drawn", made_from, lambda: _drawn(playback, course, query, memory))


def _drawn(playback: Playback, course: DrillCourse, query: CoursePicture, memory: AnswerMemo) -> TextAnswer:
    moment, height = playback.step(query.moment), max(query.height, 3)
    labels = _labels(playback.steps, course, 2 if height >= ROOM_FOR_LABELS else 1)
    lines, here = height - 1 - len(labels), course.axis.cells[moment]
    is_stacked = query.is_filled and not query.is_ascii
    areas = memory.recall("drill areas", (course, lines, is_stacked), lambda: _areas(course, lines, is_stacked))
    sheet = Sheet("Course", query.width)
    names = _names(course, numbers_of(playback.counts[moment]), lines, is_stacked=is_stacked)
    for name, cells in zip_longest(names[:lines], areas[:lines], fillvalue=()):
        sheet.draw(*_filled_up(name, course.gutter), *_joined(_with_guide(cells, here)))
    now = line(span("at ", "dim"), span(f"{seconds(playback.steps[moment].at_ms)} s", "strong"))
    sheet.draw(*_filled_up(now, course.gutter), *_joined(_signs(playback.steps, course.axis, here)))
    longest = line(span("longest outage ", "dim"), f"{course.longest_ms / 1000:,.1f} s")
    for number, label in enumerate(labels):
        sheet.draw(*_filled_up(() if number else longest, course.gutter), *_joined(label))
    return sheet.answer()


def _joined(cells: Iterable[Span]) -> Line:
    """The same in as few pieces as there are changes of style."""
    return tuple(("".join(text for text, _ in run), style) for style, run in groupby(cells, key=itemgetter(1)))


def _filled_up(text: Line, width: int) -> Line:
    return (*text, (" " * max(width - sum(len(part) for part, _ in text), 0), ""))


def _with_guide(cells: Line, here: int) -> Iterator[Span]:
    """A line up from the scrubber's cursor, where there is nothing else."""
    for place, cell in enumerate(cells):
        yield span("╎", "rule") if place == here and cell[0] == " " else cell


def _named(course: DrillCourse, now: Numbers, place: int, sign: str, style: str) -> Line:
    digits = _digits(course.peaks)
    name, number, peak = SEVERITIES[place][0], now[place], course.peaks[place]
    told = span(f"{number:>{digits},}", "strong" if number else "dim")
    return line(span(f"{sign} ", style), f"{name:<13} ", told, span(f" {peak:>{digits},}", "dim"))


def _heading(course: DrillCourse) -> Line:
    digits = _digits(course.peaks)
    return line(span(f"{'now':>{16 + digits}} {'peak':>{digits}}", "dim"))


def _bands(lines: int) -> tuple[bool, int]:
    """Without colours: whether there is room for a heading, and how many lines each severity has."""
    headed = lines > len(SEVERITIES)
    return headed, max((lines - headed) // len(SEVERITIES), 1)


def _names(course: DrillCourse, now: Numbers, lines: int, *, is_stacked: bool) -> list[Line]:
    """What stands before each line: as a legend, or before the lowest line of its severity."""
    headed, each = _bands(lines)
    names: list[Line] = [_heading(course)] if headed else []
    for place, (_, _, fill, style) in enumerate(SEVERITIES):
        if is_stacked:
            names.append(_named(course, now, place, "▇", drawn(fill)))
        else:
            names += [*[()] * (each - 1), _named(course, now, place, "·", style)]
    return names


def _areas(course: DrillCourse, lines: int, is_stacked: bool) -> list[Line]:
    """The columns of all cells, line by line."""
    if is_stacked:
        stacks = [(one, two, max(three - one - two, 0)) for one, two, three in course.columns]
        return list(area(stacks, [fill for _, _, fill, _ in SEVERITIES], lines, max(map(sum, stacks))))
    headed, each = _bands(lines)
    areas: list[Line] = [((" ", ""),) * course.axis.width] if headed else []
    for place, (_, _, _, style) in enumerate(SEVERITIES):
        areas += area([(column[place],) for column in course.columns], [style], each, course.peaks[place])
    return areas


def _signs(steps: Sequence[SentenceRows], axis: Axis, here: int) -> Iterator[Span]:
    """The scrubber: what has been played is told from what is to come."""
    cells = ["-"] * axis.width
    for fold in axis.folds:
        if len(fold.text) < fold.end - fold.start:
            start = (fold.start + 1 + fold.end - len(fold.text)) // 2
            cells[start : start + len(fold.text)] = fold.text
    folded = list(cells)
    for step, cell in zip(steps, axis.cells, strict=True):
        if cells[cell] == "-" or SIGN_RANKS[step.sign] < SIGN_RANKS[cells[cell]]:
            cells[cell] = step.sign
    for cell, sign in enumerate(cells):
        if cell == here:
            yield span(HERE, "caret")
        elif sign == "-":
            yield span("━" if cell < here else "─", "label" if cell < here else "rule")
        else:
            yield span(sign, "dim" if folded[cell] == sign else SIGN_STYLES.get(sign, "dim"))


def _labels(steps: Sequence[SentenceRows], course: DrillCourse, count: int) -> list[Line]:
    """What happened when, each beginning below its step: marks first, then elections, then times alone."""
    told = zip(course.axis.cells, steps, course.words, strict=True)
    lines = [_Written(course.axis.width) for _ in range(count)]
    times = set[int]()
    for cell, step, word in sorted(told, key=lambda one: (one[1].sign not in MARKS, not one[2])):
        if word:
            texts = (f"{seconds(step.at_ms)} {word}", *((word,) if step.sign in MARKS else ()))
            is_told = any(each.write(cell, text, SIGN_STYLES.get(step.sign, "")) for text in texts for each in lines)
        else:
            is_told = int(step.at_ms) not in times and lines[0].write(cell, seconds(step.at_ms), "dim")
        times |= {int(step.at_ms)} if is_told else set()
    return [each.line for each in lines if each is lines[0] or not each.is_empty]


class _Written:
    """A line in which texts find their places."""

    def __init__(self, width: int) -> None:
        self._cells: list[Span] = [(" ", "")] * width

    def write(self, cell: int, text: str, style: str) -> bool:
        """At a cell, or further left at the right end; whether there was room."""
        start = max(min(cell, len(self._cells) - len(text)), 0)
        around = self._cells[max(start - 1, 0) : start + len(text) + 1]
        if len(text) > len(self._cells) or any(sign != " " or style for sign, style in around):
            return False
        self._cells[start : start + len(text)] = [(sign, style or "label") for sign in text]
        return True

    @property
    def is_empty(self) -> bool:
        return not any(style for _, style in self._cells)

    @property
    def line(self) -> Line:
        return tuple(self._cells)


def word_of(step: SentenceRows, rows: Sequence[AnyRow]) -> str:
    """What a milestone is called on the axis; empty for what is none."""
    row = rows[0]
    if isinstance(row, ControllerElected | QuorumShrank):
        return f"controller {'|'.join(f'b{broker}' for broker in row.candidates[:MOST_NAMED]) or 'none'}"
    if step.sign in MARKS:
        if isinstance(row, FolderFailed):
            return f"b{row.broker} loses a folder"
        nodes = [f"b{getattr(one, 'broker', getattr(one, 'voter', getattr(one, 'by', None)))}" for one in rows]
        who = " ".join(nodes) if len(nodes) <= MOST_NAMED else f"{len(nodes)} brokers"
        return f"{who} {_WORDS.get(step.sign) or _ended(row)}"
    elected = sum(isinstance(one, StateWritten) and _is_elected(one) for one in rows)
    return f"{elected:,} elected" if elected else ""


MOST_NAMED = 3
_WORDS = {"K": "down", "D": "shuts down", "U": "back"}
"""A mark's sign → what became of the brokers."""


def _ended(row: AnyRow) -> str:
    """What ended for a broker."""
    if isinstance(row, BrokerFenced):
        return "fenced"
    return "expired" if isinstance(row, SessionEnded) and row.expired else "closed"


def _is_elected(row: StateWritten) -> bool:
    """Whether another one leads than before."""
    return row.after.leader != NO_LEADER and row.before is not None and row.before.leader != row.after.leader
