"""An observer of a KRaft quorum: what it asks next, and what it hands on, after each answer.

Nothing above the high watermark is ever handed on, nothing twice, nothing out of order. One question for the log is
asked at a time, of one controller; the others are asked now and then whether they know of a newer epoch.
Sources: `org.apache.kafka.raft.KafkaRaftClient` (4.3: `handleFetchResponse`, `handleFetchSnapshotResponse`,
`handleTopLevelError`), KIP-595, KIP-630. What real controllers of 3.9.1 and 4.4.0 answer to a replica of id -1 is in
`tests/data/kraft/answers-to-a-stranger.jsonl`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from model.observer.messages import (
    NOBODY,
    UNKNOWN,
    Address,
    Answer,
    Answered,
    BatchesCommitted,
    ControllersDescribed,
    DescribeControllers,
    DescribeQuorum,
    Event,
    FetchLog,
    FetchSnapshot,
    HangUp,
    KnownLeader,
    LogFetched,
    LoginRefused,
    LogPosition,
    NoController,
    QuorumDescribed,
    QuorumSeen,
    SnapshotFetched,
    SnapshotGrew,
    SnapshotRead,
    Unanswered,
    place,
)
from model.observer.observed_log import GarbledError, LostRecordsError, check_snapshot, fetched_batches
from model.observer.state import (
    COMMITTED_MS,
    ELECTION,
    HEARD_MS,
    REDIRECTED,
    SERVER_FAULT,
    STOPPING,
    UNREACHABLE,
    Decision,
    Download,
    Observer,
    Turn,
    others,
)

BESIDE_MS = 2_000
"""Between two questions about the quorum; so often a second voter is asked while the high watermark stands still."""
RIGHT: Final = "CLUSTER_ACTION"
"""On the cluster: who may read the metadata log, where rights are checked."""
MOST_GARBLED, MOST_LOST_SNAPSHOTS = 2, 3
"""So often in a row, then it is plain that the next time will be the same."""
MOST_SNAPSHOT_BYTES, MOST_PIECES = 2 << 30, 8_192
"""Of a snapshot that is read: a million partitions take 130 MB, in pieces of 1 MiB."""
HURRIED_MS, REST_MS = 20, 50
"""Who answers sooner than this and has no news does not wait as it is asked to: it gets a rest."""


def begin(addresses: Sequence[Address], now_ms: int, cluster_id: str | None = None) -> Decision:
    """The first decision. At least one address; a cluster's id makes every other cluster be refused."""
    turn = Turn(Observer(tuple(addresses), cluster_id=cluster_id, at=addresses[0], moved_ms=now_ms), now_ms)
    turn.fetch()
    return turn.decision()


def decide(state: Observer, event: Event, now_ms: int) -> Decision:
    """What follows from an event. Answers to questions that are of no interest any more change nothing."""
    turn = Turn(state, now_ms)
    if state.ended:
        return turn.decision()
    if isinstance(event, Answered):
        _hear(turn, event.number, event.answer)
    if not turn.state.ended:
        if not turn.state.asked and now_ms >= turn.state.not_before_ms:
            turn.fetch()
        _ask_beside(turn)
    return turn.decision()


def _hear(turn: Turn, number: int, answer: Answer) -> None:
    beside = turn.state.beside
    if number == turn.state.asked:
        turn.set(asked=0)
        _main(turn, answer)
    elif number == beside.voter:
        turn.set(beside=msgspec.structs.replace(beside, voter=0))
        _second_voter(turn, answer)
    elif number == beside.quorum:
        turn.set(beside=msgspec.structs.replace(beside, quorum=0))
        if isinstance(answer, QuorumDescribed):
            turn.learn(answer.endpoints)
            if answer.quorum is not None and answer.quorum.leader_epoch >= turn.state.epoch:
                turn.commands.append(QuorumSeen(answer.quorum))
    elif number == beside.controllers:
        turn.set(beside=msgspec.structs.replace(beside, controllers=0))
        if isinstance(answer, ControllersDescribed):
            turn.learn(answer.endpoints)
            turn.set(cluster_id=turn.state.cluster_id or answer.cluster_id)


def _main(turn: Turn, answer: Answer) -> None:
    """The answer of whoever was asked for the log."""
    address = turn.state.at
    if address is None:
        return
    match answer:
        case LogFetched() | SnapshotFetched():
            _fetched(turn, answer, address)
        case NoController(why):
            turn.reject(address, why)
        case LoginRefused(why):
            turn.end("denied", why)
        case Unanswered(why):
            turn.commands.append(HangUp(address))
            turn.elsewhere(UNREACHABLE, why)
        case QuorumDescribed() | ControllersDescribed():
            _garbled(turn, "the answer to another question")


def _fetched(turn: Turn, answer: LogFetched | SnapshotFetched, address: Address) -> None:
    asked_epoch = turn.state.epoch
    turn.learn(answer.endpoints)
    turn.adopt(answer.leader)
    error = answer.top_error if answer.top_error != "NONE" else answer.error
    if error != "NONE":
        _ERRORS.get(error, _server_fault)(turn, answer, address, error)
    elif UNKNOWN < answer.leader.epoch < asked_epoch:
        turn.elsewhere(REDIRECTED, f"{place(address)} leads an older epoch than {asked_epoch}")
    elif asked_epoch == 0 or turn.state.epoch > asked_epoch:
        _garbled(turn, f"an answer of epoch {answer.leader.epoch} to a question of epoch {asked_epoch}")
    else:
        _from_leader(turn, answer)


