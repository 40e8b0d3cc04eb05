"""Counts per broker over partitions. They add up and subtract, so a changed topic costs its own partitions only."""

from collections import Counter
from dataclasses import dataclass, field, fields

from model.cluster.findings.health import Health
from model.cluster.topic_image import Column, counted_ids


def _none() -> Counter[int]:
    return Counter()


@dataclass(frozen=True)
class Tally:
    """Broker id → partitions, of topics that are not being deleted."""

    replicas: Counter[int] = field(default_factory=_none)  # has a replica
    leaders: Counter[int] = field(default_factory=_none)  # leads
    missing: Counter[int] = field(default_factory=_none)  # has a replica that is not in the ISR
    preferred: Counter[int] = field(default_factory=_none)  # is the preferred leader
    off_preferred: Counter[int] = field(default_factory=_none)  # could lead as the preferred leader, another leads

    def moved(self, was: "Tally", now: "Tally") -> "Tally":
        """The counts after some partitions that counted as `was` count as `now`."""
        parts = ((getattr(tally, column.name) for tally in (self, was, now)) for column in fields(self))
        return Tally(*(_moved(*part) for part in parts))


def tally(health: Health) -> Tally:
    """Counts the partitions Health looks at."""
    columns = health.columns
    preferred = columns.replicas[:, 0]
    return Tally(
        replicas=_count(columns.replicas),
        leaders=_count(columns.leader),
        missing=_count(columns.replicas[columns.has_state[:, None] & ~columns.in_isr]),
        preferred=_count(preferred),
        off_preferred=_count(preferred[health.off_preferred]),
    )


def _moved(every: Counter[int], was: Counter[int], now: Counter[int]) -> Counter[int]:
    if was == now:
        return every
    after = every.copy()
    after.update(now)
    after.subtract(was)
    for broker in was:
        if not after[broker]:
            del after[broker]
    return after


def _count(brokers: Column) -> Counter[int]:
    ids, counts = counted_ids(brokers)
    return Counter(dict(zip(ids.tolist(), counts.tolist(), strict=True)))
