"""How far a follower is with one partition. A value: each answer gives another.

Source: `kafka.server.PartitionFetchState` (3.9).
"""

import msgspec

from model.cluster.ids import TopicPartition


class FetchState(msgspec.Struct, frozen=True, gc=False):
    """Where to fetch a partition next, and what is in the way of it."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    offset: int
    """The next to fetch; while truncating, where to cut if the leader knows no better."""
    last_fetched_epoch: int | None = None
    """The leader epoch of the newest record here; None where fetches do not find out where logs part."""
    truncating: bool = False
    """Whether the leader must first be asked where logs part."""
    not_before_ms: int = 0
    """The end of a back-off, in ms since the epoch."""

    def wait_until(self, at_ms: int) -> "FetchState":
        """The same, not to be fetched before then."""
        return msgspec.structs.replace(self, not_before_ms=at_ms)
