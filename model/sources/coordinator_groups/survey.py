"""One look at all groups and at the logs they read: who is asked what, and which records come of it.

Remembers which groups there are, so that one whose coordinator does not answer, or that is between two coordinators, is
not taken for dead: only its coordinator can say so.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import TypeVar

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.consumers.assignors.java_strings import string_hash
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.kafka_client.list_offsets import LATEST, list_offsets_request, listed_offsets
from model.hosts.kafka_client.metadata import NOBODY
from model.hosts.wire.errors import WireError
from model.hosts.wire.names import error_name
from model.sources.coordinator_groups import requests as say

OFFSETS_TOPIC = "__consumer_offsets"
GROUPS_A_REQUEST = 100
PARTITIONS_A_REQUEST = 5_000
AT_ONCE = 16
"""Requests under way at a time."""

T = TypeVar("T")


class GroupSurvey:
    """For one event loop; one look at a time."""

    def __init__(self, client: KafkaClient) -> None:
        self.silent: tuple[str, ...] = ()
        """What could not be had at the last look, a line each."""
        self._client = client
        self._groups: dict[str, int] = {}
        """Group → the broker that was seen to coordinate it last."""
        self._read: frozenset[TopicPartition] = frozenset()
        self._ends: dict[TopicPartition, int] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def look(self, others: Iterable[TopicPartition] = ()) -> tuple[r.Record, ...]:
        """Everything there is to know now; `others` are more partitions whose log ends are wanted.

        Raises WireError where no broker answers at all.
        """
        failures: list[str] = []
        wanted = self._read.union(others)
        await self._client.refresh(sorted({OFFSETS_TOPIC, *(read.topic for read in wanted)}))
        await self._list(failures)
        described = await self._describe(failures)
        known = [one for one in described.values() if one is not None]
        offsets = await self._offsets(known, failures)
        self._read = frozenset(read for one in offsets for read in one.offsets).union(
            read for one in known for read in one.owners or ()
        )
        await self._measure(wanted | self._read, failures)
        self.silent = tuple(dict.fromkeys(failures))
        dead = [name for name, one in described.items() if one is None and self._groups.pop(name, None) is not None]
        ends = r.LogEndsRead(ends=dict(self._ends))
        return (*(r.GroupDied(group=name) for name in dead), *known, *offsets, ends)

    async def _list(self, failures: list[str]) -> None:
        async def ask(broker: int) -> None:
            response = await self._client.ask(broker, say.list_groups)
            error = error_name(response.error_code)
            if error == "NONE":
                self._groups.update((str(each.group_id), broker) for each in response.groups)
            elif error != "COORDINATOR_NOT_AVAILABLE":  # a broker that coordinates nothing yet may say that
                failures.append(f"broker {broker}: {error}")

        await self._each((ask(broker) for broker in self._client.metadata.brokers), failures)

    async def _describe(self, failures: list[str]) -> dict[str, r.GroupDescribed | None]:
        described: dict[str, r.GroupDescribed | None] = {}

        async def ask(broker: int, groups: Sequence[str]) -> None:
            response = await self._client.ask(broker, lambda connection: say.describe_groups(connection, groups))
            described.update(say.described_groups(response, broker))

        by_broker: dict[int, list[str]] = {}
        for name, last in self._groups.items():
            by_broker.setdefault(self._coordinator(name, last), []).append(name)
        questions = (
            ask(broker, part) for broker, names in by_broker.items() for part in _parts(names, GROUPS_A_REQUEST)
        )
        await self._each(questions, failures)
        return described

    def _coordinator(self, group: str, last: int) -> int:
        """The leader of the group's partition of the offsets topic (`GroupMetadataManager.partitionFor`, 3.9)."""
        places = self._client.metadata.partitions
        count = sum(read.topic == OFFSETS_TOPIC for read in places)
        place = places.get(TopicPartition(OFFSETS_TOPIC, (string_hash(group) & 0x7FFFFFFF) % max(count, 1)))
        return last if place is None or place.leader == NOBODY else place.leader

    async def _offsets(self, groups: Iterable[r.GroupDescribed], failures: list[str]) -> list[r.GroupOffsetsFetched]:
        fetched: list[r.GroupOffsetsFetched] = []

        async def ask(one: r.GroupDescribed) -> None:
            assert one.coordinator is not None
            response = await self._client.ask(
                one.coordinator, lambda connection: say.fetch_all_offsets(connection, one.group, one.owners or ())
            )
            offsets = say.fetched_offsets(response)
            if offsets is not None:
                fetched.append(r.GroupOffsetsFetched(group=one.group, offsets=offsets))

        await self._each((ask(one) for one in groups), failures)
        return fetched

    async def _measure(self, wanted: frozenset[TopicPartition], failures: list[str]) -> None:
        """Log ends; where a leader does not answer, the last one known stands."""
        self._ends = {read: end for read, end in self._ends.items() if read in wanted}

        async def ask(leader: int, partitions: Sequence[TopicPartition]) -> None:
            times = dict.fromkeys(partitions, LATEST)
            response = await self._client.ask(leader, lambda connection: list_offsets_request(connection, times))
            for read, error, offset in listed_offsets(response):
                if error == "NONE":
                    self._ends[read] = offset

        by_leader: dict[int, list[TopicPartition]] = {}
        for read in sorted(wanted):
            place = self._client.metadata.partitions.get(read)
            if place is not None and place.leader != NOBODY:
                by_leader.setdefault(place.leader, []).append(read)
        questions = (
            ask(leader, part) for leader, reads in by_leader.items() for part in _parts(reads, PARTITIONS_A_REQUEST)
        )
        await self._each(questions, failures)

    async def _each(self, questions: Iterable[Awaitable[None]], failures: list[str]) -> None:
        """All of them, some at a time; who does not answer keeps nobody else from being asked."""

        async def ask(question: Awaitable[None]) -> None:
            async with self._places:
                try:
                    await question
                except WireError as error:
                    failures.append(str(error))

        await asyncio.gather(*(ask(question) for question in questions))


def _parts(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (things[start : start + size] for start in range(0, len(things), size))
