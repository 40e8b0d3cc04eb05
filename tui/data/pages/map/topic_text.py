"""The pane beside the map of topics: one topic's facts, how its partitions fare, and the reason for the worst."""

import numpy as np

from model.cluster.places import kept_in
from model.cluster.secrets import redacted
from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.listing import Memory
from tui.data.pages.partitions import table_of
from tui.data.pages.sheets import Sheet
from tui.data.partition_reasons import reasons
from tui.data.partition_table import STATES


def topic_text(moment: Moment, query: TextQuery, now_ms: int, memory: Memory) -> TextAnswer:
    """About the topic whose name is the key."""
    sheet = Sheet(query.key, query.width)
    topic = moment.image.topics.get(query.key)
    if topic is None:
        return sheet.say("there is no such topic (any more)" if query.key else "", "dim").answer()
    table = table_of(moment, memory)
    start = table.starts[topic.name]
    states = table.states[start : start + len(topic)]
    sheet.fact(*kept_in(moment.image.generation, f"/brokers/topics/{topic.name}"))
    factors = sorted(set(topic.replica_count.tolist()))
    sheet.fact(
        "size", f"{len(topic):,} partitions   RF {','.join(map(str, factors)) or '-'}   id {topic.topic_id or '-'}"
    )
    for code, count in zip(*(found.tolist() for found in np.unique(states, return_counts=True)), strict=True):
        first = table.topic_partition(start + int(np.argmax(states == code)))
        state = STATES[code]
        sheet.fact("", f"{count:>7,}  {state.label:13}  first {first}", state.style)
    settings = redacted(f"topics/{topic.name}", moment.image.topic_config(topic.name))
    sheet.fact("settings", " ".join(f"{key}={value}" for key, value in sorted(settings.items())) or "none of its own")
    if len(states):
        worst = start + int(np.argmin(states))
        for reason in reasons(table, worst):
            sheet.fact("why", f"{table.topic_partition(worst)}: {reason.why}")
            if reason.ways_out:
                sheet.fact("ways out", reason.ways_out)
    return sheet.answer()