def _from_leader(turn: Turn, answer: LogFetched | SnapshotFetched) -> None:
    if not turn.state.is_led:
        turn.set(moved_ms=turn.now_ms, vouched_ms=turn.now_ms)
    turn.set(is_led=True, heard_ms=turn.state.asked_ms, tried=frozenset(), failures=0, trouble="")
    try:
        if isinstance(answer, SnapshotFetched):
            _take_piece(turn, answer)
        elif answer.snapshot is not None:
            _begin_snapshot(turn, answer.snapshot)
        elif answer.diverging is not None:
            _truncate(turn, answer.diverging)
        else:
            _take_records(turn, answer)
    except GarbledError as error:
        _garbled(turn, str(error))
    except LostRecordsError as error:
        turn.end("fault", f"{_at(turn)}: {error}")


def _take_records(turn: Turn, answer: LogFetched) -> None:
    state = turn.state
    log = state.log.appended(fetched_batches(answer.records, state.log.end, state.epoch))
    before = log.high_watermark
    log, committed = log.committed(answer.high_watermark)
    mark = max(state.leader_mark, answer.high_watermark)
    is_news = bool(answer.records) or mark > state.leader_mark
    turn.set(log=log, leader_mark=mark, garbled=0)
    if log.high_watermark > before or not log.pending:
        turn.set(moved_ms=turn.now_ms)
    if mark > state.leader_mark:
        turn.set(vouched_ms=turn.now_ms)
    if committed:
        turn.commands.append(BatchesCommitted(committed, log.high_watermark))
    if is_news or turn.now_ms - state.asked_ms >= HURRIED_MS:
        turn.fetch()
    else:
        turn.fetch_after(REST_MS)


def _truncate(turn: Turn, diverging: LogPosition) -> None:
    log = turn.state.log.truncated(diverging)
    if log.end == turn.state.log.end:
        raise GarbledError(f"diverging at {diverging}, where our log ends at {log.end}")
    turn.set(log=log)
    turn.fetch()


def _begin_snapshot(turn: Turn, snapshot: LogPosition) -> None:
    if snapshot.offset <= 0:
        # Of a snapshot of nothing there are no pieces: controllers of 3.9.1 write a stack trace when asked for 0-0.
        raise GarbledError(f"snapshot {snapshot} holds nothing")
    turn.state.log.replaced(snapshot)
    turn.set(download=Download(snapshot))
    turn.ask_for(FetchSnapshot(turn.state.epoch, snapshot, 0, turn.state.cluster_id))


def _take_piece(turn: Turn, answer: SnapshotFetched) -> None:
    state = turn.state
    download = state.download
    if download is None:
        raise GarbledError("a piece of a snapshot that nobody asked for")
    is_next = answer.snapshot == download.id and answer.position == download.position
    end = download.position + len(answer.data)
    if not is_next or not answer.data or end > answer.size or download.size not in (UNKNOWN, answer.size):
        raise GarbledError(
            f"bytes {answer.position} to {answer.position + len(answer.data)} of {answer.size} of snapshot "
            f"{answer.snapshot}, those from {download.position} on of {download.id} were due"
        )
    if answer.size > MOST_SNAPSHOT_BYTES or len(download.pieces) >= MOST_PIECES:
        raise GarbledError(
            f"snapshot {download.id} has {answer.size:,} bytes, in pieces such as one of {len(answer.data):,}: at most "
            f"{MOST_SNAPSHOT_BYTES:,} bytes are read, in {MOST_PIECES:,} pieces"
        )
    download = Download(download.id, (*download.pieces, answer.data), end, answer.size)
    if end < answer.size:
        turn.set(download=download)
        turn.ask_for(FetchSnapshot(state.epoch, download.id, end, state.cluster_id))
        turn.commands.append(SnapshotGrew(download.id, answer.position, answer.data, answer.size))
        return
    data = b"".join(download.pieces)
    check_snapshot(data, download.id)
    turn.set(log=state.log.replaced(download.id), download=None, lost_snapshots=0, garbled=0)
    turn.commands.append(SnapshotRead(download.id, data))
    turn.fetch()


def _garbled(turn: Turn, why: str) -> None:
    """Once may be the network's fault: then it is asked again, over a new connection."""
    count = turn.state.garbled + 1
    if count >= MOST_GARBLED:
        turn.end("fault", f"{_at(turn)}: {why} ({count} times in a row)")
        return
    turn.set(garbled=count, download=None, is_led=False, trouble=f"{_at(turn)}: {why}")
    if turn.state.at is not None:
        turn.commands.append(HangUp(turn.state.at))
    turn.fetch_after(REST_MS)


Fetched = LogFetched | SnapshotFetched


