"""A fleet as an analysis: each scenario is played by the controller's own rules in virtual time, a unit by itself.

What is counted, is counted from the first death until nothing happens any more, and only what the scenario did: who had
no leader before, or was under min ISR, is not in it. The image travels as the bytes of a snapshot.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit, Wave
from model.analyses.fleets.scenarios import FleetParameters, FleetScenario, Scenarios
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.ids import TopicPartition
from model.cluster.snapshot_file import read_snapshot
from model.cluster.snapshot_image import document_of
from model.drills.drill import Drill, play, play_on, usual
from model.drills.scenario import ScenarioError, check, ruled_by, written
from model.drills.setup import ClusterSetup
from model.drills.timeline import StateWritten
from model.drills.voters import is_kraft
from model.hosts.process import uncollected
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped
from model.hosts.virtual.scheduled_events import Assumptions

SNAPSHOT = Path("the snapshot of a fleet")
NOTHING = "no such scenario can be played here: too few brokers live, or they name no racks"


class Down(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker that was down: from when to when, in ms of the drill."""

    broker: int
    at_ms: float
    back_ms: float | None = None
    """When it was started again; None: never."""


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scenario comes to. Times are seconds of virtual time; sums over partitions are partition-seconds."""

    number: int
    generator: str
    text: str
    scenario: str
    """What is played, as `model.drills.scenario.written` writes it."""
    controller: int | None = None
    """Who is the controller when it begins."""
    down: tuple[Down, ...] = ()
    """Who was down, in the order in which they fell."""
    unclean_elections: int = 0
    """How often a leader was elected that was not in sync."""
    lost: int = 0
    """Partitions whose leader was elected though it was not in sync: acknowledged records may be gone."""
    offline_after: int = 0
    """Partitions that have no leader in the end, and had one."""
    under_min_after: int = 0
    """Partitions that are under min ISR in the end, and were not."""
    leaderless: int = 0
    """Partitions that had no leader for some time."""
    first_leaderless_s: float | None = None
    """When the first of them lost it."""
    leaderless_s: float = 0.0
    longest_s: float = 0.0
    """The longest that one of them had none."""
    under_min: int = 0
    """Partitions that refused producers with acks=all for some time: without a leader, or under min ISR."""
    under_min_s: float = 0.0
    moved: int = 0
    """Partitions that are led by another broker in the end."""
    most_leaders: int = 0
    """Of one broker, in the end."""
    leaders_after: tuple[int, ...] = ()
    """In the end, by broker in ascending order."""
    ended_s: float = 0.0
    at_rest: bool = True
    """Whether it was over then; else it was still going on after an hour of virtual time."""
    error: str = ""
    """Why it could not be played, one line."""

    @property
    def badness(self) -> tuple[float, ...]:
        """The order of all lists: lost, then offline, then under min ISR, then for how long."""
        return (self.lost, self.offline_after, self.under_min_after, self.leaderless_s, self.under_min_s, self.moved)

    @property
    def hurts(self) -> bool:
        """Whether records are lost, or partitions are left offline or under min ISR."""
        return bool(self.lost or self.offline_after or self.under_min_after)


class FleetResult(msgspec.Struct, frozen=True):
    """The rows in the order of their numbers."""

    rows: tuple[FleetRow, ...]
    scenarios: int = 0
    """Of so many: there are fewer rows while it is played, or where it was stopped."""
    every: int = 1
    """Of the pairs of brokers one in so many is among them."""

    @property
    def worst_first(self) -> tuple[FleetRow, ...]:
        return tuple(sorted(self.rows, key=lambda row: (*(-each for each in row.badness), row.number)))


class FleetArrays(dict[str, NDArray[np.generic]]):
    """What every worker needs of a cluster; who made it has the cluster itself, and need not read it again."""

    def __init__(self, image: ClusterImage) -> None:
        super().__init__(image=np.frombuffer(msgspec.json.encode(document_of(image)), np.uint8))
        self.stage = Stage(image)


def fleet_arrays(image: ClusterImage) -> FleetArrays:
    """What every worker needs of the cluster."""
    return FleetArrays(image)


class Fleet:
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


FLEET = Fleet()


def played(stage: "Stage", parameters: FleetParameters, units: Iterable[int]) -> Iterator[FleetRow]:
    """These scenarios. Those that can share a copy of the cluster follow one another, as setting it up takes long."""
    every, setups = stage.scenarios(parameters), _Setups(stage.image)
    made = {number: every[number] for number in units}
    alike = {number: (one.controller or -1, one.scenario.starts_brokers) for number, one in made.items()}
    for number in sorted(made, key=lambda number: (alike[number], number)):
        one = made[number]
        try:
            yield _row(number, one, setups.play(one), stage.least)
        except ScenarioError as error:
            yield msgspec.structs.replace(_named(number, one), error=str(error))


def _named(number: int, one: FleetScenario) -> FleetRow:
    return FleetRow(
        number=number,
        generator=one.generator,
        text=one.text,
        scenario=written(one.scenario.acts, one.controller),
        controller=one.controller,
    )


class _Setups:
    """The last copy of the cluster that was set up: the next scenario may want the same."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._key: tuple[int | None, Assumptions, bool] | None = None
        self._setup: ClusterSetup | None = None

    def play(self, one: FleetScenario) -> Drill:
        """Raises ScenarioError."""
        if is_kraft(self._image):
            steps = play(self._image, one.scenario)
        else:
            check(self._image, one.scenario)
            steps = play_on(self._set_up(one, usual(self._image, one.scenario)), one.scenario)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def _set_up(self, one: FleetScenario, times: Assumptions) -> ClusterSetup:
        key = (one.controller, times, one.scenario.unclean)
        if self._setup is None or key != self._key:
            self._key, self._setup = key, ClusterSetup(ruled_by(self._image, one.controller), times, unclean=key[2])
        return self._setup


