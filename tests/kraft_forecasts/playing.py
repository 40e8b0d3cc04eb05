"""A real KRaft cluster does what a drill plays, and each partition must become, to the epoch, what was forecast.

All of a drill's steps are forecast from the one image before the first of them. A step that comes true in another way
than it was forecast counts against the rules, unless a broker that lives was fenced meanwhile: then the machine was
too slow for the cluster's own timeouts, and the drill says nothing.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

from model.cluster.cluster_image import ClusterImage, state_of
from model.drills.drill import run
from model.drills.scenario import Act, Deed, controllers_named, of_acts, written
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.model.sources.test_metadata_log_source import image_of
from tests.progress import Tell

TRIES = 5
TOGETHER_MS = 1.0
"""Between two deaths whose order is to be the one that is forecast."""
BECOMES_S = 60.0
MORE_THAN_A_SESSION_S = 10.0
Partitions = dict[tuple[str, int], Any]
Standing = tuple[Partitions, set[int], set[int]]
"""The partitions, who is alive and who is fenced."""


class DisturbedError(Exception):
    """The cluster did by itself what nobody asked for, so that no forecast can be held against it."""


def partitions(image: ClusterImage) -> Partitions:
    """Of each its leader, epochs, ISR, ELR, last known ELR, and whether it recovers."""
    return {
        (topic.name, number): (
            state.leader, state.leader_epoch, state.version, set(state.isr), set(state.elr or ()),
            state.last_known_elr or (), state.recovering,
        )
        for topic in image.topics.values()
        for row, number in enumerate(topic.partitions.tolist())
        for state in [state_of(topic, row)]
    }  # fmt: skip


def standing(image: ClusterImage) -> Standing:
    """All that a forecast stands on."""
    return partitions(image), set(image.brokers), set(image.fenced)


class Foreseen:
    """A cluster whose metadata log is read on the disk of a node that runs."""

    def __init__(self, cluster: KraftCluster) -> None:
        self.cluster = cluster
        self._new: set[int] = set()
        """Who has just been started, and is fenced until it has caught up."""

    def image(self) -> ClusterImage:
        """As a voter that runs has written it down, whether a majority has or not."""
        node = next(number for number in self.cluster.voters if self.cluster.nodes[number])
        return image_of(self.cluster.metadata_folder(node))

    def wait_for_sync(self) -> None:
        def in_sync() -> bool:
            image = self.image()
            sizes = (topic.isr_count.tolist() == topic.replica_count.tolist() for topic in image.topics.values())
            return not image.fenced and all(sizes)

        eventually(in_sync, "all replicas in sync", 90)

    def at_rest(self) -> ClusterImage:
        """The cluster, once it is what it was a moment ago. Raises DisturbedError if it does not come to rest."""
        for _ in range(TRIES):
            before = self.image()
            time.sleep(0.5)
            if standing(self.image()) == standing(before):
                return before
        raise DisturbedError(f"it did not rest in {TRIES} tries")

    def plays(self, acts: Sequence[Act]) -> list[Act]:
        """Forecasts all of it, then does it act by act; the acts as they came true, deaths at once in their order.

        Raises AssertionError for the first act after which the cluster is not as was forecast, and DisturbedError.
        """
        before = self.at_rest()
        steps = [[*ways(acts[: number + 1])] for number in range(len(acts))]
        forecasts = [[(way, standing(run(before, of_acts(way)).after)) for way in some] for some in steps]
        if standing(self.image()) != standing(before):
            raise DisturbedError("it moved while it was forecast")
        came_true: list[Act] = []
        for act, possible in zip(acts, forecasts, strict=True):
            self._do(act)
            open_ways = [(way, after) for way, after in possible if way[: len(came_true)] == came_true]
            came_true = self._becomes(open_ways)
        return came_true

    def _becomes(self, possible: Sequence[tuple[list[Act], Standing]]) -> list[Act]:
        """Which of them the cluster becomes."""
        found: list[Standing] = []

        def which() -> list[list[Act]]:
            image = self.image()
            found[:] = [standing(image)]
            if wrongly := {number for number in image.fenced if self.cluster.nodes[number] and number not in self._new}:
                raise DisturbedError(f"{sorted(wrongly)} live and were fenced")
            return [way for way, after in possible if after == found[0]]

        (way, *_) = eventually(
            which, "what was forecast", BECOMES_S, standing=lambda: difference(found[0], [each for _, each in possible])
        )
        self._new.clear()
        return way

    def _do(self, act: Act) -> None:
        match act.deed:
            case Deed.KILL:
                self.cluster.kill(*act.brokers)
            case Deed.STOP:
                for broker in act.brokers:
                    self.cluster.stop(broker)
            case Deed.START:
                self._new.update(act.brokers)
                for broker in act.brokers:
                    self.cluster.start(broker)
            case Deed.LOSE:
                raise ValueError("no disk of theirs is broken")

    def loses_a_majority(self) -> None:
        """Nothing is decided any more: for more than a session nobody is fenced, or leads in place of the dead."""
        before = self.at_rest()
        dead = controllers_named(before, "majority")
        drill = run(before, of_acts([Act(Deed.KILL, dead)]))
        assert drill.turnout is not None and drill.turnout.is_lost
        assert partitions(drill.after) == partitions(before)
        self.cluster.kill(*dead)
        until_s = time.monotonic() + MORE_THAN_A_SESSION_S

        def passed() -> bool:
            assert standing(self.image()) == standing(before)
            return time.monotonic() > until_s

        eventually(passed, "more than a session to pass")


def ways(acts: Sequence[Act]) -> Iterator[list[Act]]:
    """The acts with those who die at once dying one after the other, in every order: who was heard last decides it."""
    yield from ([act for each in way for act in each] for way in product(*(tuple(_orders(act)) for act in acts)))


def _orders(act: Act) -> Iterator[tuple[Act, ...]]:
    if act.deed is not Deed.KILL:
        yield (act,)
        return
    for first, *others in permutations(act.brokers):
        yield (Act(Deed.KILL, (first,)), *(Act(Deed.KILL, (each,), TOGETHER_MS) for each in others))


def difference(found: Standing, forecasts: Sequence[Standing]) -> str:
    """Where the cluster is not as the nearest of the forecasts says."""

    def missed(forecast: Standing) -> list[str]:
        one, other = found[0], forecast[0]
        names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        lines = [
            f"{topic}-{number}: {one.get((topic, number))} forecast {other.get((topic, number))}"
            for topic, number in names
        ]
        return lines if found[1:] == forecast[1:] else [*lines, f"alive, fenced: {found[1:]} forecast {forecast[1:]}"]

    return "\n".join(min(map(missed, forecasts), key=len))


@dataclass
class Report:
    seed: int
    came_true: int = 0
    """Drills."""
    steps: Counter[str] = field(default_factory=Counter[str])
    partitions: int = 0
    """States compared."""
    disturbed: int = 0
    missed: list[str] = field(default_factory=list[str])


class RandomDrills:
    """One after the other, each on topics of its own, of all sorts."""

    def __init__(self, cluster: KraftCluster, seed: int, tell: Tell) -> None:
        self._cluster, self._tell, self._random = cluster, tell, random.Random(seed)
        self._foreseen = Foreseen(cluster)
        self.report = Report(seed)

    def play(self, drills: int, until_s: float = float("inf"), half_way: Callable[[], object] | None = None) -> Report:
        """So many, or those that have begun by this time of the monotonic clock."""
        for number in range(drills):
            if time.monotonic() > until_s:
                break
            if number == drills // 2 and half_way is not None:
                half_way()
            self._drill(number)
        return self.report

    def _drill(self, number: int) -> None:
        names = self._topics(number)
        try:
            self._foreseen.wait_for_sync()
            if self._random.random() < 0.1:
                self._tell("the majority dies")
                self._foreseen.loses_a_majority()
                self.report.steps["majority"] += 1
            else:
                self._acts()
            self.report.came_true += 1
        except DisturbedError as error:
            self.report.disturbed += 1
            self._tell(f"disturbed: {error}")
        except AssertionError as error:
            self.report.missed.append(str(error))
            self._tell(f"missed: {error}")
        finally:
            self._cluster.restore()
            Client(self._cluster.bootstrap).delete(names)

    def _acts(self) -> None:
        acts = [*self._chosen()]
        self._tell(written(acts))
        came_true = self._foreseen.plays(acts)
        self.report.steps.update(act.deed.value for act in came_true)
        self.report.partitions += len(acts) * len(partitions(self._foreseen.image()))

    def _topics(self, number: int) -> list[str]:
        """One to three replicas, a min ISR of one to three, with and without unclean elections."""
        client, nodes = Client(self._cluster.bootstrap), sorted(self._cluster.nodes)
        names = [f"drill-{number}-{topic}" for topic in range(8)]
        for topic, name in enumerate(names):
            size = self._random.randint(1, 3)
            assignment = {partition: self._random.sample(nodes, size) for partition in range(3)}
            unclean = str(topic % 3 == 0).lower()
            at_least = str(self._random.randint(1, 3))
            client.create(name, assignment, min_insync_replicas=at_least, unclean_leader_election_enable=unclean)
        return names

    def _chosen(self) -> Iterator[Act]:
        """Of which every one leaves a majority of the voters."""
        down: set[int] = set()
        for _ in range(self._random.randint(1, 5)):
            living = set(self._cluster.nodes) - down
            deeds = [Deed.KILL, Deed.KILL, Deed.STOP, *([Deed.START, Deed.START] if down else [])]
            deed: Deed = self._random.choice(deeds)
            among = sorted(down if deed is Deed.START else living)
            size = self._random.choice((1, 1, 2)) if deed is Deed.KILL else 1  # who has started first is a race
            some = tuple(sorted(self._random.sample(among, min(size, len(among)))))
            after = down - set(some) if deed is Deed.START else down | set(some)
            voters = self._cluster.voters
            if 2 * len(after.intersection(voters)) > len(voters) or len(after) == len(self._cluster.nodes):
                continue
            down = after
            yield Act(deed, some)
