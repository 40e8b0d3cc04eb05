"""The middle of an attempt: how this member sees the group, znode by znode. Others may read something else meanwhile.

Source: `kafka.consumer.AssignmentContext`, `ZkUtils.getConsumersPerTopic`, `getPartitionsForTopics` (0.8.2, 1.1).
"""

from collections.abc import Mapping

from model.consumers.assignors.group import AssignorError
from model.consumers.zookeeper_groups.assigning import owners_of, topics_read
from model.consumers.zookeeper_groups.attempts import attempts_of, fail, noted
from model.consumers.zookeeper_groups.claiming import claim
from model.consumers.zookeeper_groups.decision import MemberDecision, ask, replace
from model.consumers.zookeeper_groups.happenings import GroupRead
from model.consumers.zookeeper_groups.member_state import GroupView, MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import TOPICS, Answer, Children, Code, Read
from model.znodes.consumers import ConsumerRegistration, PartitionOwner, decode_consumer
from model.znodes.paths import member_path, topic_path
from model.znodes.reasons import UnusablePayloadError
from model.znodes.topics import decode_topic


def members_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Names: now what each subscribes to."""
    (listed,) = answers
    if not listed.ok:
        return fail(member, "the group's members cannot be read", at_ms)
    group = member.settings.group_id
    asking = noted(member, names=listed.names)
    return ask(asking, Stage.READING_REGISTRATIONS, *(Read(member_path(group, name)) for name in listed.names))


def registrations_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A member that went away meanwhile, or whose registration is no such thing, fails the attempt."""
    registrations: dict[str, ConsumerRegistration] = {}
    for name, answer in zip(attempts_of(member).names, answers, strict=True):
        try:
            if not answer.ok:
                return fail(member, f"{name} went away while its registration was to be read", at_ms)
            registrations[name] = decode_consumer(answer.data)
        except UnusablePayloadError as error:
            return fail(member, f"the registration of {name} {error}", at_ms)
    seen = replace(member, view=GroupView(at_ms, registrations, {}))
    if any(registration.pattern != "static" for registration in registrations.values()):
        return ask(seen, Stage.READING_TOPIC_NAMES, Children(TOPICS))
    return _read_topics(seen, (), at_ms)


def topic_names_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Patterns choose among these."""
    return _read_topics(member, answers[0].names, at_ms)


def _read_topics(member: MemberState, there: tuple[str, ...], at_ms: int) -> MemberDecision:
    try:
        read = {topic for name, told in _view(member).registrations.items() for topic in topics_read(name, told, there)}
    except AssignorError as error:
        return fail(member, str(error), at_ms)
    names = tuple(sorted(read))
    return ask(noted(member, names=names), Stage.READING_TOPICS, *(Read(topic_path(name)) for name in names))


def topics_known(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """All is read: who should own what? A topic that is not there has no partitions."""
    partitions: dict[str, tuple[int, ...]] = {}
    for name, answer in zip(attempts_of(member).names, answers, strict=True):
        if answer.code is Code.NO_NODE:
            continue
        try:
            partitions[name] = tuple(sorted(decode_topic(answer.data).partitions))
        except UnusablePayloadError as error:
            return fail(member, f"topic {name} {error}", at_ms)
    return _assign(member, partitions, at_ms)


def _assign(member: MemberState, partitions: Mapping[str, tuple[int, ...]], at_ms: int) -> MemberDecision:
    registrations, settings = _view(member).registrations, member.settings
    try:
        owners = owners_of(settings.strategy, registrations, partitions)
    except AssignorError as error:
        return fail(member, str(error), at_ms)
    view = GroupView(at_ms, registrations, partitions, owners)
    own = settings.consumer_id
    claims = {read: thread for read, thread in owners.items() if PartitionOwner(thread).consumer_id == own}
    told = GroupRead(tuple(sorted(registrations)), {topic: len(numbers) for topic, numbers in partitions.items()})
    decided = noted(replace(member, view=view), claims=claims, offsets={})
    return MemberDecision(decided, (), (told,)).then(lambda m: claim(m, at_ms))


def _view(member: MemberState) -> GroupView:
    assert member.view is not None
    return member.view
