"""When a leader that writes ISRs itself tells the controller of them: not at once, so that many go into one znode.

Source: `ReplicaManager.maybePropagateIsrChanges` (0.9 to 2.6), `ZkAlterPartitionManager` (2.7 to 3.9).
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.znodes.admin import PartitionEntry
from model.znodes.notifications import IsrChange

CHECK_INTERVAL_MS = 2_500
LINGER_MS = 5_000
"""After the last change, others may follow for so long."""
MAX_DELAY_MS = 60_000
"""After the last notice, changes wait no longer than this."""


class IsrChangeNotices(msgspec.Struct, frozen=True):
    """Partitions of which the controller is to be told; times in ms since the epoch."""

    changed: frozenset[TopicPartition] = frozenset()
    changed_ms: int = 0
    notified_ms: int = 0
    """Of the last notice; at first, when the broker started."""

    def add(self, partition: TopicPartition, now_ms: int) -> "IsrChangeNotices":
        """An ISR was written."""
        return msgspec.structs.replace(self, changed=self.changed | {partition}, changed_ms=now_ms)

    def is_due(self, now_ms: int) -> bool:
        """Whether to tell the controller now."""
        quiet = self.changed_ms + LINGER_MS < now_ms
        return bool(self.changed) and (quiet or self.notified_ms + MAX_DELAY_MS < now_ms)

    @property
    def payload(self) -> bytes:
        """What the znode `/isr_change_notification/isr_change_…` gets."""
        entries = tuple(PartitionEntry(topic=each.topic, partition=each.partition) for each in sorted(self.changed))
        return IsrChange(partitions=entries).to_bytes()

    def notified(self, now_ms: int) -> "IsrChangeNotices":
        """After the znode was created."""
        return IsrChangeNotices(frozenset(), self.changed_ms, now_ms)
