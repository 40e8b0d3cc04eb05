"""How a live controller is set up. Plain values."""

import msgspec

from model.controller.settings import Settings as ControllerSettings
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings
from model.znodes.brokers import BrokerRegistration


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`listener` is the name of the listener through which brokers talk to each other, and the only one here.

    `host` is both what is listened on and what others are told; port 0 lets the system choose.
    """

    zookeeper: ZooKeeperSettings
    controller: ControllerSettings
    host: str = "127.0.0.1"
    port: int = 0
    listener: str = "PLAINTEXT"
    rack: str | None = None

    @property
    def client_id(self) -> str:
        """How brokers' logs name the requests of this controller."""
        return f"kdrill-controller-{self.controller.broker_id}"

    def registration(self, port: int, at_ms: int) -> bytes:
        """The payload of this broker's znode."""
        return BrokerRegistration(
            listener_security_protocol_map={self.listener: "PLAINTEXT"},
            endpoints=(f"{self.listener}://{self.host}:{port}",),
            rack=self.rack,
            port=port,
            host=self.host,
            version=5,
            timestamp=str(at_ms),
        ).to_bytes()
