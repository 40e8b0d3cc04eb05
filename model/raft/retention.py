"""How much of the metadata log is kept behind its snapshots.

Source: `KafkaRaftLog` (`cleanSnapshotsRetentionSize`, `cleanSnapshotsRetentionMs`), 4.3. That looks once a minute, and
so leaves a follower a minute to read a snapshot in; here it is looked after each new one, and what is being read stays.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec

from model.observer.messages import LogPosition

READ_MS: Final = 10_000
"""A follower that asks for nothing for so long has given up: five times what it waits for its leader."""


class Retention(msgspec.Struct, frozen=True):
    """Keys of `metadata.max.retention.`, with Kafka's defaults; a negative one is no bound."""

    bytes: int = 100 << 20
    ms: int = 7 * 24 * 3_600_000


class SnapshotFile(msgspec.Struct, frozen=True):
    """A snapshot on disk."""

    id: LogPosition
    size: int
    time_ms: int
    """Of the last record that is in it."""
    asked_ms: int | None = None
    """When a follower was told of it, or asked for a piece of it, last."""

    def is_read(self, now_ms: int) -> bool:
        """Whether a follower may be reading it, or the log behind it."""
        return self.asked_ms is not None and now_ms - self.asked_ms < READ_MS


def new_start(snapshots: Sequence[SnapshotFile], log_bytes: int, limits: Retention, now_ms: int) -> LogPosition | None:
    """At the end of which snapshot the log is to begin, older ones gone; None: as before.

    `snapshots` ascend. The newest is kept, however old and however large all of it is; so is what a follower reads.
    """
    found, total = None, log_bytes + sum(each.size for each in snapshots)
    for oldest, following in pairwise(snapshots):
        is_large, is_old = 0 <= limits.bytes < total, 0 <= limits.ms < now_ms - oldest.time_ms
        if not (is_large or is_old) or oldest.is_read(now_ms):
            break
        total -= oldest.size
        found = following.id
    return found
