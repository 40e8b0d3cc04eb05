"""The pane below the partition map: one partition's facts, why it is as it is, ways out, and what happened to it."""

import msgspec

from model.cluster.changes import Change
from model.cluster.ids import NO_LEADER
from model.cluster.places import kept_in
from model.cluster.topic_image import unpadded
from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import age_text, clock_text
from tui.data.pages.sheets import Sheet
from tui.data.pages.signs import STYLES
from tui.data.partition_reasons import UNCLEAN, reasons
from tui.data.partition_table import STATES, PartitionTable, elr_of, isr_of, partition_table, replicas_of
from tui.rows import span

HISTORY = 8
"""Changes told, newest first."""


def partition_text(moment: Moment, query: TextQuery, now_ms: int) -> TextAnswer:
    """About the partition whose key is `orders-3`."""
    sheet = Sheet(query.key, query.width)
    topic = query.key.rpartition("-")[0]
    known = moment.image.topics.get(topic)
    # A table of one topic: what is said about a partition depends on no other.
    image = msgspec.structs.replace(moment.image, topics={topic: known} if known is not None else {})
    table = partition_table(image)
    row = table.place(query.key)
    if row < 0:
        return sheet.say("there is no such partition (any more)" if query.key else "", "dim").answer()
    _facts(sheet, table, row, now_ms)
    for reason in reasons(table, row):
        sheet.fact("why", reason.why)
        if reason.ways_out:
            sheet.fact("ways out", reason.ways_out)
    for number, change in enumerate(_history(moment.feed, query.key, topic)):
        text = f"{clock_text(change.time_ms)}  {change.subject if change.subject != query.key else ''}".rstrip()
        sheet.fact("history" if number == 0 else "", f"{text}  {change.text}", STYLES[change.severity])
    return sheet.answer()


def _facts(sheet: Sheet, table: PartitionTable, row: int, now_ms: int) -> None:
    columns = table.columns
    topic, number = table.topic_partition(row)
    replicas, isr, leader = replicas_of(table, row), isr_of(table, row), int(columns.leader[row])
    state = STATES[table.states[row]]
    is_kraft = table.image.generation == "kraft"
    version = f"   data version {columns.version[row]}" if columns.has_state[row] else "   (not there)"
    name, place = kept_in(table.image.generation, f"/brokers/topics/{topic}/partitions/{number}/state")
    sheet.fact(name, place if is_kraft else f"{place}{version}")
    led = "none" if leader == NO_LEADER else f"{leader} (dead)" if table.is_dead(leader) else str(leader)
    sheet.draw(span(f"{'state':9} ", "dim"), span(state.label, state.style), span(f"   leader {led}   isr {_ids(isr)}"))
    if (elr := elr_of(table, row)) is not None:
        last = unpadded(columns.last_known_elr[row])
        sheet.fact("elr", f"{_ids(elr)}{f'   last known leader {_ids(last)}' if last else ''}")
    few = " (!)" if len(replicas) == 1 else ""
    sheet.fact("replicas", f"{_ids(replicas)}   preferred {_ids(replicas[:1])}   RF {len(replicas)}{few}")
    if columns.has_state[row]:
        controller, time_ms = int(columns.topics[0].controller_epoch[row]), int(columns.time_ms[row])
        epochs = f"leader {columns.leader_epoch[row]}" + (f", controller {controller}" if controller >= 0 else "")
        age = f"   {'changed' if is_kraft else 'written'} {age_text(time_ms, now_ms)} ago" if time_ms > 0 else ""
        zxid = f"   zxid {columns.zxid[row]:#x}" if columns.zxid[row] >= 0 else ""
        sheet.fact("epochs", f"{epochs}{age}{zxid}")
    sheet.fact("settings", f"min ISR {table.health.min_isr[row]}   unclean election {_unclean(table, topic)}")


def _unclean(table: PartitionTable, topic: str) -> str:
    own = table.image.topic_config(topic).get(UNCLEAN)
    default = table.image.configs.get("brokers/<default>", {}).get(UNCLEAN)
    if own is None and default is None:
        return "not set (off since Kafka 0.11)"
    where = "topic" if own is not None else "cluster"
    return f"{'on' if (own or default or '').strip().lower() == 'true' else 'off'} ({where})"


def _history(feed: tuple[Change, ...], partition: str, topic: str) -> list[Change]:
    """What happened to the partition, and to its topic as a whole, newest first."""
    found: list[Change] = []
    for change in reversed(feed):
        if change.subject in (partition, topic):
            found.append(change)
            if len(found) == HISTORY:
                break
    return sorted(found, key=lambda change: -change.time_ms)


def _ids(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers)) or "none"
