"""A real KRaft cluster does what a drill plays, and each partition must become, to the epoch, what was forecast.

All of a drill's steps are forecast from the one image before the first of them. A step that comes true in another way
than it was forecast counts against the rules, unless a broker that lives was fenced meanwhile: then the machine was
too slow for the cluster's own timeouts, and the drill says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import permutations, product
from typing import Any

from model.cluster.cluster_image import ClusterImage, state_of
from model.drills.drill import run
from model.drills.scenario import Act, Deed, controllers_named, of_acts
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tests.model.sources.test_metadata_log_source import image_of

TRIES = 5
TOGETHER_MS = 1.0
"""Between two deaths whose order is to be the one that is forecast."""
SILENT_S = 4.0
"""So much earlier was one heard than the other of two who die at once, where it matters: more than two heartbeats."""
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
        self._read: tuple[object, ClusterImage] | None = None
        self.came_true: list[Partitions] = []
        """What the partitions became by the acts that were played last, act by act."""

    def image(self) -> ClusterImage:
        """As a voter that runs has written it down, whether a majority has or not."""
        node = next(number for number in self.cluster.voters if self.cluster.nodes[number])
        folder = self.cluster.metadata_folder(node)
        written = node, {path.name: path.stat().st_size for path in folder.glob("*.log")}
        if self._read is None or self._read[0] != written:
            self._read = written, image_of(folder)
        return self._read[1]

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

    def plays(self, acts: Sequence[Act], missed: Sequence[int] = ()) -> list[Act]:
        """Forecasts all of it, then does it act by act; the acts as they came true, deaths at once in their order.

        `missed`: in which order those are missed who die at once; they are made silent so. Else in any.
        Raises AssertionError for the first act after which the cluster is not as was forecast, and DisturbedError.
        """
        self.came_true = []
        before = self.at_rest()
        steps = [[*ways(acts[: number + 1], missed)] for number in range(len(acts))]
        forecasts = [[(way, standing(run(before, of_acts(way)).after)) for way in some] for some in steps]
        if standing(self.image()) != standing(before):
            raise DisturbedError("it moved while it was forecast")
        came_true: list[Act] = []
        for act, possible in zip(acts, forecasts, strict=True):
            self._do(act, missed)
            open_ways = [(way, after) for way, after in possible if way[: len(came_true)] == came_true]
            came_true = self._becomes(open_ways)
        after = next(after for way, after in forecasts[-1] if way == came_true)
        assert standing(self.at_rest()) == after, "it did not stay what was forecast"
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
        self.came_true.append(found[0][0])
        return way

    def _do(self, act: Act, missed: Sequence[int]) -> None:
        match act.deed:
            case Deed.KILL:
                with ExitStack() as silent:
                    for broker in [each for each in missed if each in act.brokers][:-1]:
                        silent.enter_context(self.cluster.paused(broker))
                        time.sleep(SILENT_S)
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
        self.came_true = []
        assert drill.turnout is not None and drill.turnout.is_lost
        assert partitions(drill.after) == partitions(before)
        self.cluster.kill(*dead)
        until_s = time.monotonic() + MORE_THAN_A_SESSION_S

        def passed() -> bool:
            assert standing(self.image()) == standing(before)
            return time.monotonic() > until_s

        eventually(passed, "more than a session to pass")
        self.came_true.append(partitions(before))


def ways(acts: Sequence[Act], missed: Sequence[int] = ()) -> Iterator[list[Act]]:
    """The acts with those who die at once dying one after the other, in every order: who was heard last decides it."""
    orders = (tuple(_orders(act, missed)) for act in acts)
    yield from ([act for each in way for act in each] for way in product(*orders))


def _orders(act: Act, missed: Sequence[int]) -> Iterator[tuple[Act, ...]]:
    if act.deed is not Deed.KILL:
        yield (act,)
        return
    known = [each for each in missed if each in act.brokers]
    for first, *others in [known] if len(known) == len(act.brokers) else permutations(act.brokers):
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