class LeastInSync(NamedTuple):
    """How many have to be in sync; and the partitions in which fewer are already."""

    by_partition: dict[TopicPartition, int]
    were_under: set[TopicPartition]


def _least_in_sync(image: ClusterImage) -> LeastInSync:
    found = health(image, image.topics, surroundings(image))
    columns = found.columns
    names = [TopicPartition(topic.name, number) for topic in columns.topics for number in topic.partitions.tolist()]
    under = np.flatnonzero(found.under_min_isr | found.offline)
    least = dict(zip(names, found.min_isr.tolist(), strict=True))
    return LeastInSync(least, {names[row] for row in under.tolist()})


def _row(number: int, one: FleetScenario, drill: Drill, least: LeastInSync) -> FleetRow:
    summary, timeline = drill.summary, drill.timeline
    waits = [outage.lasted_ms(timeline.end_ms) for outage in timeline.outages]
    refused = _refused(drill, least)
    first_ms = min((outage.from_ms for outage in timeline.outages), default=None)
    return msgspec.structs.replace(
        _named(number, one),
        down=_down(drill),
        unclean_elections=sum(isinstance(row, StateWritten) and row.unclean for row in timeline.rows),
        lost=summary.unclean,
        offline_after=summary.newly_offline,
        under_min_after=summary.newly_under_min_isr,
        leaderless=len({outage.partition for outage in timeline.outages}),
        first_leaderless_s=None if first_ms is None else _seconds(first_ms),
        leaderless_s=_seconds(sum(waits)),
        longest_s=_seconds(max(waits, default=0.0)),
        under_min=len(refused),
        under_min_s=_seconds(sum(stretch.length_ms for stretches in refused.values() for stretch in stretches)),
        moved=summary.leaders_moved,
        most_leaders=max((after for _, after in summary.leaders_by_broker.values()), default=0),
        leaders_after=tuple(after for _, after in summary.leaders_by_broker.values()),
        ended_s=_seconds(timeline.end_ms),
        at_rest=drill.at_rest,
    )


