"""Log ends, which brokers tell now and then, beside offsets, which ZooKeeper tells at once. It asks nobody.

An offset may be committed after the ends were read, and lie beyond them. Who commits an offset has read so far: until
the ends are read again, the log is taken to have grown to it. Only a look that began later can say that it did not.
"""

from collections.abc import Iterable

from model.cluster.ids import TopicPartition
from model.cluster.records import LogEndsRead, OffsetCommitted, Record


class GrownLogs:
    """What was told, and what was committed since the look before last. For one thread at a time."""

    def __init__(self) -> None:
        self._ends: dict[TopicPartition, int] = {}
        self._before: dict[TopicPartition, int] = {}
        self._since: dict[TopicPartition, int] = {}
        """Committed before, and since, the end of the last look."""

    def commit(self, records: Iterable[Record]) -> tuple[Record, ...]:
        """ZooKeeper told these; the ends as they are known with them, where that differs."""
        has_grown = False
        for record in records:
            if isinstance(record, OffsetCommitted):
                has_grown |= record.offset > self._end(record.partition, record.offset)
                self._since[record.partition] = max(record.offset, self._since.get(record.partition, 0))
        return (self._known(),) if has_grown else ()

    def read(self, records: tuple[Record, ...]) -> tuple[Record, ...]:
        """Brokers told these; the same, but for the ends."""
        for record in records:
            if isinstance(record, LogEndsRead):
                self._ends = dict(record.ends)
        return tuple(self._known() if isinstance(record, LogEndsRead) else record for record in records)

    def looked(self) -> tuple[Record, ...]:
        """Brokers were asked for all ends; those ends as they are known by now, where that differs."""
        known = self._known()
        self._before, self._since = self._since, {}
        return () if self._known() == known else (self._known(),)

    def _end(self, partition: TopicPartition, unknown: int) -> int:
        end = self._ends.get(partition, unknown)
        return max(end, self._before.get(partition, end), self._since.get(partition, end))

    def _known(self) -> LogEndsRead:
        committed = self._before.keys() | self._since.keys()
        return LogEndsRead(ends=self._ends | {read: self._end(read, 0) for read in committed & self._ends.keys()})
