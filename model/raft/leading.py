"""A leader: what it gives to those that fetch, what is committed by that, and whether a majority still fetches.

Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: `handleFetchRequest`, `tryCompleteFetchRequest`,
`handleFetchSnapshotRequest`), `org.apache.kafka.raft.LeaderState`.
"""

import msgspec

from model.observer.messages import NOBODY, UNKNOWN
from model.raft.messages import Fetch, FetchAnswer, FetchSnapshot, LeaderRequest, RecordsProposed, SnapshotAnswer
from model.raft.node import Change, Leader, Node, Progress, Waiting
from model.raft.raft_log import BOOTSTRAP
from model.raft.turn import Turn
from model.raft.voters import ReplicaKey


def refusal(node: Node, request: LeaderRequest) -> str:
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
        turn.answer(number, FetchAnswer(turn.known(error)))
        return
    waiting = Waiting(number, request, turn.now_ms + request.max_wait_ms)
    if not _serve(turn, waiting):
        turn.wait(waiting)
    if _is_prefix(turn.node, request):
        _note(turn, request)


def _is_prefix(node: Node, request: Fetch) -> bool:
    return node.log.snapshot_for(request.end) is None and node.log.check(request.end) is None


def _serve(turn: Turn, waiting: Waiting) -> bool:
    """Answers a Fetch if there is anything to tell, or nothing came in time."""
    log, role, request = turn.node.log, turn.node.role, waiting.request
    if not isinstance(role, Leader):
        return False
    reply = FetchAnswer(turn.known(), role.high_watermark)
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
    progress = Progress(key, request.end.offset, turn.now_ms, log.end, caught_up)
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


def _followers_needed(node: Node) -> int:
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


def _end_of(node: Node, role: Leader, key: ReplicaKey) -> int:
    if key.is_same_as(node.key):
        return node.log.end
    progress = role.replicas.get(key.id)
    return progress.end if progress is not None and key.is_same_as(progress.key) else UNKNOWN


def _end_change(turn: Turn, committed: int) -> None:
    """Answers for a change of the voters that is committed by this; a leader that is no voter any more resigns."""
    role = turn.node.role
    change: Change | None = role.change if isinstance(role, Leader) else None
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
