"""The parts of a broker that keeps logs: replicas, consumer groups, and the tables of what clients may ask of them."""

from collections.abc import Mapping

from model.broker.settings.keys import OFFSET_METADATA_MAX_BYTES
from model.hosts.live_broker.apis.controller_requests import ControllerRequests
from model.hosts.live_broker.apis.fetch_requests import FetchRequests
from model.hosts.live_broker.apis.log_requests import LogDirRequests, OffsetRequests, ProduceRequests
from model.hosts.live_broker.group_coordinator import GroupCoordinator
from model.hosts.live_broker.group_requests import CoordinatorFinder, CreateTopic, GroupRequests
from model.hosts.live_broker.member_requests import CommitRequests, MemberRequests, ZooKeeperOffsets
from model.hosts.live_broker.parts import BrokerKind, ConsumerQuotas, MetadataCache, NoQuotas, Parts, PartsContext
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.server import Api


class DataApis:
    """For one broker; all its listeners may share it."""

    def __init__(self, replicas: ReplicaManager, quotas: ConsumerQuotas | None = None) -> None:
        self._replicas = replicas
        self._quotas = quotas or NoQuotas()

    @property
    def apis(self) -> Mapping[int, Api]:
        parts = (ProduceRequests, OffsetRequests, LogDirRequests, ControllerRequests)
        apis = {key: api for part in parts for key, api in part(self._replicas).apis.items()}
        return {**apis, **FetchRequests(self._replicas, self._quotas).apis}


def group_apis(
    coordinator: GroupCoordinator, metadata: MetadataCache, create_topic: CreateTopic, old_offsets: ZooKeeperOffsets
) -> Mapping[int, Api]:
    """By API key."""
    return {
        **CoordinatorFinder(metadata, coordinator.partition_of, create_topic).apis,
        **MemberRequests(coordinator).apis,
        **CommitRequests(coordinator, metadata, old_offsets).apis,
        **GroupRequests(coordinator).apis,
    }


def _make(place: PartsContext) -> Parts:
    """Takes the log dirs. Raises FolderInUseError, or OSError for one that cannot be used."""
    log_dirs = LogDirs(place.settings.log_dirs)
    replicas = ReplicaManager(place.broker, place.settings, log_dirs, place.surroundings)
    groups = GroupCoordinator(place.settings, replicas)
    replicas.on_leadership = groups.on_leadership
    replicas.on_forgotten = groups.on_forgotten
    replicas.failures.on_last_failed = place.on_disks_failed
    old_offsets = ZooKeeperOffsets(
        place.surroundings.ask_zookeeper, lambda: replicas.settings[OFFSET_METADATA_MAX_BYTES]
    )
    apis = {
        **DataApis(replicas, place.quotas).apis,
        **group_apis(groups, replicas.metadata, place.create_topic, old_offsets),
    }
    return Parts(replicas, apis, was_clean=log_dirs.was_clean, start=groups.start, close=groups.close)


WITH_LOGS = BrokerKind(_make, keeps_logs=True)
