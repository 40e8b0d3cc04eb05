"""The requests that one change of states gives rise to, gathered per broker: a broker gets at most one of each kind.

Source: `kafka.controller.AbstractControllerBrokerRequestBatch` (3.9). A pure container: `telling` fills it from what
the controller knows and turns it into commands. A partition added twice keeps the newer state; `is_new` and `delete`
once said stay said.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.requests import PartitionToServe, PartitionToStop

Entry = TypeVar("Entry", PartitionToServe, PartitionToStop)


class RequestBatch(msgspec.Struct, frozen=True):
    """By broker the partitions to serve and to stop, and the partitions to know (in parts) for all `receivers`.

    Receivers without partitions are still told who is live.
    """

    serve: Mapping[int, Mapping[TopicPartition, PartitionToServe]] = {}
    stop: Mapping[int, Mapping[TopicPartition, PartitionToStop]] = {}
    know: tuple[tuple[TopicPartition, ...], ...] = ()
    receivers: frozenset[int] = frozenset()

    def serving(self, entries: Iterable[tuple[PartitionToServe, Iterable[int]]]) -> "RequestBatch":
        """With each of these partitions to be served by the brokers beside it."""
        added: dict[int, dict[TopicPartition, PartitionToServe]] = {}
        for entry, brokers in entries:
            for broker in brokers:
                mine = _mine(added, self.serve, broker)
                before = mine.get(entry.partition)
                stays_new = before is not None and before.is_new and not entry.is_new
                mine[entry.partition] = msgspec.structs.replace(entry, is_new=True) if stays_new else entry
        return msgspec.structs.replace(self, serve={**self.serve, **added})

    def serving_on(self, broker: int, entries: Mapping[TopicPartition, PartitionToServe]) -> "RequestBatch":
        """The same for one broker: a failover has every broker serve everything anew."""
        if broker in self.serve:
            return self.serving((entry, (broker,)) for entry in entries.values())
        return msgspec.structs.replace(self, serve={**self.serve, broker: entries})

    def stopping(self, entries: Iterable[tuple[PartitionToStop, int]]) -> "RequestBatch":
        """With each of these partitions to be stopped by the broker beside it."""
        added: dict[int, dict[TopicPartition, PartitionToStop]] = {}
        for entry, broker in entries:
            mine = _mine(added, self.stop, broker)
            before = mine.get(entry.partition)
            stays_deleted = before is not None and before.delete and not entry.delete
            mine[entry.partition] = msgspec.structs.replace(entry, delete=True) if stays_deleted else entry
        return msgspec.structs.replace(self, stop={**self.stop, **added})

    def telling(self, partitions: tuple[TopicPartition, ...], receivers: Iterable[int]) -> "RequestBatch":
        """With these partitions to be known, and these brokers among those who are told."""
        receivers = self.receivers.union(receivers)
        return msgspec.structs.replace(self, know=(*self.know, partitions), receivers=receivers)


def _mine(
    added: dict[int, dict[TopicPartition, Entry]], before: Mapping[int, Mapping[TopicPartition, Entry]], broker: int
) -> dict[TopicPartition, Entry]:
    """What a broker gets, to be added to: copied once a call, not once a partition."""
    mine = added.get(broker)
    if mine is None:
        mine = added[broker] = dict(before.get(broker, {}))
    return mine
