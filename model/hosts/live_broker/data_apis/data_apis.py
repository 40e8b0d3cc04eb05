"""Everything that a broker answers about its replicas: one table, made of those of its parts."""

from collections.abc import Mapping

from model.hosts.live_broker.data_apis.controller_requests import ControllerRequests
from model.hosts.live_broker.data_apis.fetch import FetchRequests
from model.hosts.live_broker.data_apis.log_dirs import LogDirRequests
from model.hosts.live_broker.data_apis.offsets import OffsetRequests
from model.hosts.live_broker.data_apis.produce import ProduceRequests
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.server import Api


class DataApis:
    """For one broker; all its listeners may share it."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        """By API key."""
        parts = (ProduceRequests, FetchRequests, OffsetRequests, LogDirRequests, ControllerRequests)
        return {key: api for part in parts for key, api in part(self._replicas).apis.items()}
