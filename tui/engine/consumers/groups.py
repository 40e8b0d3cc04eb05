"""The list of consumer groups of both kinds, and everything known of one group.

Who coordinates it, its members, where it stands, how it was rebalanced. Who owns what is in `ownership`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan, nan
from typing import NamedTuple, Protocol

import msgspec

from model.cluster.changes import rebalance_text
from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import SHARE, ZOOKEEPER, GroupImage, Rebalance
from model.cluster.texts import ranges
from model.consumers.ownership import GroupCounts, group_counts, no_groups, subscribed_topics
from model.sandbox.messages import GroupView
from model.sources.feed import Moment
from tui.engine.consumers.names import naming
from tui.engine.filters import ListField, Numbers, Texts, whole_numbers
from tui.engine.glyphs import bar, sparks
from tui.engine.listing import AnswerMemo, Listing, place_in, window
from tui.engine.messages import TextAnswer
from tui.engine.queries import GroupList, GroupText
from tui.engine.rows import Column, Line, Row, Window, line, span
from tui.engine.sheets import Sheet, clock_text

BAR = 8
REST = "░"
COLUMNS = (
    Column("group", -14, "<", "group"),
    Column("state", -11, "<", "state", rank=1),
    Column("unowned", 7, ">", "unowned"),
    Column("idle", 4, ">", "idle"),
    Column("lag", 9, ">", "lag"),
    Column("", BAR, rank=2),
    Column("owned", 6, ">", "owned", rank=3),
    Column("", BAR, rank=3),
    Column("threads", 7, ">", "threads", rank=3),
    Column("", BAR, rank=4),
    Column("members", 7, ">", "members", rank=3),
    Column("topics", 6, ">", "topics", rank=5),
    Column("kind", 9, "<", "kind", rank=4),
)
"""What is wrong first. Bars: lag, on the scale of the largest; of partitions those owned, of threads those busy."""
LAG_BAR = 5
SPARKS = 20
TEN_MINUTES = Column("10 min", SPARKS, rank=1)
"""The lag of the last ten minutes, where somebody counted it."""


class LagsSeen(Protocol):
    """What was counted lately."""

    def lag(self, group: str = "") -> Sequence[float]:
        """Records that a group was behind, by its key, oldest first; NaN where that is not known."""
        ...


class Listed(NamedTuple):
    """A row."""

    key: str
    group: GroupImage
    counts: GroupCounts
    trouble: str
    """What its members say is wrong."""

    @property
    def state(self) -> str:
        """As the coordinator says; of a ZooKeeper group what its members say, or else whether it rebalances."""
        return self.trouble or self.group.state or ("rebalancing" if is_rebalancing(self.group) else "")


def is_rebalancing(group: GroupImage) -> bool:
    """Whether the last rebalance that was seen is under way."""
    return bool(group.rebalances) and group.rebalances[-1].took_ms is None


def trouble_of(key: str, said: Sequence[GroupView]) -> str:
    """What ZooKeeper does not have: that two members read one partition, that one is out of tries. Empty: neither."""
    one = next((each for each in said if each.name == key), None)
    if one is None:
        return ""
    return "split brain" if one.owned_twice else "gave up" if one.given_up else ""


def undescribed(group: GroupImage) -> str:
    """Why nothing is known of a group but its name and state."""
    return f"kdrill lists {group.kind} groups and cannot describe them"


def counts_of(moment: Moment, key: str, group: GroupImage, memory: AnswerMemo) -> GroupCounts:
    """A group's counts, made anew only when they may differ."""
    return memory.recall(
        f"counts of {key}", group_facts(moment.image, group), lambda: group_counts(group, moment.image)
    )


def group_facts(image: ClusterImage, group: GroupImage) -> tuple[object, ...]:
    """What the counts and the graph of a group depend on: the group, log ends, and which partitions there are."""
    partitions = (topic.partitions for topic in subscribed_topics(group, image))
    return (group, image.log_ends, image.admin.delete_topics, *partitions)


def groups_window(
    moment: Moment,
    query: GroupList,
    now_ms: int,
    memory: AnswerMemo,
    recent: LagsSeen | None = None,
    said: Sequence[GroupView] = (),
) -> Window:
    """All groups of both kinds, by name; with the lag of the last ten minutes, if that was counted.

    `said`: what members of a sandbox's groups say of themselves.
    """
    groups = sorted(moment.image.every_group())
    listed = [Listed(key, group, counts_of(moment, key, group, memory), trouble_of(key, said)) for key, group in groups]
    most = max((one.counts.lag or 0 for one in listed), default=0)
    listing = Listing(
        count=len(listed),
        fields=lambda: _fields(listed),
        shown=("group", "kind", "state"),
        row=lambda index: _with_lags(_row(listed[index], most), recent),
        place=place_in([one.key for one in listed]),
        columns=COLUMNS if recent is None else (*COLUMNS[: LAG_BAR + 1], TEN_MINUTES, *COLUMNS[LAG_BAR + 1 :]),
        made_from=tuple(part for one in listed for part in (one.group, one.counts, one.trouble)),
        nothing=no_groups(moment.image),
    )
    return window(listing, query, memory, now_ms)


