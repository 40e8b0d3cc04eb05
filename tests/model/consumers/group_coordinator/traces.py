"""A group's history as a trace: what it sees, what it does about it. Requests are numbered from 1."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.coordinate import coordinate
from model.consumers.group_coordinator.events_and_commands import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerMember,
    AnswerSync,
    AppendCompleted,
    AppendRecords,
    CommitRequested,
    GroupCommand,
    GroupDeletionRequested,
    GroupEvent,
    HeartbeatReceived,
    JoinRequested,
    LeaveRequested,
    LeavingMember,
    SyncRequested,
    TimePassed,
)
from model.consumers.group_coordinator.group import CommittedOffset, Group, GroupSettings, GroupState, SupportedProtocol

GROUP = "g"
SETTINGS = GroupSettings(group_initial_rebalance_delay_ms=3_000)
ORDERS = TopicPartition("orders", 0)
SESSION_MS, REBALANCE_MS = 10_000, 60_000


def subscription(*topics: str) -> bytes:
    """A ConsumerProtocolSubscription of version 1."""
    encoded = [struct.pack(">h", len(topic)) + topic.encode() for topic in topics]
    return struct.pack(">hi", 1, len(topics)) + b"".join(encoded) + struct.pack(">ii", -1, 0)


def assignment(topic: str, *partitions: int) -> bytes:
    """A ConsumerProtocolAssignment of version 0."""
    named = struct.pack(">h", len(topic)) + topic.encode()
    numbers = struct.pack(f">{len(partitions)}i", *partitions)
    return struct.pack(">hi", 0, 1) + named + struct.pack(">i", len(partitions)) + numbers + struct.pack(">i", -1)


class Trace:
    """One group, from its first request on. Time stands still unless told otherwise."""

    def __init__(self, group: Group | None = None, settings: GroupSettings = SETTINGS) -> None:
        self.group = group
        self.settings = settings
        self.now_ms = 1_000
        self.request = 0
        self.commands: tuple[GroupCommand, ...] = ()
        self.reasons: list[str] = []
        self.given: dict[int, AnswerMember] = {}

    @property
    def state(self) -> GroupState:
        assert self.group is not None
        return self.group.state

    @property
    def generation(self) -> int:
        assert self.group is not None
        return self.group.generation

    def sees(self, event: GroupEvent) -> tuple[GroupCommand, ...]:
        """>> event; its commands."""
        decision = coordinate(self.group, event, self.settings)
        self.group = None if decision.group.state is GroupState.DEAD else decision.group
        self.commands = decision.commands
        self.reasons += decision.reasons
        for answer in self.answers():
            assert answer.request not in self.given, f"answered twice: {answer}"
            self.given[answer.request] = answer
        return decision.commands

    def answers(self) -> list[AnswerMember]:
        """<< the answers among the last commands."""
        return [each for each in self.commands if isinstance(each, AnswerMember)]

    def errors(self) -> dict[int, str]:
        """<< the errors among them, by request."""
        return {each.request: each.error for each in self.answers()}

    def answer(self, request: int | None = None) -> AnswerMember:
        """<< the answer to a request, the last one by default; it may have been given before."""
        return self.given[request or self.request]

    def appended(self) -> AppendRecords:
        """<< what is to be written."""
        (append,) = [each for each in self.commands if isinstance(each, AppendRecords)]
        return append

    def join(
        self,
        member_id: str = "",
        *,
        instance_id: str | None = None,
        protocols: Sequence[tuple[str, bytes]] = (("range", subscription("orders")),),
        v4: bool = False,
        v9: bool = True,
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        client_id: str = "c",
        new_id: str | None = None,
        protocol_type: str = "consumer",
    ) -> int:
        """JoinGroup; the number of the request. Members are told their id at once only from v4 on."""
        self.request += 1
        self.sees(
            JoinRequested(
                group_id=GROUP,
                at_ms=self.now_ms,
                request=self.request,
                member_id=member_id,
                instance_id=instance_id,
                client_id=client_id,
                client_host="/127.0.0.1",
                session_timeout_ms=session_ms,
                rebalance_timeout_ms=rebalance_ms,
                protocol_type=protocol_type,
                protocols=tuple(SupportedProtocol(*each) for each in protocols),
                new_id=new_id or str(self.request),
                needs_known_id=v4,
                can_skip_assignment=v9,
            )
        )
        return self.request

    def sync(
        self,
        member_id: str,
        shares: Mapping[str, bytes] | None = None,
        *,
        generation: int | None = None,
        instance_id: str | None = None,
        protocol: str | None = None,
    ) -> int:
        """SyncGroup; the number of the request."""
        self.request += 1
        self.sees(
            SyncRequested(
                group_id=GROUP,
                at_ms=self.now_ms,
                request=self.request,
                member_id=member_id,
                instance_id=instance_id,
                generation=self.generation if generation is None else generation,
                protocol=protocol,
                assignment=shares or {},
            )
        )
        return self.request

    def heartbeat(self, member_id: str, *, generation: int | None = None, instance_id: str | None = None) -> str:
        """Heartbeat; its error."""
        self.request += 1
        self.sees(
            HeartbeatReceived(
                group_id=GROUP,
                at_ms=self.now_ms,
                request=self.request,
                member_id=member_id,
                instance_id=instance_id,
                generation=(self.generation if self.group else 1) if generation is None else generation,
            )
        )
        answer = self.answer()
        assert isinstance(answer, AnswerHeartbeat)
        return answer.error

    def leave(self, *members: LeavingMember | str) -> list[str]:
        """LeaveGroup; the error of each member."""
        self.request += 1
        leaving = tuple(LeavingMember(each) if isinstance(each, str) else each for each in members)
        self.sees(LeaveRequested(group_id=GROUP, at_ms=self.now_ms, request=self.request, members=leaving))
        answer = self.answer()
        assert isinstance(answer, AnswerLeave)
        return [error for _, error in answer.members]

    def commit(
        self,
        member_id: str = "",
        *,
        generation: int = -1,
        offset: int = 5,
        partition: TopicPartition = ORDERS,
        instance_id: str | None = None,
        metadata: str = "",
    ) -> int:
        """OffsetCommit of one partition; the number of the request."""
        self.request += 1
        committed = CommittedOffset(offset=offset, commit_ms=self.now_ms, metadata=metadata)
        self.sees(
            CommitRequested(
                group_id=GROUP,
                at_ms=self.now_ms,
                request=self.request,
                member_id=member_id,
                instance_id=instance_id,
                generation=generation,
                offsets={partition: committed},
            )
        )
        return self.request

    def commit_error(self, request: int | None = None) -> str:
        """<< the error of a commit's one partition."""
        answer = self.answer(request)
        assert isinstance(answer, AnswerCommit)
        ((_, error),) = answer.partitions
        return error

    def delete(self) -> str:
        """DeleteGroups; its error."""
        self.request += 1
        self.sees(GroupDeletionRequested(group_id=GROUP, at_ms=self.now_ms, request=self.request))
        return self.answer().error

    def written(self, request: int, error: str = "NONE", base_offset: int = 0) -> None:
        """The log tells what became of a write."""
        self.sees(
            AppendCompleted(group_id=GROUP, at_ms=self.now_ms, request=request, error=error, base_offset=base_offset)
        )

    def passes(self, ms: int) -> None:
        """Time."""
        self.now_ms += ms
        self.sees(TimePassed(group_id=GROUP, at_ms=self.now_ms))

    def joined(self, request: int) -> AnswerJoin:
        """<< the answer to a JoinGroup."""
        answer = self.answer(request)
        assert isinstance(answer, AnswerJoin)
        return answer

    def synced(self, request: int) -> AnswerSync:
        """<< the answer to a SyncGroup."""
        answer = self.answer(request)
        assert isinstance(answer, AnswerSync)
        return answer


def stable(*instances: str | None, settings: GroupSettings = SETTINGS) -> tuple[Trace, list[str]]:
    """A stable group, with one dynamic member (None) or static one for each; their ids, the leader's first."""
    trace = Trace(settings=settings)
    requests = [trace.join(instance_id=each) for each in instances]
    trace.passes(settings.group_initial_rebalance_delay_ms)
    trace.passes(settings.group_initial_rebalance_delay_ms)
    members = [trace.joined(request).member_id for request in requests]
    settle(trace, members)
    return trace, members


def settle(trace: Trace, members: Sequence[str]) -> None:
    """Everybody syncs, the leader last; member number i gets partition i."""
    assert trace.group is not None
    leader = trace.group.leader
    assert leader is not None
    for member in members:
        if member != leader:
            trace.sync(member)
    shares = {member: assignment("orders", number) for number, member in enumerate(members)}
    trace.written(trace.sync(leader, shares))
    assert trace.state is GroupState.STABLE
