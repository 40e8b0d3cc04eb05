"""A leader changes who votes, one voter at a time: the next change waits until the last one is committed.

Before it can, kraft.version has to be 1: where the voters are configured, each has to have told of itself for that.
Sources: KIP-853; `org.apache.kafka.raft.internals.AddVoterHandler`, `RemoveVoterHandler`, `UpdateVoterHandler`,
`KRaftVersionUpgrade`, `LeaderState.maybeAppendUpgradedKRaftVersion` (4.3).
"""

from model.observer.messages import UNKNOWN
from model.raft.messages import (
    AddVoter,
    AskVersions,
    ChangeRequest,
    RemoveVoter,
    UpdateVoter,
    UpgradeKraftVersion,
    VersionsAnswer,
)
from model.raft.node import Leader, RaftNode, VoterChange
from model.raft.raft_log import Voter, VoterSet, VotersWritten
from model.raft.replication import advance, heard_from, refusal, serve_waiting
from model.raft.turn import Turn

CAUGHT_UP_MS = 3_600_000
"""An observer that had the whole log within the last hour may become a voter."""


def on_change(turn: Turn, number: int, request: ChangeRequest) -> None:
    """Somebody wants one voter more, or less."""
    error, why = _common_refusal(turn.node, request) or _specific_refusal(turn.node, request) or ("", "")
    if error:
        turn.answer_change(number, turn.known(error), why)
        return
    until_ms = turn.now_ms + turn.node.settings.request_timeout_ms
    turn.set_role(change=VoterChange(number, request, until_ms))
    if isinstance(request, RemoveVoter):
        _write(turn, turn.node.log.voters.removed(request.voter))


def on_update(turn: Turn, number: int, request: UpdateVoter) -> None:
    """A voter says where it listens now. It is answered before that is committed."""
    node = turn.node
    error = refusal(node, request)
    why = "it does not lead this epoch" if error else ""
    if not error:
        error, why = _busy(node) or _unfit(node, request) or ("", "")
    turn.answer_change(number, turn.known(error or "NONE"), why)
    if error:
        return
    if node.log.voters.kraft_version == 0:
        if isinstance(node.role, Leader):
            turn.set_role(told={**node.role.told, request.voter.key.id: request.voter})
    elif node.log.voters.by_id(request.voter.key.id) != request.voter:
        _write(turn, node.log.voters.updated(request.voter))
    heard_from(turn, request.voter.key)


def on_upgrade(turn: Turn, number: int, request: UpgradeKraftVersion) -> None:
    """The voters stay who they are; from now on the log says who they are."""
    error, why = _upgrade_refusal(turn.node, request) or ("", "")
    voters = turn.node.log.voters
    if not error and not request.dry and request.version > voters.kraft_version:
        told = [_told(turn.node, voter) or voter for voter in voters.voters]
        turn.append([(2, VotersWritten(VoterSet.of(told, request.version)))])
        serve_waiting(turn)
        advance(turn)
    turn.answer_change(number, turn.known(error or "NONE"), why)


def _told(node: RaftNode, voter: Voter) -> Voter | None:
    """What a voter says of itself."""
    if voter.key.is_same_as(node.key):
        return node.me
    return node.role.told.get(voter.key.id) if isinstance(node.role, Leader) else None


def _upgrade_refusal(node: RaftNode, request: UpgradeKraftVersion) -> tuple[str, str] | None:
    voters = node.log.voters
    if not isinstance(node.role, Leader):
        return "NOT_LEADER_OR_FOLLOWER", "it does not lead"
    if request.version == voters.kraft_version:
        return None
    if request.version < voters.kraft_version:
        return "INVALID_UPDATE_VERSION", "kraft.version cannot be lowered"
    for voter in voters.voters:
        told = _told(node, voter)
        if told is None or told.key.directory is None or told.address is None:
            return "INVALID_UPDATE_VERSION", f"voter {voter.key.id} has not told its directory"
        if not told.versions[0] <= request.version <= told.versions[1]:
            return "INVALID_UPDATE_VERSION", f"voter {voter.key.id} does not know kraft.version {request.version}"
    return _busy(node)


def _common_refusal(node: RaftNode, request: ChangeRequest) -> tuple[str, str] | None:
    if request.cluster_id is not None and node.cluster_id not in (None, request.cluster_id):
        return "INCONSISTENT_CLUSTER_ID", f"this is cluster {node.cluster_id}"
    if not isinstance(node.role, Leader):
        return "NOT_LEADER_OR_FOLLOWER", "it does not lead"
    if isinstance(request, AddVoter) and (request.voter.key.directory is None or request.voter.address is None):
        return "INVALID_REQUEST", "a voter has a directory and listens somewhere"
    if busy := _busy(node):
        return busy
    if node.log.voters.kraft_version == 0:
        return "UNSUPPORTED_VERSION", "voters can only be changed from kraft.version 1 on"
    return None


