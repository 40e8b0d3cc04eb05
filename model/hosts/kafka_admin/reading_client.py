"""A client that can only read: what is not on the list of reads is refused before anything is sent."""

from model.hosts.kafka_client.kafka_client import Address, KafkaClient
from model.hosts.wire import api_keys as api
from model.hosts.wire.channel import Build
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Encoded, Entity, name_of

READS = frozenset(
    {
        api.FETCH, api.LIST_OFFSETS, api.METADATA, api.OFFSET_FETCH, api.DESCRIBE_GROUPS, api.LIST_GROUPS,
        api.DESCRIBE_CONFIGS, api.DESCRIBE_LOG_DIRS, api.LIST_PARTITION_REASSIGNMENTS, api.DESCRIBE_QUORUM,
        api.CONSUMER_GROUP_DESCRIBE, api.SHARE_GROUP_DESCRIBE, api.DESCRIBE_CLUSTER, api.DESCRIBE_TOPIC_PARTITIONS,
    }
)  # fmt: skip
"""All that is ever asked, beside ApiVersions and the login, which every connection begins with."""

_ENCODED = frozenset({api.SHARE_GROUP_DESCRIBE})
"""Of these, what may come as bytes, which nobody looks into here: none of their fields changes anything."""


class NotAReadError(Exception):
    """A defect in kdrill: something that may change a cluster was about to be asked."""


class ReadingClient(KafkaClient):
    """Asks for nothing that changes a cluster. Raises NotAReadError instead."""

    async def ask_at(self, address: Address, build: Build) -> Entity:
        def checked(connection: Connection) -> Entity:
            request = build(connection)
            is_encoded = isinstance(request, Encoded)
            key = request.api_key if is_encoded else request.__api_key__
            if key not in (_ENCODED if is_encoded else READS):
                raise NotAReadError(f"{name_of(key)} is no read")
            if getattr(request, "allow_auto_topic_creation", False):
                raise NotAReadError("metadata that may create a topic is no read")
            return request

        return await super().ask_at(address, checked)
