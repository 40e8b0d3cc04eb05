"""What a sandbox is to be: of which mode, of how many, where. The defaults are those of `kdrill sandbox`."""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

Mode = Literal["zookeeper", "kraft"]
"""Who has the metadata, and elects: a broker by ZooKeeper, or a quorum of controllers."""
FIRST_BROKER = 1
CHROOT = "/kafka"
MOST_BROKERS = 100
MOST_MEMBERS = 20
"""Of one ZooKeeper group."""
FIRST_CONTROLLER = FIRST_BROKER + MOST_BROKERS
"""In KRaft mode the ids of brokers and controllers are of one kind."""
SESSION_KEY = "zookeeper.session.timeout.ms"
KRAFT_SESSION_KEY = "broker.session.timeout.ms"
"""A key of controllers."""
SESSION_MS = 6_000
"""A drill should not wait for 18 s, Kafka's default, until a dead broker is missed; nor for 9 s, as in KRaft."""


class SandboxOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults are those of `kdrill sandbox`."""

    mode: Mode = "zookeeper"
    brokers: int = 3
    racks: int = 3
    """Broker N is in rack `r` + ((N - 1) mod racks + 1); 0 for brokers without racks."""
    zookeepers: Literal[1, 3] = 1
    controllers: Literal[1, 3, 5] = 3
    """In KRaft mode, and no ZooKeeper."""
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
    controller_port: int | None = None
    """The same for the controllers."""
    load: bool = False
    rate: float = 200.0
    """Records a second that the load produces, over all partitions."""
    scenario: str | None = None
    """A scenario's file, played once everything serves."""
    old_consumers: int = 0
    """How many consumers of Kafka 0.8.2.2 the load has, in the ZooKeeper group `legacy`."""
    settings: Mapping[str, str] = {}
    """More lines for every broker's server.properties; they win over the sandbox's own."""

    @property
    def broker_ids(self) -> range:
        """1, 2, 3 …"""
        return range(FIRST_BROKER, FIRST_BROKER + self.brokers)

    @property
    def controller_ids(self) -> range:
        """101, 102, 103 …; none where there is a ZooKeeper."""
        return range(FIRST_CONTROLLER, FIRST_CONTROLLER + (self.controllers if self.is_kraft else 0))

    @property
    def is_kraft(self) -> bool:
        return self.mode == "kraft"

    @property
    def session_ms(self) -> int:
        """After how long without a heartbeat ZooKeeper ends a broker's session, or a controller fences the broker."""
        asked = self.settings.get(KRAFT_SESSION_KEY if self.is_kraft else SESSION_KEY, "")
        return int(asked) if asked.isdecimal() else SESSION_MS

    def speaks_as_before(self, release: tuple[int, ...]) -> bool:
        """Whether inter.broker.protocol.version is set to a release before this one."""
        numbers = re.match(r"\d+(\.\d+)*", self.settings.get("inter.broker.protocol.version", ""))
        return numbers is not None and tuple(map(int, numbers[0].split("."))) < release

    def rack_of(self, broker: int) -> str | None:
        """`r1`, `r2` …; None without racks."""
        return f"r{(broker - FIRST_BROKER) % self.racks + 1}" if self.racks else None


def short_place(place: str) -> str:
    """`b1`, `c101`, or a word as it is: one end of a link."""
    return place if not place.isdecimal() else f"{'c' if int(place) >= FIRST_CONTROLLER else 'b'}{place}"


def node_in_words(place: str) -> str:
    """`broker 1` or `controller 101`, by the id."""
    return f"{'controller' if int(place) >= FIRST_CONTROLLER else 'broker'} {place}"
