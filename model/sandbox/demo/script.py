"""A demo's course, played on a ZooKeeper in memory: what happened to it and when, as a source would have told it.

The same plan and the same beginning give the same course, down to transactions and Stats. So whoever knows when a demo
began knows all of it: the tree that a real server is to begin with, the minutes before that, and what brokers would
tell now if there were any. Waits for nobody.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

import msgspec

from model.cluster import records as r
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import CLASSIC, LogDir, Member
from model.consumers.group_coordinator.stored_formats import partition_of
from model.hosts.memory_zookeeper.state import ServerState, answer, end_session, new_server, open_session
from model.sandbox.demo.state import ClassicGroup, DemoPlan, DemoState, consumed, log_end, opening_state
from model.sandbox.demo.tree import CLUSTER, DemoCommand, EndSession, InSession, next_change, opening_commands
from model.sources.source import Batch
from model.sources.zookeeper.translate import is_read, translate
from model.zookeeper import Create, Delete, Missing, Multi, SetData, Znode

ROOT = "/kafka"
STEP_MS = 2_000
SESSION_MS = 10_000
LOOK_STEPS, FOLDERS_STEPS = 5, 150
"""How often brokers would be asked: of groups and the ends of logs, and of their folders."""


class Script:
    """From the beginning on, step by step. For one thread at a time."""

    def __init__(self, plan: DemoPlan, began_ms: int, *, has_tree: bool = True) -> None:
        """`has_tree`: False for somebody who only wants what brokers would tell; it takes half the time."""
        self.state: DemoState = opening_state(plan, began_ms)
        self.server: ServerState = new_server()
        self.sessions: dict[str, int] = {}
        """The sessions that are open, by name."""
        self.number = 0
        """Of the next step."""
        self.touched: list[str] = []
        """Paths that the last step wrote."""
        self._classic: tuple[ClassicGroup, ...] = ()
        """As they were told last."""
        self._has_tree = has_tree
        self._carry_out([InSession(CLUSTER, (Create(""),)), *opening_commands(self.state, began_ms)])

    @property
    def now_ms(self) -> int:
        """When the last step was."""
        return self.state.began_ms + self.number * STEP_MS

    def step(self) -> None:
        """The next step."""
        self.number += 1
        self.state, commands = next_change(self.state, self.number - 1, self.now_ms)
        self.touched = []
        self._carry_out(commands)

    def play(self, steps: int) -> "Script":
        """So many steps."""
        for _ in range(steps):
            self.step()
        return self

    # As a source would tell it

    def listing(self) -> Batch:
        """The whole tree as it is now."""
        paths = [path.removeprefix(ROOT) for path, _ in self.server.tree.items() if path.startswith(f"{ROOT}/")]
        return self._batch(sorted(paths), listing=True)

    def news(self) -> Batch:
        """What the last step changed in the tree."""
        return self._batch(self.touched, touched=tuple(dict.fromkeys(self.touched)))

    def brokers_tell(self, *, everything: bool = False) -> tuple[r.Record, ...]:
        """What brokers would tell now, if they were asked: mostly nothing, as they are asked every ten seconds.

        A group that begins or ends a rebalance is told of at once.
        """
        changed, self._classic = self.state.classic is not self._classic, self.state.classic
        if self.number % LOOK_STEPS and not changed and not everything:
            return ()
        told = (*classic_groups(self.state, self.now_ms), *log_ends(self.state, self.now_ms))
        return (*told, *log_dirs(self.state)) if everything or not self.number % FOLDERS_STEPS else told

    def _batch(self, paths: Iterable[str], *, listing: bool = False, touched: tuple[str, ...] = ()) -> Batch:
        answers = [self._read(path) for path in dict.fromkeys(paths) if is_read(path)]
        records = tuple(translate(answers, self.now_ms, listing=listing))
        return Batch(records, self.server.zxid, self.now_ms, listing, touched=touched, read=answers)

    def _read(self, path: str) -> Znode | Missing:
        node = self.server.tree.get(ROOT + path)
        return Missing(path) if node is None else Znode(path, node.data, node.stat)

    # The tree

    def _carry_out(self, commands: Iterable[DemoCommand]) -> None:
        for command in commands if self._has_tree else ():
            match command:
                case InSession(name, writes) if writes:
                    parts = tuple(_below_root(write) for write in writes)
                    session = self._session(name)
                    done = answer(self.server, session, Multi(parts), self.now_ms)
                    assert done.answer.ok, (command, done.answer)
                    self.server = done.state
                    self.touched += [
                        (made.path or part.path).removeprefix(ROOT)
                        for part, made in zip(parts, done.answer.parts, strict=True)
                    ]
                case EndSession(name):
                    ended = self.sessions.pop(name)
                    owner = self.server.sessions.get(ended)
                    assert owner is not None
                    self.touched += [path.removeprefix(ROOT) for path in owner.closing_order()]
                    self.server = end_session(self.server, ended).state
                case _:
                    pass

    def _session(self, name: str) -> int:
        if name not in self.sessions:
            self.server, self.sessions[name] = open_session(self.server, SESSION_MS)
        return self.sessions[name]


def _below_root(write: Create | SetData | Delete) -> Create | SetData | Delete:
    return msgspec.structs.replace(write, path=ROOT + write.path)


def classic_groups(state: DemoState, now_ms: int) -> Iterator[r.Record]:
    """What coordinators would tell of their groups, and of the offsets in `__consumer_offsets`."""
    readings = {reading.name: reading for reading in state.plan.classic}
    for group in state.classic:
        yield _described(state, group)
        reading = readings[group.name]
        elapsed_ms = now_ms - state.began_ms if group.clients else 0
        offsets = {each: consumed(reading, each.topic, each.partition, elapsed_ms) for each in group.partitions}
        yield r.GroupOffsetsFetched(group=group.name, offsets=offsets)


def _described(state: DemoState, group: ClassicGroup) -> r.GroupDescribed:
    topics = dict.fromkeys((each.topic for each in group.partitions), 1)
    count = sum(topic == OFFSETS_TOPIC for topic, _ in state.partitions)
    coordinator = state.partitions[OFFSETS_TOPIC, partition_of(group.name, count)].leader
    standing = "PreparingRebalance" if group.is_rebalancing else "Stable" if group.clients else "Empty"
    return r.GroupDescribed(
        group=group.name,
        state=standing,
        kind=CLASSIC,
        protocol_type="consumer",
        protocol=group.assignor if group.clients and not group.is_rebalancing else "",
        coordinator=coordinator,
        generation=None if group.is_rebalancing else group.generation,
        members={
            one.member_id: Member({} if group.is_rebalancing else topics, client_id=one.client_id, host=one.host)
            for one in group.clients
        },
        owners=None if group.is_rebalancing else dict(group.owners),
    )


def log_ends(state: DemoState, now_ms: int) -> Iterator[r.Record]:
    """What leaders would tell of the ends of the logs that any group reads."""
    read = {
        *(TopicPartition(group.topic, number) for group in state.groups for number in range(len(group.offsets))),
        *(each for group in state.classic for each in group.partitions),
    }
    ends = {each: log_end(each.topic, each.partition, now_ms - state.began_ms) for each in sorted(read)}
    yield r.LogEndsRead(ends=ends)


def log_dirs(state: DemoState) -> Iterator[r.Record]:
    """What brokers would tell of their log folders, one each: sizes in bytes, which stay as they are."""
    for broker in state.plan.live_brokers:
        sizes = {
            TopicPartition(each.topic, each.number): _size(each.topic, each.number)
            for each in state.partitions.values()
            if broker in each.replicas
        }
        used = sum(sizes.values())
        folder = LogDir("/var/lib/kafka", sizes=sizes, total_bytes=_DISK, usable_bytes=max(_DISK - used, _DISK // 50))
        yield r.LogDirsDescribed(broker=broker, folders=(folder,))


_DISK = 2_000_000_000_000


def _size(topic: str, partition: int) -> int:
    """Bytes."""
    return 1_000_000_000 + crc32(f"{topic}/{partition // 3}".encode()) % 9_000_000_000
