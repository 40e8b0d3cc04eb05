"""The first half of an attempt: stop, commit while everything is still owned, and only then let go of it.

Source: `ZKRebalancerListener.rebalance`, `closeFetchers`, `releasePartitionOwnership` (0.8.2, 1.1).
"""

from model.consumers.zookeeper_groups.attempts import end, fail
from model.consumers.zookeeper_groups.commands import CallBack, StopFetching
from model.consumers.zookeeper_groups.commits import commit_requests, due, uncommitted
from model.consumers.zookeeper_groups.decision import MemberDecision, aside, ask, replace
from model.consumers.zookeeper_groups.happenings import PartitionsReleased
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import BROKER_IDS, Answer, Children, Code, Delete
from model.znodes.paths import members_path, owner_path


def self_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Without any broker the attempt counts as done, and the first broker to come starts another."""
    own, brokers = answers
    if not own.ok:
        return fail(member, "its own registration is gone", at_ms)
    if not brokers.names:
        waiting = aside(member, Stage.SIDE_WATCH, Children(BROKER_IDS, watch=True))
        return waiting.then(lambda m: end(m, at_ms, succeeded=True))
    return MemberDecision(replace(member, stage=Stage.STOPPING), (StopFetching(),))


def stopped(member: MemberState) -> MemberDecision:
    """Nothing is fetched any more, but all is still owned: it is safe to commit."""
    offsets = due(member)
    if not offsets:
        return _call_back(member)
    return ask(member, Stage.COMMITTING, *commit_requests(member, offsets), offsets=offsets)


def committed_before_release(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """`commits.committed` has taken the answers. Parents and znodes may have been there: only writes count."""
    if uncommitted(member):
        return fail(member, "offsets could not be committed", at_ms)
    return _call_back(member)


def _call_back(member: MemberState) -> MemberDecision:
    if not member.settings.call_back:
        return release(member)
    waiting = replace(member, stage=Stage.CALLING_BEFORE_RELEASE)
    return MemberDecision(waiting, (CallBack("release", member.owned),))


def release(member: MemberState) -> MemberDecision:
    """Delete the owner znodes in this member's registry, whoever wrote them."""
    if not member.owned:
        return read_members(member)
    return ask(member, Stage.RELEASING, *(Delete(owner_path(member.settings.group_id, *read)) for read in member.owned))


def released(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A znode that was gone already is as good."""
    if any(answer.code not in (Code.OK, Code.NO_NODE) for answer in answers):
        return fail(member, "partitions could not be released", at_ms)
    told = PartitionsReleased(tuple(sorted(member.owned)))
    free = replace(member, owned={}, consumed={})
    return MemberDecision(free, (), (told,)).then(read_members)


def read_members(member: MemberState) -> MemberDecision:
    """Who is in the group?"""
    return ask(member, Stage.READING_MEMBERS, Children(members_path(member.settings.group_id)))