def _fenced(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    """Our epoch was older: whoever said so may lead the newer one. Nothing is truncated for that."""
    if turn.state.leader == NOBODY:
        _electing(turn)
        return
    is_news = turn.state.question.epoch < turn.state.epoch
    turn.elsewhere(REDIRECTED, f"controller {turn.state.leader} leads epoch {turn.state.epoch}", may_be_here=is_news)


def _not_leader(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    if turn.state.leader == NOBODY:
        _electing(turn)
    else:
        turn.elsewhere(REDIRECTED, f"{place(address)} says that controller {turn.state.leader} leads")


def _electing(turn: Turn) -> None:
    turn.elsewhere(ELECTION, f"a controller is being elected (epoch {turn.state.epoch})")


def _behind(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    """Our epoch is never lowered for it."""
    turn.elsewhere(REDIRECTED, f"{place(address)} does not know of epoch {turn.state.epoch} yet")


def _other_cluster(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    turn.reject(address, f"of another cluster than {turn.state.cluster_id}")


def _no_controller(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    turn.reject(address, "a broker's listener, not a controller's")


def _not_allowed(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    turn.end("denied", f"{place(address)}: {error}: the metadata log takes the right {RIGHT} on the cluster")


def _invalid(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    turn.end("fault", f"{place(address)}: {error}, a defect in kdrill: {turn.state.question}")


def _stopping(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    turn.elsewhere(STOPPING, f"{place(address)} is stopping or being upgraded: {error}")


def _server_fault(turn: Turn, answer: Fetched, address: Address, error: str) -> None:
    """A download's error says nothing of its cause: the log is asked for again, which tells leader and snapshot."""
    if isinstance(answer, LogFetched):
        turn.elsewhere(SERVER_FAULT, f"{place(address)}: {error}")
        return
    count, download = turn.state.lost_snapshots + 1, turn.state.download
    why = f"{place(address)}: snapshot {download and download.id}: {error}"
    if count >= MOST_LOST_SNAPSHOTS:
        turn.end("fault", f"{why} ({count} times in a row)")
        return
    turn.set(lost_snapshots=count, download=None, is_led=False, trouble=why)
    turn.fetch_after(REST_MS)


_ERRORS: Mapping[str, Callable[[Turn, Fetched, Address, str], None]] = {
    "FENCED_LEADER_EPOCH": _fenced,
    "NOT_LEADER_OR_FOLLOWER": _not_leader,
    "UNKNOWN_LEADER_EPOCH": _behind,
    "INCONSISTENT_CLUSTER_ID": _other_cluster,
    "UNKNOWN_TOPIC_ID": _no_controller,
    "UNKNOWN_TOPIC_OR_PARTITION": _no_controller,
    "CLUSTER_AUTHORIZATION_FAILED": _not_allowed,
    "INVALID_REQUEST": _invalid,
    "BROKER_NOT_AVAILABLE": _stopping,
    "UNSUPPORTED_VERSION": _stopping,
}
"""By Kafka's name; all others are faults of the server."""


def _at(turn: Turn) -> str:
    return place(turn.state.at) if turn.state.at else ""


def _ask_beside(turn: Turn) -> None:
    """What is asked beside the log, of the leader and of one more voter."""
    state, now_ms = turn.state, turn.now_ms
    if not state.is_led or state.at is None:
        return
    changed: dict[str, object] = {}
    if not state.beside.has_asked_controllers:
        changed = {"has_asked_controllers": True, "controllers": turn.ask(state.at, DescribeControllers())}
    if now_ms >= state.beside.quorum_due_ms:
        changed |= {"quorum_due_ms": now_ms + BESIDE_MS, "quorum": turn.ask(state.at, DescribeQuorum())}
    voters = others(state)
    is_still = now_ms - min(state.moved_ms, state.vouched_ms) >= COMMITTED_MS
    if voters and (is_still or now_ms - state.heard_ms >= HEARD_MS) and now_ms >= state.beside.voter_due_ms:
        asked = state.beside.voters_asked
        voter = voters[asked % len(voters)]
        number = turn.ask(voter, FetchLog(cluster_id=state.cluster_id))
        changed |= {"voter_due_ms": now_ms + BESIDE_MS, "voter": number, "voters_asked": asked + 1}
    if changed:
        turn.set(beside=msgspec.structs.replace(turn.state.beside, **changed))


def _second_voter(turn: Turn, answer: Answer) -> None:
    """Where it knows of a newer epoch, whoever is asked now does not lead any more; of the same one, it does."""
    if not isinstance(answer, LogFetched):
        return
    leader = KnownLeader(turn.state.leader, turn.state.epoch)
    turn.learn(answer.endpoints)
    turn.adopt(answer.leader)
    if answer.leader == leader:
        turn.set(vouched_ms=max(turn.state.vouched_ms, turn.state.beside.voter_due_ms - BESIDE_MS))
    if turn.state.epoch == leader.epoch:
        return
    turn.set(asked=0)
    if turn.state.leader == NOBODY:
        _electing(turn)
    else:
        turn.elsewhere(REDIRECTED, f"controller {turn.state.leader} leads epoch {turn.state.epoch}", may_be_here=True)
