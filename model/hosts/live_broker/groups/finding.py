"""FindCoordinator: the leader of the group's partition of `__consumer_offsets`, which is made when first asked for.

Source: `kafka.server.KafkaApis.handleFindCoordinatorRequest`, `getCoordinator` (3.9).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from kio.schema.errors import ErrorCode

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.wire.api_keys import FIND_COORDINATOR
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.server import Api, Request

GROUP, TRANSACTION = 0, 1
"""`FindCoordinatorRequest.CoordinatorType`."""
_LOGGER = logging.getLogger(__name__)
CreateTopic = Callable[[str], Awaitable[str]]
"""Makes an internal topic; the name of the error that is told meanwhile."""


class CoordinatorFinder:
    """Knows groups only; there is no transaction coordinator here."""

    def __init__(self, metadata: MetadataCache, partition_of: Callable[[str], int], create_topic: CreateTopic) -> None:
        self._metadata = metadata
        self._partition_of = partition_of
        self._create_topic = create_topic
        self._creating: asyncio.Task[None] | None = None

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {FIND_COORDINATOR: Api(0, 4, self._find)}

    async def _find(self, request: Request) -> Entity:
        key_type: int = getattr(request.body, "key_type", GROUP)
        if request.start.version < 4:
            return request.answer("FindCoordinatorResponse", **self._coordinator(request, key_type, request.body.key))
        shape = request.shape("Coordinator")
        coordinators = tuple(
            shaped(shape, key=key, **self._coordinator(request, key_type, key)) for key in request.body.coordinator_keys
        )
        return request.answer("FindCoordinatorResponse", coordinators=coordinators)

    def _coordinator(self, request: Request, key_type: int, key: str) -> Mapping[str, object]:
        if key_type != GROUP:
            return _nowhere(ErrorCode.invalid_request, "There is a coordinator for groups only.")
        image = self._metadata.image
        if OFFSETS_TOPIC not in image.topics:
            self._create()
            return _nowhere(ErrorCode.coordinator_not_available)
        known = image.partition(TopicPartition(OFFSETS_TOPIC, self._partition_of(key)))
        node = None if known is None else image.brokers.get(known.state.leader)
        endpoint = None if node is None else node.endpoint(request.listener)
        if node is None or endpoint is None:
            return _nowhere(ErrorCode.coordinator_not_available)
        return {
            "error_code": ErrorCode.none,
            "error_message": None,
            "node_id": node.id,
            "host": endpoint.host,
            "port": endpoint.port,
        }

    def _create(self) -> None:
        if self._creating is None or self._creating.done():
            self._creating = asyncio.create_task(self._make())

    async def _make(self) -> None:
        try:
            await self._create_topic(OFFSETS_TOPIC)
        except Exception:
            _LOGGER.exception("%s could not be made; it is tried again when a client asks", OFFSETS_TOPIC)


def _nowhere(error: ErrorCode, message: str | None = None) -> Mapping[str, object]:
    return {"error_code": error, "error_message": message, "node_id": -1, "host": "", "port": -1}
