"""A fleet as an analysis: each scenario is played by the controller's own rules in virtual time, a unit by itself.

What is counted, is counted from the first death until nothing happens any more, and only what the scenario did: who had
no leader before, or was under min ISR, is not in it. The image travels as the bytes of a snapshot.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit, Wave
from model.analyses.fleets.scenarios import Down, FleetParameters, FleetResult, FleetRow, FleetScenario, Scenarios
from model.analyses.fleets.tally import Before, BurstTally, Downtime, lasted, tally_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.snapshot_file import read_snapshot
from model.cluster.snapshot_image import document_of
from model.drills.drill import Bursts, PlayedScenario, run, usual
from model.drills.outcomes import Summary
from model.drills.scenario import ScenarioError, check, dead_brokers, ruled_by, written
from model.drills.setup import ClusterSetup
from model.drills.voters import is_kraft
from model.hosts.process import uncollected
from model.hosts.virtual.scheduled_events import TimingAssumptions, microseconds

_Copy = tuple[int | None, TimingAssumptions, bool]
SNAPSHOT = Path("the snapshot of a fleet")
NOTHING = "no such scenario can be played here: too few brokers live, or they name no racks"


class FleetArrays(dict[str, NDArray[np.generic]]):
    """What every worker needs of a cluster; who made it has the cluster itself, and need not read it again."""

    def __init__(self, image: ClusterImage) -> None:
        super().__init__(image=np.frombuffer(msgspec.json.encode(document_of(image)), np.uint8))
        self.stage = StagedCluster(image)


def fleet_arrays(image: ClusterImage) -> FleetArrays:
    """What every worker needs of the cluster."""
    return FleetArrays(image)


class FleetAnalysis:
    """The analysis."""

    name = "fleet"
    parameters_type = FleetParameters
    result_type = FleetResult

    def units(self, arrays: Arrays, parameters: FleetParameters) -> Sequence[Unit]:
        """A scenario each, of those that `first` and `end` leave; the cost is about what a play takes, in ms."""
        stage = stage_of(arrays)
        made = stage.scenarios(parameters)
        if not made:
            raise AnalysisError(NOTHING)
        return [Unit(number, stage.cost_of(made[number])) for number in made.numbers]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: FleetParameters) -> Arrays:
        """JSON of the rows."""
        with uncollected():  # a tenth of the time: collections would walk through the whole cluster
            rows = list(played(stage_of(arrays), parameters, units))
        return {"rows": np.frombuffer(msgspec.json.encode(rows), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: FleetParameters) -> FleetResult:
        rows = [row for batch in batches for row in msgspec.json.decode(batch["rows"].tobytes(), type=list[FleetRow])]
        return FleetResult(tuple(sorted(rows, key=lambda row: row.number)), len(rows))


FLEET = FleetAnalysis()


def played(stage: "StagedCluster", parameters: FleetParameters, units: Iterable[int]) -> Iterator[FleetRow]:
    """These scenarios. Those that begin alike follow one another, as what they have in common is played once."""
    every = stage.scenarios(parameters)
    made = {number: every[number] for number in units}
    for number in sorted(made, key=lambda number: (*_beginning(made[number]), number)):
        one = made[number]
        try:
            yield stage.play(number, one)
        except ScenarioError as error:
            yield msgspec.structs.replace(_named(number, one), error=str(error))


def _beginning(one: FleetScenario) -> tuple[int, bool, list[tuple[str, tuple[int, ...]]]]:
    acts = [(act.deed.value, act.brokers) for act in one.scenario.acts]
    return (-1 if one.controller is None else one.controller), one.scenario.starts_brokers, acts


def _named(number: int, one: FleetScenario) -> FleetRow:
    return FleetRow(
        number=number,
        generator=one.generator,
        text=one.text,
        scenario=written(one.scenario.acts, one.controller),
        controller=one.controller,
    )


def _row(
    number: int, one: FleetScenario, played: PlayedScenario[BurstTally], after: Summary, *, at_rest: bool = True
) -> FleetRow:
    tally, begun_us = played.sum, played.begun_us
    leaderless = lasted(tally.leaderless_sums, begun_us)
    refused = lasted(tally.refused_sums, begun_us)
    first = tally.first_leaderless
    return FleetRow(
        number=number,
        generator=one.generator,
        text=one.text,
        scenario=written(one.scenario.acts, one.controller),
        controller=one.controller,
        down=tuple(_down(each, begun_us) for each in tally.down),
        unclean_elections=tally.unclean_elections,
        lost=after.unclean,
        offline_after=after.newly_offline,
        under_min_after=after.newly_under_min_isr,
        leaderless=len(tally.leaderless),
        first_leaderless_s=None if first is None else _seconds(begun_us[first.burst] + first.us),
        leaderless_s=_seconds(leaderless.us),
        longest_s=_seconds(leaderless.longest_us),
        under_min=len(tally.refused),
        under_min_s=_seconds(refused.us),
        moved=after.leaders_moved,
        most_leaders=max((now for _, now in after.leaders_by_broker.values()), default=0),
        leaders_after=tuple(now for _, now in after.leaders_by_broker.values()),
        ended_s=_seconds(played.end_us),
        at_rest=at_rest,
    )


def _down(one: Downtime, begun_us: Sequence[int]) -> Down:
    at_us, back = begun_us[one.since.burst] + one.since.us, one.back
    return Down(one.broker, at_us / 1_000, None if back is None else (begun_us[back.burst] + back.us) / 1_000)


def _seconds(us: int) -> float:
    return round(us / 1_000_000, 6)


PLAY_MS, PARTITION_MS, RELOAD_MS = 1.0, 0.06, 0.025
"""A play alone; for each partition with a replica on a victim; for each of the cluster where the controller dies."""
MOST_SAMPLED = 200
"""Scenarios whose cost stands for that of all."""


MOST_ROWS = 40_000
"""Of bursts that a stage remembers: some 100 MB."""
MOST_COPIED = 100_000
"""Partitions on the copies of a cluster that a stage keeps, if that is more than one copy."""


class StagedCluster:
    """A cluster that fleets are played on, and what all scenarios of it need. A worker keeps the last one."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self._partitions = image.partition_count
        columns: list[NDArray[np.int32]] = [topic.replicas.ravel() for topic in image.topics.values()]
        brokers, counts = np.unique(np.concatenate([np.empty(0, np.int32), *columns]), return_counts=True)
        self._held: dict[int, int] = dict(zip(brokers.tolist(), counts.tolist(), strict=True))
        self._numbered: tuple[FleetParameters, Scenarios] | None = None
        self._copies: dict[_Copy, Bursts[BurstTally]] = {}

    @cached_property
    def before(self) -> Before:
        """How it is before any scenario."""
        return Before(self.image)

    @cached_property
    def _dead(self) -> tuple[int, ...]:
        return dead_brokers(self.image)

    def play(self, number: int, one: FleetScenario) -> FleetRow:
        """One scenario. Raises ScenarioError."""
        check(self.image, one.scenario, self._dead)
        found = None if is_kraft(self.image) else self._bursts(one).play(one.scenario)
        if found is not None:
            return _row(number, one, found, found.sum.summary)
        drill = run(ruled_by(self.image, one.controller), one.scenario)
        tally = tally_of(self.before, drill)
        whole = PlayedScenario(tally, (0,), microseconds(drill.timeline.end_ms))
        return _row(number, one, whole, drill.summary, at_rest=drill.at_rest)

    def _bursts(self, one: FleetScenario) -> Bursts[BurstTally]:
        """A copy of the cluster that fits."""
        key = (one.controller, usual(self.image, one.scenario), one.scenario.unclean)
        if sum(each.remembered for each in self._copies.values()) > MOST_ROWS:
            for each in self._copies.values():
                each.forget()
        found = self._copies.pop(key, None)
        if found is None:
            while self._copies and (len(self._copies) + 1) * self._partitions > MOST_COPIED:
                del self._copies[next(iter(self._copies))]  # the one that was not played on for longest
            setup = ClusterSetup(ruled_by(self.image, one.controller), key[1], unclean=key[2])
            found = Bursts(setup, BurstTally(self.before), BurstTally.with_burst)
        self._copies[key] = found
        return found

    def scenarios(self, parameters: FleetParameters) -> Scenarios:
        """As the parameters number them, which is done once for all parts of a fleet."""
        whole = msgspec.structs.replace(parameters, first=0, end=None)
        if self._numbered is None or self._numbered[0] != whole:
            self._numbered = whole, Scenarios(self.image, whole)
        return self._numbered[1].of(parameters)

    def cost_of(self, one: FleetScenario) -> float:
        """About how many ms of processor time a scenario takes."""
        touched = sum(self._held.get(broker, 0) for act in one.scenario.acts for broker in act.brokers)
        reloads = self._partitions if one.controller in one.scenario.felled else 0
        return PLAY_MS + PARTITION_MS * touched + RELOAD_MS * reloads


