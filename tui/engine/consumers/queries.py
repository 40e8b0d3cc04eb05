"""What can be asked about consumer groups. Values; both processes load this.

In the ownership graph a row's key is the name of the consumer thread in it or, while the cursor is among the
partitions, the first partition of its node behind a sign.
"""

from tui.engine.messages import ListQuery, TimedList, TimedText

PARTITION = "\t"
"""Before a partition's name: `\\torders-3`."""
HOP = "\n"
"""Before the key of a row: the nearest neighbour of that node in the other layer is meant."""
BLANK = "\r"
"""Before the number of a row in which the cursor's layer has no node."""

NO_REPLAY = -1
"""The graph as it is; any other frame has what moved in it."""
LAST_FRAME = 5
"""Of a replay, which begins with frame 0: as it was before."""
STILL = 6
"""Before and after in one picture: both edges of whatever moved."""
FRAME_S = 0.25


def nearest_neighbour(key: str) -> str:
    """Where an edge leads from this row; nowhere from a blank one."""
    return "" if not key or key.startswith(BLANK) else HOP + key


def is_partition(key: str) -> bool:
    """Whether the cursor is among the partitions."""
    return key.startswith(PARTITION)


def name_in(key: str) -> str:
    """The thread or partition that a key means; empty for a blank row."""
    return "" if key.startswith(BLANK) else key.removeprefix(PARTITION)


class GroupList(TimedList, frozen=True):
    name = "groups"


class GraphList(ListQuery, frozen=True, kw_only=True):
    """Who owns what in one group, as a table or a graph."""

    scope: str = ""
    """The group's name."""
    view: str = ""
    """table or graph, with a level behind it or none: graph-ranges, graph-topics, graph-partitions."""
    offset: int = 0
    """First row in view."""
    frame: int = NO_REPLAY
    """How far the last rebalance is replayed."""


class OwnershipList(GraphList, frozen=True, kw_only=True):
    name = "group"
    at: int = 0
    """As of TimedList."""


class GroupText(TimedText, frozen=True):
    name = "group"