def _busy(node: RaftNode) -> tuple[str, str] | None:
    """A change that is not committed yet, or nothing at all known to be."""
    role = node.role
    if not isinstance(role, Leader) or role.change is not None:
        return "REQUEST_TIMED_OUT", "another change of the voters is going on"
    if role.high_watermark == UNKNOWN:
        return "REQUEST_TIMED_OUT", "nothing of this epoch is committed yet"
    if node.log.voters_offset >= role.high_watermark:
        return "REQUEST_TIMED_OUT", "the last change of the voters is not committed yet"
    return None


def _specific_refusal(node: RaftNode, request: ChangeRequest) -> tuple[str, str] | None:
    voters = node.log.voters
    if isinstance(request, AddVoter):
        if voters.by_id(request.voter.key.id) is not None:
            return "DUPLICATE_VOTER", f"node {request.voter.key.id} votes already"
        return None
    if not voters.has(request.voter):
        return "VOTER_NOT_FOUND", f"node {request.voter.id} with this directory does not vote"
    if len(voters.voters) == 1:
        return "VOTER_NOT_FOUND", "it is the only voter"
    return None


def _unfit(node: RaftNode, request: UpdateVoter) -> tuple[str, str] | None:
    least, most = request.voter.versions
    if not 0 <= least <= node.log.voters.kraft_version <= most or request.voter.address is None:
        return "INVALID_REQUEST", "it does not know the present kraft.version, or listens nowhere"
    if not node.log.voters.has(request.voter.key):
        return "VOTER_NOT_FOUND", f"node {request.voter.key.id} with this directory does not vote"
    return None


def ask_versions(turn: Turn) -> None:
    """The versions of one that shall become a voter are asked for before it does."""
    role = turn.node.role
    change = role.change if isinstance(role, Leader) else None
    if change is None or not isinstance(change.request, AddVoter) or change.offset != UNKNOWN:
        return
    turn.send_if_free(change.request.voter.address, AskVersions())


def on_versions(turn: Turn, reply: VersionsAnswer) -> None:
    """One that shall become a voter said what it knows."""
    role, node = turn.node.role, turn.node
    change = role.change if isinstance(role, Leader) else None
    if change is None or not isinstance(role, Leader) or not isinstance(change.request, AddVoter):
        return
    if change.offset != UNKNOWN:
        return
    voter = change.request.voter
    least, most = reply.versions
    progress = role.replicas.get(voter.key.id)
    caught_up = progress.caught_up_ms if progress is not None and progress.key == voter.key else None
    error, why = "", ""
    if reply.known.error != "NONE":
        error, why = "REQUEST_TIMED_OUT", f"it answered {reply.known.error}"
    elif not least <= node.log.voters.kraft_version <= most:
        error, why = "INVALID_REQUEST", f"it does not know kraft.version {node.log.voters.kraft_version}"
    elif caught_up is None or caught_up < turn.now_ms - CAUGHT_UP_MS:
        error, why = "REQUEST_TIMED_OUT", "it has not caught up with the log"
    if error:
        turn.set_role(change=None)
        turn.answer_change(change.number, turn.known(error), why)
        return
    if not change.request.when_committed:
        turn.answer_change(change.number, turn.known())
        turn.set_role(change=None)
    _write(turn, node.log.voters.added(voter))


def _write(turn: Turn, voters: VoterSet) -> None:
    """Writes the voters, who count from now on."""
    offset, was_alone = turn.node.log.end, turn.node.log.voters.is_alone(turn.node.key)
    turn.append([(1, VotersWritten(voters))])
    if was_alone:  # nobody had to follow, and so nobody was missed: now somebody will be
        turn.set_role(check_at_ms=turn.now_ms + turn.node.settings.check_quorum_ms)
    role = turn.node.role
    if isinstance(role, Leader) and role.change is not None:
        change = role.change
        turn.set_role(change=VoterChange(change.number, change.request, change.until_ms, offset))
    serve_waiting(turn)
    advance(turn)


def drop_late_change(turn: Turn) -> None:
    """Nobody waits longer for a change than for any request; what is written of it stays."""
    role = turn.node.role
    if isinstance(role, Leader) and role.change is not None and turn.now_ms >= role.change.until_ms:
        number = role.change.number
        turn.set_role(change=None)
        turn.answer_change(number, turn.known("REQUEST_TIMED_OUT"), "it was not committed in time")
