"""What the scenarios of a fleet come to, a row each, and the rows of a whole fleet."""

import msgspec


class Down(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker that was down: from when to when, in ms of the drill."""

    broker: int
    at_ms: float
    back_ms: float | None = None
    """When it was started again; None: never."""


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scenario comes to. Times are seconds of virtual time; sums over partitions are partition-seconds."""

    number: int
    generator: str
    text: str
    scenario: str
    """What is played, as `model.drills.scenario.written` writes it."""
    controller: int | None = None
    """Who is the controller when it begins."""
    down: tuple[Down, ...] = ()
    """Who was down, in the order in which they fell."""
    unclean_elections: int = 0
    """How often a leader was elected that was not in sync."""
    lost: int = 0
    """Partitions whose leader was elected though it was not in sync: acknowledged records may be gone."""
    offline_after: int = 0
    """Partitions that have no leader in the end, and had one."""
    under_min_after: int = 0
    """Partitions that are under min ISR in the end, and were not."""
    leaderless: int = 0
    """Partitions that had no leader for some time."""
    first_leaderless_s: float | None = None
    """When the first of them lost it."""
    leaderless_s: float = 0.0
    longest_s: float = 0.0
    """The longest that one of them had none."""
    under_min: int = 0
    """Partitions that refused producers with acks=all for some time: without a leader, or under min ISR."""
    under_min_s: float = 0.0
    moved: int = 0
    """Partitions that are led by another broker in the end."""
    most_leaders: int = 0
    """Of one broker, in the end."""
    leaders_after: tuple[int, ...] = ()
    """In the end, by broker in ascending order."""
    ended_s: float = 0.0
    at_rest: bool = True
    """Whether it was over then; else it was still going on after an hour of virtual time."""
    error: str = ""
    """Why it could not be played, one line."""

    @property
    def badness(self) -> tuple[float, ...]:
        """The order of all lists: lost, then offline, then under min ISR, then for how long."""
        return (self.lost, self.offline_after, self.under_min_after, self.leaderless_s, self.under_min_s, self.moved)

    @property
    def hurts(self) -> bool:
        """Whether records are lost, or partitions are left offline or under min ISR."""
        return bool(self.lost or self.offline_after or self.under_min_after)


class FleetResult(msgspec.Struct, frozen=True):
    """The rows in the order of their numbers."""

    rows: tuple[FleetRow, ...]
    scenarios: int = 0
    """Of so many: there are fewer rows while it is played, or where it was stopped."""
    every: int = 1
    """Of the pairs of brokers one in so many is among them."""

    @property
    def worst_first(self) -> tuple[FleetRow, ...]:
        return tuple(sorted(self.rows, key=lambda row: (*(-each for each in row.badness), row.number)))
