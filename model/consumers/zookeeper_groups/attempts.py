"""The attempts of a rebalance: how it begins, fails, is tried again, and ends.

Source: `ZKRebalancerListener.syncedRebalance` (0.8.2, 1.1). Kafka also sleeps after the last failure; here it ends.
"""

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.commands import (
    BACKOFF,
    Command,
    GiveUp,
    StartTimer,
    StopFetching,
)
from model.consumers.zookeeper_groups.decision import MemberDecision, ask, replace
from model.consumers.zookeeper_groups.happenings import AttemptFailed, RebalanceBegan, RebalanceEnded
from model.consumers.zookeeper_groups.member_state import REBALANCES_KEPT, Attempts, MemberState, Rebalance
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import BROKER_IDS, Children, Read
from model.znodes.paths import member_path


def attempts_of(member: MemberState) -> Attempts:
    """The rebalance under way."""
    assert member.attempts is not None
    return member.attempts


def noted(member: MemberState, **changes: object) -> MemberState:
    """The member with other facts about its rebalance."""
    return replace(member, attempts=replace(attempts_of(member), **changes))


def wish(member: MemberState, why: str, at_ms: int) -> MemberDecision:
    """Rebalance now, or once more after the one under way: wishes that come meanwhile are one."""
    if member.stage is not Stage.IDLE:
        return MemberDecision(replace(member, wanted=member.wanted or why))
    return begin(member, why, at_ms)


def begin(member: MemberState, why: str, at_ms: int) -> MemberDecision:
    """The first attempt. Until one has succeeded a failure is the application's."""
    attempts = Attempts(why, at_ms, member.owned, joining=not member.joined)
    return attempt(replace(member, attempts=attempts, wanted=""))


def attempt(member: MemberState) -> MemberDecision:
    """Read what this member subscribes to, as ZooKeeper has it, and which brokers there are."""
    attempts = attempts_of(member)
    path = member_path(member.settings.group_id, member.settings.consumer_id)
    told = RebalanceBegan(attempts.why, attempts.number)
    return MemberDecision(member, (), (told,)).then(
        lambda m: ask(m, Stage.READING_SELF, Read(path), Children(BROKER_IDS))
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
        return failed.then(lambda m: MemberDecision(replace(m, stage=Stage.BACKING_OFF), (wait,)))
    if not attempts.joining:
        return failed.then(lambda m: end(m, at_ms, succeeded=False))
    give_up = GiveUp(f"can't rebalance after {attempts.number} retries: {why}")
    return failed.then(lambda m: recorded(replace(m, stage=Stage.GONE), at_ms, succeeded=False)).then(
        lambda m: MemberDecision(m, (give_up,))
    )


def end(member: MemberState, at_ms: int, *, succeeded: bool) -> MemberDecision:
    """The rebalance is over; another one begins if something has changed meanwhile."""
    ended = recorded(replace(member, stage=Stage.IDLE, joined=member.joined or succeeded), at_ms, succeeded=succeeded)
    return ended.then(lambda m: begin(m, m.wanted, at_ms)) if member.wanted else ended


def recorded(member: MemberState, at_ms: int, *, succeeded: bool) -> MemberDecision:
    """Keep what is to be told of the rebalance later, and forget the rest."""
    attempts = attempts_of(member)
    gained = tuple(sorted(member.owned.keys() - attempts.before.keys()))
    lost = tuple(sorted(attempts.before.keys() - member.owned.keys()))
    rebalance = Rebalance(
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
