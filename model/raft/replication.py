"""The log goes from the leader to its followers: what it gives to those that fetch, what they take over, and what is
committed by that.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: `handleFetchRequest`, `handleFetchResponse`,
`handleFetchSnapshotRequest`, `handleFetchSnapshotResponse`), `org.apache.kafka.raft.LeaderState`; KIP-595, KIP-630.
"""

import msgspec

from model.observer.messages import NOBODY, UNKNOWN, Address
from model.raft.messages import (
    AddVoter,
    Commit,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    LeaderRequest,
    RecordsProposed,
    RemoveVoter,
    SnapshotAnswer,
    SnapshotLoaded,
    StartLogAt,
    StoreSnapshot,
    Truncate,
    UpdateVoter,
)
from model.raft.node import (
    Download,
    Follower,
    Leader,
    ParkedFetch,
    PeerLink,
    RaftNode,
    ReplicaProgress,
    Unattached,
    VoterChange,
)
from model.raft.raft_log import BOOTSTRAP, ReplicaKey, Voter
from model.raft.turn import Turn


def refusal(node: RaftNode, request: LeaderRequest) -> str:
    """What is checked first of every request to a leader; empty where nothing is wrong."""
    if request.cluster_id is not None and node.cluster_id not in (None, request.cluster_id):
        return "INCONSISTENT_CLUSTER_ID"
    if request.epoch < node.epoch:
        return "FENCED_LEADER_EPOCH"
    if request.epoch > node.epoch:
        return "UNKNOWN_LEADER_EPOCH"
    return "" if isinstance(node.role, Leader) else "NOT_LEADER_OR_FOLLOWER"


def on_fetch(turn: Turn, number: int, request: Fetch) -> None:
    """Somebody wants what comes next in the log."""
    end = request.end
    is_garbled = end.offset < 0 or not 0 <= end.epoch <= request.epoch or request.max_wait_ms < 0
    error = "INVALID_REQUEST" if is_garbled else refusal(turn.node, request)
    if error:
        turn.answer(number, FetchAnswer(turn.known(error), log_start=turn.node.log.base.offset))
        return
    waiting = ParkedFetch(number, request, turn.now_ms + request.max_wait_ms)
    if not _serve(turn, waiting):
        turn.wait(waiting)
    if _is_prefix(turn.node, request):
        _note(turn, request)


def _is_prefix(node: RaftNode, request: Fetch) -> bool:
    return node.log.snapshot_for(request.end) is None and node.log.check(request.end) is None


def _serve(turn: Turn, waiting: ParkedFetch) -> bool:
    """Answers a Fetch if there is anything to tell, or nothing came in time."""
    log, role, request = turn.node.log, turn.node.role, waiting.request
    if not isinstance(role, Leader):
        return False
    reply = FetchAnswer(turn.known(), role.high_watermark, log_start=log.base.offset)
    snapshot = log.snapshot_for(request.end)
    diverging = log.check(request.end) if snapshot is None else None
    if snapshot is not None or diverging is not None:
        turn.answer(waiting.number, msgspec.structs.replace(reply, snapshot=snapshot, diverging=diverging))
    elif request.end.offset < log.end:
        turn.answer(waiting.number, reply, records_from=request.end.offset)
    elif request.high_watermark < role.high_watermark or turn.now_ms >= waiting.until_ms:
        turn.answer(waiting.number, reply)
    else:
        return False
    return True


def serve_waiting(turn: Turn) -> None:
    """Answers those that wait, after something changed or time has passed."""
    role = turn.node.role
    if isinstance(role, Leader) and role.waiting:
        kept = tuple(waiting for waiting in role.waiting if not _serve(turn, waiting))
        turn.set_role(waiting=kept)


def _note(turn: Turn, request: Fetch) -> None:
    """Remembers how far a replica is. One of no id only looks on."""
    role, log, key = turn.node.role, turn.node.log, request.replica
    if not isinstance(role, Leader) or key.id == NOBODY:
        return
    before = role.replicas.get(key.id)
    caught_up = before.caught_up_ms if before is not None and before.key == key else None
    if request.end.offset >= log.end:
        caught_up = turn.now_ms
    elif before is not None and before.key == key and request.end.offset >= before.leader_end:
        caught_up = before.fetched_ms
    progress = ReplicaProgress(key, request.end.offset, turn.now_ms, log.end, caught_up)
    turn.set_role(replicas={**role.replicas, key.id: progress})
    heard_from(turn, key)
    advance(turn)


