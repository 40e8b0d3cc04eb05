"""The controllers of a KRaft cluster, and how far each has read the metadata log."""

import msgspec


class QuorumReplica(msgspec.Struct, frozen=True, order=True):
    """A voter or an observer. Offsets and lag count records of the metadata log; -1: not known.

    `caught_up_ms` is when it had read all there was, ms since the epoch.
    """

    id: int
    log_end_offset: int = -1
    lag_records: int = -1
    caught_up_ms: int = -1


class Quorum(msgspec.Struct, frozen=True):
    """As its leader sees it; leader -1: there is none."""

    leader: int
    leader_epoch: int
    high_watermark: int = -1
    voters: tuple[QuorumReplica, ...] = ()
    observers: tuple[QuorumReplica, ...] = ()

    def late_voters(self, most_ms: int) -> tuple[QuorumReplica, ...]:
        """Those that were up to date last longer before the best voter was than this."""
        newest_ms = max((each.caught_up_ms for each in self.voters), default=0)
        return tuple(each for each in self.voters if newest_ms - each.caught_up_ms > most_ms)
