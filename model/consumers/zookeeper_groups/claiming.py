"""The second half of an attempt: read the group, work out who owns what, and claim what is this member's.

Every member does this alone, by the same rule; others may read something else meanwhile. The owner znode is the only
arbiter between members that saw different groups: if one belongs to another member, all claims are taken back.

Source: `kafka.consumer.PartitionAssignor`, `AssignmentContext`, `ZkUtils` (`getConsumersPerTopic`,
`getPartitionsForTopics`, `createEphemeralPathExpectConflict`),
`ZKRebalancerListener.reflectPartitionOwnershipDecision` (0.8.2, 1.1). Kafka reads offsets before it claims: an owner
that commits and lets go in between makes it consume again what is committed. Here they are read after.
"""

from collections.abc import Iterable, Mapping

from model.cluster.ids import TopicPartition
from model.consumers.assignors.case import AssignmentCase, CaseMember
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.named_group import streams_of
from model.consumers.assignors.strategies import assign, strategy_named
from model.consumers.zookeeper_groups.events_and_commands import (
    CallBack,
    ClaimConflicted,
    FetchPosition,
    GroupRead,
    MemberDecision,
    PartitionsClaimed,
    StartFetching,
    ask,
    replace,
)
from model.consumers.zookeeper_groups.member_state import Conflict, GroupView, MemberStage, MemberState
from model.consumers.zookeeper_groups.releasing import attempts_of, end, fail, noted
from model.znodes.consumers import ConsumerRegistration, PartitionOwner, decode_consumer, decode_offset
from model.znodes.paths import TOPICS, member_path, offset_path, owner_path, topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import decode_topic
from model.zookeeper import Answer, Code, Create, Delete, GetChildren, GetData


def owners_of(
    strategy: str, registrations: Mapping[str, ConsumerRegistration], partitions: Mapping[str, tuple[int, ...]]
) -> Mapping[TopicPartition, str]:
    """Threads by partition. Raises AssignorError where the strategy has no answer."""
    counts = {topic: len(numbers) for topic, numbers in partitions.items()}
    members = {name: _member(registration) for name, registration in registrations.items()}
    outcome = assign(AssignmentCase(topics=counts, members=members), strategy_named(strategy))
    return {
        TopicPartition(topic, partitions[topic][number]): thread
        for thread, owned in outcome.lists().items()
        for topic, number in owned
    }


def topics_read(name: str, registration: ConsumerRegistration, there: Iterable[str]) -> tuple[str, ...]:
    """The topics that a member streams; of those that are `there` if it subscribes by a pattern.

    Raises AssignorError for a pattern that is no regular expression.
    """
    return tuple(streams_of(name, _member(registration), dict.fromkeys(there, 0)))


def _member(registration: ConsumerRegistration) -> CaseMember:
    if registration.pattern == "static" or not registration.subscription:
        return CaseMember(topics=dict(registration.subscription))
    pattern, threads = next(iter(registration.subscription.items()))
    if registration.pattern == "black_list":
        return CaseMember(black_list=pattern, threads=threads)
    return CaseMember(white_list=pattern, threads=threads)


NO_OFFSET = -1


def claim(member: MemberState, at_ms: int) -> MemberDecision:
    """Own what this member works out to be its own."""
    claims = attempts_of(member).claims
    return _claim(noted(member, open=tuple(claims))) if claims else _succeed(member, at_ms)


def _claim(member: MemberState) -> MemberDecision:
    attempts, group = attempts_of(member), member.settings.group_id
    directories: list[str] = []
    if attempts.parents_made:
        directories += [f"/consumers/{group}", f"/consumers/{group}/owners"]
        directories += dict.fromkeys(f"/consumers/{group}/owners/{read.topic}" for read in attempts.open)
    claims = [
        Create(owner_path(group, *read), PartitionOwner(attempts.claims[read]).to_bytes(), ephemeral=True)
        for read in attempts.open
    ]
    return ask(member, MemberStage.CLAIMING, *map(Create, directories), *claims)


