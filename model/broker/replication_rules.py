"""What the replication rules of a partition depend on: the release, the broker's settings, the time, who is live.

The differences between releases are one table: a row says from which release on, and what changed then. It decides
nothing itself. Sources are `kafka.cluster.Partition` at the release, and `kafka.server.KafkaConfig` for defaults.
"""

from collections.abc import Mapping
from functools import cache
from itertools import accumulate
from typing import Any, Literal

import msgspec

from model.cluster.ids import release_numbers

LagRule = Literal["behind and silent, or too many messages", "silent, or too many messages", "not caught up"]
Truncation = Literal["high watermark", "leader epoch", "diverging fetch"]
IsrRoute = Literal["state znode", "AlterPartition"]


class ReplicationRules(msgspec.Struct, frozen=True, kw_only=True):
    """How the brokers of one span of releases replicate."""

    since: str
    """The first release of which all this is true."""
    lag: LagRule
    """When a follower leaves the ISR."""
    log_end_is_caught_up: bool
    """Whether a follower that has all never lags, so that an idle partition keeps its ISR."""
    waits_for_caught_up: bool
    """Whether the high watermark also waits for followers that are about to join the ISR."""
    joins_after_epoch_start: bool
    """Whether a follower joins the ISR only once it has reached the start of the leader's epoch."""
    joins_if_live: bool
    """Whether the leader looks if a follower is registered before it asks for it to join."""
    min_isr_is_capped: bool
    """Whether min.insync.replicas never asks for more replicas than there are."""
    stops_below_min_isr: bool
    """Whether the high watermark stands still while there are too few in-sync replicas."""
    truncation: Truncation
    """How a follower finds out where its log and the leader's part."""
    isr_route: IsrRoute
    notifies_isr_changes: bool
    """Whether a leader that wrote a state znode tells the controller so through `/isr_change_notification`."""
    leader_epochs_are_checked: bool
    """Whether fetches carry the leader epoch that their sender knows (KIP-320)."""
    lag_time_max_ms: int
    """Default of replica.lag.time.max.ms."""


_FIRST = ReplicationRules(
    since="0.8.0",
    lag="behind and silent, or too many messages",
    log_end_is_caught_up=False,
    waits_for_caught_up=False,
    joins_after_epoch_start=False,
    joins_if_live=False,
    min_isr_is_capped=False,
    stops_below_min_isr=False,
    truncation="high watermark",
    isr_route="state znode",
    notifies_isr_changes=False,
    leader_epochs_are_checked=False,
    lag_time_max_ms=10_000,
)

_CHANGES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("0.8.1", {"lag": "silent, or too many messages"}),
    ("0.9", {"lag": "not caught up", "notifies_isr_changes": True}),
    ("0.10.2", {"waits_for_caught_up": True}),
    ("0.11", {"truncation": "leader epoch"}),
    ("2.1", {"joins_after_epoch_start": True, "leader_epochs_are_checked": True}),
    ("2.2", {"log_end_is_caught_up": True}),
    ("2.5", {"lag_time_max_ms": 30_000}),
    ("2.7", {"truncation": "diverging fetch", "isr_route": "AlterPartition", "notifies_isr_changes": False}),
    ("3.3", {"joins_if_live": True}),
    ("3.7", {"min_isr_is_capped": True, "stops_below_min_isr": True}),
)

REPLICATION_RULES: tuple[ReplicationRules, ...] = tuple(
    accumulate(_CHANGES, lambda before, row: msgspec.structs.replace(before, since=row[0], **row[1]), initial=_FIRST)
)
"""Every span of releases that replicates in a way of its own, oldest first."""

LATEST = REPLICATION_RULES[-1]
"""Kafka 3.7 to 3.9, the last that knows ZooKeeper."""


@cache
def replication_rules_of(release: str) -> ReplicationRules:
    """How the brokers of a release replicate, such as `0.8.2.2` or `3.9`.

    Raises ValueError, with a line for the user, for what is no release or one before 0.8.0.
    """
    wanted = release_numbers(release)
    known = [rules for rules in REPLICATION_RULES if release_numbers(rules.since) <= wanted]
    if not known:
        raise ValueError(f"{release!r} is not a release of Kafka that kdrill knows: name one from 0.8.0 on, as 3.9")
    return known[-1]


class ReplicationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a broker, for one topic, by the names of their keys in server.properties."""

    rules: ReplicationRules = LATEST
    replica_lag_time_max_ms: int = LATEST.lag_time_max_ms
    replica_lag_max_messages: int = 4_000
    """Only looked at by the rules of 0.8."""
    min_insync_replicas: int = 1


class Conditions(msgspec.Struct, frozen=True):
    """`now_ms` since the epoch. `live_brokers`: those that the last UpdateMetadata named."""

    now_ms: int
    live_brokers: frozenset[int]
    settings: ReplicationSettings = ReplicationSettings()

    def min_isr(self, replicas: int) -> int:
        """How many in-sync replicas a partition with so many replicas needs for acks=all."""
        wanted = self.settings.min_insync_replicas
        return min(wanted, replicas) if self.settings.rules.min_isr_is_capped else wanted

    def may_join(self, follower: int) -> bool:
        """Whether a follower can be in an ISR as far as its broker is concerned."""
        return not self.settings.rules.joins_if_live or follower in self.live_brokers
