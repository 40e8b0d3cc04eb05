"""The pane beside the map of racks: who is in one rack, and how much is held there."""

from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.brokers import brokers_of
from tui.data.pages.listing import Memory
from tui.data.pages.map.counted import NO_RACK, rack_name
from tui.data.pages.sheets import Sheet


def rack_text(moment: Moment, query: TextQuery, now_ms: int, memory: Memory) -> TextAnswer:
    """About the rack whose name is the key."""
    sheet = Sheet(query.key, query.width)
    brokers = brokers_of(moment, memory)
    table, counts = brokers.table, brokers.counts
    here = [broker for broker in table.brokers if rack_name(moment.image, broker) == query.key]
    if not here:
        return sheet.say("no broker is in such a rack (any more)" if query.key else "", "dim").answer()
    dead = sum(map(table.is_dead, here))
    sheet.fact("brokers", f"{len(here):,}, of them {dead:,} dead", "error" if dead else "")
    sheet.fact("", " ".join(f"{'X' if table.is_dead(broker) else 'b'}{broker}" for broker in here))
    sheet.fact("leads", f"{sum(counts.leaders[broker] for broker in here):,}")
    missing = sum(counts.missing[broker] for broker in here)
    sheet.fact("replicas", f"{sum(counts.replicas[broker] for broker in here):,}, of them out of the ISR {missing:,}")
    if query.key == NO_RACK:
        sheet.fact("why", "They set no broker.rack, or are dead: only a registration names the rack.")
    return sheet.answer()
