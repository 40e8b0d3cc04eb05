"""`consume(member, event)`: what a member of a ZooKeeper consumer group does about what happened. Tables of steps.

Every member decides alone, from its own reading of ZooKeeper; there is no coordinator. Source:
`kafka.consumer.ZookeeperConsumerConnector` (0.8.2, 1.1).
"""

from collections.abc import Callable, Mapping
from typing import Any

from model.consumers.zookeeper_groups import claiming, events, joining, reading, releasing
from model.consumers.zookeeper_groups.attempts import again
from model.consumers.zookeeper_groups.commands import AUTO_COMMIT, BACKOFF, REGISTRATION, StartTimer
from model.consumers.zookeeper_groups.commits import commit_aside, committed, due, uncommitted
from model.consumers.zookeeper_groups.decision import MemberDecision, Step, replace
from model.consumers.zookeeper_groups.leaving import committed_last, expire, leave, stopped_for_good
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.consumers.zookeeper_groups.watching import watched
from model.controller.zookeeper import Answer, Code


def consume(member: MemberState, event: events.Event) -> MemberDecision:
    """What follows. An event that the member has no use for, such as a late answer, changes nothing."""
    if member.stage is Stage.GONE:
        return MemberDecision(member)
    return _EVENTS[type(event)](member, event)


def _start(member: MemberState, event: events.MemberStarted) -> MemberDecision:
    return joining.first_session(member, event.at_ms) if member.stage is Stage.NEW else MemberDecision(member)


def _established(member: MemberState, event: events.SessionEstablished) -> MemberDecision:
    if member.stage is not Stage.AWAITING_SESSION:
        return MemberDecision(member)
    return joining.next_session(member, event.at_ms)


def _expired(member: MemberState, event: events.SessionExpired) -> MemberDecision:
    return MemberDecision(member) if member.stage is Stage.AWAITING_SESSION else expire(member, event.at_ms)


def _answered(member: MemberState, event: events.ZooKeeperAnswered) -> MemberDecision:
    asked, answers = event.asked, event.answers
    taken = committed(member, asked, answers) if asked.offsets else MemberDecision(member)
    if asked.stage is Stage.SIDE_TOPICS and member.stage not in _OUTSIDE:
        return taken.then(lambda m: joining.topics_changed(m, answers, event.at_ms))
    step = _ANSWERS.get(asked.stage)
    if step is None or asked.stage is not member.stage or asked.number != member.asked or _expired_with(answers):
        return taken
    return taken.then(lambda m: step(m, answers, event.at_ms))


def _expired_with(answers: tuple[Answer, ...]) -> bool:
    """SessionExpired follows, and says what becomes of it."""
    return any(answer.code is Code.SESSION_EXPIRED for answer in answers)


def _watched(member: MemberState, event: events.WatchFired) -> MemberDecision:
    return MemberDecision(member) if member.stage in _OUTSIDE else watched(member, event)


def _fired(member: MemberState, event: events.TimerFired) -> MemberDecision:
    if event.timer == AUTO_COMMIT:
        timed = MemberDecision(member, (StartTimer(AUTO_COMMIT, member.settings.auto_commit_interval_ms),))
        return timed if member.stage in _OUTSIDE else timed.then(lambda m: commit_aside(m, due(m)))
    if event.timer == BACKOFF and member.stage is Stage.BACKING_OFF:
        return again(member, event.at_ms)
    if event.timer == REGISTRATION and member.stage is Stage.REGISTERED_BEFORE:
        return joining.register(member, event.at_ms)
    return MemberDecision(member)


def _consumed(member: MemberState, event: events.RecordsConsumed) -> MemberDecision:
    new = {read: offset for read, offset in event.offsets.items() if read in member.owned}
    return MemberDecision(replace(member, consumed={**member.consumed, **new}) if new else member)


def _stopped(member: MemberState, _event: events.FetchingStopped) -> MemberDecision:
    still = replace(member, fetching={})
    if member.stage is Stage.STOPPING:
        return releasing.stopped(still)
    return stopped_for_good(still) if member.stage is Stage.LEAVING else MemberDecision(still)


def _returned(member: MemberState, event: events.CallbackReturned) -> MemberDecision:
    if member.stage is Stage.CALLING_BEFORE_RELEASE:
        return releasing.release(member)
    return claiming.start(member, event.at_ms) if member.stage is Stage.CALLING_BEFORE_START else MemberDecision(member)


def _commit(member: MemberState, event: events.CommitRequested) -> MemberDecision:
    if member.stage in _OUTSIDE:
        return MemberDecision(member)
    return commit_aside(member, uncommitted(member) if event.offsets is None else event.offsets)


def _leave(member: MemberState, _event: events.LeaveRequested) -> MemberDecision:
    return MemberDecision(member) if member.stage in (Stage.LEAVING, Stage.COMMITTING_LAST) else leave(member)


_OUTSIDE = frozenset({Stage.NEW, Stage.AWAITING_SESSION, Stage.LEAVING, Stage.COMMITTING_LAST})
"""Where a member takes no part in its group."""

_EVENTS: Mapping[type[events.Event], Callable[[MemberState, Any], MemberDecision]] = {
    events.MemberStarted: _start,
    events.ZooKeeperAnswered: _answered,
    events.WatchFired: _watched,
    events.TimerFired: _fired,
    events.RecordsConsumed: _consumed,
    events.FetchingStopped: _stopped,
    events.CallbackReturned: _returned,
    events.CommitRequested: _commit,
    events.SessionExpired: _expired,
    events.SessionEstablished: _established,
    events.LeaveRequested: _leave,
}

_ANSWERS: Mapping[Stage, Step] = {
    Stage.REGISTERING: joining.registration_answered,
    Stage.LISTING_TOPICS: joining.topics_listed,
    Stage.SUBSCRIBING: joining.subscribed,
    Stage.READING_SELF: releasing.self_read,
    Stage.COMMITTING: releasing.committed_before_release,
    Stage.RELEASING: releasing.released,
    Stage.READING_MEMBERS: reading.members_read,
    Stage.READING_REGISTRATIONS: reading.registrations_read,
    Stage.READING_TOPIC_NAMES: reading.topic_names_read,
    Stage.READING_TOPICS: reading.topics_known,
    Stage.CLAIMING: claiming.claims_answered,
    Stage.CHECKING_CLAIMS: claiming.conflicts_looked_at,
    Stage.READING_OFFSETS: claiming.offsets_read,
    Stage.UNDOING_CLAIMS: claiming.claims_undone,
    Stage.COMMITTING_LAST: lambda member, _answers, _at_ms: committed_last(member),
}
