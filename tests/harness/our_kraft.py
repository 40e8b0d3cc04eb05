"""Three controllers and three brokers of ours in KRaft mode, each a process."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.harness.host_processes import host
from tests.harness.kafka import free_ports
from tests.harness.logged_process import LoggedProcess
from tests.harness.quorum_voters import CLUSTER_ID, VoterProcess, voter_processes
from tests.harness.waiting import eventually

TOPIC, PARTITIONS = "orders", 4
BROKERS = (11, 12, 13)


class OurKraft:
    """Controllers 1 to 3, brokers 11 to 13, of which the last has two log dirs."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports()
        places = dict(enumerate(islice(ports, 3), 1))
        self.controllers: dict[int, VoterProcess] = voter_processes(folder, places, 1)
        self.quorum = ",".join(f"127.0.0.1:{port}" for port in places.values())
        self.ports = {broker: next(ports) for broker in BROKERS}
        self.brokers = {broker: self._broker(folder / f"broker-{broker}", broker) for broker in BROKERS}

    def _broker(self, folder: Path, broker: int) -> LoggedProcess:
        dirs = [folder / "logs", folder / "more"] if broker == BROKERS[-1] else [folder / "logs"]
        for each in dirs:
            each.mkdir(parents=True)
            (each / "meta.properties").write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={broker}\n")
        properties = folder / "server.properties"
        properties.write_text(
            f"process.roles=broker\nnode.id={broker}\ncontroller.quorum.bootstrap.servers={self.quorum}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.ports[broker]}\nlog.dirs={','.join(map(str, dirs))}\n"
            f"broker.rack=r{broker}\n"
            "offsets.topic.num.partitions=1\noffsets.topic.replication.factor=3\ngroup.initial.rebalance.delay.ms=0\n"
            "replica.fetch.wait.max.ms=100\nbroker.heartbeat.interval.ms=500\n"
            "replica.high.watermark.checkpoint.interval.ms=500\n"
        )
        return LoggedProcess(host("live_broker", str(properties)), folder / "broker.log")

    @property
    def bootstrap(self) -> str:
        return self.address()

    def address(self, *brokers: int) -> str:
        return ",".join(f"127.0.0.1:{self.ports[broker]}" for broker in brokers or BROKERS)

    def start(self) -> None:
        for process in (*self.controllers.values(), *self.brokers.values()):
            process.start()
        for broker in self.brokers.values():
            broker.wait_for(r'^\{"broker_id".*\}$')

    def active(self) -> int:
        """The controller that leads, as brokers that follow it say."""
        log = "".join(broker.log for broker in self.brokers.values())
        told = re.findall(r"controller (\d+) is followed in epoch (\d+)", log)
        return max((int(epoch), int(controller)) for controller, epoch in told)[1]

    def states(self, *asked: int) -> dict[int, tuple[int, list[int]]]:
        """Partition → leader, ISR."""
        try:
            admin = AdminClient({"bootstrap.servers": self.address(*asked), "log_level": 0})
            topic = admin.list_topics(TOPIC, timeout=10).topics[TOPIC]
        except KafkaException:
            return {}
        return {number: (each.leader, sorted(each.isrs)) for number, each in topic.partitions.items()}

    def wait_for_isr(self, *isr: int) -> None:
        """Until each partition has it, and is led by one of it."""

        def holds() -> bool:
            states = self.states(*isr)
            return bool(states) and all(each == [*isr] and leader in isr for leader, each in states.values())

        eventually(holds, f"ISR {isr}", standing=lambda: self.states(*isr))

    def last_words(self) -> str:
        """The ends of all logs, and what each broker that answers knows of the topic."""
        processes = {**self.controllers, **self.brokers}
        ends = [f"{number}: {process.log[-2500:]}" for number, process in processes.items()]
        return "\n".join((*ends, *(f"{broker} says {self.states(broker)}" for broker in BROKERS)))

    def kill(self) -> None:
        for process in (*self.brokers.values(), *self.controllers.values()):
            process.kill()


def admin_of(cluster: OurKraft, *brokers: int) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": cluster.address(*brokers), "log_level": 0})
    admin.list_topics(timeout=20)
    return admin
