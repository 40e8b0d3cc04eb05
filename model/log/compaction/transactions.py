"""Which batches belong to aborted transactions, while a log is read from its start. Touches no file.

Kafka 3.9 `kafka.log.CleanedTransactionMetadata`.
"""

from collections.abc import Iterable

from model.log.indexes.transaction_index import AbortedTransaction
from model.log.records import EndTransactionMarker, RecordBatch


class TransactionsSeen:
    """Told of each batch in order; says of each whether its data counts."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come = sorted(set(aborted), key=lambda each: each.first_offset, reverse=True)
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_data: set[int] = set()
        """Producers whose transaction, at this place, has left some data in the log."""

    def is_aborted(self, batch: RecordBatch) -> bool:
        """Whether a data batch belongs to a transaction that was aborted."""
        if not batch.is_transactional:
            return False
        self._reach(batch.last_offset)
        self._with_data.add(batch.producer_id)
        return batch.producer_id in self._aborted

    def end(self, batch: RecordBatch, marker: EndTransactionMarker) -> tuple[bool, AbortedTransaction | None]:
        """Whether a marker's transaction has no data left, and, where it has, the entry for the transaction index."""
        self._reach(batch.last_offset)
        has_data = batch.producer_id in self._with_data
        self._with_data.discard(batch.producer_id)
        aborted = None if marker.committed else self._aborted.pop(batch.producer_id, None)
        return not has_data, aborted if has_data else None

    def _reach(self, offset: int) -> None:
        while self._to_come and self._to_come[-1].first_offset <= offset:
            transaction = self._to_come.pop()
            self._aborted[transaction.producer_id] = transaction
