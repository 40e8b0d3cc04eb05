"""The way into a cluster for doing something to it: through its ZooKeeper, or through its brokers where they are named.

It writes only if it `may_write`; without, it is good for what a proposal has to read. A plan, or what is left of a run,
is proposed and carried out on it as a reassignment.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Self

import msgspec

from model.actions.proposal import ActionRefused, Found, Proposal
from model.actions.reassignment import OperatorDecided, ReassignmentPlan, ReplicaMove, Route, RunState
from model.actions.reassignment_run import Decision, wanted_by_all
from model.actions.reassignments import proposal_of, unthrottled_if_idle
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted
from model.hosts.acting.carrying_out import AuditLog, Writers
from model.hosts.acting.reassigning import ReassignmentJournal, RouteToCluster, ZooKeeperRoute, reassign
from model.hosts.acting.zookeeper_writes import ZnodeReading, ZooKeeperWriter
from model.hosts.tls import kafka_options
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.planning.plan import Plan
from model.sources.addresses import ControllersAddress, KafkaAddress, ZooKeeperAddress, parse_source
from model.sources.source import SourceError
from tui.engine.messages import Opening
from tui.engine.remembered import state_folder
from tui.engine.sources import zookeeper_login

if TYPE_CHECKING:
    from model.hosts.acting.admin_reads import AdminReads
    from model.hosts.acting.admin_writes import AdminWriter


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
        self._reading: ZnodeReading | None = None
        self._znodes: ZooKeeperWriter | None = None
        self._calls: AdminWriter | None = None
        named = parse_source(opening.source)
        if self.route == "zookeeper":
            assert isinstance(named, ZooKeeperAddress)
            settings = ZooKeeperSettings(named.hosts, named.chroot, **zookeeper_login(opening.login))
            self._reading = ZnodeReading(settings, opening.connect_timeout_s or 15.0)
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
        from model.hosts.acting.admin_writes import BrokersRoute  # noqa: PLC0415 - kafka-python takes a while to load

        return BrokersRoute(self.reads, writers)

    def journal(self) -> ReassignmentJournal:
        """Where this cluster's reassignment is written down; not opened yet."""
        return ReassignmentJournal(state_folder(), self.cluster)

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
    if isinstance(named, KafkaAddress) or (
        isinstance(named, ZooKeeperAddress | ControllersAddress) and opening.bootstrap
    ):
        return "admin"
    if isinstance(named, ControllersAddress):
        raise ActionRefused(f"{opening.source} is only read: name brokers by --bootstrap, which carry actions out")
    if isinstance(named, ZooKeeperAddress):
        return "zookeeper"
    raise ActionRefused(f"{opening.source} is no live cluster: nothing can be done to it")


def _admin_writer(bootstrap: str, opening: Opening) -> "AdminWriter":
    from model.hosts.acting.admin_writes import AdminWriter  # noqa: PLC0415 - kafka-python takes a while to load

    return AdminWriter(bootstrap, kafka_options(opening.login.kafka))


def run_of(plan: Plan, image: ClusterImage, *, route: Route, rate: int | None, begun_ms: int) -> ReassignmentPlan:
    """Raises ActionRefused for a throttle that the release does not know."""
    # The cluster's id came with the same release as the throttle, 0.10.1 (KIP-78, KIP-73).
    if rate is not None and image.cluster_id is None and image.generation in ("0.8", "0.9-1.x"):
        raise ActionRefused("this release has no replication throttle, which came with 0.10.1: leave --throttle out")
    return ReassignmentPlan(
        source=plan.source,
        plan="kdrill's plan" if plan.maker == "kdrill" else plan.maker,
        begun_ms=begun_ms,
        route=route,
        moves=tuple(
            ReplicaMove(change.topic, change.partition, change.before, change.after) for change in plan.changes
        ),
        ends=tuple(batch.end for batch in plan.batches),
        rate=rate,
    )


def proposed(state: RunState, way: Way, drilled: str = "", notes: Iterable[str] = ()) -> tuple[RunState, Proposal]:
    """The run as it is to be gone on with, and what it is going to do; `notes` are warned of first.

    Raises ActionRefused where it cannot begin, ZooKeeperUnavailable and UnansweredError.
    """
    route = way.reassigning()
    observed = route.look(wanted_by_all(state))
    state = unthrottled_if_idle(state, observed)
    many, batches = counted(len(state.run.moves), "partition"), counted(len(state.run.ends), "batch", "batches")
    deed = "stop the reassignment of" if state.wish == "cancel" else "roll back" if state.is_back else "reassign"
    proposal = proposal_of(state, observed, route.steps_of, f"{deed} {many} in {batches}: {state.run.plan}")
    changes, warnings = (*filter(None, [drilled]), *proposal.changes), (*notes, *proposal.warnings)
    return state, msgspec.structs.replace(proposal, changes=changes, warnings=warnings)


def carried_out(
    state: RunState, way: Way, told: Callable[[Decision], None], asked: Callable[[float], Iterable[OperatorDecided]]
) -> Decision:
    """To its end. Raises ActionRefused, also where another reassignment began since this one was proposed."""
    with way.journal() as journal:
        last = journal.read()
        if last is not None and last.phase != "ended" and last.run.begun_ms != state.run.begun_ms:
            raise ActionRefused("nothing was done: another reassignment was begun meanwhile, and has not ended")
        return reassign(state, way.reassigning(), journal, way.audit, told=told, asked=asked)
