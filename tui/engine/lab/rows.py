"""The lists of the lab: groups, strategies side by side, consumers, and partitions with who gets each, and why."""

import numpy as np

from model.analyses.previews.lab import Comparison
from model.analyses.previews.result import Figures, StrategyPreview
from model.consumers.assignors.group import NOBODY
from model.consumers.assignors.reasons import why
from model.consumers.ownership import no_groups, not_previewed
from tui.engine.analysis import AnalysisAnswer
from tui.engine.filters import Field, Numbers, Texts
from tui.engine.lab.queries import LabList, LabPartitionText
from tui.engine.lab.trial import (
    Preview,
    Shares,
    Tried,
    apart,
    figures_tried,
    made_up_keys,
    nothing,
    preview_of,
    previews,
    shares_of,
    tried,
)
from tui.engine.listing import Listing, Memory, place_in
from tui.engine.messages import TextAnswer
from tui.engine.rows import Column, Line, Row, line, span
from tui.engine.sheets import Sheet

GROUP_COLUMNS = (
    Column("group", -12, "<", "group"),
    Column("memb", 5, ">", "members"),
    Column("parts", 6, ">", "partitions"),
    Column("idle", 4, ">", "idle"),
    Column("spread", 7, ">", "spread"),
    Column("lag", 8, ">", "lag"),
    Column("uses", 12, "<", "uses"),
)


def lab_groups(look: AnalysisAnswer, *_: object) -> Listing:
    """Every group that strategies apply to; `spread` is that of now, and the least that a strategy comes to."""
    found = previews(look)
    made_up = made_up_keys(look)
    keys = [one.names.key for one in found]

    def fields() -> dict[str, Field]:
        return {
            "group": Texts(lambda: keys),
            "uses": Texts(lambda: [one.names.uses or "" for one in found]),
            "members": _numbers([one.figures.now.members for one in found]),
            "partitions": _numbers([one.names.partitions for one in found]),
            "lag": _numbers([-1 if one.names.lag is None else one.names.lag for one in found]),
            "idle": _numbers([one.figures.now.idle for one in found]),
            "spread": _numbers([one.figures.now.spread for one in found]),
        }

    return Listing(
        count=len(found),
        fields=fields,
        shown=("group", "uses"),
        row=lambda index: _group_row(found[index], is_made_up=keys[index] in made_up),
        place=place_in(keys),
        columns=GROUP_COLUMNS,
        made_from=(look.result,),
        nothing=look.note or not_previewed(look.image) or no_groups(look.image),
    )


def _numbers(values: list[int]) -> Numbers:
    return Numbers(np.array(values, np.int64))


def _group_row(one: Preview, *, is_made_up: bool) -> Row:
    now = one.figures.now
    return Row(
        key=one.names.key,
        cells=(
            line(span(one.names.key, "added" if is_made_up else "")),
            line(f"{now.members:,}"),
            line(f"{one.names.partitions:,}"),
            line(span(f"{now.idle:,}", "warn" if now.idle else "dim")),
            _spread(now, min((s.rebalanced.spread for s in one.figures.strategies if s.rebalanced), default=None)),
            line(span("-" if one.names.lag is None else f"{one.names.lag:,}", "dim" if not one.names.lag else "")),
            line(span(one.names.uses or "?", "" if one.names.uses else "dim")),
        ),
        mark="?" if is_made_up else "!" if now.idle or now.unowned else "",
    )


def _spread(now: Figures, best: int | None) -> Line:
    if best is None or best == now.spread:
        return line(span(f"{now.spread:,}", "dim"))
    return line(span(f"{now.spread:,}>", "dim"), span(f"{best:,}", "changed"))


STRATEGY_COLUMNS = (
    Column("strategy", -18, "<", "strategy"),
    Column("idle", 4, ">"),
    Column("each", 7, ">"),
    Column("most lag", 9, ">"),
    Column("moves", 9, ">"),
)
"""`each`: fewest to most partitions of a member; `moves`: and the fewest that are possible for that balance."""
OF_THE_GROUP_AS_IT_IS = (Column("1 dies", 6, ">"), Column("1 joins", 7, ">"))
"""The partitions that change hands when the worst consumer dies, and when one joins. Not shown beside figures of a
group of which one has died, or that some have joined, on the trial."""