def claims_answered(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Directories that are missing are made, then the rest is claimed; what exists is looked at."""
    attempts = attempts_of(member)
    codes = {read: a.code for read, a in zip(attempts.open, answers[-len(attempts.open) :], strict=True)}
    granted = attempts.granted.union(read for read, code in codes.items() if code is Code.OK)
    left = tuple(read for read, code in codes.items() if code is not Code.OK)
    noting = noted(member, granted=granted, open=left)
    if not left:
        return _read_offsets(noting)
    if Code.NO_NODE in codes.values() and not attempts.parents_made:
        return _claim(noted(noting, parents_made=True))
    group = member.settings.group_id
    return ask(noting, MemberStage.CHECKING_CLAIMS, *(GetData(owner_path(group, *read)) for read in left))


def conflicts_looked_at(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A claim of its own, whose answer was lost, counts as granted; one conflict is enough to fail."""
    attempts = attempts_of(member)
    conflicts = tuple(
        Conflict(read, attempts.claims[read], answer.data.decode(errors="replace"))
        for read, answer in zip(attempts.open, answers, strict=True)
        if answer.data != PartitionOwner(attempts.claims[read]).to_bytes()
    )
    taken = {conflict.partition for conflict in conflicts}
    granted = attempts.granted.union(read for read in attempts.open if read not in taken)
    noting = noted(member, granted=granted, open=(), conflicts=attempts.conflicts + conflicts)
    if not conflicts:
        return _read_offsets(noting)
    told = tuple(ClaimConflicted(each.partition, each.thread, each.owner) for each in conflicts)
    return MemberDecision(noting, (), told).then(lambda m: _undo(m, "partitions still belong to others"))


def _read_offsets(member: MemberState) -> MemberDecision:
    group = member.settings.group_id
    return ask(
        member,
        MemberStage.READING_OFFSETS,
        *(GetData(offset_path(group, *read)) for read in attempts_of(member).claims),
    )


def offsets_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A partition that nobody has committed starts where the reset policy says."""
    offsets: dict[TopicPartition, int] = {}
    for read, answer in zip(attempts_of(member).claims, answers, strict=True):
        try:
            if answer.ok or answer.code is Code.NO_NODE:
                offsets[read] = decode_offset(answer.data).offset if answer.ok else NO_OFFSET
            else:
                return _undo(member, "offsets could not be read")
        except UnusablePayloadError as error:
            return _undo(member, f"the offset of {read} {error}")
    return _succeed(noted(member, offsets=offsets), at_ms)


def _undo(member: MemberState, why: str) -> MemberDecision:
    attempts, group = attempts_of(member), member.settings.group_id
    undo = [Delete(owner_path(group, *read)) for read in sorted(attempts.granted)]
    return ask(noted(member, doomed=why), MemberStage.UNDOING_CLAIMS, *undo)


def claims_undone(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Others let go later, if they saw the same: try again then."""
    return fail(member, attempts_of(member).doomed, at_ms)


def _succeed(member: MemberState, at_ms: int) -> MemberDecision:
    attempts = attempts_of(member)
    claims = attempts.claims
    known = {read: offset for read, offset in attempts.offsets.items() if offset != NO_OFFSET}
    owning = replace(member, owned=claims, consumed=attempts.offsets, committed=known)
    told = PartitionsClaimed(tuple((read.topic, read.partition, thread) for read, thread in sorted(claims.items())))
    owned = MemberDecision(owning, (), (told,) if claims else ())
    if not member.settings.call_back or member.view is None:
        return owned.then(lambda m: start(m, at_ms))
    waiting, owners = MemberStage.CALLING_BEFORE_START, member.view.owners
    return owned.then(lambda m: MemberDecision(replace(m, stage=waiting), (CallBack("start", owners),)))


def start(member: MemberState, at_ms: int) -> MemberDecision:
    """Consume what is owned, from where it was left."""
    positions = {read: FetchPosition(thread, member.consumed[read]) for read, thread in member.owned.items()}
    fetching = (StartFetching(positions),) if positions else ()
    started = MemberDecision(replace(member, fetching=member.owned), fetching)
    return started.then(lambda m: end(m, at_ms, succeeded=True))


def members_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Names: now what each subscribes to."""
    (listed,) = answers
    if not listed.ok:
        return fail(member, "the group's members cannot be read", at_ms)
    group = member.settings.group_id
    asking = noted(member, names=listed.names)
    return ask(asking, MemberStage.READING_REGISTRATIONS, *(GetData(member_path(group, name)) for name in listed.names))


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
        return ask(seen, MemberStage.READING_TOPIC_NAMES, GetChildren(TOPICS))
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
    return ask(noted(member, names=names), MemberStage.READING_TOPICS, *(GetData(topic_path(name)) for name in names))


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
