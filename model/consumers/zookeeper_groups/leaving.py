"""Out of the group, in order: stop, commit, close the session. And what follows from a session that has expired.

Source: `ZookeeperConsumerConnector.shutdown` (0.8.2, 1.1).
"""

from model.consumers.zookeeper_groups.attempts import noted, recorded
from model.consumers.zookeeper_groups.commands import CloseSession, StopFetching
from model.consumers.zookeeper_groups.commits import commit_requests, due
from model.consumers.zookeeper_groups.decision import MemberDecision, ask, replace
from model.consumers.zookeeper_groups.happenings import Left, SessionLost
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage


def leave(member: MemberState) -> MemberDecision:
    """Whatever goes on is given up. Without a session there is nothing to commit with."""
    if member.stage is Stage.AWAITING_SESSION:
        return _gone(member, StopFetching())
    return MemberDecision(replace(member, stage=Stage.LEAVING, attempts=None), (StopFetching(),))


def stopped_for_good(member: MemberState) -> MemberDecision:
    """Commit what is still owned; what was released was committed before."""
    offsets = due(member)
    if not offsets:
        return _gone(member)
    return ask(member, Stage.COMMITTING_LAST, *commit_requests(member, offsets), offsets=offsets)


def committed_last(member: MemberState) -> MemberDecision:
    """Done; what could not be committed will be consumed again."""
    return _gone(member)


def expire(member: MemberState, at_ms: int) -> MemberDecision:
    """The znodes are gone, yet this member goes on consuming until it has a new session: others may do the same."""
    if member.stage in (Stage.LEAVING, Stage.COMMITTING_LAST):
        return _gone(member, StopFetching())
    lost = SessionLost(tuple(sorted(member.owned)))
    waiting = replace(member, stage=Stage.AWAITING_SESSION, wanted="")
    told = MemberDecision(waiting, (), (lost,))
    if member.attempts is None:
        return told
    why = (*member.attempts.failures, "the session expired")
    return told.then(lambda m: recorded(noted(m, failures=why), at_ms, succeeded=False))


def _gone(member: MemberState, *before: StopFetching) -> MemberDecision:
    left = replace(member, stage=Stage.GONE, fetching={}, owned={})
    return MemberDecision(left, (*before, CloseSession()), (Left(),))
