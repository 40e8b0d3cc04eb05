"""The controllers of a KRaft cluster, and how far each has read the metadata log."""

import msgspec

NOBODY = -1
LATE_VOTER_MS = 5_000
"""A voter that was up to date so long before another one was does not keep up: below, offsets differ all the time."""


class QuorumReplica(msgspec.Struct, frozen=True, order=True):
    """A voter or an observer. Offsets and lag count records of the metadata log; -1: not known.

    `caught_up_ms` is when it had read all there was, ms since the epoch.
    """

    id: int
    log_end_offset: int = -1
    lag_records: int = -1
    caught_up_ms: int = -1


class Quorum(msgspec.Struct, frozen=True):
    """As its leader sees it. Leader -1: nobody who was asked knows one, and the rest is as it was told before."""

    leader: int
    leader_epoch: int
    high_watermark: int = -1
    voters: tuple[QuorumReplica, ...] = ()
    observers: tuple[QuorumReplica, ...] = ()
    silent: tuple[int, ...] = ()
    """Voters that cannot be counted on: without a leader those that did not answer when they were asked themselves."""
    unconfirmed: tuple[int, ...] = ()
    """Without a leader: brokers that do not answer, so that only metadata from before says that they live."""

    @property
    def majority(self) -> int:
        """So many voters must agree."""
        return len(self.voters) // 2 + 1

    def late_voters(self, most_ms: int = LATE_VOTER_MS) -> tuple[QuorumReplica, ...]:
        """Those that were up to date last longer before the best voter was than this.

        None while there is no high watermark: the leader was elected just now, and nobody has fetched from it yet.
        """
        if self.high_watermark < 0:
            return ()
        newest_ms = max((each.caught_up_ms for each in self.voters), default=0)
        return tuple(each for each in self.voters if newest_ms - each.caught_up_ms > most_ms)

    @property
    def present(self) -> frozenset[int]:
        """Voters that can be counted on: with a leader those that are not late, without one those that answer."""
        late = () if self.leader == NOBODY else self.late_voters()
        return frozenset(each.id for each in self.voters if each not in late and each.id not in self.silent)

    @property
    def is_led(self) -> bool:
        """Whether there is a leader that a majority follows."""
        return self.leader != NOBODY and (len(self.present) >= self.majority or not self.voters)
