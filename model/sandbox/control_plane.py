"""Who has the metadata of a sandbox's brokers, as far as the cluster needs to know; and how ZooKeeper is it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from model.hosts.kafka_client import address_of
from model.sandbox.broker_process import BrokerProcess
from model.sandbox.embedded_zookeeper import Ensemble
from model.sandbox.messages import ProcessView
from model.sandbox.options import CHROOT, SESSION_KEY, SESSION_MS, SandboxOptions
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.switchboard import Switchboard


class UnaskedEnd(NamedTuple):
    """A process that ended, and nobody had asked for it."""

    subject: str
    text: str
    details: tuple[str, ...] = ()
    """Its last words."""


class ControlPlane(Protocol):
    """From `start` to `close`, in one event loop."""

    @property
    def name(self) -> str:
        """As the subject of a sentence."""
        ...

    @property
    def addresses(self) -> str:
        """Where clients find it, once started; for ZooKeeper with the chroot."""
        ...

    @property
    def is_lost(self) -> bool:
        """Whether so many of its servers ended unasked that nobody is served."""
        ...

    def check(self) -> None:
        """Raises SandboxError for what is wrong before anything is started."""
        ...

    async def start(self) -> None:
        """Start all and wait until they serve. Raises SandboxError."""
        ...

    def prepare(self, broker: BrokerProcess) -> Mapping[str, str]:
        """Make a broker's folder ready; what its properties say of who it is, and of whom it asks. Raises OSError."""
        ...

    def views(self) -> Iterator[ProcessView]: ...

    def notice_ends(self) -> Iterator[UnaskedEnd]:
        """Servers that have ended since the last time, and were not to."""
        ...

    async def close(self, patience_s: float) -> None:
        """End all; they may take so long to leave in order."""
        ...


class ZooKeeperPlane:
    """The ensemble, which each broker reaches by proxies of its own."""

    name = "ZooKeeper"

    def __init__(self, options: SandboxOptions, folder: SandboxFolder, links: Switchboard) -> None:
        self.ensemble = Ensemble(options, folder)
        self._links = links

    @property
    def addresses(self) -> str:
        return self.ensemble.addresses + CHROOT

    @property
    def is_lost(self) -> bool:
        return self.ensemble.is_lost

    def check(self) -> None:
        self.ensemble.check()

    async def start(self) -> None:
        await self.ensemble.start()
        for member in self.ensemble.members:
            assert member.server is not None
            self._links.zookeeper_at(member.number, *address_of(member.server.address))

    def prepare(self, broker: BrokerProcess) -> Mapping[str, str]:
        servers = [self._links.zookeeper(broker.broker, member.number).address for member in self.ensemble.members]
        return {
            "broker.id": str(broker.broker),
            "zookeeper.connect": ",".join(servers) + CHROOT,
            SESSION_KEY: str(SESSION_MS),
        }

    def views(self) -> Iterator[ProcessView]:
        return (member.view() for member in self.ensemble.members)

    def notice_ends(self) -> Iterator[UnaskedEnd]:
        for member in self.ensemble.notice_ends():
            yield UnaskedEnd(f"zookeeper {member.number}", f"ZooKeeper {member.number} ended unasked")

    async def close(self, patience_s: float) -> None:
        """Its log has all that was acknowledged, however it ends."""
        await self.ensemble.close()
