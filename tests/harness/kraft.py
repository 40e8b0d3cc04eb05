"""Real Kafka in KRaft mode on loopback: a cluster of voters and brokers.

Voters are kept in the metadata log, as new clusters are formatted since 3.9 (KIP-853). Each broker of a cluster has a
second listener, COUNTED, that is advertised as a proxy's: who comes by it stays behind the proxies. So may be where
controllers listen: of what comes by there only what kdrill asks for is counted.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from model.hosts.observing.observing import CLIENT_ID
from model.hosts.quorum.voter_disk import format_folder
from model.metadata_log.encoder import encode_record
from model.observer.messages import Address
from tests.conformance.kafka.api_counter import ApiCounter
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.quick_start import archive_classes
from tests.conformance.kafka.releases import Installation
from tests.conformance.kafka.tool_server import run_tool
from tests.harness.host_processes import host
from tests.harness.kafka import KafkaProcess, free_ports
from tests.harness.logged_process import LoggedProcess
from tests.harness.quorum_voters import CLUSTER_ID, VoterProcess, directory_id, voter_set
from tests.harness.waiting import eventually

LEVELS = {"3.9.1": 21, "4.4.0": 33}
"""metadata.version of a new cluster."""
_SETTINGS = """
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,COUNTED:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
group.coordinator.rebalance.protocols=classic,consumer
broker.session.timeout.ms=6000
controller.quorum.fetch.timeout.ms=4000
max.request.partition.size.limit=2
num.network.threads=1
num.io.threads=2
log.cleaner.enable=false
auto.create.topics.enable=false
auto.leader.rebalance.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
metadata.log.max.record.bytes.between.snapshots=20000
group.share.min.heartbeat.interval.ms=500
group.share.heartbeat.interval.ms=500
share.coordinator.state.topic.num.partitions=1
"""


class KraftCluster:
    """Nodes 1..size, each in its own rack, for as long as the context; 1..voters vote. They die with the test run."""

    def __init__(
        self,
        kafka: Installation,
        folder: Path,
        size: int = 2,
        voters: int = 1,
        *,
        counts_controllers: bool = False,
        as_release: str = "",
        features: Sequence[str] = (),
        ours: int | Sequence[int] = (),
        our_options: Sequence[str] = (),
        settings: str = "",
        more_dirs: Sequence[str] = (),
        our_brokers: Sequence[int] = (),
    ) -> None:
        """`as_release`: whose metadata.version it begins with, the newest where empty. `features`: NAME=LEVEL.

        `ours`: voters that are ours, and no brokers: with 1 all of them. `settings`: more lines for real nodes;
        `more_dirs`: names of further log directories of theirs. `our_brokers` are ours, and vote not.
        """
        self.kafka = kafka.in_kraft()
        self.folder = folder
        self.zookeeper = ""
        self._settings = _SETTINGS + settings
        self._more_dirs = more_dirs
        self._formatted = ("--release-version", as_release) if as_release else ()
        self._formatted += tuple(word for feature in features for word in ("--feature", feature))
        our_voters = (ours,) if isinstance(ours, int) else tuple(ours)
        ports = free_ports()
        self._controllers = {number: next(ports) for number in range(1, voters + 1)}
        self._ports = {number: next(ports) for number in range(1, size + 1) if number not in our_voters}
        self._behind = {number: next(ports) for number in self._ports}
        self._counters = {number: ApiCounter(f"127.0.0.1:{port}") for number, port in self._behind.items()}
        counted = self._controllers if counts_controllers else {}
        self._voter_counters = {number: ApiCounter(f"127.0.0.1:{port}", CLIENT_ID) for number, port in counted.items()}
        self._nodes: dict[int, LoggedProcess] = {
            number: self._broker(number, is_ours=number in our_brokers) for number in self._ports
        }
        self._nodes |= {each: self._our_voter(each, our_options) for each in our_voters}

    def _our_voter(self, number: int, more: Sequence[str]) -> VoterProcess:
        options = ("--quorum", self.controllers, "--fetch-timeout-ms", "4000", "--election-timeout-ms", "300")
        folder = self.metadata_folder(number).parent
        return VoterProcess(folder, self._controllers[number], *options, "--session-timeout-ms", "6000", *more)

    def _broker(self, number: int, *, is_ours: bool) -> LoggedProcess:
        if not is_ours:
            return KafkaProcess(self.kafka, self.folder / f"node-{number}")
        command = host("live_broker", str(self._properties(number)))
        return LoggedProcess(command, self.folder / f"node-{number}" / "broker.log")

    @property
    def counted(self) -> str:
        """host:port[,…] of the proxies: whoever begins there is led to no other."""
        return ",".join(counter.address for counter in self._counters.values())

    @property
    def asked(self) -> Counter[str]:
        """What the proxies' clients have asked brokers for so far, by the API's name."""
        return sum((counter.asked for counter in self._counters.values()), Counter[str]())

    @property
    def asked_of_controllers(self) -> Counter[str]:
        """What kdrill has asked controllers for so far, where they are counted."""
        return sum((counter.asked for counter in self._voter_counters.values()), Counter[str]())

    @property
    def writes(self) -> Counter[str]:
        """Of `asked`, also of controllers, what does not only read."""
        return sum((counter.writes() for counter in self._proxies()), Counter[str]())

    def _proxies(self) -> list[ApiCounter]:
        return [*self._counters.values(), *self._voter_counters.values()]

    @property
    def bootstrap(self) -> str:
        return self.address()

    def address(self, *numbers: int) -> str:
        """host:port[,…] of these nodes, or of all, for clients."""
        return ",".join(f"127.0.0.1:{self._ports[number]}" for number in numbers or self._ports)

    def link(self, voter: int) -> ApiCounter:
        """What all others reach a voter by, where controllers are counted."""
        return self._voter_counters[voter]

    def log(self, number: int) -> str:
        """What a node said."""
        return self._nodes[number].log

    @property
    def nodes(self) -> Mapping[int, bool]:
        """Which of them run."""
        return {number: node.running for number, node in self._nodes.items()}

    @property
    def voters(self) -> Sequence[int]:
        """Those of the nodes that vote."""
        return tuple(self._controllers)

    @property
    def controllers(self) -> str:
        """host:port[,…] of the voters, where controllers listen."""
        return ",".join(f"127.0.0.1:{port}" for port in self._controllers.values())

    @property
    def controllers_counted(self) -> str:
        """host:port[,…] of the voters, by the proxies that count."""
        return ",".join(counter.address for counter in self._voter_counters.values())

    @property
    def source_url(self) -> str:
        """The cluster as the SOURCE argument of kdrill."""
        return f"kafka://{self.bootstrap}"

    def __enter__(self) -> Self:
        archive_classes(self.kafka, self._live_alone)
        for counter in self._proxies():
            counter.__enter__()
        for number in self._nodes:
            self._format(number)
        try:
            self.restore()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _live_alone(self, kafka: Installation) -> None:
        folder = self.folder / "training"
        folder.mkdir()
        with KraftCluster(kafka, folder, size=1) as alone:
            Client(alone.bootstrap).create("learnt", {0: (1,)})
            Client(alone.bootstrap).produce("learnt", ["a record"])
            alone.stop(1)
        shutil.rmtree(folder)

    def __exit__(self, *_: object) -> None:
        for node in self._nodes.values():
            node.kill()
        for counter in self._proxies():
            counter.__exit__()

    def start(self, number: int) -> None:
        """Starts a node's process."""
        self._nodes[number].start()

    def kill(self, *numbers: int) -> None:
        """SIGKILL."""
        for number in numbers:
            self._nodes[number].kill()

    def stop(self, number: int) -> None:
        """SIGTERM, which is a controlled shutdown; SIGKILL if that does not end it."""
        self._nodes[number].stop()

    @contextmanager
    def paused(self, number: int) -> Iterator[None]:
        """SIGSTOP, and SIGCONT at the end."""
        self._nodes[number].pause()
        try:
            yield
        finally:
            self._nodes[number].resume()

    @staticmethod
    def directory_id(number: int) -> str:
        """Of a node's only log directory."""
        return directory_id(number)

    @property
    def ways(self) -> dict[int, Address]:
        """Where each voter listens."""
        return {number: ("127.0.0.1", port) for number, port in self._controllers.items()}

    def metadata_folder(self, number: int) -> Path:
        """Where a node keeps the metadata log."""
        return self.folder / f"node-{number}" / "logs" / "__cluster_metadata-0"

    def restore(self) -> None:
        """Starts all nodes that do not run, and waits until no broker is fenced; a voter of ours last."""
        for number in self._controllers if 1 not in self._ports else ():
            if not self._nodes[number].running:
                self._nodes[number].start()
        eventually(self._are_all_living, "all nodes", 150, standing=self._last_words)
        for node in self._nodes.values():
            if not node.running:
                node.start()

    def _are_all_living(self) -> bool:
        """A broker that could not register in time has ended by itself, as on a busy machine: it is started again."""
        for number in self._ports:
            if not self._nodes[number].running:
                self._nodes[number].start()
        return self.living() == set(self._ports)

    def _last_words(self) -> str:
        """Of the nodes that are not living."""
        absent = set(self._ports) - self.living()
        return "\n".join(f"node {number}: {self._nodes[number].log[-1500:]}" for number in sorted(absent))

    def living(self) -> set[int]:
        """The brokers that are not fenced, as each one tells that runs: none answers before it is unfenced itself."""
        told = [self._told_by(number) for number in self._ports if self._nodes[number].running]
        return set.intersection(*told) if told else set()

    def _told_by(self, number: int) -> set[int]:
        try:
            asked = AdminClient({"bootstrap.servers": self.address(number), "log_level": 0})
            return set(asked.list_topics(timeout=5).brokers)
        except KafkaException:
            return set()

    def _properties(self, number: int) -> Path:
        return self.folder / f"node-{number}" / "server.properties"

    def _advertised(self, voter: int) -> str:
        counter = self._voter_counters.get(voter)
        return counter.address if counter else f"127.0.0.1:{self._controllers[voter]}"

    def _format(self, number: int) -> None:
        path = self._properties(number)
        path.parent.mkdir()
        if number in self._ports:
            self._configure(number)
        logs = path.parent / "logs"
        if 1 not in self._ports and number in self._controllers:
            voters = voter_set(self._controllers, 1)
            level = {"name": "metadata.version", "featureLevel": LEVELS[self.kafka.release.version]}
            first = [encode_record("FeatureLevelRecord", 0, level)]
            format_folder(logs, CLUSTER_ID, voters.voters[number - 1].key, voters, first)
            return
        if number == 1:
            voters = ",".join(
                f"{voter}@{self._advertised(voter)}:{self.directory_id(voter)}" for voter in self._controllers
            )
            format_storage(self.kafka, path, "--initial-controllers", voters, *self._formatted)
        elif number in self._controllers:  # what the tool writes, without a JVM for it
            shutil.copytree(self._properties(1).parent / "logs", logs)
        else:
            logs.mkdir()
        for place, name in enumerate(("logs", *self._more_dirs)):
            (path.parent / name).mkdir(exist_ok=True)
            (path.parent / name / "meta.properties").write_text(
                f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={number}\n"
                f"directory.id={self.directory_id(number + 100 * place)}\n"
            )

    def _configure(self, number: int) -> None:
        path = self._properties(number)
        own = f"PLAINTEXT://127.0.0.1:{self._ports[number]},COUNTED://"
        roles, listeners = "broker", f"{own}127.0.0.1:{self._behind[number]}"
        advertised = f"{own}{self._counters[number].address}"
        if number in self._controllers:
            listeners = f"{listeners},CONTROLLER://127.0.0.1:{self._controllers[number]}"
            roles, advertised = "broker,controller", f"{advertised},CONTROLLER://{self._advertised(number)}"
        folders = ",".join(str(path.parent / name) for name in ("logs", *self._more_dirs))
        path.write_text(
            f"process.roles={roles}\nnode.id={number}\nbroker.rack=r{number}\nlisteners={listeners}\n"
            f"advertised.listeners={advertised}\n"
            f"controller.quorum.bootstrap.servers={self.controllers_counted or self.controllers}\n"
            f"log.dirs={folders}\n{self._settings}"
        )


def format_storage(kafka: Installation, properties: Path, *options: str) -> None:
    """By Kafka's own tool."""
    run_tool(kafka, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), *options)
