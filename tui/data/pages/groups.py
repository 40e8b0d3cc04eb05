"""The list of consumer groups of both kinds. One group's facts are in `group_text`; who owns what, in `ownership`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import GroupImage
from model.consumers.group_counts import GroupCounts, group_counts
from model.consumers.no_groups import no_groups
from model.consumers.ownership import subscribed_topics
from model.sources.feed import Moment
from tui.data.fields import Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory, place_in, window
from tui.rows import Column, Line, Row, Window, line, span

COLUMNS = (
    Column("group", -14, "<", "group"),
    Column("kind", 9, "<", "kind"),
    Column("state", 11, "<", "state"),
    Column("members", 7, ">", "members"),
    Column("owned", 5, ">", "owned"),
    Column("unowned", 7, ">", "unowned"),
    Column("idle", 4, ">", "idle"),
    Column("lag", 9, ">", "lag"),
    Column("threads", 7, ">", "threads"),
    Column("topics", 6, ">", "topics"),
)


class Listed(NamedTuple):
    """A row."""

    key: str
    group: GroupImage
    counts: GroupCounts

    @property
    def state(self) -> str:
        """As the coordinator says; of a ZooKeeper group only whether it rebalances."""
        return self.group.state or ("rebalancing" if is_rebalancing(self.group) else "")


def is_rebalancing(group: GroupImage) -> bool:
    """Whether the last rebalance that was seen is under way."""
    return bool(group.rebalances) and group.rebalances[-1].took_ms is None


def undescribed(group: GroupImage) -> str:
    """Why nothing is known of a group but its name and state."""
    return f"kdrill lists {group.kind} groups and cannot describe them"


def counts_of(moment: Moment, key: str, group: GroupImage, memory: Memory) -> GroupCounts:
    """A group's counts, made anew only when they may differ."""
    return memory.recall(
        f"counts of {key}", group_facts(moment.image, group), lambda: group_counts(group, moment.image)
    )


def group_facts(image: ClusterImage, group: GroupImage) -> tuple[object, ...]:
    """What the counts and the graph of a group depend on: the group, log ends, and which partitions there are."""
    partitions = (topic.partitions for topic in subscribed_topics(group, image))
    return (group, image.log_ends, image.admin.delete_topics, *partitions)


def groups_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """All groups of both kinds, by name."""
    groups = sorted(moment.image.every_group())
    listed = [Listed(key, group, counts_of(moment, key, group, memory)) for key, group in groups]
    listing = Listing(
        count=len(listed),
        fields=lambda: _fields(listed),
        shown=("group", "kind", "state"),
        row=lambda index: _row(listed[index]),
        place=place_in([one.key for one in listed]),
        columns=COLUMNS,
        made_from=tuple(part for one in listed for part in (one.group, one.counts)),
        nothing=no_groups(moment.image),
    )
    return window(listing, query, memory, now_ms)


def _fields(listed: Sequence[Listed]) -> dict[str, Field]:
    def column(name: str) -> Numbers:
        numbers: list[int | None] = [getattr(one.counts, name) for one in listed]
        return Numbers(np.array([-1 if number is None else number for number in numbers], np.int64))

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


def _counts(one: GroupCounts) -> list[Line]:
    return [
        line(span(f"{one.members:,}", "" if one.members else "dim")),
        line(f"{one.owned:,}"),
        line(span(f"{one.unowned:,}", "warn" if one.unowned and one.members else "dim")),
        line(span(f"{one.idle_threads:,}", "changed" if one.idle_threads else "dim")),
        lag_cell(one.lag),
        line(f"{one.threads:,}"),
        line(f"{one.topics:,}"),
    ]


def _row(listed: Listed) -> Row:
    one = listed.counts
    state = listed.state.removesuffix("Rebalance")
    return Row(
        key=listed.key,
        cells=(
            line(listed.key),
            line(listed.group.kind),
            line(span(state, "changed" if is_rebalancing(listed.group) else "")),
            *(_counts(one) if listed.group.is_described else [line(span("?", "dim"))] * 7),
        ),
        mark="X" if one.dead_threads else "!" if one.unowned and one.members else "",
    )


def lag_cell(lag: int | None) -> Line:
    """Records behind; a dash where that is not known."""
    return line(span("-", "dim") if lag is None else span(f"{lag:,}", "number"))
