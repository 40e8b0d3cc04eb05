"""Elections: who is voted for, what a vote does, and how voters learn who was elected.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: `handleVoteRequest`, `handleVoteResponse`,
`handleBeginQuorumEpochRequest`, `handleEndQuorumEpochRequest`), KIP-595, KIP-996.
"""

import msgspec

from model.raft.messages import (
    AnswerHeader,
    BeginQuorumEpoch,
    EndQuorumEpoch,
    EpochAnswer,
    Vote,
    VoteAnswer,
    VoterRequest,
)
from model.raft.node import Candidate, Follower, Leader, Prospective, RaftNode, Resigned, Unattached
from model.raft.turn import Turn


def on_vote(turn: Turn, number: int, request: Vote) -> None:
    """A voter, or one that would be, asks for a vote."""
    error = _refusal(turn.node, request, request.candidate.id) or _impossible(request)
    if not error and request.epoch > turn.node.epoch:
        turn.unattached(request.epoch)
    if not error and not request.voter.is_same_as(turn.node.key):
        error = "INVALID_VOTER_KEY"
    if error:
        turn.answer(number, VoteAnswer(turn.known(error)))
        return
    granted = _would_vote(turn.node, request)
    if granted and not request.pre_vote:
        turn.persist(msgspec.structs.replace(turn.node.persisted, voted=request.candidate))
        if isinstance(turn.node.role, Prospective):
            address = turn.node.role.address
            turn.look_for_votes()
            turn.set_role(address=address)
        elif turn.node.may_stand:
            turn.set(role=Unattached(turn.election_time()))
    turn.answer(number, VoteAnswer(turn.known(), granted))


def _impossible(request: Vote) -> str:
    last = request.last
    is_ahead = last.epoch > request.epoch or (last.epoch == request.epoch and not request.pre_vote)
    return "INVALID_REQUEST" if last.offset < 0 or last.epoch < 0 or is_ahead else ""


def _refusal(node: RaftNode, request: VoterRequest, sender: int) -> str:
    """What is checked first of every request between voters; the sender need not be one yet."""
    if request.cluster_id is not None and node.cluster_id not in (None, request.cluster_id):
        return "INCONSISTENT_CLUSTER_ID"
    if request.epoch < node.epoch:
        return "FENCED_LEADER_EPOCH"
    return "INVALID_REQUEST" if sender < 0 else ""


def _would_vote(node: RaftNode, request: Vote) -> bool:
    last = node.log.last
    is_up_to_date = (request.last.epoch, request.last.offset) >= (last.epoch, last.offset)
    match node.role:
        case Leader():
            return False
        case Follower(has_fetched=has_fetched):
            return request.pre_vote and not has_fetched and is_up_to_date
        case Candidate() | Resigned():
            return request.pre_vote and is_up_to_date
        case Unattached() | Prospective():
            if request.pre_vote:
                return is_up_to_date
            if node.persisted.voted is not None:
                return node.persisted.voted.is_same_as(request.candidate)
            return node.persisted.leader < 0 and is_up_to_date


def on_vote_answer(turn: Turn, voter: int, asked: Vote, reply: VoteAnswer) -> None:
    """A voter answered, in the epoch that it was asked in."""
    role = turn.node.role
    if asked.epoch != turn.node.epoch or not isinstance(role, Prospective | Candidate):
        return
    if asked.pre_vote != isinstance(role, Prospective):
        return
    if asked.pre_vote and reply.known.error == "UNSUPPORTED_VERSION":
        turn.stand()  # it is older than 4.0 and knows elections without a question before
    elif reply.known.error == "NONE":
        if reply.granted:
            turn.set_role(granted=role.granted | {voter})
        else:
            turn.set_role(refused=role.refused | {voter})


def count_votes(turn: Turn) -> None:
    """Moves on whoever has a majority, or cannot get one any more; the only voter needs nobody's vote."""
    node = turn.node
    is_alone = node.log.voters.is_alone(node.key) and node.stop_by_ms is None
    if is_alone and isinstance(node.role, Unattached | Follower | Resigned):
        turn.look_for_votes()
    role, voters = turn.node.role, turn.node.log.voters
    if isinstance(role, Prospective):
        if len(role.granted & set(voters.ids)) >= voters.majority:
            turn.stand()
        elif len(voters.voters) - len(role.refused & set(voters.ids)) < voters.majority:
            turn.give_up()
    role = turn.node.role
    if isinstance(role, Candidate) and len(role.granted & set(voters.ids)) >= voters.majority:
        turn.lead(role.granted)


def on_begin(turn: Turn, number: int, request: BeginQuorumEpoch) -> None:
    """A leader says that it leads."""
    error = _refusal(turn.node, request, request.leader)
    if not error:
        turn.adopt(request.epoch, request.leader, request.address)
        if not request.voter.is_same_as(turn.node.key):
            error = "INVALID_VOTER_KEY"
    turn.answer(number, EpochAnswer(turn.known(error or "NONE")))


def on_end(turn: Turn, number: int, request: EndQuorumEpoch) -> None:
    """A leader says that it leads no more: its followers stand for election soon, one after the other."""
    error = _refusal(turn.node, request, request.leader)
    if not error:
        turn.adopt(request.epoch, request.leader, None)
        if isinstance(turn.node.role, Follower) and turn.node.persisted.leader == request.leader:
            turn.set_role(fetch_until_ms=turn.now_ms + _successor_ms(turn.node, request))
    turn.answer(number, EpochAnswer(turn.known(error or "NONE")))


def _successor_ms(node: RaftNode, request: EndQuorumEpoch) -> int:
    """How long this one waits for those that are named before it."""
    longest = node.settings.election_backoff_max_ms
    places = [place for place, key in enumerate(request.successors) if key.is_same_as(node.key)]
    if not places:
        return longest
    if places[0] == 0:
        return 0
    return min(longest, (longest >> (len(request.successors) - 1)) << (places[0] - 1))


def is_news(turn: Turn, known: AnswerHeader) -> bool:
    """Takes in what an answer tells of epoch and leader. True: it is an answer for the epoch this one is in."""
    if known.epoch < turn.node.epoch or known.error == "UNKNOWN_LEADER_EPOCH":
        return False
    if known.epoch > turn.node.epoch:
        turn.adopt(known.epoch, known.leader, known.address)
        return False
    if known.leader >= 0 and _seeks_leader(turn.node):
        turn.adopt(known.epoch, known.leader, known.address)
    return True


def _seeks_leader(node: RaftNode) -> bool:
    """Whether it knows no leader, or not where the one listens that it knew before it was started."""
    match node.role:
        case Unattached() | Candidate() | Prospective(address=None):
            return True
        case _:
            return node.persisted.leader < 0
