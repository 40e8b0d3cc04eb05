"""The way into a cluster for doing something to it: through its ZooKeeper, or through its brokers where they are named.

It writes only if it `may_write`; without, it is good for what a proposal has to read.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

import msgspec

from model.actions.found import Found
from model.actions.proposal import ActionRefused
from model.actions.reassignment import Route, RunState
from model.cluster.cluster_image import ClusterImage
from model.hosts.acting.audit_log import AuditLog
from model.hosts.acting.carrying_out import Writers
from model.hosts.acting.journal import Journal
from model.hosts.acting.reading import Reading
from model.hosts.acting.routes import RouteToCluster, ZooKeeperRoute
from model.hosts.acting.zookeeper_writer import ZooKeeperWriter
from model.hosts.client_security.kafka_options import kafka_options
from model.hosts.zookeeper.settings import Settings
from model.sources.kafka.address import KafkaAddress
from model.sources.naming import parse_source
from model.sources.source import SourceError
from model.sources.zookeeper.address import ZooKeeperAddress
from tui.data.opened import zookeeper_login
from tui.data.opening import Opening
from tui.remembered import state_folder

if TYPE_CHECKING:
    from model.hosts.acting.admin_reads import AdminReads
    from model.hosts.acting.admin_writer import AdminWriter


class Way:
    """Connected from its making to `close`; blocks, and is used from one thread.

    Raises ActionRefused where there is no live cluster behind the opening, and ValueError for a login that is none.
    """

    def __init__(self, opening: Opening, image: ClusterImage, *, may_write: bool) -> None:
        self.image = image
        self.may_write = may_write
        self.source = opening.source
        self.audit = AuditLog(state_folder(), opening.source)
        self.route: Route = route_of(opening)
        self._reading: Reading | None = None
        self._znodes: ZooKeeperWriter | None = None
        self._calls: AdminWriter | None = None
        named = parse_source(opening.source)
        if self.route == "zookeeper":
            assert isinstance(named, ZooKeeperAddress)
            settings = Settings(named.hosts, named.chroot, **zookeeper_login(opening.login))
            self._reading = Reading(settings, opening.connect_timeout_s or 15.0)
            self._znodes = ZooKeeperWriter(settings, self._reading)
        else:
            bootstrap = named.bootstrap if isinstance(named, KafkaAddress) else opening.bootstrap
            self._calls = _admin_writer(bootstrap, opening)

    @property
    def cluster(self) -> str:
        """What the cluster is told apart by."""
        return self.image.cluster_id or self.source

    @property
    def writers(self) -> Writers:
        """Raises ActionRefused where nothing may be written."""
        if not self.may_write:
            raise ActionRefused("nothing was done: kdrill only reads without --allow-writes")
        return Writers(znodes=self._znodes, calls=self._calls)

    @property
    def reads(self) -> "AdminReads":
        """What brokers can be asked. Raises ActionRefused where the way is through ZooKeeper."""
        if self._calls is None:
            raise ActionRefused(f"{self.source}: only brokers know: name some with --bootstrap")
        return self._calls.reads

    def znodes(self, paths: Iterable[str]) -> Found | None:
        """Those that are there; None where the way is through the brokers. Raises ZooKeeperUnavailable."""
        return None if self._reading is None else self._reading.znodes(paths)

    def tree(self, path: str) -> Found:
        """A znode and all below it; nothing where the way is through the brokers. Raises ZooKeeperUnavailable."""
        return {} if self._reading is None else self._reading.tree(path)

    def reassigning(self) -> RouteToCluster:
        """For a reassignment."""
        writers = self.writers if self.may_write else Writers()
        if self._reading is not None:
            return ZooKeeperRoute(self.image, self._reading, writers)
        from model.hosts.acting.brokers_route import BrokersRoute  # noqa: PLC0415 - kafka-python takes a while to load

        return BrokersRoute(self.reads, writers)

    def journal(self) -> Journal:
        """Where this cluster's reassignment is written down; not opened yet."""
        return Journal(state_folder(), self.cluster)

    def last_run(self) -> RunState | None:
        """The last reassignment of this cluster from here, to be gone on with by this way. Raises ActionRefused."""
        state = self.journal().read()
        if state is None:
            return None
        run = msgspec.structs.replace(state.run, route=self.route)
        return msgspec.structs.replace(state, run=run, attempts=0, reason="")

    def close(self) -> None:
        """Lets go of the cluster."""
        for part in (self._znodes, self._calls, self._reading):
            if part is not None:
                part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def route_of(opening: Opening) -> Route:
    """Through the brokers where some are named. Raises ActionRefused for what is no live cluster."""
    try:
        named = parse_source(opening.source)
    except SourceError as error:
        raise ActionRefused(str(error)) from None
    if isinstance(named, KafkaAddress) or (isinstance(named, ZooKeeperAddress) and opening.bootstrap):
        return "admin"
    if isinstance(named, ZooKeeperAddress):
        return "zookeeper"
    raise ActionRefused(f"{opening.source} is no live cluster: nothing can be done to it")


def _admin_writer(bootstrap: str, opening: Opening) -> "AdminWriter":
    from model.hosts.acting.admin_writer import AdminWriter  # noqa: PLC0415 - kafka-python takes a while to load

    return AdminWriter(bootstrap, kafka_options(opening.login.kafka))
