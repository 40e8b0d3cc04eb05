"""The processes of a sandbox, the links between them, their folder, first topics: started together, none left behind.

It starts and ends what it is told to, and notices what ends by itself. Why anything should end is not known here.
Topics are created and awaited until they have leaders; none is changed or deleted.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client import NOBODY, KafkaClient, address_of
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, WireError
from model.sandbox.broker_process import (
    LIVE_BROKER,
    BrokerProcess,
    Listeners,
    all_or_first_error,
    broker_properties,
    properties_text,
)
from model.sandbox.embedded_zookeeper import Ensemble
from model.sandbox.messages import (
    CHROOT,
    MOST_BROKERS,
    MOST_MEMBERS,
    EventFeed,
    ProcessView,
    SandboxOptions,
    SandboxReady,
)
from model.sandbox.processes import SandboxError, free_port
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.switchboard import Switchboard

TOPICS_TIMEOUT_S = 60.0
TOPICS_PAUSE_S = 0.02


class NewTopic(msgspec.Struct, frozen=True):
    """A topic that is to be."""

    name: str
    partitions: int
    replicas: int
    config: Mapping[str, str] = {}


async def create_topics(client: KafkaClient, topics: Sequence[NewTopic]) -> None:
    """Create those that are not there, and wait until every partition of them is led. Raises SandboxError."""
    reason = "nobody was asked"
    try:
        async with asyncio.timeout(TOPICS_TIMEOUT_S):
            while True:
                try:
                    if await _are_led(client, topics):
                        return
                    reason = await _ask_for_topics(client, topics) or "not every partition has a leader"
                except WireError as error:
                    reason = str(error)
                await asyncio.sleep(TOPICS_PAUSE_S)
    except TimeoutError:
        raise SandboxError(f"the topics were not there within {TOPICS_TIMEOUT_S:.0f} s: {reason}") from None


async def _are_led(client: KafkaClient, topics: Sequence[NewTopic]) -> bool:
    """Whether all brokers are known, and a broker knows a leader for every partition."""
    metadata = await client.refresh()
    led = {partition for partition, leader in metadata.leaders() if leader != NOBODY}
    return all((topic.name, number) in led for topic in topics for number in range(topic.partitions))


async def _ask_for_topics(client: KafkaClient, topics: Sequence[NewTopic]) -> str:
    """What went wrong, empty if nothing did. Topics that exist are right."""
    known = {partition.topic for partition in client.metadata.partitions}
    missing = [topic for topic in topics if topic.name not in known]
    if not missing:
        return ""
    response = await client.ask(client.metadata.controller, lambda connection: _request(connection, missing))
    wrong = [
        f"{each.name}: {each.error_code.name.upper()} {getattr(each, 'error_message', None) or ''}".rstrip()
        for each in response.topics
        if each.error_code not in (ErrorCode.none, ErrorCode.topic_already_exists)
    ]
    return "; ".join(wrong[:3])


def _request(connection: Connection, topics: Sequence[NewTopic]) -> Entity:
    module = connection.request_shapes(ApiKey.CREATE_TOPICS)
    wanted = tuple(
        module.CreatableTopic(
            name=topic.name,
            num_partitions=topic.partitions,
            replication_factor=topic.replicas,
            assignments=(),
            configs=tuple(
                shaped(module.CreatableTopicConfig, name=name, value=value) for name, value in topic.config.items()
            ),
        )
        for topic in topics
    )
    timeout = timedelta(seconds=TOPICS_TIMEOUT_S / 2)
    return shaped(module.CreateTopicsRequest, topics=wanted, timeout=timeout, validate_only=False)


SMALL_SET = {"orders": 6, "payments": 6, "shipments": 4, "customers": 3}
"""Names and partitions."""
TOPIC_CONFIGS = {"customers": {"cleanup.policy": "compact"}}
PARTITIONS = 6


def first_topics(options: SandboxOptions) -> tuple[NewTopic, ...]:
    """As many as asked for, `topic-1` and so on, or the small set; three replicas where there are as many brokers."""
    replicas = min(3, options.brokers)
    if options.topics is not None:
        partitions = PARTITIONS if options.partitions is None else options.partitions
        width = len(str(options.topics))
        names = (f"topic-{number:0{width}}" for number in range(1, options.topics + 1))
        return tuple(NewTopic(name, partitions, replicas) for name in names)
    return tuple(
        NewTopic(
            name,
            partitions if options.partitions is None else options.partitions,
            replicas,
            TOPIC_CONFIGS.get(name, {}),
        )
        for name, partitions in SMALL_SET.items()
    )


POLL_S = 0.1
PATIENCE_S = 10.0
"""How long a broker that is kept may take to leave in order."""
CLIENT_ID = "kdrill-sandbox"
HIGHEST_PORT = 65_535


class SandboxCluster:
    """From `start` to `close`, in one event loop."""

    def __init__(self, options: SandboxOptions, events: EventFeed, broker_command: Sequence[str] = LIVE_BROKER) -> None:
        """Takes the folder. Raises SandboxError: the options or the folder are of no use."""
        _check(options)
        self.options = options
        self.events = events
        self.folder = SandboxFolder(options)
        self.ensemble = Ensemble(options, self.folder)
        self.links = Switchboard(
            options.broker_ids, options.zookeepers, has_one_listener=options.speaks_as_before((0, 10, 2))
        )
        self.brokers = {
            broker: BrokerProcess(broker, self.folder.broker(broker), broker_command) for broker in options.broker_ids
        }
        self._bound: dict[int, str] = {}

    async def start(self) -> None:
        """Start everything and wait until every broker serves. Raises SandboxError, with all ended again."""
        try:
            self.ensemble.check()
            await self._open_links()
            self._write_properties()
            await self._start_processes()
            if self.folder.is_new:
                await self._create_topics()
        except BaseException as error:
            reason = self.folder.why_of_no_use(error)
            await self.close()
            if reason:
                raise SandboxError(reason) from error
            raise

    @property
    def bootstrap(self) -> str:
        """Where clients reach the brokers."""
        return ",".join(self.links.for_clients(broker).address for broker in self.brokers)

    @property
    def zookeeper(self) -> str:
        """Where a client of ZooKeeper finds this cluster, by no proxy."""
        return self.ensemble.addresses + CHROOT

    def ready(self) -> SandboxReady:
        pids = {view.name.replace(" ", "-"): view.pid for view in self.views() if view.pid is not None}
        return SandboxReady(zookeeper=self.zookeeper, bootstrap=self.bootstrap, pids=pids, dir=str(self.folder.path))

    async def start_broker(self, broker: int) -> None:
        """Start a broker that does not run, and wait until it serves. Raises SandboxError."""
        process = self.brokers[broker]
        if process.pid is not None:
            raise SandboxError(f"broker {broker} runs")
        await process.start(partial(self._lead, broker))
        self.events.tell("process", f"broker {broker} serves, pid {process.pid}", subject=f"broker {broker}")

    def _lead(self, broker: int, listeners: Listeners) -> None:
        self._bound[broker] = listeners[self.links.listeners[0]]
        for listener, address in listeners.items():
            self.links.listener(broker, listener).lead_to(*address_of(address))

    def client(self, client_id: str = CLIENT_ID, timeout_s: float = 30.0) -> KafkaClient:
        """A client that reaches the brokers behind their proxies to begin with."""
        asked = [broker for broker, process in self.brokers.items() if process.status == "running"] or self._bound
        return KafkaClient([address_of(self._bound[broker]) for broker in asked], client_id, timeout_s)

    def ended_brokers(self) -> Iterator[tuple[int, int]]:
        """Brokers that have ended since the last time and were not to, and their exit codes."""
        for broker, process in self.brokers.items():
            if (code := process.notice_end()) is not None:
                self.links.broker_is_gone(broker)
                yield broker, code

    async def partitions_to_load(self) -> list[TopicPartition]:
        """What records may be written to that an audit is to find again: nothing internal, nothing compacted."""
        client = self.client()
        try:
            partitions = (await client.refresh()).partitions
        except WireError as error:
            raise SandboxError(str(error)) from error
        finally:
            await client.close()
        return sorted(
            each for each in partitions if not each.topic.startswith("__") and each.topic not in TOPIC_CONFIGS
        )

    def views(self) -> tuple[ProcessView, ...]:
        brokers = (
            ProcessView(
                name=f"broker {broker}",
                kind="broker",
                status=process.status,
                pid=process.pid,
                address=self.links.for_clients(broker).address,
                since_ms=process.since_ms,
                detail=f"rack {rack}" if (rack := self.options.rack_of(broker)) else "",
                log=str(process.log.path),
            )
            for broker, process in self.brokers.items()
        )
        return (*(member.view() for member in self.ensemble.members), *brokers)

    async def close(self) -> None:
        if self.folder.stays:
            await asyncio.gather(*(process.terminate(PATIENCE_S) for process in self.brokers.values()))
        await asyncio.gather(*(process.close() for process in self.brokers.values()))
        await self.ensemble.close()
        await self.links.close()
        await asyncio.to_thread(self.folder.close)

    async def _start_processes(self) -> None:
        watch = asyncio.create_task(self._end_brokers_without_zookeeper())
        try:
            await all_or_first_error([self._start_zookeepers(), *map(self.start_broker, self.brokers)])
        except SandboxError as error:
            if self.ensemble.is_lost:
                raise SandboxError("ZooKeeper ended before the brokers served") from error
            raise
        finally:
            watch.cancel()

    async def _end_brokers_without_zookeeper(self) -> None:
        """They would wait for it for minutes."""
        while True:
            if self.ensemble.is_lost:
                for process in self.brokers.values():
                    await process.kill()
            await asyncio.sleep(POLL_S)

    async def _open_links(self) -> None:
        first = self.options.port
        for place in range(self.options.brokers if first else 0):
            free_port(place + (first or 0))
        await self.links.start(first)

    def _write_properties(self) -> None:
        for broker, process in self.brokers.items():
            servers = (self.links.zookeeper(broker, member.number).address for member in self.ensemble.members)
            properties = broker_properties(
                self.options,
                broker,
                folder=str(process.folder),
                zookeeper=",".join(servers) + CHROOT,
                advertised={name: self.links.listener(broker, name).address for name in self.links.listeners},
            )
            process.write_properties(properties_text(properties))

    async def _start_zookeepers(self) -> None:
        await self.ensemble.start()
        for member in self.ensemble.members:
            assert member.server is not None
            self.links.zookeeper_at(member.number, *address_of(member.server.address))

    async def _create_topics(self) -> None:
        if topics := first_topics(self.options):
            client = self.client()
            try:
                await create_topics(client, topics)
            finally:
                await client.close()


def _check(options: SandboxOptions) -> None:
    """Raises SandboxError for numbers that make no cluster."""
    for name, least, most in (
        ("brokers", 1, MOST_BROKERS),
        ("racks", 0, MOST_BROKERS),
        ("topics", 0, 100_000),
        ("partitions", 1, 100_000),
        ("port", 1, HIGHEST_PORT + 1 - options.brokers),
        ("zookeeper_port", 1, HIGHEST_PORT + 1 - options.zookeepers),
        ("rate", 0, 1_000_000),
        ("old_consumers", 0, MOST_MEMBERS),
    ):
        number = getattr(options, name)
        if number is not None and not least <= number <= most:
            option = name.replace("_", "-")
            raise SandboxError(f"--{option} {number}: {least} to {most} are possible")
    if options.zookeepers not in (1, 3):
        raise SandboxError(f"--zookeepers {options.zookeepers}: 1 or 3 are possible")
    if options.old_consumers and not options.load:
        raise SandboxError("--old-consumers needs --load: there is nothing to consume without it")
