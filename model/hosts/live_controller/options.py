"""How a live controller is set up. Plain values."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from model.controller.settings import Settings


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`registration`: the payload of the broker's znode, from the time in ms; it is asked for with each new session.

    `listener` is the name of the listener through which brokers talk to each other. `faults`: see `fault_stops`.
    """

    settings: Settings
    registration: Callable[[int], bytes]
    listener: str = "PLAINTEXT"
    faults: Path | None = None

    @property
    def client_id(self) -> str:
        """How brokers' logs, and proxies between them, name the requests of this controller."""
        return f"broker-{self.settings.broker_id}-controller"
