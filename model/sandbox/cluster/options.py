"""What a sandbox is to be: how many of what, where. Values only; nothing is started or checked on disk here."""

from collections.abc import Mapping
from typing import Literal

import msgspec

FIRST_BROKER = 1
CHROOT = "/kafka"
MOST_BROKERS = 100


class SandboxOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults are those of `kdrill sandbox`."""

    brokers: int = 3
    racks: int = 3
    """Broker N is in rack `r` + ((N - 1) mod racks + 1); 0 for brokers without racks."""
    zookeepers: Literal[1, 3] = 1
    folder: str | None = None
    """Where everything is kept; None for a temporary folder."""
    keep: bool = False
    """Whether the folder stays, and what is in it already is gone on with."""
    topics: int | None = None
    """How many topics to begin with; None for a small set with names that mean something."""
    partitions: int | None = None
    """Of each of those topics; None for 6, or what suits each of the small set."""
    port: int | None = None
    """Where clients reach the first broker; the next one is reached by the next port. None lets the system choose."""
    zookeeper_port: int | None = None
    """The same for the ZooKeeper servers."""
    load: bool = False
    rate: float = 200.0
    """Records a second that the load produces, over all partitions."""
    scenario: str | None = None
    """A scenario's file, played once everything serves."""
    settings: Mapping[str, str] = {}
    """More lines for every broker's server.properties; they win over the sandbox's own."""

    @property
    def broker_ids(self) -> range:
        """1, 2, 3 …"""
        return range(FIRST_BROKER, FIRST_BROKER + self.brokers)

    def rack_of(self, broker: int) -> str | None:
        """`r1`, `r2` …; None without racks."""
        return f"r{(broker - FIRST_BROKER) % self.racks + 1}" if self.racks else None
