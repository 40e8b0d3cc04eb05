"""One look at a whole cluster: which broker is asked what, and the view that comes of it.

Remembers the view, so that what cannot be had now stays as it was told last.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import NO_QUORUM_LEADER, LogDir, Quorum
from model.hosts.kafka_client import descriptions
from model.hosts.kafka_client.kafka_client import HEAD_START_S, Metadata, PartitionPlace, ReadingClient, first_answer
from model.hosts.wire.connection import Build
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, UnavailableError, UnsupportedVersionError, WireError, error_name
from model.sources.kafka.quorum_survey import QuorumSurvey
from model.sources.kafka.views import KRAFT, BrokerView, Change, ClusterView, brokers_of, generation_of, topics_of

_OF_BROKERS = ("brokers", "server.properties")
TOPICS_A_REQUEST = 500
"""Whose settings are asked for at once: a broker answers with some thirty each."""


class ClusterSurvey:
    """For one event loop; one question of each kind at a time."""

    def __init__(self, client: ReadingClient) -> None:
        self.view = ClusterView()
        self.silent: list[str] = []
        """What could not be had since this was emptied last, a line each."""
        self._client = client
        self._quorums = QuorumSurvey(client)
        self._moves: Mapping[TopicPartition, Change] = {}
        self._tells_elr = False

    async def look(self) -> None:
        """Who lives, leads and is in sync, and what is being reassigned. Raises WireError where no broker answers."""
        metadata = await self._client.refresh(None)
        generation, features = await self._self_portrait()
        quorum = await self._quorum() if generation == KRAFT else None
        if quorum is None or quorum.leader != NO_QUORUM_LEADER:
            await self._reassignments()
        fenced = await self._fenced() if generation == KRAFT else None
        partitions = {**metadata.partitions, **(await self._eligible())}
        self.view = msgspec.structs.replace(
            self.view,
            cluster_id=metadata.cluster_id,
            generation=generation,
            features=features,
            controller=_controller(metadata, generation, quorum),
            brokers={broker: view for broker, view in brokers_of(metadata).items() if broker not in (fenced or ())},
            fenced=fenced,
            topics=topics_of(msgspec.structs.replace(metadata, partitions=partitions), self._moves),
            tells_elr=self._tells_elr,
            quorum=quorum,
            controllers=self._quorums.controllers,
            log_dirs={broker: dirs for broker, dirs in self.view.log_dirs.items() if broker in metadata.brokers},
        )

    async def configs(self) -> None:
        """What is set on topics and brokers, in files included. Where somebody does not answer, the last is kept."""
        found: dict[str, dict[str, str]] = {}
        topics, brokers = sorted(self.view.topics), [str(each) for each in self.view.brokers]
        parts = [topics[start : start + TOPICS_A_REQUEST] for start in range(0, len(topics), TOPICS_A_REQUEST)]

        async def ask(brokers: Iterable[int], kind: int, names: Sequence[str]) -> None:
            response = await self._anybody(
                brokers, lambda connection: descriptions.describe_configs(connection, kind, names)
            )
            for name, error, entities in descriptions.described_configs(response):
                if error == "NONE":
                    found.update(
                        (entity, config)
                        for entity, config in entities.items()
                        if config or kind == descriptions.TOPIC_RESOURCE
                    )
                elif error != "UNKNOWN_TOPIC_OR_PARTITION":  # it was deleted meanwhile
                    self.silent.append(f"settings of {name}: {error}")

        questions = [ask(self._in_order(), descriptions.TOPIC_RESOURCE, part) for part in parts]
        await self._each(
            [*questions, *(ask([int(broker)], descriptions.BROKER_RESOURCE, [broker]) for broker in brokers)]
        )
        known = {f"topics/{name}" for name in topics} | {f"{place}/{n}" for place in _OF_BROKERS for n in brokers}
        kept = {entity: config for entity, config in self.view.configs.items() if entity in known}
        self.view = msgspec.structs.replace(self.view, configs=kept | found)

    async def log_dirs(self) -> None:
        """Folders and sizes, of each broker by itself."""
        found: dict[int, tuple[LogDir, ...]] = {}

        async def ask(broker: int) -> None:
            found[broker] = descriptions.described_log_dirs(
                await self._client.ask(broker, descriptions.describe_log_dirs)
            )

        await self._each([ask(broker) for broker in self.view.brokers])
        self.view = msgspec.structs.replace(self.view, log_dirs={**self.view.log_dirs, **found})

    async def _self_portrait(self) -> tuple[str, Mapping[str, int]]:
        """Generation and features, as the broker tells that told the metadata; as they were if it is gone by now."""
        assert self._client.answered is not None
        try:
            connection = await self._client.connected(self._client.answered)
        except WireError:
            return self.view.generation, self.view.features
        self._tells_elr = ApiKey.DESCRIBE_TOPIC_PARTITIONS in connection.versions
        return generation_of(connection.versions), connection.features

    async def _quorum(self) -> Quorum | None:
        try:
            return await self._quorums.look()
        except WireError as error:
            self.silent.append(f"quorum: {error}")
            return self.view.quorum

    async def _fenced(self) -> Mapping[int, BrokerView] | None:
        """Brokers that are fenced; None where brokers do not tell, as before 4.0. The last where nobody answers."""
        try:
            response = await self._anybody(self._in_order(), descriptions.describe_cluster)
            told = descriptions.fenced_brokers(response, self._client.metadata.brokers)
        except UnsupportedVersionError:
            return None
        except WireError as error:
            self.silent.append(f"fenced brokers: {error}")
            return self.view.fenced
        return {broker: BrokerView(*facts) for broker, facts in told.items()}

    async def _eligible(self) -> Mapping[TopicPartition, PartitionPlace]:
        """Partitions with their eligible leader replicas, of the topics that may have some.

        Kafka keeps none while the ISR has min.insync.replicas members, and never asks for more than there are replicas.
        """
        if not self._tells_elr:
            return {}
        partitions = self._client.metadata.partitions
        widest, least = Counter[str](), dict[str, int]()
        for name, place in partitions.items():
            widest[name.topic] = max(widest[name.topic], len(place.replicas))
            least[name.topic] = min(least.get(name.topic, len(place.isr)), len(place.isr))
        names = sorted(name for name in widest if least[name] < widest[name])
        found: dict[TopicPartition, PartitionPlace] = {}
        try:
            for start in range(0, len(names), TOPICS_A_REQUEST):
                found |= await self._pages(names[start : start + TOPICS_A_REQUEST])
        except WireError as error:
            self.silent.append(f"eligible leader replicas: {error}")
        return {name: place for name, place in found.items() if name in partitions}

    async def _pages(self, topics: Sequence[str]) -> Mapping[TopicPartition, PartitionPlace]:
        found: dict[TopicPartition, PartitionPlace] = {}
        after: Entity | None = None
        while True:
            build = partial(descriptions.describe_topic_partitions, topics=topics, after=after)
            page = await self._anybody(self._in_order(), build)
            found |= descriptions.described_topic_partitions(page)
            if page.next_cursor is None or page.next_cursor == after:
                return found
            after = page.next_cursor

    async def _reassignments(self) -> None:
        """Brokers ruled through ZooKeeper ask nobody else: only the controller knows. In KRaft each passes it on."""
        metadata = self._client.metadata
        order = [metadata.controller, *metadata.brokers] if metadata.controller in metadata.brokers else ()
        try:
            response = await self._anybody(order, descriptions.list_reassignments, self._client.timeout_s)
            if (error := error_name(response.error_code)) != "NONE":
                raise UnavailableError(error)
            self._moves = {
                name: (adding, removing) for name, adding, removing in descriptions.listed_reassignments(response)
            }
        except WireError as error:
            self.silent.append(f"reassignments: {error}")

    def _in_order(self) -> list[int]:
        """Brokers to ask, first who told the metadata: it lives."""
        brokers, answered = self._client.metadata.brokers, self._client.answered
        return sorted(brokers, key=lambda broker: brokers[broker] != answered)

    async def _anybody(self, brokers: Iterable[int], build: Build, head_start_s: float = HEAD_START_S) -> Entity:
        """The answer of the first of these that gives one. Raises what the last one said, or UnavailableError."""
        return await first_answer((partial(self._client.ask, broker, build) for broker in brokers), head_start_s)

    async def _each(self, questions: Sequence[Awaitable[None]]) -> None:
        """All of them side by side; who does not answer keeps nobody else from being asked."""

        async def ask(question: Awaitable[None]) -> None:
            try:
                await question
            except WireError as error:
                self.silent.append(str(error))

        await asyncio.gather(*map(ask, questions))


def _controller(metadata: Metadata, generation: str, quorum: Quorum | None) -> int:
    """In KRaft metadata names any live broker (`KRaftMetadataCache`, 3.9): the quorum's leader is the controller."""
    if generation != KRAFT:
        return metadata.controller
    return NO_QUORUM_LEADER if quorum is None else quorum.leader
