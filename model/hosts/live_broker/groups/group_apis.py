"""Everything that clients ask about groups: one table, made of those of its parts."""

from collections.abc import Mapping

from model.hosts.live_broker.groups.finding import CoordinatorFinder, CreateTopic
from model.hosts.live_broker.groups.from_committers import CommitterRequests
from model.hosts.live_broker.groups.from_members import MemberRequests
from model.hosts.live_broker.groups.from_operators import OperatorRequests
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.wire.server import Api


def group_apis(coordinator: GroupCoordinator, metadata: MetadataCache, create_topic: CreateTopic) -> Mapping[int, Api]:
    """By API key."""
    return {
        **CoordinatorFinder(metadata, coordinator.partition_of, create_topic).apis,
        **MemberRequests(coordinator).apis,
        **CommitterRequests(coordinator, metadata).apis,
        **OperatorRequests(coordinator).apis,
    }
