"""`consume(member, event)`: what a member of a ZooKeeper consumer group does about what happened, first to last.

Tables say which step follows what. Every member decides alone, from its own reading of ZooKeeper; there is no
coordinator. A watch that fires is set again at once, so that nothing is missed; brokers are watched from the first time
on that there was none. A new session registers, watches and lists topics once more.

Source: `kafka.consumer.ZookeeperConsumerConnector` (`registerConsumerInZK`, `reinitializeConsumer`, `shutdown`,
`WildcardStreamsHandler`, `ZKSessionExpireListener`), `ZKRebalancerListener.handleChildChange`,
`ZKTopicPartitionChangeListener`, `ZookeeperTopicEventWatcher` (0.8.2, 1.1).
"""

from collections.abc import Callable, Mapping
from typing import Any

from model.consumers.assignors.group import AssignorError
from model.consumers.zookeeper_groups import claiming, events_and_commands, releasing
from model.consumers.zookeeper_groups.claiming import topics_read
from model.consumers.zookeeper_groups.events_and_commands import (
    AUTO_COMMIT,
    BACKOFF,
    REGISTRATION,
    CloseSession,
    GiveUp,
    Left,
    MemberDecision,
    Registered,
    SessionLost,
    StartTimer,
    Step,
    StopFetching,
    WatchFired,
    aside,
    ask,
    replace,
)
from model.consumers.zookeeper_groups.member_state import MemberStage, MemberState
from model.consumers.zookeeper_groups.releasing import (
    again,
    begin,
    commit_aside,
    commit_requests,
    committed,
    due,
    noted,
    recorded,
    uncommitted,
    wish,
)
from model.znodes.consumers import ConsumerRegistration
from model.znodes.paths import BROKER_IDS, TOPICS, member_path, members_path, topic_path
from model.zookeeper import Answer, Code, Create, Exists, GetChildren, GetData


def watched(member: MemberState, event: WatchFired) -> MemberDecision:
    """The deletion of a topic alone starts no rebalance; a change of members, partitions or brokers does."""
    path = event.path
    if path == TOPICS:
        return aside(member, MemberStage.SIDE_TOPICS, GetChildren(path, watch=True))
    if path.startswith(f"{TOPICS}/"):
        armed = aside(member, MemberStage.SIDE_WATCH, Exists(path, watch=True))
        why = f"partitions of {path.removeprefix(f'{TOPICS}/')} have changed"
        return armed if event.deleted else armed.then(lambda m: wish(m, why, event.at_ms))
    if path not in (members_path(member.settings.group_id), BROKER_IDS):
        return MemberDecision(member)
    why = "brokers have come" if path == BROKER_IDS else "members have come or gone"
    armed = aside(member, MemberStage.SIDE_WATCH, GetChildren(path, watch=True))
    return armed.then(lambda m: wish(m, why, event.at_ms))


def first_session(member: MemberState, at_ms: int) -> MemberDecision:
    """The consumer starts."""
    settings = member.settings
    timer = StartTimer(AUTO_COMMIT, settings.auto_commit_interval_ms)
    return MemberDecision(member, (timer,) if settings.auto_commit_enable else ()).then(lambda m: register(m, at_ms))


def next_session(member: MemberState, at_ms: int) -> MemberDecision:
    """The registry of the old session is forgotten; what is being fetched goes on until the rebalance stops it."""
    return register(replace(member, owned={}, consumed={}, committed={}, wanted=""), at_ms)


def register(member: MemberState, at_ms: int) -> MemberDecision:
    """Make the id znode, and look at it: after a lost connection it may be there by this very request.

    What is watched is made, too: there may be no broker yet, nor ever have been.
    """
    settings = member.settings
    payload, group = settings.registration(at_ms), settings.group_id
    path = member_path(group, settings.consumer_id)
    above = ("/brokers", BROKER_IDS, TOPICS, "/consumers", f"/consumers/{group}", members_path(group))
    id_znode = Create(path, payload, ephemeral=True)
    return ask(
        replace(member, registered=payload), MemberStage.REGISTERING, *map(Create, above), id_znode, GetData(path)
    )