def heard_from(turn: Turn, key: ReplicaKey) -> None:
    """A replica asked as followers do: with enough voters among those, a majority still follows."""
    role, node = turn.node.role, turn.node
    if not isinstance(role, Leader) or not node.log.voters.has(key):
        return
    heard = (role.fetched_by | {key.id}) & {voter.key.id for voter in node.others}
    if len(heard) >= _followers_needed(node):
        turn.set_role(fetched_by=frozenset(), check_at_ms=turn.now_ms + node.settings.check_quorum_ms)
    else:
        turn.set_role(fetched_by=frozenset(heard))


def _followers_needed(node: RaftNode) -> int:
    return node.log.voters.majority - (1 if node.is_voter else 0)


def check_quorum(turn: Turn) -> None:
    """A leader that a majority does not follow resigns: there may be another one."""
    role = turn.node.role
    if isinstance(role, Leader) and _followers_needed(turn.node) > 0 and turn.now_ms >= role.check_at_ms:
        turn.resign()


def advance(turn: Turn) -> None:
    """Commits what a majority has. Nothing is before a record of this epoch: its first one has to be among it."""
    role, node = turn.node.role, turn.node
    if not isinstance(role, Leader):
        return
    mark = sorted((_end_of(node, role, voter.key) for voter in node.log.voters.voters), reverse=True)
    committed = mark[len(mark) // 2] if mark else UNKNOWN
    if committed <= max(role.start, role.high_watermark):
        return
    turn.set_role(high_watermark=committed)
    turn.commit(committed)
    _end_change(turn, committed)


def _end_of(node: RaftNode, role: Leader, key: ReplicaKey) -> int:
    if key.is_same_as(node.key):
        return node.log.end
    progress = role.replicas.get(key.id)
    return progress.end if progress is not None and key.is_same_as(progress.key) else UNKNOWN


def _end_change(turn: Turn, committed: int) -> None:
    """Answers for a change of the voters that is committed by this; a leader that is no voter any more resigns."""
    role = turn.node.role
    change: VoterChange | None = role.change if isinstance(role, Leader) else None
    if change is not None and UNKNOWN != change.offset < committed:
        turn.set_role(change=None)
        turn.answer_change(change.number, turn.known())
    if not turn.node.is_voter and turn.node.log.voters_offset < committed:
        serve_waiting(turn)
        turn.resign()


def on_fetch_snapshot(turn: Turn, number: int, request: FetchSnapshot) -> None:
    """Somebody wants a piece of a snapshot."""
    error = refusal(turn.node, request)
    if not error and (request.snapshot == BOOTSTRAP or request.snapshot not in turn.node.log.snapshots):
        error = "SNAPSHOT_NOT_FOUND"
    elif not error and request.position < 0:
        error = "POSITION_OUT_OF_RANGE"
    reply = SnapshotAnswer(turn.known(error or "NONE"), request.snapshot, position=request.position)
    turn.answer(number, reply)
    if not error:
        heard_from(turn, request.replica)


def on_proposed(turn: Turn, event: RecordsProposed) -> None:
    """The state machine writes; as long as it takes itself for the leader that it is."""
    if isinstance(turn.node.role, Leader) and event.epoch == turn.node.epoch and event.batches:
        turn.append(event.batches)


def on_fetch_answer(turn: Turn, asked: Fetch, reply: FetchAnswer) -> None:
    """The leader answered in the epoch that it was asked in, without an error."""
    node, role = turn.node, turn.node.role
    if not isinstance(role, Follower) or asked.epoch != node.epoch or asked.end != node.log.last:
        return
    if reply.diverging is not None:
        offset = node.log.truncation(reply.diverging)
        if offset < node.log.high_watermark:
            turn.fault(f"the leader's log ends at {offset}, yet offset {node.log.high_watermark - 1} was committed")
            return
        turn.set(log=node.log.truncated(offset))
        turn.commands.append(Truncate(offset))
    elif reply.snapshot is not None:
        turn.set_role(download=Download(reply.snapshot))
    else:
        if reply.batches and reply.batches[0].offset != node.log.end:
            return
        turn.take_in(reply.batches)
        turn.commit(reply.high_watermark)
    _fetched(turn)


def _fetched(turn: Turn) -> None:
    """The leader is there: nobody has to stand for election."""
    turn.set_role(has_fetched=True, fetch_until_ms=turn.now_ms + turn.node.settings.fetch_timeout_ms)


def on_snapshot_answer(turn: Turn, asked: FetchSnapshot, reply: SnapshotAnswer) -> None:
    """A piece of a snapshot, or the news that there is no such one any more."""
    role = turn.node.role
    if not isinstance(role, Follower) or role.download is None or asked.epoch != turn.node.epoch:
        return
    download = role.download
    if (asked.snapshot, asked.position) != (download.snapshot, download.position):
        return
    if reply.known.error != "NONE":
        turn.set_role(download=None)
        return
    if (reply.snapshot, reply.position) != (asked.snapshot, asked.position):
        turn.fault(f"asked for {asked.snapshot} from {asked.position}, got {reply.snapshot} from {reply.position}")
        return
    position = download.position + len(reply.data)
    is_whole = position >= reply.size
    turn.commands.append(StoreSnapshot(download.snapshot, download.position, reply.data, is_whole))
    turn.set_role(download=Download(download.snapshot, position, is_whole))
    _fetched(turn)


def on_loaded(turn: Turn, event: SnapshotLoaded) -> None:
    """A snapshot takes the place of the whole log, whoever leads by now: all of it is committed."""
    log = turn.node.log
    if event.snapshot.offset > log.high_watermark:
        turn.set(log=log.replaced(event.snapshot, event.voters))
        turn.commands += (StartLogAt(event.snapshot), Commit(event.snapshot.offset))
    if isinstance(turn.node.role, Follower):
        turn.set_role(download=None)
        _fetched(turn)


def ask_for_more(turn: Turn) -> None:
    """The next request to the leader; while it does not answer, or is not known, to anybody who may know it."""
    role = turn.node.role
    if isinstance(role, Follower):
        link = turn.node.links.get(role.address, PeerLink())
        if link.has_failed and _others(turn.node):
            _ask_anybody(turn)
        elif turn.is_free(role.address):
            request = _next_request(turn, role)
            if request is not None:
                turn.send(role.address, request)
    elif isinstance(role, Unattached):
        _ask_anybody(turn)


def _next_request(turn: Turn, role: Follower) -> Fetch | FetchSnapshot | UpdateVoter | AddVoter | RemoveVoter | None:
    node = turn.node
    if turn.now_ms >= role.update_at_ms:
        turn.set_role(update_at_ms=turn.now_ms + node.settings.fetch_timeout_ms)
        if _has_changed(node, role):
            turn.set_role(has_told=True)
            return UpdateVoter(node.cluster_id, node.epoch, node.me)
        if node.settings.auto_join and role.has_fetched and node.log.voters.kraft_version > 0 and not node.is_voter:
            return _joining(node)
    if role.download is None:
        return _fetch(node)
    if role.download.is_whole:
        return None
    return FetchSnapshot(node.cluster_id, node.key, node.epoch, role.download.snapshot, role.download.position)


def _has_changed(node: RaftNode, role: Follower) -> bool:
    """The voters' record says something else of this one than it would itself; without one each leader is told once."""
    voters = node.log.voters
    if voters.kraft_version == 0:
        return node.is_voter and not role.has_told
    recorded: Voter | None = voters.by_id(node.key.id) if node.is_voter else None
    return recorded is not None and recorded != node.me


def _joining(node: RaftNode) -> AddVoter | RemoveVoter:
    """Who lost its disk is another replica now: first the one that it was has to go."""
    former = node.log.voters.by_id(node.key.id)
    if former is not None:
        return RemoveVoter(node.cluster_id, former.key)
    return AddVoter(node.cluster_id, node.me, when_committed=False)


def _fetch(node: RaftNode) -> Fetch:
    return Fetch(node.cluster_id, node.key, node.epoch, node.log.last, node.log.high_watermark)


def _others(node: RaftNode) -> list[Address]:
    return [address for address in node.bootstrap if address != node.me.address]


def _ask_anybody(turn: Turn) -> None:
    """A Fetch to one of those that are asked for the leader; one at a time."""
    node = turn.node
    addresses = _others(node)
    links = [node.links.get(address, PeerLink()) for address in addresses]
    if any(link.number and isinstance(link.request, Fetch) for link in links):
        return
    free = [address for address in addresses if turn.is_free(address)]
    if free:
        turn.send(free[turn.draw(len(free))], _fetch(node))
        if isinstance(node.role, Follower):
            link = turn.node.links.get(node.role.address, PeerLink())
            if link.has_failed and not link.number:
                forgiven = PeerLink(not_before_ms=link.not_before_ms)
                turn.set(links={**turn.node.links, node.role.address: forgiven})
