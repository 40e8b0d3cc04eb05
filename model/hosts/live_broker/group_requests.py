"""FindCoordinator, DescribeGroups, ListGroups and DeleteGroups. Translation between the wire and the coordinator.

A group's coordinator is the leader of its partition of `__consumer_offsets`, which is made when first asked for.

Source: `kafka.coordinator.group.GroupCoordinatorAdapter`, `kafka.server.KafkaApis` (3.9; `getCoordinator`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.coordinate import DescribedGroup, describe, is_in_states
from model.consumers.group_coordinator.events_and_commands import AnswerGroupDeletion, GroupDeletionRequested
from model.consumers.group_coordinator.stored_formats import role_error
from model.hosts.live_broker.group_coordinator import GroupCoordinator, ask_coordinator
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, error_code
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
        return {ApiKey.FIND_COORDINATOR: Api(0, 6, self._find)}

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


CLASSIC = "classic"
"""The type of all groups here (KIP-848 has others)."""
OPERATIONS_NOT_ASKED_FOR = -(2**31)
OPERATIONS = sum(1 << operation for operation in (3, 6, 8))
"""What anybody may do with a group while there are no ACLs: read, delete and describe it (3.9; configs came later)."""


class GroupRequests:
    """One group after the other."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.DESCRIBE_GROUPS: Api(0, 5, self._describe),
            ApiKey.LIST_GROUPS: Api(0, 5, self._list),
            ApiKey.DELETE_GROUPS: Api(0, 2, self._delete),
        }

    async def _describe(self, request: Request) -> Entity:
        groups = tuple(self._described(request, group_id) for group_id in request.body.groups)
        return request.answer("DescribeGroupsResponse", groups=groups)

    def _described(self, request: Request, group_id: str) -> Entity:
        error = role_error(group_id, self._coordinator.role(group_id), needs_name=False)
        if error is None:
            group = describe(group_id, self._coordinator.groups.get(group_id))
        else:
            group = DescribedGroup(group_id, state="")
        wants_operations = getattr(request.body, "include_authorized_operations", False) and error is None
        return shaped(
            request.shape("DescribedGroup"),
            error_code=error_code(error or "NONE"),
            group_id=group_id,
            group_state=str(group.state),
            protocol_type=group.protocol_type,
            protocol_data=group.protocol,
            members=tuple(_member(request, group, each) for each in group.members),
            authorized_operations=OPERATIONS if wants_operations else OPERATIONS_NOT_ASKED_FOR,
        )

    async def _list(self, request: Request) -> Entity:
        body = request.body
        states: tuple[str, ...] = getattr(body, "states_filter", None) or ()
        types: tuple[str, ...] = getattr(body, "types_filter", None) or ()
        is_wanted = not types or CLASSIC in {each.lower() for each in types}
        shape = request.shape("ListedGroup")
        groups = tuple(
            shaped(
                shape,
                group_id=group.group_id,
                protocol_type=group.protocol_type or "",
                group_state=str(group.state),
                group_type=CLASSIC,
            )
            for group in self._coordinator.groups.values()
            if is_wanted and is_in_states(group, states)
        )
        return request.answer("ListGroupsResponse", error_code=self._list_error(), groups=groups)

    def _list_error(self) -> ErrorCode:
        if not self._coordinator.is_open:
            return ErrorCode.coordinator_not_available
        return ErrorCode.coordinator_load_in_progress if self._coordinator.is_loading else ErrorCode.none

    async def _delete(self, request: Request) -> Entity:
        shape = request.shape("DeletableGroupResult")
        results: list[Entity] = []
        for group_id in dict.fromkeys(request.body.groups_names):
            event = GroupDeletionRequested(
                group_id=group_id, at_ms=self._coordinator.now_ms(), request=self._coordinator.next_request()
            )
            answer = await ask_coordinator(self._coordinator, event, AnswerGroupDeletion, needs_name=False)
            results.append(shaped(shape, group_id=group_id, error_code=error_code(answer.error)))
        return request.answer("DeleteGroupsResponse", results=tuple(results))


def _member(request: Request, group: DescribedGroup, member: Any) -> Entity:
    return shaped(
        request.shape("DescribedGroupMember"),
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol),
        member_assignment=member.assignment,
    )