def registration_answered(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """An older znode of this id belongs to a session that is about to end: try again after it."""
    if answers[-1].data != member.registered:
        wait = StartTimer(REGISTRATION, member.settings.zookeeper_session_timeout_ms)
        return MemberDecision(replace(member, stage=MemberStage.REGISTERED_BEFORE), (wait,))
    told = MemberDecision(member, (), (Registered(member.settings.consumer_id),))
    if member.settings.pattern == "static":
        return told.then(lambda m: _subscribe(replace(m, topics=tuple(m.settings.subscription))))
    return told.then(lambda m: ask(m, MemberStage.LISTING_TOPICS, GetChildren(TOPICS, watch=True)))


def topics_listed(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Which topics the pattern allows."""
    try:
        topics = _chosen(member, answers[0])
    except AssignorError as error:
        return MemberDecision(replace(member, stage=MemberStage.GONE), (GiveUp(str(error)),))
    return _subscribe(replace(member, topics=topics))


def _subscribe(member: MemberState) -> MemberDecision:
    group = GetChildren(members_path(member.settings.group_id), watch=True)
    topics = (Exists(topic_path(topic), watch=True) for topic in member.topics)
    return ask(member, MemberStage.SUBSCRIBING, group, *topics)


def subscribed(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Nothing can change unseen from now on."""
    return begin(member, "a new session" if member.rebalances else "it joins", at_ms)


def topics_changed(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """The topics of the cluster were listed again: rebalance if others are allowed than before."""
    topics = _chosen(member, answers[0]) if answers[0].ok else member.topics
    new = [topic for topic in topics if topic not in member.topics]
    if set(topics) == set(member.topics):
        return MemberDecision(member)
    watched = MemberDecision(replace(member, topics=topics))
    if new:
        watched = aside(
            watched.member, MemberStage.SIDE_WATCH, *(Exists(topic_path(topic), watch=True) for topic in new)
        )
    return watched.then(lambda m: wish(m, "the topics that its pattern allows have changed", at_ms))


def _chosen(member: MemberState, listed: Answer) -> tuple[str, ...]:
    settings = member.settings
    registration = ConsumerRegistration(subscription=settings.subscription, pattern=settings.pattern)
    return topics_read(settings.consumer_id, registration, listed.names)


def leave(member: MemberState) -> MemberDecision:
    """Whatever goes on is given up. Without a session there is nothing to commit with."""
    if member.stage is MemberStage.AWAITING_SESSION:
        return _gone(member, StopFetching())
    return MemberDecision(replace(member, stage=MemberStage.LEAVING, attempts=None), (StopFetching(),))


def stopped_for_good(member: MemberState) -> MemberDecision:
    """Commit what is still owned; what was released was committed before."""
    offsets = due(member)
    if not offsets:
        return _gone(member)
    return ask(member, MemberStage.COMMITTING_LAST, *commit_requests(member, offsets), offsets=offsets)


def committed_last(member: MemberState) -> MemberDecision:
    """Done; what could not be committed will be consumed again."""
    return _gone(member)


def expire(member: MemberState, at_ms: int) -> MemberDecision:
    """The znodes are gone, yet this member goes on consuming until it has a new session: others may do the same."""
    if member.stage in (MemberStage.LEAVING, MemberStage.COMMITTING_LAST):
        return _gone(member, StopFetching())
    lost = SessionLost(tuple(sorted(member.owned)))
    waiting = replace(member, stage=MemberStage.AWAITING_SESSION, wanted="")
    told = MemberDecision(waiting, (), (lost,))
    if member.attempts is None:
        return told
    why = (*member.attempts.failures, "the session expired")
    return told.then(lambda m: recorded(noted(m, failures=why), at_ms, succeeded=False))


def _gone(member: MemberState, *before: StopFetching) -> MemberDecision:
    left = replace(member, stage=MemberStage.GONE, fetching={}, owned={})
    return MemberDecision(left, (*before, CloseSession()), (Left(),))


def consume(member: MemberState, event: events_and_commands.Event) -> MemberDecision:
    """What follows. An event that the member has no use for, such as a late answer, changes nothing."""
    if member.stage is MemberStage.GONE:
        return MemberDecision(member)
    return _EVENTS[type(event)](member, event)


def _start(member: MemberState, event: events_and_commands.MemberStarted) -> MemberDecision:
    return first_session(member, event.at_ms) if member.stage is MemberStage.NEW else MemberDecision(member)


def _established(member: MemberState, event: events_and_commands.SessionEstablished) -> MemberDecision:
    if member.stage is not MemberStage.AWAITING_SESSION:
        return MemberDecision(member)
    return next_session(member, event.at_ms)


def _expired(member: MemberState, event: events_and_commands.SessionExpired) -> MemberDecision:
    return MemberDecision(member) if member.stage is MemberStage.AWAITING_SESSION else expire(member, event.at_ms)


def _answered(member: MemberState, event: events_and_commands.ZooKeeperAnswered) -> MemberDecision:
    asked, answers = event.asked, event.answers
    taken = committed(member, asked, answers) if asked.offsets else MemberDecision(member)
    if asked.stage is MemberStage.SIDE_TOPICS and member.stage not in _OUTSIDE:
        return taken.then(lambda m: topics_changed(m, answers, event.at_ms))
    step = _ANSWERS.get(asked.stage)
    if step is None or asked.stage is not member.stage or asked.number != member.asked or _expired_with(answers):
        return taken
    return taken.then(lambda m: step(m, answers, event.at_ms))


def _expired_with(answers: tuple[Answer, ...]) -> bool:
    """SessionExpired follows, and says what becomes of it."""
    return any(answer.code is Code.SESSION_EXPIRED for answer in answers)


def _watched(member: MemberState, event: events_and_commands.WatchFired) -> MemberDecision:
    return MemberDecision(member) if member.stage in _OUTSIDE else watched(member, event)


def _fired(member: MemberState, event: events_and_commands.TimerFired) -> MemberDecision:
    if event.timer == AUTO_COMMIT:
        timed = MemberDecision(member, (StartTimer(AUTO_COMMIT, member.settings.auto_commit_interval_ms),))
        return timed if member.stage in _OUTSIDE else timed.then(lambda m: commit_aside(m, due(m)))
    if event.timer == BACKOFF and member.stage is MemberStage.BACKING_OFF:
        return again(member, event.at_ms)
    if event.timer == REGISTRATION and member.stage is MemberStage.REGISTERED_BEFORE:
        return register(member, event.at_ms)
    return MemberDecision(member)


def _consumed(member: MemberState, event: events_and_commands.RecordsConsumed) -> MemberDecision:
    new = {read: offset for read, offset in event.offsets.items() if read in member.owned}
    return MemberDecision(replace(member, consumed={**member.consumed, **new}) if new else member)


def _stopped(member: MemberState, _event: events_and_commands.FetchingStopped) -> MemberDecision:
    still = replace(member, fetching={})
    if member.stage is MemberStage.STOPPING:
        return releasing.stopped(still)
    return stopped_for_good(still) if member.stage is MemberStage.LEAVING else MemberDecision(still)


def _returned(member: MemberState, event: events_and_commands.CallbackReturned) -> MemberDecision:
    if member.stage is MemberStage.CALLING_BEFORE_RELEASE:
        return releasing.release(member)
    return (
        claiming.start(member, event.at_ms)
        if member.stage is MemberStage.CALLING_BEFORE_START
        else MemberDecision(member)
    )


def _commit(member: MemberState, event: events_and_commands.CommitRequested) -> MemberDecision:
    if member.stage in _OUTSIDE:
        return MemberDecision(member)
    return commit_aside(member, uncommitted(member) if event.offsets is None else event.offsets)


def _leave(member: MemberState, _event: events_and_commands.LeaveRequested) -> MemberDecision:
    return (
        MemberDecision(member) if member.stage in (MemberStage.LEAVING, MemberStage.COMMITTING_LAST) else leave(member)
    )


_OUTSIDE = frozenset({MemberStage.NEW, MemberStage.AWAITING_SESSION, MemberStage.LEAVING, MemberStage.COMMITTING_LAST})
"""Where a member takes no part in its group."""

_EVENTS: Mapping[type[events_and_commands.Event], Callable[[MemberState, Any], MemberDecision]] = {
    events_and_commands.MemberStarted: _start,
    events_and_commands.ZooKeeperAnswered: _answered,
    events_and_commands.WatchFired: _watched,
    events_and_commands.TimerFired: _fired,
    events_and_commands.RecordsConsumed: _consumed,
    events_and_commands.FetchingStopped: _stopped,
    events_and_commands.CallbackReturned: _returned,
    events_and_commands.CommitRequested: _commit,
    events_and_commands.SessionExpired: _expired,
    events_and_commands.SessionEstablished: _established,
    events_and_commands.LeaveRequested: _leave,
}

_ANSWERS: Mapping[MemberStage, Step] = {
    MemberStage.REGISTERING: registration_answered,
    MemberStage.LISTING_TOPICS: topics_listed,
    MemberStage.SUBSCRIBING: subscribed,
    MemberStage.READING_SELF: releasing.self_read,
    MemberStage.COMMITTING: releasing.committed_before_release,
    MemberStage.RELEASING: releasing.released,
    MemberStage.READING_MEMBERS: claiming.members_read,
    MemberStage.READING_REGISTRATIONS: claiming.registrations_read,
    MemberStage.READING_TOPIC_NAMES: claiming.topic_names_read,
    MemberStage.READING_TOPICS: claiming.topics_known,
    MemberStage.CLAIMING: claiming.claims_answered,
    MemberStage.CHECKING_CLAIMS: claiming.conflicts_looked_at,
    MemberStage.READING_OFFSETS: claiming.offsets_read,
    MemberStage.UNDOING_CLAIMS: claiming.claims_undone,
    MemberStage.COMMITTING_LAST: lambda member, _answers, _at_ms: committed_last(member),
}
