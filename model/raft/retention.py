"""How much of the metadata log is kept behind its snapshots.

Source: `KafkaRaftLog` (`cleanSnapshotsRetentionSize`, `cleanSnapshotsRetentionMs`), 4.3.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from model.observer.messages import LogPosition


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


def new_start(snapshots: Sequence[SnapshotFile], log_bytes: int, limits: Retention, now_ms: int) -> LogPosition | None:
    """At the end of which snapshot the log is to begin, older ones gone; None: as before.

    `snapshots` ascend. The newest is kept, however old and however large all of it is.
    """
    found, total = None, log_bytes + sum(each.size for each in snapshots)
    for oldest, following in pairwise(snapshots):
        is_large, is_old = 0 <= limits.bytes < total, 0 <= limits.ms < now_ms - oldest.time_ms
        if not (is_large or is_old):
            break
        total -= oldest.size
        found = following.id
    return found
