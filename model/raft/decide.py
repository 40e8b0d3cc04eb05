"""What a replica of the metadata log does about each thing that happens.

It is what controllers run among themselves, and what each broker runs as an observer. It waits for nothing, keeps no
clock and writes nothing. The rules are those of Kafka 4.2 and later; towards older peers as they are, too: a voter that
knows no pre-vote (before 4.0) is asked for its vote at once.
Source: `org.apache.kafka.raft.KafkaRaftClient` (4.3).
"""

from collections.abc import Mapping, Sequence

import msgspec

from model.observer.messages import NOBODY, Address
from model.raft.messages import (
    AddVoter,
    AskVersions,
    BeginQuorumEpoch,
    ElectionState,
    EndQuorumEpoch,
    EpochAnswer,
    Event,
    Exit,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    LogCleaned,
    RecordsProposed,
    RemoveVoter,
    ReplyReceived,
    Request,
    RequestFailed,
    RequestReceived,
    SnapshotAnswer,
    SnapshotLoaded,
    SnapshotMade,
    StopWanted,
    UpdateVoter,
    UpgradeKraftVersion,
    VersionsAnswer,
    Vote,
    VoteAnswer,
)
from model.raft.node import (
    RETRY_MS,
    STOP_MS,
    Candidate,
    Decision,
    Follower,
    Leader,
    PeerLink,
    Prospective,
    QuorumSettings,
    RaftNode,
    Resigned,
    Unattached,
    begin_due_ms,
)
from model.raft.raft_log import RaftLog, Voter
from model.raft.replication import (
    advance,
    ask_for_more,
    check_quorum,
    on_fetch,
    on_fetch_answer,
    on_fetch_snapshot,
    on_loaded,
    on_proposed,
    on_snapshot_answer,
    serve_waiting,
)
from model.raft.turn import Turn
from model.raft.voter_changes import ask_versions, drop_late_change, on_change, on_update, on_upgrade, on_versions
from model.raft.voting import count_votes, is_news, on_begin, on_end, on_vote, on_vote_answer


def begin(
    me: Voter,
    persisted: ElectionState,
    log: RaftLog,
    now_ms: int,
    *,
    cluster_id: str | None = None,
    settings: QuorumSettings | None = None,
    bootstrap: Sequence[Address] = (),
    reached: Mapping[int, Address] | None = None,
    seed: int = 0,
) -> Decision:
    """A replica that starts, with what its disk has. It may have led or voted in its epoch before."""
    node = RaftNode(
        me,
        persisted,
        log,
        Unattached(None),
        cluster_id,
        settings or QuorumSettings(),
        tuple(bootstrap),
        reached or {},
        seed=seed,
    )
    turn = Turn(node, now_ms)
    epoch, leader = persisted.epoch, persisted.leader
    if epoch < log.last.epoch:
        turn.unattached(log.last.epoch)
    elif leader == me.key.id:
        turn.set(role=Resigned(turn.election_time()))
    elif persisted.voted is not None and persisted.voted == me.key and node.is_voter:
        turn.set(role=Candidate(turn.election_time(), frozenset((me.key.id,))))
    elif leader != NOBODY and (address := node.voter_address(leader)) is not None:
        turn.set_following(address)
    else:
        turn.unattached(epoch, leader)
    _go_on(turn)
    return turn.decision()


def decide(node: RaftNode, event: Event, now_ms: int) -> Decision:
    """What follows from an event."""
    turn = Turn(node, now_ms)
    match event:
        case RequestReceived(number, request):
            _on_request(turn, number, request)
        case ReplyReceived(number):
            _on_reply(turn, number, event)
        case RequestFailed(number):
            _free(turn, number, has_failed=True)
        case RecordsProposed():
            on_proposed(turn, event)
        case SnapshotMade(snapshot):
            turn.set(log=turn.node.log.with_snapshot(snapshot))
        case SnapshotLoaded():
            on_loaded(turn, event)
        case LogCleaned(snapshot):
            turn.set(log=turn.node.log.cleaned(snapshot))
        case StopWanted():
            _stop(turn)
        case _:
            pass
    _go_on(turn)
    return turn.decision()


def _on_request(turn: Turn, number: int, request: Request) -> None:
    match request:
        case Vote():
            on_vote(turn, number, request)
        case BeginQuorumEpoch():
            on_begin(turn, number, request)
        case EndQuorumEpoch():
            on_end(turn, number, request)
        case Fetch():
            on_fetch(turn, number, request)
        case FetchSnapshot():
            on_fetch_snapshot(turn, number, request)
        case AddVoter() | RemoveVoter():
            on_change(turn, number, request)
        case UpdateVoter():
            on_update(turn, number, request)
        case UpgradeKraftVersion():
            on_upgrade(turn, number, request)
        case AskVersions():
            turn.answer(number, VersionsAnswer(turn.known(), turn.node.me.versions))