def _with_lags(row: Row, recent: LagsSeen | None) -> Row:
    """The row with the sparks of its group's lag behind the lag's bar."""
    if recent is None:
        return row
    lags = recent.lag(row.key)
    edges = [len(lags) * each // SPARKS for each in range(SPARKS + 1)]
    most = [max((lag for lag in lags[a:b] if not isnan(lag)), default=nan) for a, b in pairwise(edges)]
    drawn = line(span(sparks(most, SPARKS), "number"))
    return msgspec.structs.replace(row, cells=(*row.cells[: LAG_BAR + 1], drawn, *row.cells[LAG_BAR + 1 :]))


def _fields(listed: Sequence[Listed]) -> dict[str, ListField]:
    def column(name: str) -> Numbers:
        numbers: list[int | None] = [getattr(one.counts, name) for one in listed]
        return whole_numbers(numbers)

    return {
        "group": Texts(lambda: [one.key for one in listed]),
        "kind": Texts(lambda: [one.group.kind for one in listed]),
        "state": Texts(lambda: [one.state for one in listed]),
        "members": column("members"),
        "threads": column("threads"),
        "topics": column("topics"),
        "owned": column("owned"),
        "unowned": column("unowned"),
        "idle": column("idle_threads"),
        "dead": column("dead_threads"),
        "lag": column("lag"),
    }


def _counts(one: GroupCounts, most: int) -> list[Line]:
    return [
        line(span(f"{one.unowned:,}", "warn" if one.unowned and one.members else "dim")),
        line(span(f"{one.idle_threads:,}", "warn" if one.idle_threads else "dim")),
        lag_cell(one.lag),
        line(span(bar(one.lag / most if one.lag and most else 0, BAR), "number")),
        line(f"{one.owned:,}"),
        _part(one.owned, one.unowned, "error" if one.members else "dim"),
        line(f"{one.threads:,}"),
        _part(one.threads - one.idle_threads, one.idle_threads, "warn"),
        line(span(f"{one.members:,}", "" if one.members else "dim")),
        line(f"{one.topics:,}"),
    ]


def _part(good: int, bad: int, style: str) -> Line:
    """A calm bar of the good ones among all; the rest of it is hatched, a cell at least."""
    whole = good + bad
    shown = bar(good / whole if whole else 0, BAR).rstrip()[: BAR - bool(bad)]
    return line(span(shown, "rule"), span(REST * (BAR - len(shown)) if bad else "", style))


def _row(listed: Listed, most: int) -> Row:
    one = listed.counts
    state = listed.state.removesuffix("Rebalance")
    return Row(
        key=listed.key,
        cells=(
            line(listed.key),
            line(span(state, "warn" if listed.trouble else "changed" if is_rebalancing(listed.group) else "")),
            *(_counts(one, most) if listed.group.is_described else [line(span("?", "dim"))] * 10),
            line(span(listed.group.kind, "dim")),
        ),
        mark="X" if one.dead_threads else "!" if (one.unowned and one.members) or listed.trouble else "",
    )


def lag_cell(lag: int | None) -> Line:
    """Records behind; a dash where that is not known."""
    return line(span("-", "dim") if lag is None else span(f"{lag:,}", "number"))


PARTITIONS_SHOWN = 200


def group_text(
    moment: Moment, query: GroupText, _: int, memory: AnswerMemo, said: Sequence[GroupView] = ()
) -> TextAnswer:
    """Of the group whose key is asked for; `said` as in `groups_window`."""
    sheet = Sheet(f"group {query.key}", query.width)
    group = moment.image.group(query.key)
    if group is None:
        return sheet.say("there is no such group (any more)", "warn").answer()
    one = Listed(query.key, group, counts_of(moment, query.key, group, memory), trouble_of(query.key, said))
    _facts(sheet, one, moment.image)
    named = naming(group.members, is_threaded=group.kind == ZOOKEEPER)
    for name, member in sorted(group.members.items()):
        subscription = ", ".join(f"{topic} x{threads}" for topic, threads in sorted(member.subscription.items()))
        parts = (name, member.instance_id or "", member.host, member.pattern if not member.host else "", subscription)
        sheet.fact(named.consumers[name].name, "  ".join(part for part in parts if part))
        topics: dict[str, list[int]] = {}
        for topic, number in member.reads:
            topics.setdefault(topic, []).append(number)
        if topics:
            sheet.fact("", f"reads {'  '.join(f'{topic} {ranges(numbers)}' for topic, numbers in topics.items())}")
    for found in moment.findings.found:
        if found.subject == f"group {query.key}":
            sheet.gap().fact(found.severity, found.what, found.severity).fact("", found.action)
    shorts = {owner: short.name for owner, short in named.of(sorted(_owners(group))).items()}
    _said(sheet, moment, f"group {query.key}")
    _rebalances(sheet, group, shorts)
    _positions(sheet, group, moment.image, shorts)
    return sheet.answer()


_NO_LAG = {
    ZOOKEEPER: ": the ends of the logs are not in ZooKeeper",
    SHARE: ": a share group commits no offsets, its coordinator keeps what is acknowledged",
}


def _facts(sheet: Sheet, listed: Listed, image: ClusterImage) -> None:
    group, one = listed.group, listed.counts
    if group.kind == ZOOKEEPER:
        sheet.fact("znode", f"/consumers/{group.name}")
        sheet.fact("state", listed.state or "at rest", "warn" if listed.trouble else "")
    else:
        at = "nobody" if group.coordinator is None else f"b{group.coordinator}"
        generation = "" if group.generation is None else f", generation {group.generation}"
        protocol = ", ".join(part for part in (group.protocol_type or "commits only", group.protocol) if part)
        sheet.fact("kind", f"{group.kind}, coordinated by {at}")
        if not group.is_described:
            sheet.fact("state", group.state).fact("members", f"not known: {undescribed(group)}", "warn")
            return
        sheet.fact("state", f"{group.state}{generation}").fact("protocol", protocol)
    sheet.fact("topics", ", ".join(topic.name for topic in subscribed_topics(group, image)) or "none")
    idle = f"{one.idle_threads:,} of them idle"
    if group.kind == ZOOKEEPER:
        sheet.fact("threads", f"{one.threads:,} in {one.members:,} consumers, {idle}")
    else:
        sheet.fact("members", f"{one.members:,}, {idle}")
    held = "read" if group.kind == SHARE else "owned"
    sheet.fact("partitions", f"{one.owned:,} {held}, {one.unowned:,} {held} by nobody")
    unknown = f"not known{_NO_LAG.get(group.kind, '')}"
    sheet.fact("lag", unknown if one.lag is None else f"{one.lag:,} records")


def _owners(group: GroupImage) -> set[str]:
    """Everybody who owns something, or did in a rebalance that was seen."""
    past = (owner for each in group.rebalances for moved in (each.gained, each.lost) for owner in moved)
    return {*group.owners.values(), *past}


SAID_SHOWN = 8


def _said(sheet: Sheet, moment: Moment, subject: str) -> None:
    """Of a sandbox's group, what its members say: that all stop, that two read one partition, that one gave up."""
    said = [one for one in moment.feed if one.kind == "sandbox-group" and one.subject == subject]
    if said:
        sheet.gap().say("what its members say, newest first", "dim")
        for one in reversed(said[-SAID_SHOWN:]):
            sheet.fact(clock_text(one.time_ms), one.text, "warn")


def _rebalances(sheet: Sheet, group: GroupImage, shorts: Mapping[str, str]) -> None:
    if not group.rebalances:
        return
    sheet.gap().say("rebalances that were seen, newest first", "dim")
    for past in reversed(group.rebalances):
        sheet.fact(clock_text(past.at_ms), rebalance_text(past), "changed" if past.took_ms is None else "")
        for text in _moves(past, shorts):
            sheet.fact("", text, "dim")


def _moves(past: Rebalance, shorts: Mapping[str, str]) -> Iterator[str]:
    for sign, moved in (("+", past.gained), ("-", past.lost)):
        for owner, reads in moved.items():
            topics: dict[str, list[int]] = {}
            for topic, number in reads:
                topics.setdefault(topic, []).append(number)
            owned = "  ".join(f"{topic} {ranges(sorted(numbers))}" for topic, numbers in topics.items())
            yield f"{sign} {shorts[owner]}: {owned}"


def _positions(sheet: Sheet, group: GroupImage, image: ClusterImage, shorts: Mapping[str, str]) -> None:
    """A line for each partition, as `kafka-consumer-groups --describe` has it."""
    reads = sorted(group.offsets.keys() | group.owners.keys())
    if not reads:
        return
    width = min(max(len(str(read)) for read in reads[:PARTITIONS_SHOWN]), 40)
    sheet.gap().draw(span(f"{'partition':{width}} {'offset':>12} {'log end':>12} {'lag':>10}  owner", "dim"))
    for read in reads[:PARTITIONS_SHOWN]:
        offset, end = group.offsets.get(read), image.log_ends.get(read)
        lag = None if offset is None or end is None else max(end - offset, 0)
        cells = " ".join(f"{_number(number):>{cells}}" for number, cells in ((offset, 12), (end, 12), (lag, 10)))
        owner = group.owners.get(read)
        sheet.draw(f"{read!s:{width}} {cells}  ", "-" if owner is None else shorts[owner])
    if len(reads) > PARTITIONS_SHOWN:
        sheet.say(f"and {len(reads) - PARTITIONS_SHOWN:,} partitions more", "dim")


def _number(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
