"""The cluster that `kdrill --demo` opens: a shop's topics on twelve brokers in three racks, with trouble of every kind;
and a demo's course, played on a ZooKeeper in memory: what happened to it and when, as a source would have told it.

The plan is a value only: forty topics of 500 partitions, one broker dead, another overloaded, a third so new that it
holds little. The same plan and the same beginning give the same course, down to transactions and Stats. So whoever
knows when a demo began knows all of it: the tree that a real server is to begin with, the minutes before that, and what
brokers would tell now if there were any. Waits for nobody.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

import msgspec

from model.cluster import records as r
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import CLASSIC, LogDir, Member
from model.consumers.group_coordinator.stored_formats import partition_of
from model.hosts.memory_zookeeper.state import ServerState, answer, end_session, new_server, open_session
from model.sandbox.demo.state import (
    ClassicGroup,
    DemoPlan,
    DemoState,
    DemoStep,
    DemoTopic,
    Incident,
    Reading,
    consumed,
    log_end,
    opening_state,
)
from model.sandbox.demo.tree import (
    CLUSTER,
    DemoCommand,
    EndSession,
    InSession,
    client_joins,
    client_leaves,
    commit_offsets,
    consumer_joins,
    consumer_leaves,
    elect_preferred,
    expand_isr,
    move_controller,
    move_leader,
    next_change,
    opening_commands,
    rebalance_ends,
    shrink_isr,
)
from model.sources.source import FactBatch
from model.sources.zookeeper.translate import is_read, translate
from model.zookeeper import Create, Delete, Missing, Multi, SetData, Znode

_COMPACT = {"cleanup.policy": "compact"}
_DAY = {"retention.ms": "86400000"}
_SAFE = {"min.insync.replicas": "2"}
_WEEK = {"min.insync.replicas": "2", "retention.ms": "604800000"}

_TOPICS = (
    DemoTopic("orders", 24, _WEEK),
    DemoTopic("payments", 24, {**_SAFE, "unclean.leader.election.enable": "false"}),
    DemoTopic("shipments", 18, _SAFE, on_dead_broker=True),
    DemoTopic("returns", 12, _SAFE),
    DemoTopic("refunds", 6, _SAFE, on_new_broker=True),
    DemoTopic("invoices", 12, _SAFE),
    DemoTopic("customers", 12, _COMPACT),
    DemoTopic("addresses", 6, _COMPACT),
    DemoTopic("sessions", 18, {**_DAY, "compression.type": "lz4"}),
    DemoTopic("inventory", 12, _COMPACT),
    DemoTopic("warehouses", 3, _COMPACT),
    DemoTopic("stock-levels", 12, _COMPACT, on_dead_broker=True),
    DemoTopic("prices", 12, {"cleanup.policy": "compact,delete"}),
    DemoTopic("promotions", 6),
    DemoTopic("coupons", 6, on_new_broker=True),
    DemoTopic("clicks", 36, {**_DAY, "compression.type": "lz4"}),
    DemoTopic("page-views", 30, _DAY),
    DemoTopic("search-queries", 18, on_dead_broker=True),
    DemoTopic("recommendations", 12, on_new_broker=True),
    DemoTopic("carts", 18),
    DemoTopic("wishlists", 6, _COMPACT),
    DemoTopic("reviews", 9),
    DemoTopic("ratings", 6, _COMPACT),
    DemoTopic("fraud-scores", 12, {"unclean.leader.election.enable": "true"}),
    DemoTopic("chargebacks", 6, _SAFE),
    DemoTopic("ledger", 12, {**_SAFE, "retention.ms": "-1"}),
    DemoTopic("audit-log", 6, {**_SAFE, "retention.ms": "-1"}),
    DemoTopic("emails", 9, on_dead_broker=True),
    DemoTopic("notifications", 12),
    DemoTopic("sms", 3, replication_factor=2, in_one_rack=True),
    DemoTopic("courier-positions", 18, _DAY),
    DemoTopic("delivery-slots", 6),
    DemoTopic("support-tickets", 6),
    DemoTopic("app-metrics", 24, _DAY, replication_factor=2),
    DemoTopic("app-logs", 18, _DAY, on_dead_broker=True, replication_factor=2),
    DemoTopic("feature-flags", 3, {**_COMPACT, "min.insync.replicas": "3"}),
    DemoTopic("experiments", 6, on_new_broker=True),
    DemoTopic("dead-letters", 4, on_dead_broker=True, replication_factor=1),
    DemoTopic("legacy-events", 12, on_dead_broker=True),
    DemoTopic("__consumer_offsets", 25, {**_COMPACT, "segment.bytes": "104857600"}),
)

_READINGS = (
    # Eight threads for 24 partitions.
    Reading("billing", ("payments",), hosts=4, abandoned=frozenset({23})),
    Reading("order-warehouse", ("orders",), hosts=3, lag_s=6.0, swing=0.6),
    Reading("clickstream", ("clicks",), hosts=6, lag_s=180.0, swing=0.5, period_s=1_200.0),
    Reading("mailer", ("emails",), hosts=2),
    # Six threads for three partitions: half of them are idle.
    Reading("sms-gateway", ("sms",), hosts=3, lag_s=4.0),
    # One consumer that does not keep up.
    Reading("audit-archiver", ("audit-log",), hosts=1, lag_s=240.0, swing=0.4, period_s=1_500.0),
)


_CLASSIC = (
    Reading("checkout", ("orders", "payments", "carts"), hosts=5, lag_s=2.0, assignor="cooperative-sticky"),
    Reading(
        "search-indexer",
        ("inventory", "prices", "promotions", "reviews"),
        hosts=4,
        lag_s=60.0,
        swing=0.7,
        period_s=420.0,
    ),
    Reading("fraud-detector", ("payments", "chargebacks"), hosts=3, lag_s=3.0, assignor="cooperative-sticky"),
    Reading("recommender", ("page-views", "clicks"), hosts=8, lag_s=120.0, swing=0.5, period_s=1_300.0),
    Reading("courier-tracker", ("courier-positions",), hosts=6, lag_s=4.0),
    # Nobody reads any more, and nobody has deleted the group.
    Reading("report-2019", ("returns",), hosts=0),
)


def _round() -> tuple[DemoStep, ...]:
    """Three minutes: in every other step a group commits, and in between something happens to the cluster."""
    churn = (shrink_isr, shrink_isr, expand_isr, shrink_isr, expand_isr, expand_isr)
    leaving = (*churn, move_leader, client_leaves, rebalance_ends, consumer_leaves)
    joining = (*churn, elect_preferred, client_joins, rebalance_ends, consumer_joins)
    happens = (*leaving, *churn, *joining, *leaving, *joining, move_controller)
    return tuple(step for each in happens for step in (commit_offsets, each))


LARGE = DemoPlan(
    cluster_id="kdrill-demo-cluster-00",
    racks={"rack-a": (1, 4, 7, 10), "rack-b": (2, 5, 8, 11), "rack-c": (3, 6, 9, 12)},
    dead_broker=5,
    controller=4,
    controller_epoch=40,
    topics=_TOPICS,
    topic_being_deleted="legacy-events",
    readings=_READINGS,
    incidents={
        ("page-views", 5): (Incident.OFF_PREFERRED, 0),
        ("page-views", 14): (Incident.OFF_PREFERRED, 0),
        ("reviews", 2): (Incident.OFF_PREFERRED, 0),
        ("inventory", 5): (Incident.UNREADABLE, 0),
        ("clicks", 3): (Incident.MOVING, 31),
        ("clicks", 12): (Incident.MOVING, 31),
        ("clicks", 21): (Incident.MOVING, 31),
        ("clicks", 30): (Incident.MOVING, 31),
        ("fraud-scores", 4): (Incident.UNCLEAN, 91),
        ("notifications", 8): (Incident.OFF_PREFERRED, 101),
        ("courier-positions", 9): (Incident.OFF_PREFERRED, 101),
        ("sessions", 5): (Incident.SLOW_FOLLOWER, 141),
        ("wishlists", 0): (Incident.STUCK, 161),
        ("carts", 11): (Incident.SLOW_FOLLOWER, 181),
        ("payments", 4): (Incident.ALONE, 221),
        ("payments", 17): (Incident.ALONE, 231),
        ("orders", 7): (Incident.SLOW_FOLLOWER, 241),
        ("ledger", 6): (Incident.ALONE, 267),
    },
    steps=_round(),
    classic=_CLASSIC,
    dies_at=81,
    deletion_at=121,
    past=300,
    age_ms=40 * 86_400_000,
    new_broker=12,
    favourites=(3,),
)
"""Each change of a round is undone by a later one, so that the cluster stays as healthy as it was."""


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

    def listing(self) -> FactBatch:
        """The whole tree as it is now."""
        paths = [path.removeprefix(ROOT) for path, _ in self.server.tree.items() if path.startswith(f"{ROOT}/")]
        return self._batch(sorted(paths), listing=True)

    def news(self) -> FactBatch:
        """What the last step changed in the tree."""
        return self._batch(self.touched, touched=tuple(dict.fromkeys(self.touched)))

    def brokers_tell(self, *, everything: bool = False) -> tuple[r.ClusterRecord, ...]:
        """What brokers would tell now, if they were asked: mostly nothing, as they are asked every ten seconds.

        A group that begins or ends a rebalance is told of at once.
        """
        changed, self._classic = self.state.classic is not self._classic, self.state.classic
        if self.number % LOOK_STEPS and not changed and not everything:
            return ()
        told = (*classic_groups(self.state, self.now_ms), *log_ends(self.state, self.now_ms))
        return (*told, *log_dirs(self.state)) if everything or not self.number % FOLDERS_STEPS else told

    def _batch(self, paths: Iterable[str], *, listing: bool = False, touched: tuple[str, ...] = ()) -> FactBatch:
        answers = [self._read(path) for path in dict.fromkeys(paths) if is_read(path)]
        records = tuple(translate(answers, self.now_ms, listing=listing))
        return FactBatch(records, self.server.zxid, self.now_ms, listing, touched=touched, read=answers)

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


def classic_groups(state: DemoState, now_ms: int) -> Iterator[r.ClusterRecord]:
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


def log_ends(state: DemoState, now_ms: int) -> Iterator[r.ClusterRecord]:
    """What leaders would tell of the ends of the logs that any group reads."""
    read = {
        *(TopicPartition(group.topic, number) for group in state.groups for number in range(len(group.offsets))),
        *(each for group in state.classic for each in group.partitions),
    }
    ends = {each: log_end(each.topic, each.partition, now_ms - state.began_ms) for each in sorted(read)}
    yield r.LogEndsRead(ends=ends)


def log_dirs(state: DemoState) -> Iterator[r.ClusterRecord]:
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
