"""The lists of the lab but for the matrix: groups, consumers, and partitions with who gets each, and why."""

from collections.abc import Mapping

from model.analyses.previews.lab import AssignmentComparison
from model.analyses.previews.result import AssignmentFigures
from model.consumers.assignors.assignment import why
from model.consumers.assignors.group import NOBODY
from model.consumers.ownership import no_groups, not_previewed
from tui.engine.consumers.names import JOINS, Short, readable
from tui.engine.filters import ListField, Texts, whole_numbers
from tui.engine.glyphs import bar
from tui.engine.jobs import AnalysisAnswer
from tui.engine.lab.pages import (
    ConsumerShares,
    Preview,
    Tried,
    made_up_keys,
    named_in,
    nothing,
    previews,
    shares_of,
    tried,
)
from tui.engine.listing import AnswerMemo, Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.queries import LabList, LabPartitionText
from tui.engine.rows import Column, Line, Row, line, span
from tui.engine.sheets import Sheet

GROUP_COLUMNS = (
    Column("group", -12, "<", "group"),
    Column("members", 7, ">", "members", rank=2),
    Column("partitions", 10, ">", "partitions", rank=2),
    Column("idle", 4, ">", "idle"),
    Column("spread", 7, ">", "spread", rank=1),
    Column("lag", 8, ">", "lag", rank=3),
    Column("uses", 12, "<", "uses", rank=4),
)


