"""Groups that brokers coordinate and the ends of the logs they read: one look, and a source that looks again and again.

A look remembers which groups there are, so that one whose coordinator does not answer, or that is between two
coordinators, is not taken for dead: only its coordinator can say so. `CoordinatorGroupsSource` is for whoever knows the
cluster from its ZooKeeper; it also tells what brokers say of the cluster that ZooKeeper does not bear out.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import CLASSIC, CONSUMER
from model.consumers.group_coordinator.stored_formats import partition_of
from model.hosts.kafka_client import (
    LATEST,
    NOBODY,
    KafkaClient,
    ReadingClient,
    fetch_request,
    fetched_records,
    list_offsets_request,
    listed_offsets,
    metadata_of,
    metadata_request,
)
from model.hosts.wire.names import UnsupportedVersionError, WireError, error_name
from model.sources.kafka import group_requests as say
from model.sources.kafka.group_requests import Generations
from model.sources.kafka.polling_source import ANSWER_S, PollingSource
from model.sources.kafka.views import Rounds, differences

GROUPS_A_REQUEST = 100
PARTITIONS_A_REQUEST = 5_000
AT_ONCE = 16
"""Requests under way at a time."""
PARTITION_BYTES = 1 << 18
"""Read of a partition of the offsets topic at one look."""

_COMMIT = (CLASSIC, CONSUMER)
"""Kinds of groups that commit offsets."""
T = TypeVar("T")


class GroupSurvey:
    """For one event loop; one look at a time."""

    def __init__(self, client: KafkaClient) -> None:
        self.silent: tuple[str, ...] = ()
        """What could not be had at the last look, a line each."""
        self._client = client
        self._groups: dict[str, r.GroupDescribed] = {}
        """As they were listed last, by the broker that was seen to coordinate them last."""
        self._read: frozenset[TopicPartition] = frozenset()
        self._ends: dict[TopicPartition, int] = {}
        self._generations = Generations()
        self._told: dict[tuple[type[r.ClusterRecord], str], r.ClusterRecord] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def look(
        self, others: Iterable[TopicPartition] = (), *, is_fresh: bool = False
    ) -> tuple[r.ClusterRecord, ...]:
        """What is new since the last look; `others` are more partitions whose log ends are wanted.

        `is_fresh`: the client has asked for the metadata of all topics just now.
        Raises WireError where no broker answers at all.
        """
        failures: list[str] = []
        wanted = self._read.union(others)
        if not is_fresh:
            await self._client.refresh(sorted({OFFSETS_TOPIC, *(read.topic for read in wanted)}))
        await self._list(failures)
        places = self._places_of_groups()
        tails = await self._log_ends(frozenset(places.values()), failures)
        described = await self._describe(places, failures)
        known = await self._with_generations([one for one in described.values() if one is not None], places, tails)
        offsets = await self._offsets((one for one in known if one.kind in _COMMIT), failures)
        self._read = frozenset(read for one in offsets for read in one.offsets).union(
            read for one in known for read in one.owners or ()
        )
        wanted |= self._read
        # Where a leader does not answer, the last end known stands, or what was committed since.
        last = {read: end for read, end in self._ends.items() if read in wanted}
        for one in offsets:
            last |= {read: offset for read, offset in one.offsets.items() if offset > last.get(read, offset)}
        self._ends = last | await self._log_ends(wanted, failures)
        self.silent = tuple(dict.fromkeys(failures))
        dead = [name for name, one in described.items() if one is None and self._groups.pop(name, None) is not None]
        self._generations.forget(dead)
        ends = r.LogEndsRead(ends=dict(self._ends))
        return (*(r.GroupDied(group=name) for name in dead), *self._news((*known, *offsets, ends), dead))

    def tell_again(self) -> None:
        """Whoever was told has forgotten: everything is new."""
        self._told.clear()

    def _news(self, records: Iterable[r.ClusterRecord], dead: Iterable[str]) -> Iterator[r.ClusterRecord]:
        gone = frozenset(dead)
        self._told = {key: record for key, record in self._told.items() if key[1] not in gone}
        for record in records:
            key = type(record), getattr(record, "group", "")
            if self._told.get(key) != record:
                self._told[key] = record
                yield record

    async def _list(self, failures: list[str]) -> None:
        async def ask(broker: int) -> None:
            response = await self._client.ask(broker, say.list_groups)
            error = error_name(response.error_code)
            if error == "NONE":
                self._groups.update((one.group, one) for one in say.listed_groups(response, broker))
            elif error != "COORDINATOR_NOT_AVAILABLE":  # a broker that coordinates nothing yet may say that
                failures.append(f"broker {broker}: {error}")

        await self._each((ask(broker) for broker in self._client.metadata.brokers), failures)

    def _places_of_groups(self) -> Mapping[str, TopicPartition]:
        """Group → its partition of the offsets topic, where that is known to be."""
        count = sum(read.topic == OFFSETS_TOPIC for read in self._client.metadata.partitions)
        return {name: TopicPartition(OFFSETS_TOPIC, partition_of(name, count)) for name in self._groups if count}

    async def _describe(
        self, places: Mapping[str, TopicPartition], failures: list[str]
    ) -> dict[str, r.GroupDescribed | None]:
        described: dict[str, r.GroupDescribed | None] = {}

        async def ask(broker: int, kind: str, groups: Sequence[str]) -> None:
            try:
                response = await self._client.ask(broker, lambda one: say.describe_groups(one, kind, groups))
            except UnsupportedVersionError:
                described.update((name, self._groups[name]) for name in groups)  # the list has to do
            else:
                described.update(say.described_groups(response, broker, kind))

        by_broker: dict[tuple[int, str], list[str]] = {}
        for name, last in self._groups.items():
            broker = self._leader(places.get(name), NOBODY if last.coordinator is None else last.coordinator)
            by_broker.setdefault((broker, last.kind), []).append(name)
        questions = (
            ask(broker, kind, part)
            for (broker, kind), names in by_broker.items()
            for part in _parts(names, GROUPS_A_REQUEST)
        )
        await self._each(questions, failures)
        return described

    def _leader(self, partition: TopicPartition | None, last: int = NOBODY) -> int:
        """The leader of a partition; of one of the offsets topic, the coordinator of its groups."""
        place = None if partition is None else self._client.metadata.partitions.get(partition)
        return last if place is None or place.leader == NOBODY else place.leader

    async def _with_generations(
        self,
        groups: Sequence[r.GroupDescribed],
        places: Mapping[str, TopicPartition],
        tails: Mapping[TopicPartition, int],
    ) -> list[r.GroupDescribed]:
        """The groups with the generations that are known of them. Who may not read those is no failure."""

        async def ask(leader: int, offsets: Mapping[TopicPartition, int]) -> None:
            response = await self._client.ask(leader, lambda broker: fetch_request(broker, offsets, PARTITION_BYTES))
            for partition, error, data in fetched_records(response):
                if error == "NONE":
                    self._generations.take(partition, data)
                else:
                    self._generations.miss(partition, error)

        by_leader: dict[int, dict[TopicPartition, int]] = {}
        classic = [one for one in groups if one.kind == CLASSIC]
        for partition, offset in self._generations.see(classic, places, tails).items():
            by_leader.setdefault(self._leader(partition), {})[partition] = offset
        await self._each((ask(leader, offsets) for leader, offsets in by_leader.items()), [])
        return [
            msgspec.structs.replace(one, generation=self._generations.of(one.group)) if one.kind == CLASSIC else one
            for one in groups
        ]

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

    async def _log_ends(self, wanted: frozenset[TopicPartition], failures: list[str]) -> dict[TopicPartition, int]:
        ends: dict[TopicPartition, int] = {}

        async def ask(leader: int, partitions: Sequence[TopicPartition]) -> None:
            times = dict.fromkeys(partitions, LATEST)
            response = await self._client.ask(leader, lambda connection: list_offsets_request(connection, times))
            ends.update((read, offset) for read, error, offset in listed_offsets(response) if error == "NONE")

        by_leader: dict[int, list[TopicPartition]] = {}
        for read in sorted(wanted):
            by_leader.setdefault(self._leader(read), []).append(read)
        by_leader.pop(NOBODY, None)
        questions = (
            ask(leader, part) for leader, reads in by_leader.items() for part in _parts(reads, PARTITIONS_A_REQUEST)
        )
        await self._each(questions, failures)
        return ends

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


INTERVAL_S = 1.0
COMPARED_S = 2.0
"""Between two comparisons, at least: all of a broker's metadata is asked for."""


