"""The topic list: how big, how many copies, what is wrong in it, its own settings. One row a topic."""

import numpy as np

from model.cluster.secrets import redacted
from model.cluster.topic_image import Flags, TopicImage
from model.sources.feed import Moment
from tui.data.fields import Coded, Field, Numbers, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory, window
from tui.data.pages.partitions import table_of
from tui.data.partition_table import STATES, PartitionTable
from tui.rows import Column, Row, Window, line, span

COLUMNS = (
    Column("topic", -16, "<", "topic"),
    Column("parts", 6, ">", "partitions"),
    Column("RF", 4, ">", "rf"),
    Column("under", 6, ">", "under"),
    Column("offline", 7, ">", "offline"),
    Column("worst", 14, "<", "state"),
    Column("own settings", -16, "<", "config"),
)


class Topics:
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

    def fields(self) -> dict[str, Field]:
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


def topics_window(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """All topics, by name."""
    table = table_of(moment, memory)
    topics = memory.recall("topics", (table,), lambda: Topics(table))
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


def _row(topics: Topics, index: int) -> Row:
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