def lab_groups(look: AnalysisAnswer, *_: object) -> Listing:
    """Every group that strategies apply to; `spread` is that of now, and the least that a strategy comes to."""
    found = previews(look)
    made_up = made_up_keys(look)
    keys = [one.names.key for one in found]

    def fields() -> dict[str, ListField]:
        return {
            "group": Texts(lambda: keys),
            "uses": Texts(lambda: [one.names.uses or "" for one in found]),
            "members": whole_numbers(one.figures.now.members for one in found),
            "partitions": whole_numbers(one.names.partitions for one in found),
            "lag": whole_numbers(one.names.lag for one in found),
            "idle": whole_numbers(one.figures.now.idle for one in found),
            "spread": whole_numbers(one.figures.now.spread for one in found),
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


def _spread(now: AssignmentFigures, best: int | None) -> Line:
    if best is None or best == now.spread:
        return line(span(f"{now.spread:,}", "dim"))
    return line(span(f"{now.spread:,}>", "dim"), span(f"{best:,}", "changed"))


BAR = 8


def _consumer_columns(kind: str) -> tuple[Column, ...]:
    return (
        Column(kind, len(kind), "<", "consumer"),
        Column("host" if kind == "consumer" else "client id", -10, rank=3),
        Column("has", 4, ">", rank=1),
        Column("gets", 4, ">"),
        Column("", BAR, rank=2),
        Column("lag", 8, ">", rank=4),
        Column("then", 8, ">", rank=4),
    )


def lab_consumers(look: AnalysisAnswer, query: LabList, _: int, memory: AnswerMemo) -> Listing:
    """Of the group in `scope`; who joins comes last. K lets the one under the cursor leave."""
    one = tried(look, query.scope, query.trial, memory)
    shares = None if one is None else shares_of(one)
    if one is None or shares is None:
        return nothing(look, one)
    consumers, there = shares.consumers, len(one.names.consumers)
    named = named_in(one.names, consumers[there:]).consumers
    most = max(int(shares.right.partitions.max(initial=1)), 1)
    return Listing(
        count=len(consumers),
        fields=lambda: {
            "consumer": Texts(lambda: consumers),
            "name": Texts(lambda: [named[c].name for c in consumers]),
        },
        shown=("consumer", "name"),
        row=lambda index: _consumer_row(
            shares,
            index,
            named[consumers[index]],
            most,
            joins=index >= there,
            dies=consumers[index] == query.trial.leaves,
        ),
        place=place_in(consumers),
        columns=_consumer_columns("consumer" if one.names.is_zookeeper else "member"),
        made_from=(one,),
        nothing="nobody is in this group",
    )


def _consumer_row(shares: ConsumerShares, index: int, short: Short, most: int, *, joins: bool, dies: bool) -> Row:
    (has, lag), (gets, then) = (tuple(int(each[index]) for each in share) for share in (shares.has, shares.right))
    return Row(
        key=shares.consumers[index],
        cells=(
            line(span(short.name, "dead" if dies else short.hue)),
            line(span(readable(shares.consumers[index]).removeprefix(JOINS), "added" if joins else "dim")),
            line(span(f"{has:,}", "dim")),
            line(span(f"{gets:,}", "dim" if gets == has else "changed" if gets else "warn")),
            line(span(bar(gets / most, BAR), short.hue)),
            line(span(f"{lag:,}" if shares.is_lag_known else "-", "dim")),
            line(span(f"{then:,}" if shares.is_lag_known else "-", "dim" if then == lag else "changed")),
        ),
        mark="+" if joins else "X" if dies else "",
    )


def lab_partitions(look: AnalysisAnswer, query: LabList, _: int, memory: AnswerMemo) -> Listing:
    """Of the group in `scope`: those that the strategy tried moves come first."""
    one = tried(look, query.scope, query.trial, memory)
    if one is None or one.comparison is None:
        return nothing(look, one)
    compared = one.comparison
    moved = set(compared.moves_right.tolist())
    named = named_in(one.names).of(compared.members)
    order = [*sorted(moved), *(place for place in range(len(compared.partition)) if place not in moved)]
    names = [_name(compared, place) for place in order]
    return Listing(
        count=len(order),
        fields=lambda: {"partition": Texts(lambda: names), "gets": Texts(lambda: _owners(compared, order))},
        shown=("partition", "gets"),
        row=lambda index: _partition_row(one, named, order[index], names[index], order[index] in moved),
        place=place_in(names),
        columns=_partition_columns(one),
        made_from=(one,),
        nothing="this group reads nothing",
    )


def lab_partition_text(look: AnalysisAnswer, query: LabPartitionText, _: int, memory: AnswerMemo) -> TextAnswer:
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
    in_use = () if one.left == one.right else (Column(one.left, 6, rank=3),)
    return (
        Column("partition", -12, "<", "partition"),
        Column("has", 6),
        Column("gets", 6),
        Column("why", -20, rank=1),
        *in_use,
        Column("lag", 8, ">", rank=2),
    )


def _partition_row(one: Tried, named: Mapping[str, Short], place: int, name: str, moves: bool) -> Row:
    compared = one.comparison
    assert compared is not None
    lag, before = int(compared.lag[place]), int(compared.before[place])
    cells = (
        line(name),
        _cell(compared, named, before, before),
        _cell(compared, named, int(compared.right[place]), before),
        line(span(_shortened(_why(one, place), named), "dim")),
        *(() if one.left == one.right else (_cell(compared, named, int(compared.left[place]), before),)),
        line(span(f"{lag:,}" if lag >= 0 else "-", "dim")),
    )
    return Row(name, cells, mark="~" if moves else "")


def _cell(compared: AssignmentComparison, named: Mapping[str, Short], owner: int, before: int) -> Line:
    """Whoever it is, in the own hue; who was not the owner before in a filled cell."""
    if owner == NOBODY:
        return line(span("nobody", "error"))
    short = named[compared.members[owner]]
    return line(span(short.name, short.hue if owner == before else short.moved))


def _shortened(text: str, named: Mapping[str, Short]) -> str:
    """With short names in place of full ones."""
    for name in sorted(named, key=len, reverse=True):
        text = text.replace(name, named[name].name)
    return text


def _why(one: Tried, place: int) -> str:
    assert one.comparison is not None
    assert one.outcome is not None
    topic = one.comparison.topics[int(one.comparison.topic[place])]
    try:
        return why(one.outcome, topic, int(one.comparison.partition[place]))
    except KeyError:
        return "nobody subscribes to it any more"


def _name(compared: AssignmentComparison, place: int) -> str:
    return f"{compared.topics[int(compared.topic[place])]}-{int(compared.partition[place])}"


def _owners(compared: AssignmentComparison, order: list[int]) -> list[str]:
    return [_owner(compared, int(compared.right[place])) for place in order]


def _owner(compared: AssignmentComparison, owner: int) -> str:
    return "nobody" if owner == NOBODY else compared.members[owner]
