"""Random drills on a real KRaft cluster, one after the other, and whether each came true."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from model.drills.scenario import Act, Deed, written
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.foreseen import DisturbedError, Foreseen, partitions
from tests.progress import Tell


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
