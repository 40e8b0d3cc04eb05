"""All fetchers of a broker: made when a leader is first followed. Kafka 3.9 `ReplicaFetcherManager`."""

import asyncio

from model.broker.replication.fetch_plan import Fetcher as FetcherId
from model.broker.replication.fetch_plan import fetcher_of
from model.broker.replication.fetch_state import FetchState
from model.broker.settings.replication_keys import NUM_REPLICA_FETCHERS
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.fetcher import Fetcher, FetcherParts


class Fetchers:
    """Open until `close`."""

    def __init__(self, parts: FetcherParts) -> None:
        self._parts = parts
        self._fetchers: dict[FetcherId, Fetcher] = {}
        self._of: dict[TopicPartition, Fetcher] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self, state: FetchState) -> None:
        """Replicate a partition, from this state on."""
        if self._closed:
            return
        self.stop(state.partition)
        wanted = fetcher_of(state.partition, state.leader, self._parts.held.settings.broker[NUM_REPLICA_FETCHERS])
        fetcher = self._fetchers.get(wanted)
        if fetcher is None:
            fetcher = self._fetchers[wanted] = Fetcher(wanted, self._parts)
        self._of[state.partition] = fetcher
        fetcher.start(state)

    def stop(self, name: TopicPartition) -> None:
        """Replicate a partition no more."""
        fetcher = self._of.pop(name, None)
        if fetcher is not None:
            fetcher.stop(name)

    def drop_idle(self) -> None:
        """End the connections to leaders of whom nothing is wanted any more."""
        for wanted, fetcher in list(self._fetchers.items()):
            if fetcher.is_idle:
                del self._fetchers[wanted]
                task = asyncio.create_task(fetcher.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End all."""
        self._closed = True
        closing = [fetcher.close() for fetcher in self._fetchers.values()]
        self._fetchers = {}
        self._of = {}
        await asyncio.gather(*closing, *self._closing, return_exceptions=True)
