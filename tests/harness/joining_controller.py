"""A real controller that is no broker, and votes once somebody has added it (KIP-853)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.kafka.commands import Commands
from tests.harness.kafka import KafkaProcess, free_port
from tests.harness.kraft import KraftCluster
from tests.harness.quorum_voters import CLUSTER_ID, directory_id


def controller_properties(cluster: KraftCluster, number: int, port: int, log_dir: Path) -> str:
    """What Kafka's tool reads of a controller that it is to add, whoever made it."""
    return (
        f"process.roles=controller\nnode.id={number}\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://127.0.0.1:{port}\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT\n"
        f"controller.quorum.bootstrap.servers={cluster.controllers}\ncontroller.quorum.fetch.timeout.ms=4000\n"
        f"log.dirs={log_dir}\n"
    )


class JoiningController(KafkaProcess):
    """With an empty disk. `settings` are more lines of its properties."""

    def __init__(self, cluster: KraftCluster, number: int, settings: str = "") -> None:
        self.port = free_port()
        folder = cluster.folder / f"controller-{number}"
        logs = folder / "logs"
        logs.mkdir(parents=True)
        about = f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={number}\ndirectory.id={directory_id(number)}\n"
        (logs / "meta.properties").write_text(about)
        self.properties = folder / "server.properties"
        self.properties.write_text(controller_properties(cluster, number, self.port, logs) + settings)
        super().__init__(cluster.kafka, folder)


def replica(commands: Commands, asked: tuple[str, str], number: int) -> tuple[str, int]:
    """What Kafka's tool tells of a replica of the metadata log: its status, empty if it is not known, and its end."""
    told = commands.ask("quorum", *asked, "describe", "--replication")
    found = re.search(rf"^{number}\s+\S+\s+(-?\d+)\s.*?(\w+)\s*$", told, re.MULTILINE)
    return ("", -1) if found is None else (found[2], int(found[1]))
