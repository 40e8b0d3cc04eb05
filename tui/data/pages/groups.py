"""The list of consumer groups and one group's facts. Who owns what within a group is shown by `ownership`."""

from collections.abc import Sequence

import numpy as np

from model.consumers.group_counts import GroupCounts, group_counts
from model.consumers.ownership import subscribed_topics
from model.sources.feed import Moment
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Listing, Memory, place_in, window
from tui.data.pages.sheets import Sheet
from tui.rows import Column, Line, Row, Window, line, span

COLUMNS = (
    Column("group", -16, "<", "group"),
    Column("members", 7, ">", "members"),
    Column("threads", 7, ">", "threads"),
    Column("topics", 6, ">", "topics"),
    Column("owned", 6, ">", "owned"),
    Column("unowned", 7, ">", "unowned"),
    Column("idle", 5, ">", "idle"),
    Column("lag", 9, ">", "lag"),
)


def counts_of(moment: Moment, name: str, memory: Memory) -> GroupCounts:
    """A group's counts, made anew only when they may differ."""
    made_from = group_facts(moment, name)
    image, ends = moment.image, moment.findings.log_end_offsets
    return memory.recall(f"counts of {name}", made_from, lambda: group_counts(image.groups[name], image, ends))


def group_facts(moment: Moment, name: str) -> tuple[object, ...]:
    """What the counts and the graph of a group depend on: the group, log ends, and which partitions there are."""
    image = moment.image
    group = image.groups[name]
    partitions = (topic.partitions for topic in subscribed_topics(group, image))
    return (group, moment.findings.log_end_offsets, image.admin.delete_topics, *partitions)


def groups_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """All groups, by name."""
    names = sorted(moment.image.groups)
    counts = [counts_of(moment, name, memory) for name in names]
    listing = Listing(
        count=len(names),
        fields=lambda: _fields(names, counts),
        shown=("group",),
        row=lambda index: _row(names[index], counts[index]),
        place=place_in(names),
        columns=COLUMNS,
        made_from=(*counts,),
        nothing="no ZooKeeper consumer groups",
    )
    return window(listing, query, memory, now_ms)


def _fields(names: Sequence[str], counts: Sequence[GroupCounts]) -> dict[str, Field]:
    def column(name: str) -> Numbers:
        numbers: list[int | None] = [getattr(one, name) for one in counts]
        return Numbers(np.array([-1 if number is None else number for number in numbers], np.int64))

    return {
        "group": Texts(lambda: names),
        "members": column("members"),
        "threads": column("threads"),
        "topics": column("topics"),
        "owned": column("owned"),
        "unowned": column("unowned"),
        "idle": column("idle_threads"),
        "dead": column("dead_threads"),
        "lag": column("lag"),
    }


def _row(name: str, one: GroupCounts) -> Row:
    return Row(
        key=name,
        cells=(
            line(name),
            line(span(f"{one.members:,}", "" if one.members else "dim")),
            line(f"{one.threads:,}"),
            line(f"{one.topics:,}"),
            line(f"{one.owned:,}"),
            line(span(f"{one.unowned:,}", "warn" if one.unowned and one.members else "dim")),
            line(span(f"{one.idle_threads:,}", "changed" if one.idle_threads else "dim")),
            lag_cell(one.lag),
        ),
        mark="X" if one.dead_threads else "!" if one.unowned and one.members else "",
    )


def lag_cell(lag: int | None) -> Line:
    """Records behind; a dash where that is not known."""
    return line(span("-", "dim") if lag is None else span(f"{lag:,}", "number"))


def group_text(moment: Moment, query: TextQuery, memory: Memory) -> TextAnswer:
    """Everything known about the group whose name is the key."""
    sheet = Sheet(f"group {query.key}", query.width)
    group = moment.image.groups.get(query.key)
    if group is None:
        return sheet.say("there is no such group (any more)", "warn").answer()
    one = counts_of(moment, query.key, memory)
    sheet.fact("znode", f"/consumers/{query.key}")
    sheet.fact("topics", ", ".join(topic.name for topic in subscribed_topics(group, moment.image)) or "none")
    sheet.fact("threads", f"{one.threads:,} in {one.members:,} members, {one.idle_threads:,} of them idle")
    sheet.fact("partitions", f"{one.owned:,} owned, {one.unowned:,} owned by nobody")
    sheet.fact(
        "lag", "not known: the ends of the logs are not in ZooKeeper" if one.lag is None else f"{one.lag:,} records"
    )
    for name, member in sorted(group.members.items()):
        subscription = ", ".join(f"{topic} x{threads}" for topic, threads in sorted(member.subscription.items()))
        sheet.fact("member", f"{name}  {member.pattern}  {subscription}")
    for found in moment.findings.found:
        if found.subject == f"group {query.key}":
            sheet.gap().fact(found.severity, found.what, found.severity).fact("", found.action)
    return sheet.answer()
