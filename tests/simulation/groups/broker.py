"""A broker that coordinates groups: the real host of the coordinator, on logs and a clock that are not real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

from model.broker.metadata import MetadataImage
from model.broker.settings import keys
from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.coordinate import FetchedOffset, fetch_offsets
from model.consumers.group_coordinator.events_and_commands import AnswerMember, GroupRequest
from model.consumers.group_coordinator.stored_formats import role_error
from model.controller.events_and_commands import PartitionToKnow
from model.controller.leader_and_isr import LeaderAndIsr
from model.hosts.live_broker.group_coordinator import GroupCoordinator, ask_coordinator
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.producers import Origin
from tests.simulation.groups.offsets_partition import OffsetsPartition

RETENTION_CHECK_S = 20


class BrokerLogs:
    """What a coordinator needs of a ReplicaManager, for one broker's copies."""

    def __init__(self, broker: int, partitions: Mapping[int, OffsetsPartition]) -> None:
        self.metadata = MetadataCache()
        self._broker = broker
        self._partitions = partitions
        names = [TopicPartition(OFFSETS_TOPIC, number) for number in partitions]
        known = {name.partition: PartitionToKnow(name, LeaderAndIsr(1, 0, (1,)), 1, (1,), ()) for name in names}
        self.metadata.learn(MetadataImage(1, {}, {OFFSETS_TOPIC: known}))

    async def append(
        self, records: Mapping[TopicPartition, bytes], *, acks: int, timeout_ms: int, origin: Origin, internal: bool
    ) -> Mapping[TopicPartition, ProduceOutcome]:
        ((name, data),) = records.items()
        partition = self._partitions[name.partition]
        return {name: await partition.append(self._broker, data, wait=acks != 0, timeout_ms=timeout_ms)}

    def read(self, partition: TopicPartition, offset: int, max_bytes: int) -> bytes:
        copy = self._partitions[partition.partition].copies[self._broker]
        return b"".join(batch.data for batch in copy if batch.base_offset >= offset)

    def start_offset(self, partition: TopicPartition) -> int:
        return 0

    def end_offset(self, partition: TopicPartition) -> int:
        return self._partitions[partition.partition].end(self._broker)


class Broker:
    """From its start to its crash; who comes back is another one with the same id."""

    def __init__(
        self,
        broker: int,
        partitions: Mapping[int, OffsetsPartition],
        given: Mapping[str, object],
        now_ms: Callable[[], int],
    ) -> None:
        self.id = broker
        self.alive = True
        self.waiting: dict[int, tuple[float, GroupRequest]] = {}
        """Requests that are not answered, by number, with the time when they came (s)."""
        self.coordinator = GroupCoordinator(Settings(given), BrokerLogs(broker, partitions), now_ms)

    async def ask(self, event: GroupRequest, answer: type[AnswerMember]) -> AnswerMember:
        """As the APIs do, with answers to members while groups are loaded (`from_members`)."""
        came = asyncio.get_running_loop().time()
        self.waiting[event.request] = came, event
        try:
            return await ask_coordinator(self.coordinator, event, answer)
        finally:
            del self.waiting[event.request]

    def fetch(self, group_id: str, partitions: Collection[TopicPartition]) -> tuple[str, tuple[FetchedOffset, ...]]:
        """OffsetFetch as consumers ask it: not while a newer offset is on its way."""
        error = role_error(group_id, self.coordinator.role(group_id), needs_name=False)
        group = self.coordinator.groups.get(group_id)
        found = () if error else tuple(fetch_offsets(group, partitions, require_stable=True))
        return error or next((each.error for each in found if each.error != "NONE"), "NONE"), found


def settings(initial_delay_ms: int, retention_minutes: int) -> Mapping[str, object]:
    """What is set in server.properties."""
    return {
        keys.GROUP_INITIAL_REBALANCE_DELAY_MS.name: initial_delay_ms,
        keys.OFFSETS_RETENTION_MINUTES.name: retention_minutes,
        keys.OFFSETS_RETENTION_CHECK_INTERVAL_MS.name: RETENTION_CHECK_S * 1000,
    }