def waves(
    stage: StagedCluster, parameters: FleetParameters, most: Callable[[], float], todo: Sequence[range] = ()
) -> Iterator[Wave]:
    """The fleet in parts that cost `most()` when they begin, or are MOST_IN_A_WAVE scenarios.

    `todo`: only the scenarios of these numbers.
    """
    every = stage.scenarios(parameters)
    stretches = [*todo] if todo else [every.numbers]
    sampled = [every[number] for each in stretches for number in each[:: max(len(each) // MOST_SAMPLED, 1)]]
    mean_ms = sum(map(stage.cost_of, sampled)) / max(len(sampled), 1)
    left, budget = sum(map(len, stretches)), most()
    for stretch in stretches:
        first, spent = stretch.start, 0.0
        for number in stretch:
            spent += stage.cost_of(every[number])
            if spent >= budget or number + 1 - first == MOST_IN_A_WAVE or number + 1 == stretch.stop:
                left -= number + 1 - first
                part = msgspec.structs.replace(parameters, first=first, end=number + 1)
                yield Wave(part, spent, mean_ms * left)
                first, spent, budget = number + 1, 0.0, most()


FIRST_MS = 500.0
"""Somebody waits for the first wave."""
MOST_IN_A_WAVE = 10_000
"""Whoever plays a million must not hold them all."""


@lru_cache(maxsize=1)
def _set(data: bytes) -> StagedCluster:
    return StagedCluster(read_snapshot(SNAPSHOT, data))


def stage_of(arrays: Arrays) -> StagedCluster:
    """The cluster that arrays of `fleet_arrays` are about."""
    return arrays.stage if isinstance(arrays, FleetArrays) else _set(arrays["image"].tobytes())
