"""What is asked of recordings, and the answer, as values that travel as JSON. All times are ms since epoch, UTC."""

import msgspec

FORMAT = "kdrill.history/1"


class ClusterDay(msgspec.Struct, frozen=True):
    """The unit of work. `path` is the cluster's folder, `day` is `2026-11-20`."""

    cluster: str
    path: str
    day: str
    size_bytes: int


class HistoryParameters(msgspec.Struct, frozen=True):
    """Which days of which clusters, and the time within them: from `from_ms` to before `to_ms`."""

    days: tuple[ClusterDay, ...]
    from_ms: int
    to_ms: int
    drills: bool = True
    """Whether a drill is played on each cluster's worst moment."""


class PartitionFlaps(msgspec.Struct, frozen=True):
    """How often a partition's leader changed: each time that somebody else, or somebody again, led it."""

    topic: str
    partition: int
    changes: int


class TopicFlaps(msgspec.Struct, frozen=True):
    """The same of a topic's partitions together; `partitions` are those with any change."""

    topic: str
    changes: int
    partitions: int


class Outage(msgspec.Struct, frozen=True):
    """One partition without a live leader. It may have begun before the recording, or go on after it."""

    topic: str
    partition: int
    from_ms: int
    to_ms: int


class Leaderless(msgspec.Struct, frozen=True):
    """Time that partitions were without a live leader; an outage over midnight is one."""

    outages: int
    total_ms: int
    mean_ms: float
    longest: tuple[Outage, ...]
    """Up to a hundred, the longest first."""
    still: int
    """Outages that last until the end of what is known."""


class IsrHour(msgspec.Struct, frozen=True):
    """How often a broker left ISRs and came back to them within the hour that begins at `hour_ms`."""

    broker: int
    hour_ms: int
    left: int
    joined: int


class GroupRebalances(msgspec.Struct, frozen=True):
    """A group's rebalances; `moved` partitions in all, `took_ms` in all as far as they ended.

    One that went through several generations before anybody looked counts as so many, here and in storms.
    """

    group: str
    rebalances: int
    moved: int
    took_ms: int
    storms: int


class Storm(msgspec.Struct, frozen=True):
    """Five rebalances of a group or more, none later than two minutes after the one before."""

    group: str
    from_ms: int
    to_ms: int
    rebalances: int


class ControllerChange(msgspec.Struct, frozen=True):
    """Another broker became controller, or none is (null)."""

    at_ms: int
    before: int | None
    after: int | None


class WorstDrill(msgspec.Struct, frozen=True):
    """What one more death would have done at the worst moment: each live broker in turn.

    `kill` is the broker whose death would have hurt most partitions; null where none would have hurt any.
    """

    scenarios: int
    hurting: int
    kill: int | None = None
    newly_offline: int = 0
    newly_under_min_isr: int = 0
    note: str = ""
    """Why there is no answer, where there is none."""


class WorstMoment(msgspec.Struct, frozen=True):
    """Most partitions without a live leader at once, and of such moments the one with most under-replicated ones.

    `source` opens it: `kdrill SOURCE`.
    """

    at_ms: int
    offline: int
    under_replicated: int
    source: str
    drill: WorstDrill | None = None


class ClusterHistory(msgspec.Struct, frozen=True):
    """One cluster. `observed_ms` is how much of the time from `from_ms` to `to_ms` is known; lists: the most first."""

    cluster: str
    from_ms: int
    to_ms: int
    observed_ms: int
    gaps: int
    moments: int
    leader_changes: int
    topics: tuple[TopicFlaps, ...]
    partitions: tuple[PartitionFlaps, ...]
    """Up to a thousand."""
    leaderless: Leaderless
    isr: tuple[IsrHour, ...]
    groups: tuple[GroupRebalances, ...]
    storms: tuple[Storm, ...]
    controllers: tuple[ControllerChange, ...]
    """In order of time."""
    worst: WorstMoment | None
    """None: all was well all the time."""


class HistoryResult(msgspec.Struct, frozen=True):
    """By cluster, in order of their names."""

    clusters: tuple[ClusterHistory, ...]