class CoordinatorGroupsSource(PollingSource):
    """Tells of groups that brokers coordinate, of log ends and of differences, and never lists. Used once."""

    def __init__(
        self,
        bootstrap: str,
        interval_s: float = INTERVAL_S,
        answer_s: float = ANSWER_S,
        security: Mapping[str, Any] | None = None,
        compared_s: float = COMPARED_S,
    ) -> None:
        """As PollingSource; `compared_s` passes between two comparisons. Raises SourceError as PollingSource does."""
        self.compared_s = compared_s
        self.others: frozenset[TopicPartition] = frozenset()
        self.image: Callable[[], ClusterImage | None] = lambda: None
        """The cluster as ZooKeeper has it, once all of it is known; to be set before `open`."""
        self.is_forgotten = False
        """Whoever was told knows nothing any more: everything is to be told again."""
        super().__init__(bootstrap, lambda client: _Beside(client, self), interval_s, answer_s, security)

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """Of these partitions the log ends are wanted, too; from any thread."""
        self.others = frozenset(partitions)


class _Beside:
    """The survey: groups each time, and what one broker after the other says of the cluster."""

    lists = False

    def __init__(self, client: ReadingClient, source: CoordinatorGroupsSource) -> None:
        self._client, self._source, self._survey = client, source, GroupSurvey(client)
        self._rounds = Rounds()
        self._compared_s = 0.0
        self._told: Mapping[str, str] = {}

    @property
    def troubles(self) -> tuple[str, ...]:
        return self._survey.silent

    async def look(self) -> AsyncIterator[tuple[r.ClusterRecord, ...]]:
        if self._source.is_forgotten:
            self._source.is_forgotten, self._told = False, {}
            self._survey.tell_again()
        yield await self._survey.look(self._source.others)
        image = self._source.image()
        if image is not None and time.monotonic() - self._compared_s >= self._source.compared_s:
            yield await self._compared(image)
            self._compared_s = time.monotonic()

    async def _compared(self, image: ClusterImage) -> tuple[r.ClusterRecord, ...]:
        for broker in self._rounds.next(self._client.metadata.brokers):
            try:
                metadata = metadata_of(await self._client.ask(broker, metadata_request))
            except WireError:
                continue  # the groups' survey says who does not answer
            found = self._rounds.see(broker, differences(image, metadata))
            news = () if found == self._told else (r.ViewsDiffered(differences=found),)
            self._told = found
            return news
        return ()
