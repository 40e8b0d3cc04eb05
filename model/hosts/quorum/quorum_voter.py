"""A voter of a KRaft quorum as it runs: what model.raft decides is carried out on a disk, a listener and connections.

One thing after the other, as in Kafka's own Raft thread: what a decision has to be on disk for is on disk before it is
told to anybody. Nothing is known here of what the records say.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.ids import KRAFT_VERSION
from model.hosts.quorum.control_batches import batches_of
from model.hosts.quorum.raft_requests import API_KEYS, LISTENER, request_body, request_value
from model.hosts.quorum.raft_responses import quorum_described, reply_body, reply_value
from model.hosts.quorum.voter_disk import VoterDisk
from model.hosts.wire.connection import Connection, supported_features
from model.hosts.wire.error_responses import error_response
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, WireError
from model.hosts.wire.server import Api, Features, Server
from model.hosts.wire.server import Request as Received
from model.observer.messages import UNKNOWN, Address
from model.raft.decide import begin, decide
from model.raft.messages import (
    AddVoter,
    AnswerHeader,
    Append,
    AskVersions,
    BeginQuorumEpoch,
    ChangeAnswer,
    Command,
    Commit,
    EndQuorumEpoch,
    Event,
    Exit,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    Lead,
    Persist,
    RecordsProposed,
    RemoveVoter,
    Reply,
    ReplyReceived,
    Request,
    RequestFailed,
    RequestReceived,
    Send,
    SendAnswer,
    SnapshotAnswer,
    SnapshotLoaded,
    StartLogAt,
    StepDown,
    StopWanted,
    StoreSnapshot,
    TimePassed,
    Truncate,
    UpdateVoter,
    UpgradeKraftVersion,
    VersionsAnswer,
    Vote,
    VoteAnswer,
)
from model.raft.node import Decision, QuorumSettings, RaftNode
from model.raft.raft_log import ReplicaKey, Voter

SERVED: Final[Mapping[int, tuple[int, int]]] = {
    API_KEYS[Fetch]: (13, 18),
    API_KEYS[Vote]: (0, 2),
    API_KEYS[BeginQuorumEpoch]: (0, 1),
    API_KEYS[EndQuorumEpoch]: (0, 1),
    API_KEYS[FetchSnapshot]: (0, 1),
    API_KEYS[AddVoter]: (0, 1),
    API_KEYS[RemoveVoter]: (0, 0),
    API_KEYS[UpdateVoter]: (0, 0),
}
"""What voters ask each other, by versions from 3.3 to 4.4."""
KRAFT_VERSIONS: Final = (0, 1)
_FIRST_PRE_VOTE = 2
_PAUSE_S = 0.05
"""Before it is told that nobody answers (`reconnect.backoff.ms`)."""
_LOGGER = logging.getLogger(__name__)


class StateMachine(Protocol):
    """Who reads and, while its node leads, writes the log. Calls are short."""

    def leads(self, epoch: int, start: int) -> None:
        """It may write as soon as what is below `start` is committed."""
        ...

    def steps_down(self) -> None:
        """It may not write any more."""
        ...

    def committed(self, high_watermark: int) -> None:
        """What is below this may be read."""
        ...


class Idle:
    """Writes nothing."""

    def leads(self, epoch: int, start: int) -> None: ...

    def steps_down(self) -> None: ...

    def committed(self, high_watermark: int) -> None: ...


class QuorumVoter:
    """Runs from `start` until `ended`; `machine` may be given anew before."""

    def __init__(
        self,
        key: ReplicaKey,
        cluster_id: str,
        disk: VoterDisk,
        bootstrap: tuple[Address, ...],
        settings: QuorumSettings,
        reached: Mapping[int, Address] | None = None,
    ) -> None:
        """`reached`: where voters listen now, if not where the log says."""
        self.disk = disk
        self.machine: StateMachine = Idle()
        self.features = lambda: Features({KRAFT_VERSION: KRAFT_VERSIONS}, {})
        """What clients are told of it."""
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why it ended, where that is a fault; empty after an orderly stop."""
        self._key = key
        self._cluster_id = cluster_id
        self._bootstrap = bootstrap
        self._settings = settings
        self._reached = reached
        self._node: RaftNode | None = None
        self._events: deque[Event] = deque()
        self._is_deciding = False
        self._alarm: asyncio.TimerHandle | None = None
        self._numbers = 0
        self._asked: dict[int, asyncio.Future[tuple[Reply, bytes]]] = {}
        self._connections: dict[Address, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: Server | None = None

    @property
    def node_id(self) -> int:
        return self._key.id

    @property
    def node(self) -> RaftNode:
        assert self._node is not None, "it was never started"
        return self._node

    @property
    def apis(self) -> Mapping[int, Api]:
        """What it answers by itself."""
        raft = {key: Api(*versions, self._answer_raft, until_gone=True) for key, versions in SERVED.items()}
        return {**raft, ApiKey.DESCRIBE_QUORUM: Api(0, 2, self._describe)}

    async def start(self, host: str, port: int, apis: Mapping[int, Api], advertised: Address | None = None) -> int:
        """Listens, and takes part from now on. `apis` are more that are answered there. Raises OSError.

        `advertised`: where others reach it, if not where it listens.
        """
        self._server = Server({**self.apis, **apis}, listener=LISTENER, features=self.features)
        port = await self._server.start(host, port)
        decision = begin(
            Voter(self._key, advertised or (host, port), KRAFT_VERSIONS),
            self.disk.election_state(),
            self.disk.raft_log(),
            _now_ms(),
            cluster_id=self._cluster_id,
            settings=self._settings,
            bootstrap=self._bootstrap,
            reached=self._reached,
            seed=time.time_ns(),
        )
        self._is_deciding = True
        self._carry_out(decision)
        self._is_deciding = False
        self._decide_waiting()
        return port

    def propose(self, epoch: int, batches: tuple[tuple[int, bytes], ...]) -> int:
        """A leader's records, so many each: they are committed once the high watermark is at what is returned."""
        self.tell(RecordsProposed(epoch, batches))
        return self.node.log.end

    def upgrade(self, version: int, *, dry: bool) -> str:
        """Of kraft.version, which a leader writes at once: the error. `dry`: whether that would do."""
        self._numbers += 1
        answered: asyncio.Future[tuple[Reply, bytes]] = asyncio.get_running_loop().create_future()
        self._asked[self._numbers] = answered
        self.tell(RequestReceived(self._numbers, UpgradeKraftVersion(version, dry)))
        reply, _ = answered.result()
        assert isinstance(reply, ChangeAnswer)
        if reply.why:
            _LOGGER.info("kraft.version %d: %s", version, reply.why)
        return reply.known.error

    def stop(self) -> None:
        """An orderly one: a leader hands over first."""
        self.tell(StopWanted())

    async def close(self) -> None:
        """Lets go of all; after `ended`."""
        if self._alarm is not None:
            self._alarm.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.close()
        for connection in self._connections.values():
            await connection.close()
        self.disk.close(_wall_ms())

    def tell(self, event: Event) -> None:
        """Something happened; what comes while that is decided waits."""
        self._events.append(event)
        if not self._is_deciding:
            self._decide_waiting()

    def _decide_waiting(self) -> None:
        self._is_deciding = True
        try:
            while self._events and not self.ended.done():
                self._carry_out(decide(self.node, self._events.popleft(), _now_ms()))
        except Exception as error:
            _LOGGER.exception("the voter cannot go on")
            self._end(f"{type(error).__name__}: {error}")
        finally:
            self._is_deciding = False

    def _carry_out(self, decision: Decision) -> None:
        before, self._node = self._node, decision.node
        for command in decision.commands:
            self._do(command)
        now = decision.node
        if before is None or type(before.role) is not type(now.role) or before.epoch != now.epoch:
            _LOGGER.info("%s in epoch %d, leader %d", type(now.role).__name__, now.epoch, now.persisted.leader)
        if self._alarm is not None:
            self._alarm.cancel()
        if not self.ended.done():
            at_s = decision.wake_ms / 1000
            self._alarm = asyncio.get_running_loop().call_at(at_s, self.tell, TimePassed())

    def _do(self, command: Command) -> None:
        match command:
            case Send():
                self._begin(self._ask(command))
            case SendAnswer(number):
                waiting = self._asked.pop(number, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(self._filled(command))
            case Commit(high_watermark):
                self.disk.commit(high_watermark)
                self.machine.committed(high_watermark)
            case Lead(epoch, start):
                self.machine.leads(epoch, start)
            case StepDown():
                self.machine.steps_down()
            case Exit(fault):
                self._end(fault)
            case _:
                self._write(command)

    def _write(self, command: Persist | Append | Truncate | StoreSnapshot | StartLogAt) -> None:
        match command:
            case Persist(state):
                self.disk.persist(state, self.node.log.voters)
            case Append(batches):
                self.disk.append(batches, _wall_ms())
            case Truncate(offset):
                self.disk.truncate(offset, _wall_ms())
            case StoreSnapshot(snapshot, position, data, is_last):
                self.disk.snapshots.store(snapshot, position, data, is_last=is_last)
                if is_last:
                    self._events.append(SnapshotLoaded(snapshot, self.disk.voters_of(snapshot)))
            case StartLogAt(snapshot):
                self.disk.start_at(snapshot, _wall_ms())

    def _end(self, fault: str) -> None:
        if not self.ended.done():
            self.machine.steps_down()
            self.ended.set_result(fault)

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What others ask.

    async def _answer_raft(self, received: Received) -> Entity:
        request = request_value(received.body)
        reply, records = await self.ask_node(request)
        return reply_body(request, reply, received.start.version, records)

    async def ask_node(self, request: Request) -> tuple[Reply, bytes]:
        """What it answers to a request, and the records that belong to it; whoever waits no more is forgotten."""
        self._numbers += 1
        number = self._numbers
        answered: asyncio.Future[tuple[Reply, bytes]] = asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        self.tell(RequestReceived(number, request))
        try:
            return await answered
        finally:
            self._asked.pop(number, None)

    def _filled(self, answer: SendAnswer) -> tuple[Reply, bytes]:
        """With what is read from the log or a snapshot, at once: later it may have been deleted."""
        reply = answer.reply
        if answer.records_from != UNKNOWN:
            return reply, self.disk.records(answer.records_from)
        if isinstance(reply, FetchAnswer) and reply.snapshot is not None:
            self.disk.snapshots.asked_for(reply.snapshot, _wall_ms())
        if not isinstance(reply, SnapshotAnswer) or reply.known.error != "NONE":
            return reply, b""
        self.disk.snapshots.asked_for(reply.snapshot, _wall_ms())
        size, data = self.disk.snapshots.piece(reply.snapshot, reply.position)
        if reply.position >= size:
            known = msgspec.structs.replace(reply.known, error="POSITION_OUT_OF_RANGE")
            return msgspec.structs.replace(reply, known=known), b""
        return msgspec.structs.replace(reply, size=size, data=data), b""

    async def _describe(self, received: Received) -> Entity:
        return quorum_described(self.node, received.start.version, _now_ms(), _wall_ms())

    # What it asks others.

    async def _ask(self, sent: Send) -> None:
        try:
            connection = await self._connection(sent.address)
            reply = await self._reply(connection, sent.request)
        except (WireError, OSError) as error:
            _LOGGER.debug("%s:%d: %s", *sent.address, error)
            await asyncio.sleep(_PAUSE_S)
            self.tell(RequestFailed(sent.number))
        else:
            self.tell(ReplyReceived(sent.number, reply))

    async def _connection(self, address: Address) -> Connection:
        found = self._connections.get(address)
        if found is not None and found.is_open:
            return found
        found = await Connection.open(*address, f"kdrill-voter-{self._key.id}", self._patience_s)
        self._connections[address] = found
        return found

    @property
    def _patience_s(self) -> float:
        return self._settings.request_timeout_ms / 1000

    async def _reply(self, connection: Connection, request: Request) -> Reply:
        if isinstance(request, AskVersions):
            features = await supported_features(connection, self._patience_s)
            return VersionsAnswer(AnswerHeader(), features.get(KRAFT_VERSION, (0, 0)))
        if isinstance(request, UpdateVoter) and API_KEYS[UpdateVoter] not in connection.versions:  # older than 3.9
            return ChangeAnswer(AnswerHeader("UNSUPPORTED_VERSION"))
        version = connection.newest(API_KEYS[type(request)], SERVED[API_KEYS[type(request)]][1])
        if isinstance(request, Vote) and request.pre_vote and version < _FIRST_PRE_VOTE:
            return VoteAnswer(AnswerHeader("UNSUPPORTED_VERSION"))
        body = await connection.ask(request_body(request, version), self._patience_s)
        reply, records = reply_value(body)
        if isinstance(reply, FetchAnswer) and records:
            return msgspec.structs.replace(reply, batches=batches_of(records))
        return reply


def refused(received: Received) -> Entity:
    """NOT_CONTROLLER, of all that was asked: whoever asks looks for the active controller again."""
    answer = error_response(received.start, received.body, ErrorCode.not_controller)
    assert answer is not None, "no Produce is served here"
    return answer


def _now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
