"""Every case of deaths, stops and starts on a real KRaft cluster, over topics of every sort, against the forecast.

Topics: one to three replicas, a min ISR of one to three, with unclean elections and without, and the replicas of their
partitions in every order. Where a case came out otherwise because the machine was slow, it is played again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice, permutations, product
from typing import NamedTuple

import msgspec

from model.drills.scenario import Act, controllers_named, read_written
from tests.conformance.kafka.client import Client
from tests.harness.kraft import KraftCluster
from tests.kraft_forecasts.foreseen import DisturbedError, Foreseen
from tests.progress import Tell

TRIES = 4
"""To play a case on a machine that is slow now and then."""
MAJORITY = "majority"
SETTINGS = "broker.session.timeout.ms=9000\n"
"""Of the nodes: Kafka's own default, as a busy machine has a broker wait for seconds."""
SORTS = tuple(product((False, True), (1, 2, 3), (1, 2, 3)))
"""Unclean elections, replicas, min ISR."""


class Case(NamedTuple):
    """`acts`: K kills, D stops in order, U starts; brokers 4 and 5 vote not. `missed`: see `Foreseen.plays`."""

    name: str
    acts: str
    missed: tuple[int, ...] = ()


CASES = (
    Case("one killed", "K4 U4"),
    Case("a voter killed", "K{standby} U{standby}"),
    Case("the active controller killed", "K{active} U{active}"),
    Case("the active controller killed with another", "K{active},4 U4 U{active}"),
    Case("two killed at once, 5 heard last", "K4,5 U4 U5", (4, 5)),
    Case("two killed at once, 4 heard last", "K4,5 U4 U5", (5, 4)),
    Case("two killed in turn, back in turn", "K4 K5 U4 U5"),
    Case("two killed in turn, the last one back first", "K4 K5 U5 U4"),
    Case("two stopped, back in turn", "D4 D5 U4 U5"),
    Case("two stopped, the last one back first", "D4 D5 U5 U4"),
    Case("one stopped, one killed, back in turn", "D4 K5 U4 U5"),
    Case("one stopped, one killed, the last one back first", "D4 K5 U5 U4"),
    Case("one killed, one stopped, back in turn", "K4 D5 U4 U5"),
    Case("the active controller stopped", "D{active} U{active}"),
    Case("a majority killed", MAJORITY),
)


@dataclass
class Outcome:
    """Of one case."""

    came_true: bool = False
    states: int = 0
    """Of partitions, compared."""
    refused: int = 0
    """Tries in which the cluster did what nobody had asked for."""
    differences: str = ""
    seen: Counter[str] = field(default_factory=Counter[str])
    """What states there were among those compared."""


class Matrix:
    """On a cluster of five nodes, of which 1 to 3 vote."""

    def __init__(self, cluster: KraftCluster, tell: Tell) -> None:
        self._cluster, self._tell = cluster, tell
        self._foreseen = Foreseen(cluster)
        self._tries = count()

    def play(self, case: Case) -> Outcome:
        """Until it came true, or did not, though the machine was quick enough."""
        outcome = Outcome()
        for _ in range(TRIES):
            self._tell(case.name)
            names: list[str] = []
            try:
                self._try(case, names)
                outcome.came_true = True
                break
            except DisturbedError as error:
                outcome.refused += 1
                self._tell(f"refused: {error}")
            except AssertionError as error:
                outcome.differences = str(error)
                self._tell(f"missed: {error}")
                break
            finally:
                self._count(outcome)
                self._foreseen.came_true = []
                self._cluster.restore()
                Client(self._cluster.bootstrap).delete(names)
        return outcome

    def _try(self, case: Case, names: list[str]) -> None:
        (active,) = controllers_named(self._foreseen.image(), "active")
        standby = next(each for each in self._cluster.voters if each != active)
        acts = [] if case.acts == MAJORITY else acts_of(case.acts.format(active=active, standby=standby))
        involved = [each for act in acts for each in act.brokers] or [active, standby, 4]
        others = [each for each in self._cluster.voters if each not in involved]
        brokers = list(dict.fromkeys((*involved, *others)))[:3]
        names += create_sorts(self._cluster.bootstrap, f"sort-{next(self._tries)}", brokers)
        self._foreseen.wait_for_sync()
        if acts:
            self._foreseen.plays(acts, case.missed)
        else:
            self._foreseen.loses_a_majority()

    def _count(self, outcome: Outcome) -> None:
        for states in self._foreseen.came_true:
            outcome.states += len(states)
            for leader, _, _, _, elr, last_known, recovering in states.values():
                outcome.seen["leaderless"] += leader < 0
                outcome.seen["with an ELR"] += bool(elr)
                outcome.seen["with a last known leader"] += bool(last_known)
                outcome.seen["led by an unclean election"] += recovering


def create_sorts(bootstrap: str, prefix: str, brokers: Sequence[int], *, every: int = 1) -> list[str]:
    """Topics of every sort on these three, with every (second, third …) order of replicas; their names."""
    client, names = Client(bootstrap), list[str]()
    for unclean, size, at_least in SORTS:
        names.append(f"{prefix}-{size}-{at_least}-{unclean}".lower())
        assignment = dict(enumerate(islice(permutations(brokers, size), 0, None, every)))
        config = {"min_insync_replicas": str(at_least), "unclean_leader_election_enable": str(unclean).lower()}
        client.create(names[-1], assignment, **config)
    return names


def acts_of(text: str) -> list[Act]:
    """As `written`, in any order within an act."""
    acts, _ = read_written(text)
    return [msgspec.structs.replace(act, brokers=tuple(sorted(act.brokers))) for act in acts]
