"""What can be asked of the rebalance lab. Values; both processes load this."""

import msgspec

from tui.engine.consumers.queries import GraphList
from tui.engine.messages import ListQuery, PlotQuery, TextQuery

MOST_MADE_UP = 200
"""Consumers of a group that is made up: each dies in turn."""


class MadeUp(msgspec.Struct, frozen=True):
    """A consumer group that is not there: so many consumers that read the topics that match (`orders*`)."""

    patterns: tuple[str, ...]
    consumers: int

    @property
    def keys(self) -> tuple[str, str]:
        """Its keys in the lab: as brokers would coordinate it, and as one in ZooKeeper."""
        name = f"made-up {','.join(self.patterns)} by {self.consumers}"
        return name, f"{name} (zookeeper)"


class PreviewQuestion(msgspec.Struct, frozen=True, tag="preview"):
    """Every group under every strategy that its kind can use, when each consumer dies in turn, and when one joins."""

    made_up: MadeUp | None = None
    """A group that is to be previewed before those that there are."""
    take: int = 0
    stopped: bool = False


class LabBench(msgspec.Struct, frozen=True):
    """What is tried on the group under the cursor: a consumer that dies, members that join, and with which strategy."""

    strategy: str = ""
    leaves: str = ""
    joins: int = 0


NO_QUESTION = PreviewQuestion()
NO_BENCH = LabBench()


class LabGroupList(ListQuery, frozen=True, kw_only=True):
    """Every group as it is."""

    name = "lab-groups"
    question: PreviewQuestion = NO_QUESTION


class LabList(ListQuery, frozen=True, kw_only=True):
    """What is tried on one group; `scope` is its key."""

    question: PreviewQuestion = NO_QUESTION
    scope: str = ""
    bench: LabBench = NO_BENCH


class LabStrategyList(LabList, frozen=True):
    """Its strategies side by side."""

    name = "lab-strategies"


class LabConsumerList(LabList, frozen=True):
    """Its consumers."""

    name = "lab-consumers"


class LabPartitionList(LabList, frozen=True):
    """Its partitions, those that move first."""

    name = "lab-partitions"


class LabGraphList(GraphList, frozen=True, kw_only=True):
    """What would move."""

    name = "lab-graph"
    question: PreviewQuestion = NO_QUESTION
    bench: LabBench = NO_BENCH


class LabText(TextQuery, frozen=True, kw_only=True):
    """What is tried on the group whose key is the key."""

    name = "lab"
    question: PreviewQuestion = NO_QUESTION
    bench: LabBench = NO_BENCH


class LabGroupText(LabText, frozen=True):
    """The same, as a description."""

    name = "lab-group"


class LabPartitionText(LabText, frozen=True, kw_only=True):
    """Who gets the partition whose name is the key, and why."""

    name = "lab-partition"
    group: str = ""


class LabBars(PlotQuery, frozen=True, kw_only=True):
    """Partitions and lag by consumer of the group whose key is the key."""

    name = "lab-bars"
    question: PreviewQuestion = NO_QUESTION
    bench: LabBench = NO_BENCH