def lab_strategies(look: AnalysisAnswer, query: LabList, _: int, memory: Memory) -> Listing:
    """For the group in `scope`, after what happens to it on the trial."""
    found = preview_of(look, query.scope)
    rows = found.figures.strategies if found else ()
    tried = figures_tried(found, look, query.trial, memory) if found else ()
    is_as_it_is = not query.trial.leaves and not query.trial.joins
    names = [one.strategy for one in rows]
    return Listing(
        count=len(rows),
        fields=lambda: {"strategy": Texts(lambda: names)},
        shown=("strategy",),
        row=lambda index: _strategy_row(found, rows[index], tried[index], is_as_it_is=is_as_it_is),
        place=place_in(names),
        columns=(*STRATEGY_COLUMNS, *OF_THE_GROUP_AS_IT_IS) if is_as_it_is else STRATEGY_COLUMNS,
        made_from=(look.result, query.scope, query.trial.leaves, query.trial.joins),
        nothing=look.note or "choose a group",
    )


def _strategy_row(found: Preview | None, one: StrategyPreview, figures: Figures | None, *, is_as_it_is: bool) -> Row:
    used = found is not None and found.names.uses == one.strategy
    name = line(span(one.strategy, "leader" if used else ""))
    if figures is None:
        return Row(one.strategy, (name, *(line(span("-", "dim")) for _ in range(3)), line("refuses")))
    cells = [
        name,
        line(span(f"{figures.idle:,}", "warn" if figures.idle else "dim")),
        line(f"{figures.partitions_min:,}-{figures.partitions_max:,}"),
        line(span("-" if figures.lag_max is None else f"{figures.lag_max:,}", "dim")),
        _moves(figures),
    ]
    if is_as_it_is:
        cells += [_leave(one), line(span("-", "dim")) if one.joined is None else line(f"{one.joined.moves:,}")]
    return Row(one.strategy, tuple(cells), mark="*" if used else "")


def _moves(figures: Figures) -> Line:
    style = "ok" if figures.moves <= figures.moves_lower_bound else "changed"
    return line(span(f"{figures.moves:,}", style), span(f" of {figures.moves_lower_bound:,}", "dim"))


def _leave(one: StrategyPreview) -> Line:
    if one.worst_leave is None:
        return line(span("-", "dim"))
    return line(span(f"{one.worst_leave.figures.moves + one.worst_leave.handed_on:,}", ""))


CONSUMER_COLUMNS = (
    Column("consumer", -14, "<", "consumer"),
    Column("has", 6, ">"),
    Column("gets", 6, ">"),
    Column("lag", 9, ">"),
    Column("then", 9, ">"),
    Column("", 12),
)
BAR = 12
NARROW = 30
"""Cells below which only the names are in sight, and what tells them apart is all of them that fits."""


def lab_consumers(look: AnalysisAnswer, query: LabList, _: int, memory: Memory) -> Listing:
    """Of the group in `scope`; who joins comes last. K lets the one under the cursor die."""
    one = tried(look, query.scope, query.trial, memory)
    shares = None if one is None else shares_of(one)
    if one is None or shares is None:
        return nothing(look, one)
    consumers, there = shares.consumers, len(one.names.consumers)
    shown = apart(consumers) if query.width < NARROW else consumers
    most = max(int(shares.right.partitions.max(initial=1)), 1)
    return Listing(
        count=len(consumers),
        fields=lambda: {"consumer": Texts(lambda: consumers)},
        shown=("consumer",),
        row=lambda index: _consumer_row(
            shares, index, shown[index], most, joins=index >= there, dies=consumers[index] == query.trial.leaves
        ),
        place=place_in(consumers),
        columns=CONSUMER_COLUMNS,
        made_from=(one,),
        nothing="nobody is in this group",
    )


def _consumer_row(shares: Shares, index: int, shown: str, most: int, *, joins: bool, dies: bool) -> Row:
    (has, lag), (gets, then) = (tuple(int(each[index]) for each in share) for share in (shares.has, shares.right))
    name, style = shares.consumers[index], "added" if joins else "dead" if dies else ""
    return Row(
        key=name,
        cells=(
            line(span(shown, style)),
            line(span(f"{has:,}", "dim")),
            line(span(f"{gets:,}", "dim" if gets == has else "changed" if gets else "warn")),
            line(span(f"{lag:,}" if shares.is_lag_known else "-", "dim")),
            line(span(f"{then:,}" if shares.is_lag_known else "-", "dim" if then == lag else "changed")),
            _bar(gets, most),
        ),
        mark="+" if joins else "X" if dies else "",
    )