def _on_reply(turn: Turn, number: int, event: ReplyReceived) -> None:
    """An answer to the request that is on its way; any other comes too late."""
    found = _free(turn, number, has_failed=False)
    if found is None:
        return
    address, request = found
    reply = event.reply
    if isinstance(reply, VersionsAnswer):
        on_versions(turn, reply)
        return
    if isinstance(reply, VoteAnswer) and reply.known.error == "UNSUPPORTED_VERSION":
        if isinstance(request, Vote):
            on_vote_answer(turn, request.voter.id, request, reply)
        return
    if not is_news(turn, reply.known):
        return
    match request, reply:
        case Vote(), VoteAnswer():
            on_vote_answer(turn, request.voter.id, request, reply)
        case EndQuorumEpoch(), EpochAnswer():
            _told(turn, address)
        case Fetch(), FetchAnswer() if reply.known.error == "NONE" and _is_leader(turn, address):
            on_fetch_answer(turn, request, reply)
        case FetchSnapshot(), SnapshotAnswer() if _is_leader(turn, address):
            on_snapshot_answer(turn, request, reply)
        case _:
            pass
    if reply.known.error != "NONE":
        _rest(turn, address)


def _is_leader(turn: Turn, address: Address) -> bool:
    role = turn.node.role
    return isinstance(role, Follower) and role.address == address


def _told(turn: Turn, address: Address) -> None:
    role = turn.node.role
    if isinstance(role, Resigned):
        told = {voter.key.id for voter in turn.node.others if voter.address == address}
        turn.set_role(told=role.told | told)


def _free(turn: Turn, number: int, *, has_failed: bool) -> tuple[Address, Request] | None:
    """The address may be asked again; None where the request is not the one that is on its way."""
    for address, link in turn.node.links.items():
        if link.number == number and link.request is not None:
            rest = turn.now_ms + RETRY_MS if has_failed else 0
            turn.set(links={**turn.node.links, address: PeerLink(not_before_ms=rest, has_failed=has_failed)})
            return address, link.request
    return None


def _rest(turn: Turn, address: Address) -> None:
    """Whoever answers with an error is not asked again at once."""
    link = turn.node.links.get(address, PeerLink())
    if not link.number:
        rested = msgspec.structs.replace(link, not_before_ms=turn.now_ms + RETRY_MS)
        turn.set(links={**turn.node.links, address: rested})


def _stop(turn: Turn) -> None:
    """A leader hands over first; anybody else just goes."""
    turn.set(stop_by_ms=turn.now_ms + STOP_MS)
    if isinstance(turn.node.role, Leader) and turn.node.others:
        turn.resign()


def _go_on(turn: Turn) -> None:
    """What time has brought, what a majority has, whom to ask next."""
    for link in turn.node.links.values():
        if link.number and turn.now_ms >= link.sent_ms + turn.node.settings.request_timeout_ms:
            _free(turn, link.number, has_failed=True)
    if _is_stopped(turn.node, turn.now_ms):
        turn.commands.append(Exit())
        return
    _pass_time(turn)
    count_votes(turn)
    drop_late_change(turn)
    advance(turn)
    serve_waiting(turn)
    _ask(turn)


def _is_stopped(node: RaftNode, now_ms: int) -> bool:
    """A leader that stops waits until somebody else is, or may be, elected."""
    return node.stop_by_ms is not None and (now_ms >= node.stop_by_ms or not isinstance(node.role, Resigned))


def _pass_time(turn: Turn) -> None:
    now_ms, node = turn.now_ms, turn.node
    match node.role:
        case Unattached(elect_at_ms) if elect_at_ms is not None and now_ms >= elect_at_ms:
            if node.may_stand:
                turn.look_for_votes()
            else:
                turn.give_up()
        case Follower(_, fetch_until_ms) if now_ms >= fetch_until_ms and node.may_stand:
            turn.look_for_votes()
        case Prospective(elect_at_ms) if now_ms >= elect_at_ms:
            turn.give_up()
        case Candidate(elect_at_ms) if now_ms >= elect_at_ms:
            turn.look_for_votes()
        case Leader():
            check_quorum(turn)
        case Resigned(elect_at_ms) if now_ms >= elect_at_ms:
            turn.unattached(node.epoch + 1)
        case _:
            pass


def _ask(turn: Turn) -> None:
    """Sends what this role has to ask of others; one request at a time to each."""
    node = turn.node
    match node.role:
        case Prospective() | Candidate() as role:
            for voter in node.others:
                if voter.key.id not in role.granted | role.refused:
                    pre_vote = isinstance(role, Prospective)
                    vote = Vote(node.cluster_id, voter.key, node.key, node.epoch, node.log.last, pre_vote)
                    turn.send_if_free(voter.address, vote)
        case Leader() as role:
            for voter in node.others:
                if turn.now_ms >= begin_due_ms(node, role, voter.key.id):
                    begun = BeginQuorumEpoch(node.cluster_id, voter.key, node.key.id, node.epoch, node.me.address)
                    if turn.send_if_free(voter.address, begun):
                        _note_begun(turn, voter.key.id)
            ask_versions(turn)
        case Resigned() as role:
            for voter in node.others:
                if voter.key.id not in role.told:
                    end = EndQuorumEpoch(node.cluster_id, node.key.id, node.epoch, role.successors)
                    turn.send_if_free(voter.address, end)
        case _:
            ask_for_more(turn)


def _note_begun(turn: Turn, voter: int) -> None:
    role = turn.node.role
    if isinstance(role, Leader):
        turn.set_role(begun_ms={**role.begun_ms, voter: turn.now_ms})
