"""One history: a cluster boots, things happen to it, all is healed, and every promise is looked at all the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TypeVar

from model.cluster.ids import TopicPartition
from model.hosts.virtual.virtual_cluster import VirtualCluster
from tests.simulation.acts import Operation
from tests.simulation.endings import check_ending
from tests.simulation.holes import is_forgotten, leaders_left_behind, leaders_of_strays, lost_connection
from tests.simulation.promises import Promises
from tests.simulation.scenario import Scenario, scenario_of
from tests.simulation.violation import ViolationError, promise
from tests.simulation.znodes import partitions

H = TypeVar("H", bound="History")
MOST_STEPS = 40_000
HEALING_MS = 400_000


class History:
    """`acts_done` is what happened, as (virtual ms, name)."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.dice = Random(scenario.seed + 1)
        self.network = scenario.network()
        self.cluster = VirtualCluster(scenario.assumptions, network=self.network)
        self.operation = Operation(self.scenario, self.cluster, self.dice)
        leaders_write = scenario.generation.forms.leaders_write_isrs
        self.promises = Promises(self.cluster, clean=not self.operation.unclean, leaders_write=leaders_write)
        self.acts_done: list[tuple[float, str]] = []
        self.steps = 0

    def run(self) -> None:
        """All of it. Raises ViolationError."""
        self.boot()
        self.run_for(self.dice.choice((0, 200, 2_000)))
        for _ in range(self.scenario.acts):
            self.act(self.next_act())
            self.go_on()
        self.heal()
        self.check_ending()

    def boot(self) -> None:
        """All brokers, at once."""
        for broker in self.scenario.brokers:
            self.operation.start(broker)

    def next_act(self) -> str:
        """What is done next."""
        return self.dice.choice(_WEIGHTED)

    def act(self, name: str) -> None:
        """Do one thing."""
        self.acts_done.append((self.cluster.now_ms, name))
        _ACTS[name](self.operation)
        self.promises.clean = not self.operation.unclean
        self.look()

    def go_on(self) -> None:
        """A few steps, so that the next act comes in the middle of something; or a while."""
        if self.dice.random() < 0.6:
            for _ in range(self.dice.randrange(120)):
                self.step()
        else:
            self.run_for(self.dice.choice((50, 500, 5_000, 25_000)))

    def step(self) -> bool:
        """One thing happens, and nothing may be wrong after it."""
        moved = self.cluster.step()
        self.steps += 1
        promise(self.steps < MOST_STEPS, "it never comes to rest")
        self.look()
        return moved

    def look(self) -> None:
        """At what is new: nothing may be wrong. Raises ViolationError."""
        self.promises.check()

    def run_for(self, ms: float) -> None:
        """All that is due in this time."""
        until_ms = self.cluster.now_ms + ms
        while not self.cluster.at_rest and self.cluster.next_ms <= until_ms:
            self.step()
        self.cluster.run_until(until_ms)
        self.look()

    def heal(self) -> None:
        """Everything is mended, everybody is there, and there is time."""
        self.acts_done.append((self.cluster.now_ms, "heal"))
        self.network.calm = True
        for link in sorted(self.operation.cuts):
            self.cluster.mend(*link)
        self.operation.cuts.clear()
        for broker in sorted(self.operation.paused & set(self.cluster.brokers)):
            self.cluster.resume(broker)
        self.run_for(HEALING_MS)
        self._restart({broker for broker in self.cluster.brokers if self._is_useless(broker)})
        forgotten = any(is_forgotten(self, *partition) for partition in partitions(self.cluster.zookeeper))
        if lost_connection(self) or forgotten:
            self.operation.depose()
            self.run_for(HEALING_MS)
        misled = leaders_left_behind(self) | leaders_of_strays(self)
        if misled:
            self._restart(misled)

    def check_ending(self) -> None:
        """What must be true in the end. Raises ViolationError."""
        check_ending(self)

    def is_stuck(self, name: TopicPartition, leader: int) -> bool:
        """Whether a leader was told that it is out of date, and waits to be told anew."""
        partition = self.cluster.process(leader).broker.held.get(name)
        return partition is not None and partition.leading is not None and partition.leading.pending is not None

    def _restart(self, useless: set[int]) -> None:
        """These, and whoever is not there."""
        for broker in self.scenario.brokers:
            if broker in useless:
                self.cluster.crash(broker)
                self.cluster.expire(broker)
            if broker not in self.cluster.brokers:
                self.operation.start(broker)
        self.run_for(HEALING_MS)

    def _is_useless(self, broker: int) -> bool:
        """It found another process registered under its id, or lost a log dir: an operator restarts it."""
        process = self.cluster.process(broker)
        return process.broker.epoch < 0 or bool(process.broker.offline)


def run(seed: int) -> History:
    """The history of a seed. Raises ViolationError with the seed in front."""
    return played(History(scenario_of(seed)), "controller")


def played(history: H, kind: str) -> H:
    """A history of this kind, once it is over. Raises ViolationError with the seed in front, also for a crash."""
    seed = history.scenario.seed
    told = f"seed {seed}: {{}}\n  uv run python -m tests.simulation --kind {kind} --seed {seed} --trace"
    try:
        history.run()
    except ViolationError as violation:
        raise ViolationError(told.format(violation)) from None
    except Exception as error:
        raise ViolationError(told.format(repr(error))) from error
    return history


_ACTS: Mapping[str, Callable[[Operation], None]] = {
    "crash": Operation.crash,
    "crash the controller": Operation.crash_controller,
    "boot": Operation.boot,
    "bounce": Operation.bounce,
    "pause": Operation.pause,
    "resume": Operation.resume,
    "expire": Operation.expire,
    "cut": Operation.cut,
    "mend": Operation.mend,
    "shut down": Operation.shut_down,
    "fail a log dir": Operation.fail_log_dir,
    "depose": Operation.depose,
    "create": Operation.create_topic,
    "delete": Operation.delete_topic,
    "add partitions": Operation.add_partitions,
    "reassign": Operation.reassign,
    "cancel": Operation.cancel,
    "reassign by znode": Operation.reassign_by_znode,
    "elect preferred": Operation.elect_preferred,
    "elect preferred by znode": Operation.elect_preferred_by_znode,
    "elect unclean": Operation.elect_unclean,
    "allow unclean": Operation.allow_unclean,
}
_OFTEN = {"create": 4, "crash the controller": 2, "boot": 3, "reassign": 3, "resume": 2, "mend": 2, "bounce": 2}
_WEIGHTED = [name for name in _ACTS for _ in range(_OFTEN.get(name, 1))]