def _bar(number: int, most: int) -> Line:
    return line(span("#" * round(BAR * number / most), "info"))


OWNERS = 18
"""Cells of a member's name; its end tells it apart."""


def lab_partitions(look: AnalysisAnswer, query: LabList, _: int, memory: Memory) -> Listing:
    """Of the group in `scope`: those that the strategy tried moves come first."""
    one = tried(look, query.scope, query.trial, memory)
    if one is None or one.comparison is None:
        return nothing(look, one)
    compared = one.comparison
    moved = set(compared.moves_right.tolist())
    order = [*sorted(moved), *(place for place in range(len(compared.partition)) if place not in moved)]
    names = [_name(compared, place) for place in order]
    return Listing(
        count=len(order),
        fields=lambda: {"partition": Texts(lambda: names), "gets": Texts(lambda: _owners(compared, order))},
        shown=("partition", "gets"),
        row=lambda index: _partition_row(one, compared, order[index], names[index], order[index] in moved),
        place=place_in(names),
        columns=_partition_columns(one),
        made_from=(one,),
        nothing="this group reads nothing",
    )


def lab_partition_text(look: AnalysisAnswer, query: LabPartitionText, _: int, memory: Memory) -> TextAnswer:
    """Why the partition in `key`, `GROUP\\tTOPIC-N`, goes where it goes."""
    name = query.key
    sheet = Sheet(name, query.width)
    one = tried(look, query.group, query.trial, memory)
    if one is None or one.comparison is None:
        return sheet.say(one.refused if one else look.note).answer()
    compared = one.comparison
    place = next((place for place in range(len(compared.partition)) if _name(compared, place) == name), None)
    if place is None:
        return sheet.say("the group does not read this partition").answer()
    for title, owner in (("has", compared.before), (one.left, compared.left), (one.right, compared.right)):
        sheet.fact(title, _owner(compared, int(owner[place])))
    lag = int(compared.lag[place])
    sheet.fact("lag", f"{lag:,} records" if lag >= 0 else "not known").gap().say(_why(one, place))
    return (sheet.gap().say(one.differs) if one.differs else sheet).answer()


def _partition_columns(one: Tried) -> tuple[Column, ...]:
    in_use = () if one.left == one.right else (Column(one.left[:OWNERS], OWNERS),)
    return (
        Column("partition", -12, "<", "partition"),
        Column("has", OWNERS),
        Column(one.right[:OWNERS], OWNERS),
        *in_use,
        Column("why", -20),
        Column("lag", 8, ">"),
    )


def _partition_row(one: Tried, compared: Comparison, place: int, name: str, moves: bool) -> Row:
    lag, before = int(compared.lag[place]), int(compared.before[place])
    owners = (compared.right,) if one.left == one.right else (compared.right, compared.left)
    cells = (
        line(name),
        line(span(_short(_owner(compared, before)), "dim")),
        *(_cell(compared, int(owner[place]), before) for owner in owners),
        line(span(_why(one, place), "dim")),
        line(span(f"{lag:,}" if lag >= 0 else "-", "dim")),
    )
    return Row(name, cells, mark="~" if moves else "")


def _cell(compared: Comparison, owner: int, before: int) -> Line:
    style = "error" if owner == NOBODY else "dim" if owner == before else "changed"
    return line(span(_short(_owner(compared, owner)), style))


def _why(one: Tried, place: int) -> str:
    assert one.comparison is not None
    assert one.outcome is not None
    topic = one.comparison.topics[int(one.comparison.topic[place])]
    try:
        return why(one.outcome, topic, int(one.comparison.partition[place]))
    except KeyError:
        return "nobody subscribes to it any more"


def _name(compared: Comparison, place: int) -> str:
    return f"{compared.topics[int(compared.topic[place])]}-{int(compared.partition[place])}"


def _owners(compared: Comparison, order: list[int]) -> list[str]:
    return [_owner(compared, int(compared.right[place])) for place in order]


def _owner(compared: Comparison, owner: int) -> str:
    return "nobody" if owner == NOBODY else compared.members[owner]


def _short(name: str) -> str:
    return name if len(name) <= OWNERS else ".." + name[2 - OWNERS :]
