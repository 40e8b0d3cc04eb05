"""One look at a whole cluster: which broker is asked what, who leads a KRaft quorum, and the view that comes of it.

Remembers the view, so that what cannot be had now stays as it was told last.

Metadata does not say who leads a quorum: in it KRaft names any live broker as the controller. Brokers pass
DescribeQuorum on to the active controller, so one broker that answers is enough, and as a rule only one is asked.
Where it does not answer soon, all brokers and all voters are asked side by side. Voters that do not lead answer, too:
so those are found that live. Their listeners may be closed to us; then only what brokers say counts.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import NO_QUORUM_LEADER, LogDir, Quorum, QuorumReplica
from model.hosts import kafka_descriptions
from model.hosts.kafka_client import (
    HEAD_START_S,
    Metadata,
    PartitionPlace,
    ReadingClient,
    first_answer,
    metadata_request,
)
from model.hosts.wire.connection import Build
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, UnavailableError, UnsupportedVersionError, WireError, error_name
from model.sources.kafka.views import KRAFT, BrokerView, Change, ClusterView, brokers_of, generation_of, topics_of


class QuorumSurvey:
    """For one event loop, one look at a time. Remembers where voters listen, and what was told last."""

    def __init__(self, client: ReadingClient, head_start_s: float = HEAD_START_S) -> None:
        """`head_start_s`: so long the first one is waited for alone."""
        self._client = client
        self._head_start_s = head_start_s
        self._last = Quorum(NO_QUORUM_LEADER, -1)
        self._voters: dict[int, frozenset[kafka_descriptions.Address]] = {}
        self._unnamed: set[kafka_descriptions.Address] = set()
        """Where a voter listens whose id is not known."""
        self._configured: set[int] = set()
        """Brokers whose settings were looked through for voters."""

    @property
    def controllers(self) -> tuple[kafka_descriptions.Address, ...]:
        """Where voters listen, as far as brokers tell."""
        return tuple(sorted(self._unnamed.union(*self._voters.values())))

    async def look(self) -> Quorum:
        """The quorum as it is; without a leader where nobody knows one. Raises NotAllowedError."""
        look = _Look(self._client.timeout_s)
        brokers, answered = self._client.metadata.brokers, self._client.answered
        first = next((broker for broker, address in brokers.items() if address == answered), None)
        if answered is not None:
            look.heard.add(answered)
            look.ask(answered, self._broker(look, first, answered))
        try:
            await look.answered_within(self._head_start_s)
            if not look.is_over:
                for broker, address in brokers.items():
                    look.ask(address, self._broker(look, broker, address))
                self._ask_voters(look)
                await look.answered_within(self._client.timeout_s)
        finally:
            for address in await look.end():
                await self._client.hang_up(address)
        self._last = self._concluded(look)
        return self._last

    def _concluded(self, look: "_Look") -> Quorum:
        if look.told:
            return max(look.told, key=lambda each: each.leader_epoch)
        if look.refused is not None:
            raise look.refused
        brokers = self._client.metadata.brokers
        known = self._last.voters or tuple(QuorumReplica(voter) for voter in sorted(self._voters))
        own = {each.id: self._voters.get(each.id, frozenset()) | {brokers.get(each.id, ("", 0))} for each in known}
        return msgspec.structs.replace(
            self._last,
            leader=NO_QUORUM_LEADER,
            voters=known,
            silent=tuple(voter for voter, places in own.items() if not places & look.heard),
            unconfirmed=tuple(sorted(broker for broker, address in brokers.items() if address not in look.heard)),
        )

    async def _broker(self, look: "_Look", broker: int | None, address: kafka_descriptions.Address) -> None:
        """Asked for what it has of its own first: the rest it passes on, and it does not take up two things at once."""
        if broker is not None and broker not in self._configured and not self._voters:
            response = await self._client.ask_at(
                address,
                lambda to: kafka_descriptions.describe_configs(to, kafka_descriptions.BROKER_RESOURCE, [str(broker)]),
            )
            look.heard.add(address)
            self._configured.add(broker)
            configs = (
                config for _, _, found in kafka_descriptions.described_configs(response) for config in found.values()
            )
            self._learn(voter for config in configs for voter in kafka_descriptions.voters_configured(config))
            if look.is_wide:
                self._ask_voters(look)
        elif address not in look.heard:
            await self._client.ask_at(address, partial(metadata_request, topics=()))
            look.heard.add(address)
        await self._quorum(look, address, passed_on=True)

    async def _voter(self, look: "_Look", address: kafka_descriptions.Address) -> None:
        """Asked where it listens itself; whoever cannot be told by an id tells of all."""
        await self._quorum(look, address, passed_on=False)
        if address in self._unnamed and not self._last.voters:
            named = kafka_descriptions.described_controllers(
                await self._client.ask_at(address, kafka_descriptions.describe_controllers)
            )
            self._voters.update(named)
            self._ask_voters(look)

    async def _quorum(self, look: "_Look", address: kafka_descriptions.Address, *, passed_on: bool) -> None:
        response = await self._client.ask_at(address, kafka_descriptions.describe_quorum)
        look.heard.add(address)
        try:
            told = kafka_descriptions.described_quorum(response)
        except kafka_descriptions.NotAllowedError as error:
            look.refused = error if passed_on else look.refused
        except WireError:
            return  # it lives, and does not lead
        else:
            self._voters.update(kafka_descriptions.voters_listening(response))
            look.told.append(told)

    def _learn(self, voters: Iterator[tuple[int | None, kafka_descriptions.Address]]) -> None:
        for voter, address in voters:
            if voter is None:
                self._unnamed.add(address)
            else:
                self._voters[voter] = self._voters.get(voter, frozenset()) | {address}

    def _ask_voters(self, look: "_Look") -> None:
        look.is_wide = True
        for address in self._unnamed.union(*self._voters.values()):
            look.ask(address, self._voter(look, address))


class _Look:
    """What came of one look so far, and who is still being asked."""

    def __init__(self, timeout_s: float) -> None:
        self.heard: set[kafka_descriptions.Address] = set()
        """Who answered anything."""
        self.told: list[Quorum] = []
        self.refused: kafka_descriptions.NotAllowedError | None = None
        self.is_wide = False
        """Whether everybody is asked."""
        self._end_s = time.monotonic() + timeout_s
        self._asked: dict[kafka_descriptions.Address, asyncio.Task[None]] = {}
        self._news = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether a leader is known that a majority follows, or may not be known."""
        return self.refused is not None or any(each.is_led for each in self.told)

    def ask(self, address: kafka_descriptions.Address, question: Coroutine[None, None, None]) -> None:
        if address in self._asked:
            question.close()
            return
        self._asked[address] = asyncio.create_task(self._ask(question))
        self._asked[address].add_done_callback(lambda _: self._news.set())

    async def answered_within(self, most_s: float) -> None:
        """Waits until it is over, everybody has answered, or it has taken so long."""
        end_s = min(self._end_s, time.monotonic() + most_s)
        while not self.is_over and not all(task.done() for task in self._asked.values()):
            self._news.clear()
            try:
                async with asyncio.timeout(max(0.0, end_s - time.monotonic())):
                    await self._news.wait()
            except TimeoutError:
                return

    async def end(self) -> list[kafka_descriptions.Address]:
        """Asks no more; those who have not answered."""
        left = [address for address, task in self._asked.items() if not task.done()]
        for address in left:
            self._asked[address].cancel()
        for outcome in await asyncio.gather(*self._asked.values(), return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome  # a defect: what an answer may lack is a WireError
        return left

    @staticmethod
    async def _ask(question: Coroutine[None, None, None]) -> None:
        try:
            await question
        except WireError:
            return  # whoever does not answer is not heard


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
                brokers, lambda connection: kafka_descriptions.describe_configs(connection, kind, names)
            )
            for name, error, entities in kafka_descriptions.described_configs(response):
                if error == "NONE":
                    found.update(
                        (entity, config)
                        for entity, config in entities.items()
                        if config or kind == kafka_descriptions.TOPIC_RESOURCE
                    )
                elif error != "UNKNOWN_TOPIC_OR_PARTITION":  # it was deleted meanwhile
                    self.silent.append(f"settings of {name}: {error}")

        questions = [ask(self._in_order(), kafka_descriptions.TOPIC_RESOURCE, part) for part in parts]
        await self._each(
            [*questions, *(ask([int(broker)], kafka_descriptions.BROKER_RESOURCE, [broker]) for broker in brokers)]
        )
        known = {f"topics/{name}" for name in topics} | {f"{place}/{n}" for place in _OF_BROKERS for n in brokers}
        kept = {entity: config for entity, config in self.view.configs.items() if entity in known}
        self.view = msgspec.structs.replace(self.view, configs=kept | found)

    async def log_dirs(self) -> None:
        """Folders and sizes, of each broker by itself."""
        found: dict[int, tuple[LogDir, ...]] = {}

        async def ask(broker: int) -> None:
            found[broker] = kafka_descriptions.described_log_dirs(
                await self._client.ask(broker, kafka_descriptions.describe_log_dirs)
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
            response = await self._anybody(self._in_order(), kafka_descriptions.describe_cluster)
            told = kafka_descriptions.fenced_brokers(response, self._client.metadata.brokers)
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
            build = partial(kafka_descriptions.describe_topic_partitions, topics=topics, after=after)
            page = await self._anybody(self._in_order(), build)
            found |= kafka_descriptions.described_topic_partitions(page)
            if page.next_cursor is None or page.next_cursor == after:
                return found
            after = page.next_cursor

    async def _reassignments(self) -> None:
        """Brokers ruled through ZooKeeper ask nobody else: only the controller knows. In KRaft each passes it on."""
        metadata = self._client.metadata
        order = [metadata.controller, *metadata.brokers] if metadata.controller in metadata.brokers else ()
        try:
            response = await self._anybody(order, kafka_descriptions.list_reassignments, self._client.timeout_s)
            if (error := error_name(response.error_code)) != "NONE":
                raise UnavailableError(error)
            self._moves = {
                name: (adding, removing) for name, adding, removing in kafka_descriptions.listed_reassignments(response)
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
