"""What the rules of a partition depend on besides itself: the time, who is live, how replication is set up."""

import msgspec

from model.broker.replication_rules import LATEST, ReplicationRules


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
