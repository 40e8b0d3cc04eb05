"""What the ownership graph's widget and its page agree on: how rows are named, and how a replay is counted.

A row's key is the name of the consumer thread in it, or, while the cursor is among the partitions, the first partition
of its node behind a sign. Values only; so it loads with either process.
"""

PARTITION = "\t"
"""Before a partition's name: `\\torders-3`."""
HOP = "\n"
"""Before the key of a row: the nearest neighbour of that node in the other layer is meant."""
BLANK = "\r"
"""Before the number of a row in which the cursor's layer has no node."""

PLAIN = -1
"""The graph as it is; any other frame has what moved in it."""
LAST_FRAME = 5
"""Of a replay, which begins with frame 0: as it was before."""
STILL = 6
"""Before and after in one picture: both edges of whatever moved."""
FRAME_S = 0.25


def hop(key: str) -> str:
    """Where an edge leads from this row; nowhere from a blank one."""
    return "" if not key or key.startswith(BLANK) else HOP + key


def is_partition(key: str) -> bool:
    """Whether the cursor is among the partitions."""
    return key.startswith(PARTITION)


def name_in(key: str) -> str:
    """The thread or partition that a key means; empty for a blank row."""
    return "" if key.startswith(BLANK) else key.removeprefix(PARTITION)
