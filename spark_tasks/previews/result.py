"""What a preview comes to, in numbers that stand for the names of `names.GroupNames`.

A member is what an assignor deals to: a consumer thread of a ZooKeeper group, a member of a classic one. A consumer is
what dies: all its threads with it. Structs that there are many of travel as JSON arrays.
"""

import msgspec


class Figures(msgspec.Struct, frozen=True, array_like=True):
    """One assignment: how it shares partitions and lag (records) out, and what it moves.

    A cooperative rebalance lets `waits` partitions wait for its second round; all else is as after that round.
    """

    members: int
    idle: int
    """Members that get nothing."""
    partitions_min: int
    partitions_max: int
    lag_min: int | None
    lag_max: int | None
    """Both None where the lag of no partition is known; a partition whose lag is not counts as 0."""
    moves: int
    """Partitions that a member has now and does not keep."""
    moves_lower_bound: int
    """The moves nobody could avoid who ends with as many partitions per member."""
    waits: int
    unowned: int
    """Partitions that nobody gets, or at present has."""

    @property
    def spread(self) -> int:
        """Partitions of the member with the most, minus those of the member with the fewest."""
        return self.partitions_max - self.partitions_min


class Leave(msgspec.Struct, frozen=True, array_like=True):
    """One consumer dies, and the rest is balanced again. `handed_on`: partitions it had."""

    consumer: int
    figures: Figures
    handed_on: int


class Share(msgspec.Struct, frozen=True, array_like=True):
    """What one member gets. `lag` in records, None where that of none of the group's partitions is known."""

    partitions: int
    lag: int | None


class StrategyPreview(msgspec.Struct, frozen=True):
    """One strategy. `rebalanced` None: it refuses this group as it is, and nothing else is said of it.

    `leaves` (one for each consumer) and `shares` (one for each member) only with `detail`.
    """

    strategy: str
    rebalanced: Figures | None
    joined: Figures | None = None
    worst_leave: Leave | None = None
    leaves: tuple[Leave, ...] = ()
    shares: tuple[Share, ...] = ()


class GroupPreview(msgspec.Struct, frozen=True):
    """One group: `group` is its number among those staged, `now` how things are, `shares` as above."""

    group: int
    now: Figures
    strategies: tuple[StrategyPreview, ...]
    shares: tuple[Share, ...] = ()


class Result(msgspec.Struct, frozen=True):
    """All groups, in the order in which they were staged."""

    groups: tuple[GroupPreview, ...]
