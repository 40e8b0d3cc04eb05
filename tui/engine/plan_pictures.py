"""A plan as pictures: what each broker has before and after as paired bars on one scale, who copies how much to whom.

Whoever leads a partition sends its copies, or the first replica that is alive where nobody leads (as `model.planning`
counts it). Without sizes copies are counted instead of bytes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.cluster.cluster_image import ClusterImage, state_in
from model.planning.layout import BrokerShare
from model.planning.plan import Plan, ReplicaChange
from tui.engine.filters import ListField, Texts
from tui.engine.glyphs import paired, scale
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.palette import heat
from tui.engine.planned import kept_changes, plan_in
from tui.engine.queries import PlanBrokerList, PlanMatrix
from tui.engine.questions import PlanQuestion
from tui.engine.rows import Column, Line, Row, Span, line, span

LEAVES, COMES, STAYS = "leaves", "comes", ""
BARS = ("isr", "removed", "added")
"""Styles of paired bars: what stays, what goes away, what comes."""
LEGENDS = ("▀ before ▄ after", "▀ was ▄ will")
LEAST_BAR, LONGEST_BAR = 12, 60
MOST_COUNTED = 200_000
"""Partitions beyond which nothing is counted before there is a plan."""


@dataclass(frozen=True)
class Sides:
    """What each broker has, before and after; the same where there is no plan."""

    before: Mapping[int, BrokerShare]
    after: Mapping[int, BrokerShare]

    def most(self, field: str) -> int:
        """The most that any broker has on either side: the end of the scale."""
        shares = (*self.before.values(), *self.after.values())
        return max((getattr(share, field) or 0 for share in shares), default=0)


def plan_brokers(look: AnalysisAnswer, query: PlanBrokerList, _: int, memory: AnswerMemo) -> Listing:
    """Every broker that there is, or will be."""
    question = look.question
    assert isinstance(question, PlanQuestion)
    racks = {broker.id: broker.rack or "-" for broker in look.image.brokers.values()}
    racks |= {broker: rack or racks.get(broker, "-") for broker, rack in question.add}
    ids = sorted(racks)
    new = {broker for broker, _ in question.add}
    fates = [LEAVES if broker in question.remove else COMES if broker in new else STAYS for broker in ids]
    now = memory.recall("plan: brokers now", (look.image.topics,), lambda: _shares_now(look.image))
    sides = _sides(plan_in(look), now, question.remove)
    columns = _columns(query.width, sides, is_planned=plan_in(look) is not None, has_fates=any(fates))
    bar = columns[BAR].width

    def fields() -> dict[str, ListField]:
        return {
            "id": Texts(lambda: [str(broker) for broker in ids]),
            "rack": Texts(lambda: [racks[broker] for broker in ids]),
            "fate": Texts(lambda: fates),
        }

    return Listing(
        count=len(ids),
        fields=fields,
        shown=("id", "rack", "fate"),
        row=lambda index: _broker_row(ids[index], racks[ids[index]], fates[index], sides, bar),
        place=place_in([str(broker) for broker in ids]),
        columns=columns,
        made_from=(look, bar),
        nothing="no brokers",
    )


EDGES = 5
"""Cells of a row that are no column's: its mark, and the scroll bar."""
BAR = 4
"""The number of the first column of bars."""


