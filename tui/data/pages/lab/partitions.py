"""The partitions of one group: who has each now, who gets it by the strategy in use and by the one tried, and why."""

from model.consumers.assignors.explanations import why
from model.consumers.assignors.group import NOBODY
from spark_tasks.previews.lab import Comparison
from tui.data.analyses.look import Look
from tui.data.fields import Texts
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.lab.bench import Tried, nothing, tried
from tui.data.pages.listing import Listing, Memory, place_in
from tui.data.pages.sheets import Sheet
from tui.rows import Column, Line, Row, line, span

OWNERS = 18
"""Cells of a member's name; its end tells it apart."""


def lab_partitions(look: Look, query: ListQuery, memory: Memory) -> Listing:
    """Of the group in `scope`: those that the strategy tried moves come first."""
    one = tried(look, query.scope, query.bench, memory)
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
        row=lambda index: _row(one, compared, order[index], names[index], order[index] in moved),
        place=place_in(names),
        columns=_columns(one),
        made_from=(one,),
        nothing="this group reads nothing",
    )


def lab_partition_text(look: Look, query: TextQuery, memory: Memory) -> TextAnswer:
    """Why the partition in `key`, `GROUP\\tTOPIC-N`, goes where it goes."""
    group, _, name = query.key.partition("\t")
    sheet = Sheet(name, query.width)
    one = tried(look, group, query.bench, memory)
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


def _columns(one: Tried) -> tuple[Column, ...]:
    in_use = () if one.left == one.right else (Column(one.left[:OWNERS], OWNERS),)
    return (
        Column("partition", -12, "<", "partition"),
        Column("has", OWNERS),
        Column(one.right[:OWNERS], OWNERS),
        *in_use,
        Column("why", -20),
        Column("lag", 8, ">"),
    )


def _row(one: Tried, compared: Comparison, place: int, name: str, moves: bool) -> Row:
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