def _down(drill: Drill) -> tuple[Down, ...]:
    found: list[Down] = []
    for row in drill.timeline.rows:
        if isinstance(row, BrokerCrashed | BrokerStopped):
            found.append(Down(row.broker, row.at_ms))
        elif isinstance(row, BrokerBooted):
            back = next(
                (place for place, one in enumerate(found) if (one.broker, one.back_ms) == (row.broker, None)), -1
            )
            if back >= 0:
                found[back] = msgspec.structs.replace(found[back], back_ms=row.at_ms)
    return tuple(found)


def _seconds(ms: float) -> float:
    return round(ms / 1000, 6)


class Stretch(NamedTuple):
    """From when to when, in ms of the drill."""

    from_ms: float
    to_ms: float

    @property
    def length_ms(self) -> float:
        return self.to_ms - self.from_ms


def _refused(drill: Drill, least: LeastInSync) -> dict[TopicPartition, list[Stretch]]:
    """By partition, when producers with acks=all were refused that were not before: stretches that do not overlap."""
    end_ms = drill.timeline.end_ms
    found: dict[TopicPartition, list[Stretch]] = {}
    for outage in drill.timeline.outages:
        stretch = Stretch(outage.from_ms, end_ms if outage.to_ms is None else outage.to_ms)
        found.setdefault(outage.partition, []).append(stretch)
    for name, stretches in _under_min(drill, least, end_ms).items():
        found.setdefault(name, []).extend(stretches)
    return {name: kept for name, some in found.items() if (kept := list(_merged(some)))}


def _under_min(drill: Drill, least: LeastInSync, end_ms: float) -> dict[TopicPartition, list[Stretch]]:
    since: dict[TopicPartition, float] = {}
    found: dict[TopicPartition, list[Stretch]] = {}
    for row in drill.timeline.rows:
        if not isinstance(row, StateWritten) or row.partition in least.were_under:
            continue
        is_under = len(row.after.isr) < least.by_partition.get(row.partition, 1)
        if is_under:
            since.setdefault(row.partition, row.at_ms)
        elif row.partition in since:
            found.setdefault(row.partition, []).append(Stretch(since.pop(row.partition), row.at_ms))
    for name, from_ms in since.items():
        found.setdefault(name, []).append(Stretch(from_ms, end_ms))
    return found


def _merged(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    last: Stretch | None = None
    for stretch in sorted(stretches):
        if last is None or stretch.from_ms > last.to_ms:
            if last is not None:
                yield last
            last = stretch
        else:
            last = Stretch(last.from_ms, max(last.to_ms, stretch.to_ms))
    if last is not None and last.length_ms > 0:
        yield last


PLAY_MS, PARTITION_MS, RELOAD_MS = 20.0, 0.4, 0.035
"""A play alone; for each partition with a replica on a victim; for each of the cluster where the controller dies."""
MOST_SAMPLED = 200
"""Scenarios whose cost stands for that of all."""


class Stage:
    """A cluster that fleets are played on, and what all scenarios of it need. A worker keeps the last one."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self._partitions = image.partition_count
        columns: list[NDArray[np.int32]] = [topic.replicas.ravel() for topic in image.topics.values()]
        brokers, counts = np.unique(np.concatenate([np.empty(0, np.int32), *columns]), return_counts=True)
        self._held: dict[int, int] = dict(zip(brokers.tolist(), counts.tolist(), strict=True))
        self._numbered: tuple[FleetParameters, Scenarios] | None = None

    @cached_property
    def least(self) -> LeastInSync:
        """See `LeastInSync`."""
        return _least_in_sync(self.image)

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
    stage: Stage, parameters: FleetParameters, most: Callable[[], float], todo: Sequence[range] = ()
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
def _set(data: bytes) -> Stage:
    return Stage(read_snapshot(SNAPSHOT, data))


def stage_of(arrays: Arrays) -> Stage:
    """The cluster that arrays of `fleet_arrays` are about."""
    return arrays.stage if isinstance(arrays, FleetArrays) else _set(arrays["image"].tobytes())
