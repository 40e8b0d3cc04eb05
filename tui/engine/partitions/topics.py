"""The topic list: how big, how many copies, what is wrong in it, its own settings; and one topic's facts.

The text beside the map also says how its partitions fare, and the reason for the worst.
"""

import numpy as np

from model.cluster.texts import kept_in, redacted
from model.cluster.topic_image import Flags, TopicImage
from model.sources.feed import Moment
from tui.engine.filters import Coded, ListField, Numbers, Texts
from tui.engine.listing import AnswerMemo, Listing, window
from tui.engine.messages import TextAnswer
from tui.engine.partitions.reasons import reasons
from tui.engine.partitions.rows import table_of
from tui.engine.partitions.table import STATES, PartitionTable
from tui.engine.queries import TopicList, TopicTextQuery
from tui.engine.rows import Column, Row, Window, line, span
from tui.engine.sheets import Kept, Sheet, nothing_kept

COLUMNS = (
    Column("topic", -16, "<", "topic"),
    Column("parts", 6, ">", "partitions"),
    Column("RF", 4, ">", "rf"),
    Column("under", 6, ">", "under"),
    Column("offline", 7, ">", "offline"),
    Column("worst", 14, "<", "state"),
    Column("own settings", -16, "<", "config"),
)


class TopicTable:
    """The topics of a table with their counts, each an array in the order of the names."""

    def __init__(self, table: PartitionTable) -> None:
        self.table = table
        self.topics = table.columns.topics
        self.names = [topic.name for topic in self.topics]
        self.partitions = np.array([len(topic) for topic in self.topics], np.int64)
        self.replication = np.array([_replication(topic) for topic in self.topics], np.int64)
        self.under = self._count(table.health.under_replicated)
        self.offline = self._count(table.health.offline)
        self.worst = np.full(len(self.topics), len(STATES) - 1, np.int32)
        np.minimum.at(self.worst, table.columns.topic, table.states)

    def _count(self, flags: Flags) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.bincount(self.table.columns.topic[flags], minlength=len(self.topics)).astype(np.int64)

    def config(self, name: str) -> str:
        """The topic's own settings, `a=1 b=2`, secrets hidden."""
        settings = redacted(f"topics/{name}", self.table.image.topic_config(name))
        return " ".join(f"{key}={value}" for key, value in sorted(settings.items()))

    def fields(self) -> dict[str, ListField]:
        """By name."""
        return {
            "topic": Texts(lambda: self.names),
            "partitions": Numbers(self.partitions),
            "rf": Numbers(self.replication),
            "under": Numbers(self.under),
            "offline": Numbers(self.offline),
            "state": Coded(self.worst, Texts(lambda: [state.label for state in STATES])),
            "config": Texts(lambda: [self.config(name) for name in self.names]),
        }


def topics_window(moment: Moment, query: TopicList, now_ms: int, memory: AnswerMemo) -> Window:
    """All topics, by name."""
    table = table_of(moment, memory)
    topics = memory.recall("topics", (table,), lambda: TopicTable(table))
    listing = Listing(
        count=len(topics.names),
        fields=topics.fields,
        shown=("topic", "state", "config"),
        row=lambda index: _row(topics, index),
        place=lambda key: topics.names.index(key) if key in table.starts else -1,
        columns=COLUMNS,
        made_from=(topics,),
        nothing="there are no topics",
    )
    return window(listing, query, memory, now_ms)


def _row(topics: TopicTable, index: int) -> Row:
    name, under, offline = topics.names[index], int(topics.under[index]), int(topics.offline[index])
    state = STATES[topics.worst[index]]
    return Row(
        key=name,
        cells=(
            line(name),
            line(f"{topics.partitions[index]:,}"),
            line(str(topics.replication[index])),
            line(span(f"{under:,}", "warn" if under else "dim")),
            line(span(f"{offline:,}", "error" if offline else "dim")),
            line(span(state.label, state.style)),
            line(span(topics.config(name), "dim")),
        ),
        mark=state.mark,
    )


def _replication(topic: TopicImage) -> int:
    """Replicas of the partition that has most."""
    return int(topic.replica_count.max(initial=0))


def topic_text(
    moment: Moment, query: TopicTextQuery, now_ms: int, memory: AnswerMemo, kept: Kept = nothing_kept
) -> TextAnswer:
    """About the topic whose name is the key. `kept`: the settings that its brokers do not obey."""
    sheet = Sheet(query.key, query.width)
    topic = moment.image.topics.get(query.key)
    if topic is None:
        return sheet.say("there is no such topic (any more)" if query.key else "", "dim").answer()
    table = table_of(moment, memory)
    start = table.starts[topic.name]
    states = table.states[start : start + len(topic)]
    factors = sorted(set(topic.replica_count.tolist()))
    sheet.fact(
        "size", f"{len(topic):,} partitions   RF {','.join(map(str, factors)) or '-'}   id {topic.topic_id or '-'}"
    )
    for code, count in zip(*(found.tolist() for found in np.unique(states, return_counts=True)), strict=True):
        first = table.topic_partition(start + int(np.argmax(states == code)))
        state = STATES[code]
        sheet.fact("", f"{count:>7,}  {state.label:13}  first {first}", state.style)
    if len(states):
        worst = start + int(np.argmin(states))
        for reason in reasons(table, worst):
            sheet.fact("why", f"{table.topic_partition(worst)}: {reason.why}")
            if reason.ways_out:
                sheet.fact("ways out", reason.ways_out)
    settings = redacted(f"topics/{topic.name}", moment.image.topic_config(topic.name))
    sheet.fact("settings", " ".join(f"{key}={value}" for key, value in sorted(settings.items())) or "none of its own")
    for name in kept(settings, of_topic=True):
        sheet.fact("kept", f"{name}: the sandbox's brokers keep it and do not obey it", "warn")
    return sheet.fact(*kept_in(moment.image.generation, f"/brokers/topics/{topic.name}")).answer()
