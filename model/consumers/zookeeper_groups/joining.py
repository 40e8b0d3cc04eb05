"""Into the group: the id znode, the watches, the topics of a pattern. With a new session all of it once more.

Source: `ZookeeperConsumerConnector.registerConsumerInZK`, `reinitializeConsumer`, `WildcardStreamsHandler`,
`ZKSessionExpireListener` (0.8.2, 1.1).
"""

from model.consumers.assignors.group import AssignorError
from model.consumers.zookeeper_groups.assigning import topics_read
from model.consumers.zookeeper_groups.attempts import begin, wish
from model.consumers.zookeeper_groups.commands import AUTO_COMMIT, REGISTRATION, GiveUp, StartTimer
from model.consumers.zookeeper_groups.decision import MemberDecision, aside, ask, replace
from model.consumers.zookeeper_groups.happenings import Registered
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import BROKER_IDS, TOPICS, Answer, Children, Create, Exists, Read
from model.znodes.consumers import ConsumerRegistration
from model.znodes.paths import member_path, members_path, topic_path


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
    return ask(replace(member, registered=payload), Stage.REGISTERING, *map(Create, above), id_znode, Read(path))


def registration_answered(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """An older znode of this id belongs to a session that is about to end: try again after it."""
    if answers[-1].data != member.registered:
        wait = StartTimer(REGISTRATION, member.settings.zookeeper_session_timeout_ms)
        return MemberDecision(replace(member, stage=Stage.REGISTERED_BEFORE), (wait,))
    told = MemberDecision(member, (), (Registered(member.settings.consumer_id),))
    if member.settings.pattern == "static":
        return told.then(lambda m: _subscribe(replace(m, topics=tuple(m.settings.subscription))))
    return told.then(lambda m: ask(m, Stage.LISTING_TOPICS, Children(TOPICS, watch=True)))


def topics_listed(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Which topics the pattern allows."""
    try:
        topics = _chosen(member, answers[0])
    except AssignorError as error:
        return MemberDecision(replace(member, stage=Stage.GONE), (GiveUp(str(error)),))
    return _subscribe(replace(member, topics=topics))


def _subscribe(member: MemberState) -> MemberDecision:
    group = Children(members_path(member.settings.group_id), watch=True)
    topics = (Exists(topic_path(topic), watch=True) for topic in member.topics)
    return ask(member, Stage.SUBSCRIBING, group, *topics)


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
        watched = aside(watched.member, Stage.SIDE_WATCH, *(Exists(topic_path(topic), watch=True) for topic in new))
    return watched.then(lambda m: wish(m, "the topics that its pattern allows have changed", at_ms))


def _chosen(member: MemberState, listed: Answer) -> tuple[str, ...]:
    settings = member.settings
    registration = ConsumerRegistration(subscription=settings.subscription, pattern=settings.pattern)
    return topics_read(settings.consumer_id, registration, listed.names)
