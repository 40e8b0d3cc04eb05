"""A history of records: controllers and brokers that fail, between which followers fetch, producers write, others read.

What happens in the control plane is the same as in histories of controllers; what brokers and clients do comes between
any two steps of it, in whichever order the dice say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.broker.partition import Partition
from model.cluster.ids import TopicPartition
from tests.simulation.history import History, played
from tests.simulation.replication.clients import Clients
from tests.simulation.replication.endings import check_records
from tests.simulation.replication.replicated_cluster import ReplicatedCluster
from tests.simulation.replication.replicating_broker import ReplicatingBroker
from tests.simulation.replication.scenario import ReplicationScenario, replication_scenario_of

TOPIC = "orders"
MOST_ROUNDS = 100
QUIET_ROUNDS = 4
NOTICE_ROUNDS = 6
"""Once nothing fails any more. A round takes a second, notices of ISRs wait for five seconds of quiet."""


class ReplicationHistory(History):
    """`doings` counts what brokers and clients did."""

    def __init__(self, scenario: ReplicationScenario) -> None:
        super().__init__(scenario.controllers)
        self.replication = scenario
        names = [TopicPartition(TOPIC, number) for number in range(scenario.partitions)]
        self.brokers = ReplicatedCluster(scenario, self.cluster, self.dice, self._changed, self._gone)
        self.clients = Clients(names, self.dice, self._reached, self.brokers.ledger)
        self.doings = 0
        self.is_traced = False
        """Whether `acts_done` also tells of every partition that changes."""
        self._healing = False
        self._weighted = [act for act, often in _ACTS.items() for _ in range(often)]

    def boot(self) -> None:
        """All brokers, and a topic."""
        super().boot()
        self.run_for(1_000)
        factor = min(3, len(self.scenario.brokers))
        replicas = {number: self.operation.replicas(factor) for number in range(self.replication.partitions)}
        self.operation.create(TOPIC, replicas)
        self.run_for(1_000)

    def next_act(self) -> str:
        """One of those that concern replication."""
        return self.dice.choice(self._weighted)

    def look(self) -> None:
        """At what is new, which brokers do, too."""
        super().look()
        self.brokers.cuts = self.operation.cuts
        self.brokers.follow()

    def go_on(self) -> None:
        """Brokers and clients do things, and the control plane goes on between them."""
        pace = self.dice.choice((0.05, 0.2, 0.6))
        for _ in range(self.dice.randrange(30, 150)):
            if self.dice.random() < pace:
                self.step()
            else:
                self.do_something()
        if self.dice.random() < 0.3:
            self.run_for(self.dice.choice((50, 500, 5_000, 25_000)))

    def do_something(self) -> None:
        """One broker or one client."""
        self.doings += 1
        awake = self.brokers.awake()
        kind = self.dice.choice(_DOINGS)
        if kind == "produce":
            self.clients.produce()
        elif kind == "consume":
            self.clients.consume()
        elif awake:
            _OF_BROKERS[kind](self.brokers, self.dice.choice(awake))

    def run_for(self, ms: float) -> None:
        """All that is due in this time; once all is healed, brokers do their part until they are at rest."""
        super().run_for(ms)
        if self._healing:
            self._catch_up()

    def heal(self) -> None:
        """Everything is mended, and there is time."""
        self._healing = self.brokers.calm = True
        super().heal()

    def check_ending(self) -> None:
        """Of the control plane, and of records."""
        super().check_ending()
        check_records(self)

    def is_stuck(self, name: TopicPartition, leader: int) -> bool:
        """Whether a leader asked for an ISR in vain, and waits to be told anew."""
        partition = self.brokers.running[leader].held.get(name)
        return partition is not None and partition.leading is not None and partition.leading.pending is not None

    def _catch_up(self) -> None:
        """Until nothing is new any more."""
        needed = NOTICE_ROUNDS if self.replication.settings.rules.notifies_isr_changes else QUIET_ROUNDS
        quiet, before = 0, self.brokers.summary()
        for _ in range(MOST_ROUNDS):
            self._round()
            super().run_for(1_000)
            now = self.brokers.summary()
            quiet = quiet + 1 if now == before else 0
            before = now
            if quiet == needed:
                break

    def _round(self) -> None:
        """Everybody fetches, and asks for what the ISRs should be."""
        for broker in self.brokers.awake():
            for _ in range(2 * self.replication.partitions):
                self.brokers.fetch(broker)
                self.brokers.hear(broker)
            self.brokers.propose(broker)

    def _reached(self) -> list[ReplicatingBroker]:
        return [self.brokers.running[broker] for broker in self.brokers.awake()]

    def _changed(self, broker: ReplicatingBroker, partition: Partition) -> None:
        if self.is_traced:
            self.acts_done.append((self.cluster.now_ms, _told(broker, partition)))
        self.clients.settle(broker, partition)

    def _gone(self, broker: int) -> None:
        self.clients.lose(broker)


def run(seed: int) -> ReplicationHistory:
    """The history of a seed. Raises ViolationError with the seed in front."""
    return played(ReplicationHistory(replication_scenario_of(seed)), "replication")


def _told(broker: ReplicatingBroker, partition: Partition) -> str:
    state, log = partition.state, broker.logs[partition.partition]
    role = "leads" if partition.leads else f"follows {state.leader}"
    isr = f"ISR {list(state.isr)} v{state.partition_epoch}"
    followers = {} if partition.leading is None else partition.leading.followers
    ends = " ".join(f"{follower}@{progress.log_end}" for follower, progress in followers.items())
    pending = "" if partition.leading is None or partition.leading.pending is None else "pending"
    where = f"broker {broker.id} {role} {partition.partition} e{state.leader_epoch} {isr}"
    return f"{where} ends at {log.end} hw {partition.high_watermark} {ends} {pending}"


_ACTS: Mapping[str, int] = {
    "crash": 2,
    "crash the controller": 2,
    "boot": 4,
    "bounce": 3,
    "pause": 2,
    "resume": 3,
    "expire": 3,
    "cut": 3,
    "mend": 3,
    "shut down": 1,
    "depose": 1,
    "reassign": 2,
    "elect preferred": 2,
    "elect unclean": 1,
    "allow unclean": 1,
}
"""And how often."""
_OF_BROKERS: Mapping[str, Callable[[ReplicatedCluster, int], None]] = {
    "fetch": ReplicatedCluster.fetch,
    "hear": ReplicatedCluster.hear,
    "propose": ReplicatedCluster.propose,
    "look": ReplicatedCluster.look,
    "flush": ReplicatedCluster.flush,
    "checkpoint": ReplicatedCluster.checkpoint,
}
_OFTEN = {"fetch": 12, "hear": 12, "produce": 8, "consume": 7, "propose": 4, "look": 2, "flush": 1, "checkpoint": 1}
_DOINGS = [kind for kind, often in _OFTEN.items() for _ in range(often)]
