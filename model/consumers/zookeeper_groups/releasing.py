"""A rebalance's attempts, and the first half of one: stop, commit while everything is still owned, then let go of it.

Source: `ZKRebalancerListener` (`syncedRebalance`, `rebalance`, `closeFetchers`, `releasePartitionOwnership`) and
`ZookeeperConsumerConnector` (`commitOffsets`, `commitOffsetToZooKeeper`), 0.8.2 and 1.1. Kafka also sleeps after the
last failure; here it ends. An offset is written only if it differs from the last one read or written here.
"""

from collections.abc import Mapping

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.events_and_commands import (
    BACKOFF,
    AskZooKeeper,
    AttemptFailed,
    CallBack,
    Command,
    GiveUp,
    MemberDecision,
    OffsetsCommitted,
    PartitionsReleased,
    RebalanceBegan,
    RebalanceEnded,
    StartTimer,
    StopFetching,
    aside,
    ask,
    replace,
)
from model.consumers.zookeeper_groups.member_state import (
    REBALANCES_KEPT,
    MemberRebalance,
    MemberStage,
    MemberState,
    RebalanceAttempts,
)
from model.znodes.consumers import ConsumerOffset
from model.znodes.paths import BROKER_IDS, member_path, members_path, offset_path, owner_path
from model.zookeeper import Answer, Code, Create, Delete, GetChildren, GetData, SetData, ZooKeeperRequest


def attempts_of(member: MemberState) -> RebalanceAttempts:
    """The rebalance under way."""
    assert member.attempts is not None
    return member.attempts


def noted(member: MemberState, **changes: object) -> MemberState:
    """The member with other facts about its rebalance."""
    return replace(member, attempts=replace(attempts_of(member), **changes))


def wish(member: MemberState, why: str, at_ms: int) -> MemberDecision:
    """Rebalance now, or once more after the one under way: wishes that come meanwhile are one."""
    if member.stage is not MemberStage.IDLE:
        return MemberDecision(replace(member, wanted=member.wanted or why))
    return begin(member, why, at_ms)


def begin(member: MemberState, why: str, at_ms: int) -> MemberDecision:
    """The first attempt. Until one has succeeded a failure is the application's."""
    attempts = RebalanceAttempts(why, at_ms, member.owned, joining=not member.joined)
    return attempt(replace(member, attempts=attempts, wanted=""))


def attempt(member: MemberState) -> MemberDecision:
    """Read what this member subscribes to, as ZooKeeper has it, and which brokers there are."""
    attempts = attempts_of(member)
    path = member_path(member.settings.group_id, member.settings.consumer_id)
    told = RebalanceBegan(attempts.why, attempts.number)
    return MemberDecision(member, (), (told,)).then(
        lambda m: ask(m, MemberStage.READING_SELF, GetData(path), GetChildren(BROKER_IDS))
    )


def again(member: MemberState, _at_ms: int) -> MemberDecision:
    """The back-off is over."""
    number = attempts_of(member).number + 1
    return attempt(noted(member, number=number, granted=frozenset[TopicPartition](), parents_made=False))


def fail(member: MemberState, why: str, at_ms: int) -> MemberDecision:
    """This attempt has failed: wait and try again, or end it."""
    attempts, settings = attempts_of(member), member.settings
    left = settings.rebalance_max_retries - attempts.number
    told = AttemptFailed(why, attempts.number, max(left, 0))
    stop: tuple[Command, ...] = (StopFetching(),) if member.fetching else ()
    failed = MemberDecision(noted(member, failures=(*attempts.failures, why)), stop, (told,))
    if left > 0:
        wait = StartTimer(BACKOFF, settings.rebalance_backoff_ms)
        return failed.then(lambda m: MemberDecision(replace(m, stage=MemberStage.BACKING_OFF), (wait,)))
    if not attempts.joining:
        return failed.then(lambda m: end(m, at_ms, succeeded=False))
    give_up = GiveUp(f"can't rebalance after {attempts.number} retries: {why}")
    return failed.then(lambda m: recorded(replace(m, stage=MemberStage.GONE), at_ms, succeeded=False)).then(
        lambda m: MemberDecision(m, (give_up,))
    )


def end(member: MemberState, at_ms: int, *, succeeded: bool) -> MemberDecision:
    """The rebalance is over; another one begins if something has changed meanwhile."""
    ended = recorded(
        replace(member, stage=MemberStage.IDLE, joined=member.joined or succeeded), at_ms, succeeded=succeeded
    )
    return ended.then(lambda m: begin(m, m.wanted, at_ms)) if member.wanted else ended


def recorded(member: MemberState, at_ms: int, *, succeeded: bool) -> MemberDecision:
    """Keep what is to be told of the rebalance later, and forget the rest."""
    attempts = attempts_of(member)
    gained = tuple(sorted(member.owned.keys() - attempts.before.keys()))
    lost = tuple(sorted(attempts.before.keys() - member.owned.keys()))
    rebalance = MemberRebalance(
        why=attempts.why,
        began_ms=attempts.began_ms,
        ended_ms=at_ms,
        attempts=attempts.number,
        succeeded=succeeded,
        failures=attempts.failures,
        conflicts=attempts.conflicts,
        gained=gained,
        lost=lost,
    )
    kept = (*member.rebalances, rebalance)[-REBALANCES_KEPT:]
    took_ms = at_ms - attempts.began_ms
    told = RebalanceEnded(succeeded, attempts.number, took_ms, len(member.owned), gained, lost)
    return MemberDecision(replace(member, attempts=None, rebalances=kept), (), (told,))


