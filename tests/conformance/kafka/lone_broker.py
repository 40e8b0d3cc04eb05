"""A real broker of Kafka 3.9.1 that obeys whoever says to be its controller, with two peers that nobody can reach."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kazoo.client import KazooClient

from model.controller.commands import BrokerAnswer, BrokerRequest
from model.hosts.live_controller.broker_channels import OutgoingRequest, answer_of, api_key, entity_of
from model.hosts.wire.connection import Connection
from model.znodes.cluster import BrokerRegistration
from tests.conformance.kafka.brokers import Cluster
from tests.conformance.kafka.releases import install_or_skip

VERSIONS = {4: 7, 5: 3, 6: 8}
"""Of LeaderAndIsr, StopReplica and UpdateMetadata."""


_SETTINGS = "controller.socket.timeout.ms=3000\n"
"""So long does it wait for the answer of a controller that has gone, before it asks the next."""


class LoneBroker:
    """Broker 1. `epoch` is its broker epoch; its own controller, of epoch 1, is overruled by any later one."""

    def __init__(self, cluster: Cluster, epoch: int) -> None:
        self.port = cluster.brokers[1].port
        self.bootstrap = cluster.bootstrap
        self.epoch = epoch

    async def obey(
        self,
        connection: Connection,
        request: BrokerRequest,
        broker_epoch: int,
        ports: Mapping[int, int] = MappingProxyType({2: 1, 3: 1}),
    ) -> BrokerAnswer:
        """What it answers to a controller. `ports`: of its peers on loopback, if somebody listens there."""
        letter = OutgoingRequest(request, broker_epoch, _registrations({1: self.port, **ports}), "PLAINTEXT")
        return answer_of(request, await connection.ask(entity_of(letter, VERSIONS[api_key(request)])))


@contextmanager
def lone_broker(zookeeper: str, folder: Path, *, controller: int | None = None) -> Iterator[LoneBroker]:
    """Started, registered, and gone at the end. Skips the test if there is no Kafka.

    `controller`: who has been elected before. Else it elects itself, and may ask itself what it asks a controller:
    it keeps to the first one it hears of.
    """
    if controller is not None:
        elect(controller, zookeeper)
    with Cluster(install_or_skip("3.9.1"), zookeeper, folder, size=1, settings=_SETTINGS) as cluster:
        chroot = zookeeper.partition("/")[2]
        yield LoneBroker(cluster, cluster._client.get(f"/{chroot}/brokers/ids/1")[1].czxid)


def elect(broker: int, zookeeper: str) -> None:
    """For good: the znode goes with no session."""
    server, _, chroot = zookeeper.partition("/")
    client: Any = KazooClient(hosts=server)  # kazoo has no types
    client.start(timeout=30)
    elected = {"version": 1, "brokerid": broker, "timestamp": "0"}
    client.create(f"/{chroot}/controller", json.dumps(elected).encode(), makepath=True)
    client.stop()
    client.close()


def _registrations(ports: Mapping[int, int]) -> dict[int, BrokerRegistration]:
    return {
        broker: BrokerRegistration(
            version=5,
            host="127.0.0.1",
            port=port,
            endpoints=(f"PLAINTEXT://127.0.0.1:{port}",),
            listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
            timestamp="0",
        )
        for broker, port in ports.items()
    }
