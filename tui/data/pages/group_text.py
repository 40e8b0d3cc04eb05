"""Everything known of one consumer group: who coordinates it, its members, where it stands, how it was rebalanced."""

from collections.abc import Iterator

from model.cluster.changes.groups import rebalance_text
from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import SHARE, ZOOKEEPER, GroupImage, Rebalance
from model.cluster.words import ranges
from model.consumers.group_counts import GroupCounts
from model.consumers.ownership import subscribed_topics
from model.consumers.rebalance_history import short_name
from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import clock_text
from tui.data.pages.groups import counts_of, is_rebalancing, undescribed
from tui.data.pages.listing import Memory
from tui.data.pages.sheets import Sheet
from tui.rows import span

PARTITIONS_SHOWN = 200


def group_text(moment: Moment, query: TextQuery, memory: Memory) -> TextAnswer:
    """Of the group whose key is asked for."""
    sheet = Sheet(f"group {query.key}", query.width)
    group = moment.image.group(query.key)
    if group is None:
        return sheet.say("there is no such group (any more)", "warn").answer()
    _facts(sheet, group, counts_of(moment, query.key, group, memory), moment.image)
    for name, member in sorted(group.members.items()):
        subscription = ", ".join(f"{topic} x{threads}" for topic, threads in sorted(member.subscription.items()))
        parts = (name, member.instance_id or "", member.host, member.pattern if not member.host else "", subscription)
        sheet.fact("member", "  ".join(part for part in parts if part))
        topics: dict[str, list[int]] = {}
        for topic, number in member.reads:
            topics.setdefault(topic, []).append(number)
        if topics:
            sheet.fact("", f"reads {'  '.join(f'{topic} {ranges(numbers)}' for topic, numbers in topics.items())}")
    for found in moment.findings.found:
        if found.subject == f"group {query.key}":
            sheet.gap().fact(found.severity, found.what, found.severity).fact("", found.action)
    _rebalances(sheet, group)
    _positions(sheet, group, moment.image)
    return sheet.answer()


_NO_LAG = {
    ZOOKEEPER: ": the ends of the logs are not in ZooKeeper",
    SHARE: ": a share group commits no offsets, its coordinator keeps what is acknowledged",
}


def _facts(sheet: Sheet, group: GroupImage, one: GroupCounts, image: ClusterImage) -> None:
    if group.kind == ZOOKEEPER:
        sheet.fact("znode", f"/consumers/{group.name}")
        sheet.fact("state", "rebalancing" if is_rebalancing(group) else "at rest")
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
    sheet.fact("threads", f"{one.threads:,} in {one.members:,} members, {one.idle_threads:,} of them idle")
    held = "read" if group.kind == SHARE else "owned"
    sheet.fact("partitions", f"{one.owned:,} {held}, {one.unowned:,} {held} by nobody")
    unknown = f"not known{_NO_LAG.get(group.kind, '')}"
    sheet.fact("lag", unknown if one.lag is None else f"{one.lag:,} records")


def _rebalances(sheet: Sheet, group: GroupImage) -> None:
    if not group.rebalances:
        return
    sheet.gap().say("rebalances that were seen, newest first", "dim")
    for past in reversed(group.rebalances):
        sheet.fact(clock_text(past.at_ms), rebalance_text(past), "changed" if past.took_ms is None else "")
        for text in _moves(group, past):
            sheet.fact("", text, "dim")


def _moves(group: GroupImage, past: Rebalance) -> Iterator[str]:
    for sign, moved in (("+", past.gained), ("-", past.lost)):
        for owner, reads in moved.items():
            topics: dict[str, list[int]] = {}
            for topic, number in reads:
                topics.setdefault(topic, []).append(number)
            owned = "  ".join(f"{topic} {ranges(sorted(numbers))}" for topic, numbers in topics.items())
            yield f"{sign} {short_name(group, owner)}: {owned}"


def _positions(sheet: Sheet, group: GroupImage, image: ClusterImage) -> None:
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
        sheet.draw(f"{read!s:{width}} {cells}  ", "-" if owner is None else short_name(group, owner))
    if len(reads) > PARTITIONS_SHOWN:
        sheet.say(f"and {len(reads) - PARTITIONS_SHOWN:,} partitions more", "dim")


def _number(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
