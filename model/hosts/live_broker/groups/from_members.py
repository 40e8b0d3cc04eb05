"""What members ask: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. Translation between the wire and the coordinator.

Source: `kafka.coordinator.group.GroupCoordinatorAdapter`, `kafka.server.KafkaApis` (3.9).
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from model.consumers.group_coordinator.commands import (
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerSync,
)
from model.consumers.group_coordinator.events import (
    HeartbeatReceived,
    JoinRequested,
    LeaveRequested,
    LeavingMember,
    SyncRequested,
)
from model.consumers.group_coordinator.member import SupportedProtocol
from model.hosts.live_broker.groups.asking import ask
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator
from model.hosts.wire.api_keys import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

KNOWN_ID_SINCE = 4
"""JoinGroup from here on: members are given an id before they join (KIP-394)."""
PROTOCOL_MAY_BE_NULL_SINCE = 7
SKIPPED_ASSIGNMENT_SINCE = 9
PROTOCOL_NAMED_SINCE = 5
"""SyncGroup from here on says which protocol it is about (KIP-559)."""
SEVERAL_LEAVE_SINCE = 3
_MS = timedelta(milliseconds=1)


class MemberRequests:
    """Waits as long as the coordinator lets a member wait."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {
            JOIN_GROUP: Api(0, 9, self._join),
            SYNC_GROUP: Api(0, 5, self._sync),
            HEARTBEAT: Api(0, 4, self._heartbeat),
            LEAVE_GROUP: Api(0, 5, self._leave),
        }

    def _asked(self, request: Request) -> dict[str, Any]:
        number, now_ms = self._coordinator.next_request(), self._coordinator.now_ms()
        return {"group_id": request.body.group_id, "at_ms": now_ms, "request": number}

    async def _join(self, request: Request) -> Entity:
        body, version = request.body, request.start.version
        session_timeout_ms = body.session_timeout // _MS
        rebalance_timeout = getattr(body, "rebalance_timeout", None)
        instance_id = getattr(body, "group_instance_id", None)
        event = JoinRequested(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=instance_id,
            client_id=request.client_id,
            client_host=f"/{request.peer.rpartition(':')[0]}",
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=session_timeout_ms if rebalance_timeout is None else rebalance_timeout // _MS,
            protocol_type=body.protocol_type,
            protocols=tuple(SupportedProtocol(each.name, each.metadata) for each in body.protocols),
            new_id=str(uuid.uuid4()),
            needs_known_id=version >= KNOWN_ID_SINCE and instance_id is None,
            can_skip_assignment=version >= SKIPPED_ASSIGNMENT_SINCE,
            why=getattr(body, "reason", None) or None,
        )
        return _joined(request, await ask(self._coordinator, event, AnswerJoin))

    async def _sync(self, request: Request) -> Entity:
        body = request.body
        event = SyncRequested(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=getattr(body, "group_instance_id", None),
            generation=body.generation_id,
            protocol_type=getattr(body, "protocol_type", None),
            protocol=getattr(body, "protocol_name", None),
            assignment={each.member_id: each.assignment for each in body.assignments},
        )
        is_named = event.protocol_type is not None and event.protocol is not None
        if request.start.version >= PROTOCOL_NAMED_SINCE and not is_named:
            answer = AnswerSync(event.request, "INCONSISTENT_GROUP_PROTOCOL")
        else:
            answer = await ask(self._coordinator, event, AnswerSync)
        # The rebalance that was going on is lost to a coordinator that loads. Old clients know no other way to say so.
        error = "REBALANCE_IN_PROGRESS" if answer.error == "COORDINATOR_LOAD_IN_PROGRESS" else answer.error
        return request.answer(
            "SyncGroupResponse",
            error_code=error_code(error),
            protocol_type=answer.protocol_type,
            protocol_name=answer.protocol,
            assignment=answer.assignment,
        )

    async def _heartbeat(self, request: Request) -> Entity:
        body = request.body
        event = HeartbeatReceived(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=getattr(body, "group_instance_id", None),
            generation=body.generation_id,
        )
        answer = await ask(self._coordinator, event, AnswerHeartbeat)
        # While groups are loaded nobody is told off.
        error = "NONE" if answer.error == "COORDINATOR_LOAD_IN_PROGRESS" else answer.error
        return request.answer("HeartbeatResponse", error_code=error_code(error))

    async def _leave(self, request: Request) -> Entity:
        body = request.body
        several = request.start.version >= SEVERAL_LEAVE_SINCE
        leaving = (
            tuple(
                LeavingMember(each.member_id, each.group_instance_id, getattr(each, "reason", None) or None)
                for each in body.members
            )
            if several
            else (LeavingMember(body.member_id),)
        )
        event = LeaveRequested(**self._asked(request), members=leaving)
        answer = await ask(self._coordinator, event, AnswerLeave)
        if not several:
            error = answer.members[0][1] if answer.error == "NONE" and answer.members else answer.error
            return request.answer("LeaveGroupResponse", error_code=error_code(error))
        shape = request.shape("MemberResponse")
        members = tuple(
            shaped(shape, member_id=each.member_id, group_instance_id=each.instance_id, error_code=error_code(error))
            for each, error in answer.members
        )
        return request.answer("LeaveGroupResponse", error_code=error_code(answer.error), members=members)


def _joined(request: Request, answer: AnswerJoin) -> Entity:
    shape = request.shape("JoinGroupResponseMember")
    members = tuple(
        shaped(shape, member_id=each.member_id, group_instance_id=each.instance_id, metadata=each.metadata)
        for each in answer.members
    )
    protocol = answer.protocol
    if protocol is None and request.start.version < PROTOCOL_MAY_BE_NULL_SINCE:
        protocol = ""
    return request.answer(
        "JoinGroupResponse",
        error_code=error_code(answer.error),
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name=protocol,
        leader=answer.leader,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=members,
    )
