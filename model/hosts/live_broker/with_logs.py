"""The parts of a broker that keeps logs: replicas, what clients ask of them, and consumer groups."""

from model.hosts.live_broker.data_apis.data_apis import DataApis
from model.hosts.live_broker.groups.group_apis import group_apis
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator
from model.hosts.live_broker.parts import Furnish, Parts, Place
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager


def _make(place: Place) -> Parts:
    """Takes the log dirs. Raises FolderInUseError, or OSError for one that cannot be used."""
    log_dirs = LogDirs(place.settings.log_dirs)
    replicas = ReplicaManager(place.broker, place.settings, log_dirs, place.surroundings)
    groups = GroupCoordinator(place.settings, replicas)
    replicas.on_leadership = groups.on_leadership
    replicas.on_forgotten = groups.on_forgotten
    replicas.failures.on_last_failed = place.on_disks_failed
    apis = {**DataApis(replicas).apis, **group_apis(groups, replicas.metadata, place.create_topic)}
    return Parts(replicas, apis, was_clean=log_dirs.was_clean, start=groups.start, close=groups.close)


WITH_LOGS = Furnish(_make, keeps_logs=True)