def _columns(width: int, sides: Sides, *, is_planned: bool, has_fates: bool) -> tuple[Column, ...]:
    """The bars take what the figures leave over."""
    size = Column("GB", 9 if sides.most("bytes") else 2, ">", rank=4)
    figures = (
        Column("id", 4, ">", "id"),
        Column("rack", 6, "<", "rack", rank=5),
        Column("fate", 6 if has_fates else 4, "<", "fate", rank=0 if has_fates else 4),
        Column("replicas", 9, ">", rank=1),
        Column("leaders", 9, ">", rank=1),
    )
    fixed = EDGES + sum(each.width + 1 for each in figures) + (size.width + 1)
    bar = min(max((width - fixed) // 2 - 1, LEAST_BAR), LONGEST_BAR)
    legend = next(each for each in LEGENDS if len(each) <= bar) if is_planned else ""
    drawn = [Column(legend, bar, "<", rank=rank) for rank in (2, 3)]
    return (*figures[:BAR], drawn[0], figures[BAR], drawn[1], size)


def _sides(plan: Plan | None, now: Mapping[int, BrokerShare], leaving: Iterable[int]) -> Sides:
    """A plan's balance is that of the brokers that stay: those that leave have what they have now, then nothing."""
    if plan is None:
        return Sides(now, now)
    before, after = ({share.broker: share for share in side.brokers} for side in (plan.before, plan.after))
    gone = {broker: BrokerShare(broker, None, 0, 0, None) for broker in leaving}
    return Sides({**before, **{broker: now.get(broker, none) for broker, none in gone.items()}}, {**after, **gone})


def _shares_now(image: ClusterImage) -> Mapping[int, BrokerShare]:
    """What brokers have now; nothing where that would take long."""
    topics = [topic.replicas for topic in image.topics.values() if topic.replicas.size]
    if not topics or image.partition_count > MOST_COUNTED:
        return {}
    replicas = _counts(np.concatenate([each.ravel() for each in topics]))
    leaders = _counts(np.concatenate([each[:, 0] for each in topics]))
    ids = {*replicas, *image.brokers}
    return {broker: BrokerShare(broker, None, replicas[broker], leaders[broker], None) for broker in ids}


def _counts(brokers: np.ndarray[tuple[int], np.dtype[np.integer]]) -> Counter[int]:
    ids, counts = np.unique(brokers[brokers >= 0], return_counts=True)
    return Counter(dict(zip(ids.tolist(), counts.tolist(), strict=True)))


def _broker_row(broker: int, rack: str, fate: str, sides: Sides, bar: int) -> Row:
    before, after = sides.before.get(broker), sides.after.get(broker)
    style = {LEAVES: "removed", COMES: "added"}.get(fate, "")
    cells = (
        line(span(broker, style)),
        line(rack),
        line(span(fate, style)),
        _pair(before, after, "replicas"),
        _bars(before, after, sides, "replicas", bar),
        _pair(before, after, "leaders"),
        _bars(before, after, sides, "leaders", bar),
        _pair(before, after, "bytes"),
    )
    return Row(str(broker), cells, mark={LEAVES: "-", COMES: "+"}.get(fate, ""))


def _bars(before: BrokerShare | None, after: BrokerShare | None, sides: Sides, field: str, width: int) -> Line:
    most = sides.most(field) or 1
    parts = [(getattr(share, field) or 0) / most if share else 0.0 for share in (before, after)]
    return paired(parts[0], parts[1], width, BARS)


def _pair(before: BrokerShare | None, after: BrokerShare | None, field: str) -> Line:
    texts = [_number(share, field) for share in (before, after)]
    if texts == ["-", "-"]:
        return line(span("-", "dim"))
    if texts[0] == texts[1]:
        return line(span(texts[0], "dim"))
    return line(span(f"{texts[0]}>", "dim"), span(texts[1], "changed"))


def _number(share: BrokerShare | None, field: str) -> str:
    value = None if share is None else getattr(share, field)
    if value is None:
        return "-"
    return f"{value / 1e9:,.0f}" if field == "bytes" else f"{value:,}"


@dataclass(frozen=True)
class Copies:
    """(from, to) → how much; -1 is whoever would send, where nobody is left. `are_bytes`: else copies are counted."""

    table: Mapping[tuple[int, int], int]
    are_bytes: bool

    @property
    def total(self) -> int:
        return sum(self.table.values())

    def ends(self, side: int) -> Counter[int]:
        """How much each broker sends (0) or receives (1)."""
        found: Counter[int] = Counter()
        for pair, amount in self.table.items():
            found[pair[side]] += amount
        return found

    def text(self, amount: int) -> str:
        """In a cell."""
        return short(amount) if amount else "."


def copies_of(changes: Sequence[ReplicaChange], image: ClusterImage) -> Copies:
    """What is copied from whom to whom."""
    copied = [change for change in changes if change.added]
    are_bytes = all(change.bytes is not None for change in copied)
    table: Counter[tuple[int, int]] = Counter()
    for change in copied:
        sender = _sender(change, image)
        for broker in change.added:
            table[sender, broker] += (change.bytes or 0) if are_bytes else 1
    return Copies(table, are_bytes)


def _sender(change: ReplicaChange, image: ClusterImage) -> int:
    state = state_in(image, change.name)
    leaders = () if state is None else (state.leader,)
    return next((broker for broker in (*leaders, *change.before) if broker in image.brokers), -1)


UNITS = ("", "K", "M", "G", "T", "P")


def short(amount: int) -> str:
    """`512`, `1.2G`, `34M`: at most four characters, in powers of 1,000."""
    value, place = float(amount), 0
    while value >= 999.5 and place < len(UNITS) - 1:
        value, place = value / 1000, place + 1
    return f"{value:.1f}{UNITS[place]}" if place and value < 9.95 else f"{value:.0f}{UNITS[place]}"


CELL, NAMES = 6, 8
"""Cells of a number, and of a row's name."""
REST = -2


def plan_matrix(look: AnalysisAnswer, query: PlanMatrix, _: int, memory: AnswerMemo) -> TextAnswer:
    """Rows send, columns receive. Where not all have room the heaviest have, and the rest is added up."""
    changes = kept_changes(look)
    if plan_in(look) is None:
        return _said(look.note or "no plan yet: enter makes one")
    copies = memory.recall("plan: copies", (look.result, look.question), lambda: copies_of(changes, look.image))
    if not copies.table:
        return _said("No data is copied: only the order of replicas changes." if changes else "Nothing has to change.")
    lines = matrix(copies, query.width, query.height, is_filled=query.is_filled)
    return TextAnswer("", tuple(lines), "\n".join("".join(text for text, _ in each).rstrip() for each in lines))


def _said(text: str) -> TextAnswer:
    return TextAnswer("", (line(span(text, "dim")),), text)


def matrix(copies: Copies, width: int, height: int, *, is_filled: bool) -> list[Line]:
    """The lines: a head, a row for each sender, what each receives in all, and the ramp where there is room."""
    rows = _shown(copies.ends(0), max(height - 2, 1))
    columns = _shown(copies.ends(1), max((width - NAMES - CELL) // CELL, 1))
    table: Counter[tuple[int, int]] = Counter()
    for (sender, receiver), amount in copies.table.items():
        table[sender if sender in rows else REST, receiver if receiver in columns else REST] += amount
    most = max(table.values())
    unit = "bytes" if copies.are_bytes else "copies"
    head = [span(unit.ljust(NAMES), "dim")]
    head += [span(f"{_name(each, copies.ends(1), columns):>{CELL - 1}} ", "heading") for each in columns]
    lines = [line(*head, span("sends".rjust(CELL), "dim"))]
    for sender in rows:
        cells = [_cell(copies, table[sender, each], most, is_filled=is_filled) for each in columns]
        total = copies.text(sum(table[sender, each] for each in columns)).rjust(CELL)
        lines.append(line(span(_name(sender, copies.ends(0), rows).ljust(NAMES), "heading"), *cells, span(total)))
    totals = [span(f"{copies.text(sum(table[each, to] for each in rows)):>{CELL - 1}} ") for to in columns]
    lines.append(line(span("gets".ljust(NAMES), "dim"), *totals, span(copies.text(copies.total).rjust(CELL), "strong")))
    if is_filled and height >= len(lines) + 2 and width >= 30:
        lines += [(), scale("0", copies.text(most))]
    return lines


def _shown(amounts: Counter[int], room: int) -> list[int]:
    """All brokers by id; where there are more than have room the heaviest, then the rest."""
    if len(amounts) <= room:
        return sorted(amounts)
    return [broker for broker, _ in amounts.most_common(room - 1)] + [REST]


def _name(broker: int, amounts: Counter[int], shown: Sequence[int]) -> str:
    if broker == REST:
        return f"+{len(amounts) - len(shown) + 1:,}"
    return f"b{broker}" if broker >= 0 else "nobody"


def _cell(copies: Copies, amount: int, most: int, *, is_filled: bool) -> Span:
    text = copies.text(amount).rjust(CELL - 1) + " "
    return span(text, heat(amount / most) if amount else "cell-none" if is_filled else "dim")
