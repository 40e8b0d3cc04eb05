"""A fleet as an analysis: each scenario is played by the controller's own rules in virtual time, a unit by itself.

What is counted, is counted from the first death until nothing happens any more, and only what the scenario did: who had
no leader before, or was under min ISR, is not in it. The image travels as the bytes of a snapshot.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays, Unit
from model.analyses.errors import AnalysisError
from model.analyses.fleets.scenarios import FleetParameters, FleetScenario, scenarios
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.ids import TopicPartition
from model.cluster.snapshot_file import read_snapshot
from model.cluster.snapshot_image import document_of
from model.drills.drill import Drill, play, play_on, usual
from model.drills.scenario import ScenarioError, check
from model.drills.setup import ClusterSetup
from model.drills.timeline import StateWritten
from model.drills.voters import is_kraft
from model.hosts.virtual.scheduled_events import Assumptions

SNAPSHOT = Path("the snapshot of a fleet")


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scenario comes to. Times are seconds of virtual time; sums over partitions are partition-seconds."""

    number: int
    generator: str
    text: str
    controller: int | None = None
    """Who is the controller when it begins."""
    lost: int = 0
    """Partitions whose leader was elected though it was not in sync: acknowledged records may be gone."""
    offline_after: int = 0
    """Partitions that have no leader in the end, and had one."""
    under_min_after: int = 0
    """Partitions that are under min ISR in the end, and were not."""
    leaderless: int = 0
    """Partitions that had no leader for some time."""
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
    ended_s: float = 0.0
    error: str = ""
    """Why it could not be played, one line."""

    @property
    def badness(self) -> tuple[float, ...]:
        """The order of all lists: lost, then offline, then under min ISR, then for how long."""
        return (self.lost, self.offline_after, self.under_min_after, self.leaderless_s, self.under_min_s, self.moved)


class FleetResult(msgspec.Struct, frozen=True):
    """The rows in the order of their numbers."""

    rows: tuple[FleetRow, ...]

    @property
    def worst_first(self) -> tuple[FleetRow, ...]:
        return tuple(sorted(self.rows, key=lambda row: (*(-each for each in row.badness), row.number)))


def fleet_arrays(image: ClusterImage) -> Arrays:
    """What every worker needs of the cluster."""
    return {"image": np.frombuffer(msgspec.json.encode(document_of(image)), np.uint8)}


class Fleet:
    """The analysis."""

    name = "fleet"
    parameters_type = FleetParameters
    result_type = FleetResult

    def units(self, arrays: Arrays, parameters: FleetParameters) -> Sequence[Unit]:
        """A scenario each. The cost is what a play was measured to take, by partitions (see `cost_of`)."""
        cluster = _image(arrays)
        made = scenarios(cluster, parameters)
        if not made:
            raise AnalysisError("no such scenario can be played here: too few brokers live, or they name no racks")
        held = _held(cluster)
        return [Unit(number, cost_of(one, cluster, held)) for number, one in enumerate(made)]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: FleetParameters) -> Arrays:
        """JSON of the rows."""
        rows = list(played(_image(arrays), parameters, units))
        return {"rows": np.frombuffer(msgspec.json.encode(rows), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: FleetParameters) -> FleetResult:
        rows = [row for batch in batches for row in msgspec.json.decode(batch["rows"].tobytes(), type=list[FleetRow])]
        return FleetResult(tuple(sorted(rows, key=lambda row: row.number)))


FLEET = Fleet()


def played(image: ClusterImage, parameters: FleetParameters, units: Iterable[int]) -> Iterator[FleetRow]:
    """These scenarios. Those with one controller share the copy of the cluster, as setting it up takes longest."""
    made = scenarios(image, parameters)
    setups, least = _Setups(image), _least_in_sync(image)
    for number in sorted(units, key=lambda number: (made[number].controller or -1, number)):
        one = made[number]
        try:
            yield _row(number, one, setups.play(one), least)
        except ScenarioError as error:
            yield FleetRow(number=number, generator=one.generator, text=one.text, error=str(error))


class _Setups:
    """The last copy of the cluster that was set up: the next scenario may want the same."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._key: tuple[int | None, Assumptions, bool] | None = None
        self._setup: ClusterSetup | None = None

    def play(self, one: FleetScenario) -> Drill:
        """Raises ScenarioError."""
        check(self._image, one.scenario)
        times = usual(self._image, one.scenario)
        steps = play(self._image, one.scenario, times)
        if not is_kraft(self._image):
            steps = play_on(self._set_up(one, times), one.scenario)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def _set_up(self, one: FleetScenario, times: Assumptions) -> ClusterSetup:
        key = (one.controller, times, one.scenario.unclean)
        if self._setup is None or key != self._key:
            self._key, self._setup = key, ClusterSetup(_ruled_by(self._image, one.controller), times, unclean=key[2])
        return self._setup


def _ruled_by(image: ClusterImage, controller: int | None) -> ClusterImage:
    if controller is None or controller == image.controller.broker:
        return image
    return msgspec.structs.replace(image, controller=msgspec.structs.replace(image.controller, broker=controller))


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
    summary, end_ms = drill.summary, drill.timeline.end_ms
    waits = [outage.lasted_ms(end_ms) for outage in drill.timeline.outages]
    refused = _refused(drill, least)
    return FleetRow(
        number=number,
        generator=one.generator,
        text=one.text,
        controller=one.controller,
        lost=summary.unclean,
        offline_after=summary.newly_offline,
        under_min_after=summary.newly_under_min_isr,
        leaderless=len({outage.partition for outage in drill.timeline.outages}),
        leaderless_s=_seconds(sum(waits)),
        longest_s=_seconds(max(waits, default=0.0)),
        under_min=len(refused),
        under_min_s=_seconds(sum(stretch.length_ms for stretches in refused.values() for stretch in stretches)),
        moved=summary.leaders_moved,
        most_leaders=max((after for _, after in summary.leaders_by_broker.values()), default=0),
        ended_s=_seconds(end_ms),
    )


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


def cost_of(one: FleetScenario, image: ClusterImage, held: dict[int, int]) -> float:
    """About how many ms of processor time a scenario takes."""
    acts = one.scenario.acts
    touched = sum(held.get(broker, 0) for act in acts for broker in act.brokers)
    reloads = image.partition_count if one.controller in one.scenario.felled else 0
    return PLAY_MS + PARTITION_MS * touched + RELOAD_MS * reloads


def _held(image: ClusterImage) -> dict[int, int]:
    """By broker, the replicas that it holds."""
    columns: list[NDArray[np.int32]] = [topic.replicas.ravel() for topic in image.topics.values()]
    brokers, counts = np.unique(np.concatenate([np.empty(0, np.int32), *columns]), return_counts=True)
    return dict(zip(brokers.tolist(), counts.tolist(), strict=True))


@lru_cache(maxsize=1)
def _read(data: bytes) -> ClusterImage:
    return read_snapshot(SNAPSHOT, data)


def _image(arrays: Arrays) -> ClusterImage:
    """A worker keeps the last one."""
    return _read(arrays["image"].tobytes())
