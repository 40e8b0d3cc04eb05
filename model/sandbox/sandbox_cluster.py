"""The processes of a sandbox, the links between them, their folder, first topics: started together, none left behind.

It starts and ends what it is told to, and notices what ends by itself. Why anything should end is not known here.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client import KafkaClient, address_of
from model.hosts.wire.names import WireError
from model.sandbox.broker_process import LIVE_BROKER, BrokerProcess, Listeners, broker_properties, properties_text
from model.sandbox.control_plane import ControlPlane, ZooKeeperPlane
from model.sandbox.controllers import ControllerPlane, ControllerProcess
from model.sandbox.embedded_zookeeper import Ensemble
from model.sandbox.first_topics import TOPIC_CONFIGS, create_topics, first_topics
from model.sandbox.messages import EventFeed, ProcessView, SandboxReady
from model.sandbox.options import MOST_BROKERS, MOST_MEMBERS, SandboxOptions
from model.sandbox.processes import SandboxError, free_port
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.server_process import ServerProcess, all_or_first_error
from model.sandbox.switchboard import Switchboard

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
        self.links = Switchboard(
            options.broker_ids,
            0 if options.is_kraft else options.zookeepers,
            options.controller_ids,
            has_one_listener=options.speaks_as_before((0, 10, 2)),
        )
        plane = ControllerPlane if options.is_kraft else ZooKeeperPlane
        self.control: ControlPlane = plane(options, self.folder, self.links)
        self.brokers = {
            broker: BrokerProcess(broker, self.folder.broker(broker), broker_command) for broker in options.broker_ids
        }
        self._bound: dict[int, str] = {}

    async def start(self) -> None:
        """Start everything and wait until every broker serves. Raises SandboxError, with all ended again."""
        try:
            self.control.check()
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
        """Where a client of ZooKeeper finds this cluster, by no proxy; empty in KRaft mode."""
        return "" if self.options.is_kraft else self.control.addresses

    @property
    def ensemble(self) -> Ensemble:
        """Raises SandboxError in KRaft mode."""
        if isinstance(self.control, ZooKeeperPlane):
            return self.control.ensemble
        raise SandboxError("there is no ZooKeeper in KRaft mode: the controllers have the metadata")

    @property
    def controllers(self) -> Mapping[int, ControllerProcess]:
        """By id; none where there is a ZooKeeper."""
        return self.control.processes if isinstance(self.control, ControllerPlane) else {}

    def node(self, node: int) -> ServerProcess:
        """A broker's or controller's process, by its id."""
        return self.controllers[node] if node in self.controllers else self.brokers[node]

    def ready(self) -> SandboxReady:
        pids = {view.name.replace(" ", "-"): view.pid for view in self.views() if view.pid is not None}
        return SandboxReady(
            zookeeper=self.zookeeper,
            controllers=self.control.addresses if self.options.is_kraft else "",
            bootstrap=self.bootstrap,
            pids=pids,
            dir=str(self.folder.path),
        )

    async def start_node(self, node: int) -> None:
        """Start a broker or controller that does not run, and wait until it serves. Raises SandboxError."""
        process = self.node(node)
        if process.pid is not None:
            raise SandboxError(f"{process.name} runs")
        if isinstance(self.control, ControllerPlane) and node in self.controllers:
            await self.control.start_one(node)
            does = "takes part"
        else:
            await self.brokers[node].start(partial(self._lead, node))
            does = "serves"
        self.events.tell("process", f"{process.name} {does}, pid {process.pid}", subject=process.name)

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
                self.links.is_gone(broker)
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
        return (*self.control.views(), *brokers)

    async def close(self) -> None:
        if self.folder.stays:
            await asyncio.gather(*(process.terminate(PATIENCE_S) for process in self.brokers.values()))
        await asyncio.gather(*(process.close() for process in self.brokers.values()))
        await self.control.close(PATIENCE_S if self.folder.stays else 0)
        await self.links.close()
        await asyncio.to_thread(self.folder.close)

    async def _start_processes(self) -> None:
        watch = asyncio.create_task(self._end_brokers_without_control())
        try:
            await all_or_first_error([self.control.start(), *map(self.start_node, self.brokers)])
        except SandboxError as error:
            if self.control.is_lost:
                raise SandboxError(f"{self.control.name} ended before the brokers served") from error
            raise
        finally:
            watch.cancel()

    async def _end_brokers_without_control(self) -> None:
        """They would wait for it for minutes."""
        while True:
            if self.control.is_lost:
                for process in self.brokers.values():
                    await process.kill()
            await asyncio.sleep(POLL_S)

    async def _open_links(self) -> None:
        first = self.options.port
        for place in range(self.options.brokers if first else 0):
            free_port(place + (first or 0))
        await self.links.start(first, self.options.controller_port)

    def _write_properties(self) -> None:
        for broker, process in self.brokers.items():
            properties = broker_properties(
                self.options,
                broker,
                folder=str(process.folder),
                metadata=self.control.prepare(process),
                advertised={name: self.links.listener(broker, name).address for name in self.links.listeners},
            )
            process.write_properties(properties_text(properties))

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
        ("controller_port", 1, HIGHEST_PORT + 1 - options.controllers),
        ("rate", 0, 1_000_000),
        ("old_consumers", 0, MOST_MEMBERS),
    ):
        number = getattr(options, name)
        if number is not None and not least <= number <= most:
            option = name.replace("_", "-")
            raise SandboxError(f"--{option} {number}: {least} to {most} are possible")
    if options.zookeepers not in (1, 3):
        raise SandboxError(f"--zookeepers {options.zookeepers}: 1 or 3 are possible")
    if options.controllers not in (1, 3, 5):
        raise SandboxError(f"--controllers {options.controllers}: 1, 3 or 5 are possible")
    _check_mode(options)
    if options.old_consumers and not options.load:
        raise SandboxError("--old-consumers needs --load: there is nothing to consume without it")


OF_ZOOKEEPER = {
    "zookeepers": "the controllers have the metadata: --controllers",
    "zookeeper_port": "the controllers have the metadata: --controller-port",
    "old_consumers": "consumers of Kafka 0.8 find each other in ZooKeeper",
}
OF_KRAFT = {
    "controllers": "a broker is the controller: --zookeepers",
    "controller_port": "a broker is the controller: --zookeeper-port",
}
"""Options of one mode, and why the other one has none of it."""
NO_PROTOCOL = "inter.broker.protocol.version"
"""A key that means nothing in KRaft mode, where `metadata.version` says how brokers speak."""


def _check_mode(options: SandboxOptions) -> None:
    """Raises SandboxError for options of the other mode."""
    defaults = SandboxOptions()
    mode, others = ("KRaft", OF_ZOOKEEPER) if options.is_kraft else ("ZooKeeper", OF_KRAFT)
    for name, why in others.items():
        if getattr(options, name) != getattr(defaults, name):
            raise SandboxError(f"--{name.replace('_', '-')} means nothing in {mode} mode: {why}")
    if options.is_kraft and NO_PROTOCOL in options.settings:
        raise SandboxError(f"{NO_PROTOCOL} means nothing in KRaft mode: older protocols are ZooKeeper mode's")
