"""DescribeGroups, ListGroups and DeleteGroups. Translation between the wire and the coordinator.

Source: `kafka.coordinator.group.GroupCoordinatorAdapter`, `kafka.server.KafkaApis` (3.9).
"""

from collections.abc import Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.consumers.group_coordinator.commands import AnswerGroupDeletion
from model.consumers.group_coordinator.describing import DescribedGroup, describe, is_in_states
from model.consumers.group_coordinator.events import GroupDeletionRequested
from model.consumers.group_coordinator.offsets_topic import standing_error
from model.hosts.live_broker.groups.asking import ask
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator
from model.hosts.wire.api_keys import DELETE_GROUPS, DESCRIBE_GROUPS, LIST_GROUPS
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

CLASSIC = "classic"
"""The type of all groups here (KIP-848 has others)."""
OPERATIONS_NOT_ASKED_FOR = -(2**31)
OPERATIONS = sum(1 << operation for operation in (3, 6, 8, 10, 11))
"""What anybody may do with a group while there are no ACLs: read, delete, describe, describe and alter its configs."""


class OperatorRequests:
    """One group after the other."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {
            DESCRIBE_GROUPS: Api(0, 5, self._describe),
            LIST_GROUPS: Api(0, 5, self._list),
            DELETE_GROUPS: Api(0, 2, self._delete),
        }

    async def _describe(self, request: Request) -> Entity:
        groups = tuple(self._described(request, group_id) for group_id in request.body.groups)
        return request.answer("DescribeGroupsResponse", groups=groups)

    def _described(self, request: Request, group_id: str) -> Entity:
        error = standing_error(group_id, self._coordinator.standing(group_id), needs_name=False)
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
            answer = await ask(self._coordinator, event, AnswerGroupDeletion, needs_name=False)
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
