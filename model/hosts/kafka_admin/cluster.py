"""Asks which brokers are registered, and which of them are fenced. Nothing is sent here.

Source: DescribeCluster as `kafka-cluster list-endpoints --include-fenced-brokers` sends it (KIP-1073, Kafka 4.0).
"""

from collections.abc import Mapping

from model.hosts.wire.api_keys import DESCRIBE_CLUSTER
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnavailableError, UnsupportedVersionError
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

FENCED_SINCE = 2
"""The first version that tells of fenced brokers."""


def describe_cluster(connection: Connection) -> Entity:
    """All brokers that are registered. Raises UnsupportedVersionError before 4.0, which tells those that serve only."""
    version = connection.newest(DESCRIBE_CLUSTER)
    if version < FENCED_SINCE:
        raise UnsupportedVersionError("the broker does not tell of fenced brokers")
    request = shapes(DESCRIBE_CLUSTER, version, "request").DescribeClusterRequest
    return shaped(request, include_cluster_authorized_operations=False, include_fenced_brokers=True)


def fenced_brokers(response: Entity) -> Mapping[int, tuple[str, int, str | None]]:
    """Host, port and rack of each broker that is fenced. Raises UnavailableError where the broker cannot tell."""
    if (error := error_name(response.error_code)) != "NONE":
        raise UnavailableError(f"fenced brokers: {error}")
    return {
        int(each.broker_id): (str(each.host), int(each.port), each.rack) for each in response.brokers if each.is_fenced
    }