def uncommitted(member: MemberState) -> Mapping[TopicPartition, int]:
    """Offsets of owned partitions that ZooKeeper does not have yet."""
    return {
        read: offset
        for read, offset in member.consumed.items()
        if offset >= 0 and read in member.owned and member.committed.get(read) != offset
    }


def due(member: MemberState) -> Mapping[TopicPartition, int]:
    """What is committed without being asked for."""
    return uncommitted(member) if member.settings.auto_commit_enable else {}


def commit_requests(member: MemberState, offsets: Mapping[TopicPartition, int]) -> tuple[ZooKeeperRequest, ...]:
    """Writes, one SetData each. A znode that is not known to be there is made first, and so are its parents."""
    group = member.settings.group_id
    new = sorted(offsets.keys() - member.committed.keys())
    directories = [f"/consumers/{group}", f"/consumers/{group}/offsets"] if new else []
    directories += dict.fromkeys(f"/consumers/{group}/offsets/{read.topic}" for read in new)
    made = [Create(offset_path(group, *read), ConsumerOffset(offsets[read]).to_bytes()) for read in new]
    written = [
        SetData(offset_path(group, *read), ConsumerOffset(offset).to_bytes()) for read, offset in offsets.items()
    ]
    return (*map(Create, directories), *made, *written)


def commit_aside(member: MemberState, offsets: Mapping[TopicPartition, int]) -> MemberDecision:
    """Commit beside whatever goes on."""
    if not offsets:
        return MemberDecision(member)
    return aside(member, MemberStage.SIDE_COMMIT, *commit_requests(member, offsets), offsets=offsets)


def committed(member: MemberState, asked: AskZooKeeper, answers: tuple[Answer, ...]) -> MemberDecision:
    """Remember what ZooKeeper has, and which znodes somebody has removed. What failed is tried again next time."""
    pairs = zip(asked.requests, answers, strict=True)
    codes = [answer.code for request, answer in pairs if isinstance(request, SetData)]
    known, done = dict(member.committed), list[tuple[str, int, int]]()
    for (read, offset), code in zip(asked.offsets.items(), codes, strict=True):
        if code is Code.OK:
            known[read] = offset
            done.append((read.topic, read.partition, offset))
        elif code is Code.NO_NODE:
            known.pop(read, None)
    told = (OffsetsCommitted(tuple(done)),) if done else ()
    return MemberDecision(replace(member, committed=known), (), told)


def self_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Without any broker the attempt counts as done, and the first broker to come starts another."""
    own, brokers = answers
    if not own.ok:
        return fail(member, "its own registration is gone", at_ms)
    if not brokers.names:
        waiting = aside(member, MemberStage.SIDE_WATCH, GetChildren(BROKER_IDS, watch=True))
        return waiting.then(lambda m: end(m, at_ms, succeeded=True))
    return MemberDecision(replace(member, stage=MemberStage.STOPPING), (StopFetching(),))


def stopped(member: MemberState) -> MemberDecision:
    """Nothing is fetched any more, but all is still owned: it is safe to commit."""
    offsets = due(member)
    if not offsets:
        return _call_back(member)
    return ask(member, MemberStage.COMMITTING, *commit_requests(member, offsets), offsets=offsets)


def committed_before_release(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """`commits.committed` has taken the answers. Parents and znodes may have been there: only writes count."""
    if uncommitted(member):
        return fail(member, "offsets could not be committed", at_ms)
    return _call_back(member)


def _call_back(member: MemberState) -> MemberDecision:
    if not member.settings.call_back:
        return release(member)
    waiting = replace(member, stage=MemberStage.CALLING_BEFORE_RELEASE)
    return MemberDecision(waiting, (CallBack("release", member.owned),))


def release(member: MemberState) -> MemberDecision:
    """Delete the owner znodes in this member's registry, whoever wrote them."""
    if not member.owned:
        return read_members(member)
    return ask(
        member, MemberStage.RELEASING, *(Delete(owner_path(member.settings.group_id, *read)) for read in member.owned)
    )


def released(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A znode that was gone already is as good."""
    if any(answer.code not in (Code.OK, Code.NO_NODE) for answer in answers):
        return fail(member, "partitions could not be released", at_ms)
    told = PartitionsReleased(tuple(sorted(member.owned)))
    free = replace(member, owned={}, consumed={})
    return MemberDecision(free, (), (told,)).then(read_members)


def read_members(member: MemberState) -> MemberDecision:
    """Who is in the group?"""
    return ask(member, MemberStage.READING_MEMBERS, GetChildren(members_path(member.settings.group_id)))
