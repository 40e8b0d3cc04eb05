"""Each broker removed in turn, as an analysis: a plan and its drills a unit. Brokers do not depend on each other.

With it what the worst failure would do to a cluster, in few figures, to be held beside those after a plan; and a
cluster as arrays for plans and drills alike, in which topics are numbers.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from model.analyses import AnalysisError, analysis
from model.analyses.analysis import Arrays, Unit
from model.analyses.drills.results import DEFAULT_RATE, DrillParameters, DrillResult, Kind
from model.analyses.drills.sweep import DRILLS
from model.analyses.image_arrays import MANY, arrays_of, racks_of, topics_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import NOBODY, Column, Ints
from model.drills.voters import NOT_FORECAST, VOTERS_UNKNOWN
from model.planning.layout import ReplicaLayout, Sizes, balance_of, cordoned_brokers, cost_of
from model.planning.optimum.solving import solve
from model.planning.planner import Solve, chosen
from model.planning.request import By, PlanError, PlanRequest, Reach, on_any, setting_of

Columns = Mapping[str, Column]
"""Arrays, for arithmetic."""


def plan_arrays(image: ClusterImage, sizes: Sizes | None) -> Arrays:
    """`image_arrays`; `size` int64[N], empty where no size is known, and who has none, as -1; `cordoned` bool[B]."""
    arrays = arrays_of(image)
    cordoned = np.isin(arrays["brokers"], list(cordoned_brokers(image)))
    size = np.empty(0, np.int64)
    if sizes is not None:
        topics = topics_of(image)
        rows = zip(arrays["topic"].tolist(), arrays["partition"].tolist(), strict=True)
        names = [TopicPartition(topics[topic], number) for topic, number in rows]
        size = np.array([sizes.bytes.get(name, -1) for name in names], np.int64)
    return {**arrays, "size": size, "cordoned": cordoned}


def layout_in(arrays: Columns, racks: tuple[str, ...]) -> ReplicaLayout:
    """The layout that the arrays describe; partitions without replicas are left out of it."""
    rows = np.flatnonzero(assigned(arrays))
    brokers, topic = arrays["brokers"], arrays["topic"][rows]
    size, known = arrays["size"][rows] if len(arrays["size"]) else arrays["size"], np.zeros(0, np.bool_)
    if len(size):
        known = size >= 0
        size = np.where(known, size, round(float(size[known].mean())) if known.any() else 0)
    live: list[int] = np.flatnonzero(arrays["live"]).tolist()
    named = {int(brokers[place]): int(arrays["rack"][place]) for place in live}
    return ReplicaLayout(
        topics=tuple(map(str, range(int(topic.max(initial=-1)) + 1))),
        topic=topic.astype(np.int32),
        partition=arrays["partition"][rows].astype(np.int32),
        replicas=_ids(brokers, arrays["replicas"][rows]),
        leader=_ids(brokers, arrays["leader"][rows]),
        size=size.astype(np.int64) if known.any() else None,
        guessed=int((~known).sum()),
        busy=(arrays["adding"][rows] | arrays["removing"][rows]) != 0,
        racks={broker: racks[rack] if rack >= 0 else None for broker, rack in named.items()},
        cordoned=frozenset(brokers[arrays["cordoned"]].tolist()),
    )


def without(arrays: Columns, broker: int, replicas: Ints) -> Arrays:
    """The arrays once the replicas are these int32[assigned, W], in sync, led by the first, and the broker is gone."""
    rows, brokers = np.flatnonzero(assigned(arrays)), arrays["brokers"]
    width = max(arrays["replicas"].shape[1], replicas.shape[1])
    after = np.full((len(arrays["replicas"]), width), NOBODY, np.int32)
    places = np.searchsorted(brokers, replicas)
    after[rows, : replicas.shape[1]] = np.where(replicas == NOBODY, NOBODY, places)
    live = arrays["live"] & (brokers != broker)
    old = _widened(arrays["replicas"], width)
    moved = (after != old).any(axis=1)
    alive = (after != NOBODY) & live[after.clip(min=0)]
    leads = np.where(alive.any(axis=1), after[np.arange(len(after)), alive.argmax(axis=1)], NOBODY)
    in_sync = (alive.astype(np.int64) << np.arange(width, dtype=np.int64)).sum(axis=1)
    return {
        **arrays,
        "live": live,
        "replicas": after,
        "strangers": np.empty((len(after), 0), np.int32),
        "isr": np.where(moved, in_sync, _bits_within(arrays, width)),
        "elr": np.where(moved, 0, arrays["elr"]),
        "leader": np.where(moved, leads, arrays["leader"]).astype(np.int32),
        "controller": np.where(
            np.append(live, True)[arrays["controller"].clip(min=0)], arrays["controller"], NOBODY
        ).astype(np.int32),
        "voter": arrays["voter"] & live,
        "spare": arrays["spare"] - int((arrays["voter"] & ~live).sum()),
    }


def replicas_by_broker(arrays: Columns) -> dict[int, int]:
    """Live broker → how many replicas it has."""
    brokers, replicas, live = arrays["brokers"], arrays["replicas"], arrays["live"]
    held = np.bincount(replicas[replicas != NOBODY], minlength=len(brokers))
    return dict(zip(brokers[live].tolist(), held[live].tolist(), strict=True))


def assigned(arrays: Columns) -> Column:
    """bool[N]: whether the partition has replicas."""
    return arrays["replicas"][:, 0] != NOBODY


def _ids(brokers: Column, places: Column) -> Ints:
    if not len(brokers):
        return np.full_like(places, NOBODY, np.int32)
    return np.where(places == NOBODY, NOBODY, brokers[places.clip(min=0)]).astype(np.int32)


def _widened(rows: Column, width: int) -> Column:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=NOBODY)


def _bits_within(arrays: Columns, width: int) -> Column:
    """The ISR's bits of replicas; those of strangers, which lie above them, are dropped."""
    return arrays["isr"] & ((1 << arrays["replicas"].shape[1]) - 1)


PAIRS_UP_TO = 1_000
"""Live brokers of which every pair is drilled; beyond, there are too many to wait for."""


class Worst(msgspec.Struct, frozen=True):
    """The scenario of its kind that hurts most partitions; `kill` is empty where none hurts any.

    One that leaves a KRaft quorum without its majority is worse than all others.
    """

    kill: tuple[int, ...]
    rack: str | None
    hurt: int
    """Newly offline, newly under min ISR, or led uncleanly."""
    offline: int
    """Newly offline."""
    quorum_lost: bool = False
    """Whether a KRaft quorum loses its majority: nothing is elected any more."""


class DrillFigures(msgspec.Struct, frozen=True):
    """The worst of every broker, pair and rack. None: that was not drilled, or there is no such scenario."""

    broker: Worst | None
    pair: Worst | None
    rack: Worst | None
    loss_rate: float
    """The probability that a broker dies before another is replaced."""
    loss: float | None
    """The probability that data is lost then: all in-sync replicas of some partition die together."""
    loss_exact: bool = False
    not_forecast: str = ""
    """What none of this says, on a KRaft cluster."""


def figures_of(image: ClusterImage, rate: float = DEFAULT_RATE) -> DrillFigures:
    """The figures of a cluster. Raises AnalysisError, one line, where it cannot be drilled."""
    return figures(arrays_of(image), racks_of(image), rate)


def figures(arrays: Arrays, racks: tuple[str, ...], rate: float = DEFAULT_RATE) -> DrillFigures:
    """As `figures_of`, of its arrays."""
    brokers = _drilled(arrays, racks, "brokers", rate)
    pairs = None if int(np.count_nonzero(arrays["live"])) > PAIRS_UP_TO else _drilled(arrays, racks, "pairs", rate)
    chances = () if brokers is None else brokers.loss
    loss = next((one for one in chances if one.rate is not None), None)
    return DrillFigures(
        broker=_worst(brokers),
        pair=_worst(pairs),
        rack=_worst(_drilled(arrays, racks, "racks", rate)),
        loss_rate=rate,
        loss=None if loss is None else loss.probability,
        loss_exact=loss is not None and loss.exact,
        not_forecast=_not_forecast(arrays),
    )


def _not_forecast(arrays: Arrays) -> str:
    if int(arrays["controller"][0]) != len(arrays["brokers"]):
        return ""
    return VOTERS_UNKNOWN if int(arrays["spare"][0]) == MANY else NOT_FORECAST


def _drilled(arrays: Arrays, racks: tuple[str, ...], kind: Kind, rate: float) -> DrillResult | None:
    """None where there is no scenario of the kind that anybody outlives."""
    try:
        return analysis.run_here(
            DRILLS, arrays, DrillParameters(kind=kind, racks=racks, listed=1, detailed=0, failure_rate=rate)
        )
    except AnalysisError:
        return None


def _worst(result: DrillResult | None) -> Worst | None:
    if result is None:
        return None
    first = next(iter(result.listed), None)
    found = first if first is not None and first.quorum_lost else result.worst.get("hurt")
    if found is None:
        return Worst((), None, 0, 0)
    return Worst(found.kill, found.rack, found.counts.hurt, found.counts.newly_offline, found.quorum_lost)


EACH_BROKER_FORMAT = "kdrill.plans/1"


class EachBrokerParameters(msgspec.Struct, frozen=True, kw_only=True):
    """How each plan is to be made; the fields mean what they mean in `PlanRequest`.

    `brokers` are those to remove in turn, none: every live one. `racks` are the racks' names by number.
    """

    brokers: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    reach: Reach = "balance"
    by: By = "count"
    tolerance_percent: float = 0.0
    capacity: int | None = None
    failure_rate: float = DEFAULT_RATE


class WithoutBroker(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to do without one broker, and what is left then."""

    broker: int
    rack: str | None
    hurt_by_death: int
    """Partitions newly offline, newly under min ISR or led uncleanly if it dies now."""
    moves: int
    moves_bound: int
    bytes: int | None
    leader_changes: int
    replicas_spread: int
    leaders_spread: int
    disk_spread_percent: float | None
    rack_violations: int | None
    left: int
    """Partitions that stay on it: being reassigned, or without a live leader."""
    drills: DrillFigures
    """When it is gone."""


class NoPlan(msgspec.Struct, frozen=True):
    """A broker that cannot be done without, and why."""

    broker: int
    reason: str


class EachBrokerResult(msgspec.Struct, frozen=True, kw_only=True):
    """Every broker by id, and how drills are now."""

    brokers: tuple[WithoutBroker, ...]
    impossible: tuple[NoPlan, ...]
    now: DrillFigures


Row = WithoutBroker | NoPlan


class EachBroker:
    """See `model.analyses.analysis.Analysis`. A unit is a broker's id."""

    name = "plans"
    parameters_type = EachBrokerParameters
    result_type = EachBrokerResult

    def __init__(self, solver: Solve = solve) -> None:
        self._solve = solver

    def units(self, arrays: Arrays, parameters: EachBrokerParameters) -> Sequence[Unit]:
        """The brokers; what one holds must move, the rest of the work is the same for all."""
        held = replicas_by_broker(arrays)
        if strange := set(parameters.brokers) - held.keys():
            raise AnalysisError(f"broker {min(strange)} is not alive here")
        every = len(arrays["topic"])
        return [Unit(broker, every + held[broker]) for broker in parameters.brokers or held]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: EachBrokerParameters) -> Arrays:
        """The rows of these brokers, as JSON in bytes: they are few, and not only numbers."""
        rows = [self._row(broker, arrays, parameters) for broker in units]
        return {"rows": np.frombuffer(msgspec.json.encode([_tagged(row) for row in rows]), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: EachBrokerParameters) -> EachBrokerResult:
        """By broker, with what its death does now."""
        rows = sorted((row for batch in batches for row in _read(batch)), key=lambda row: row.broker)
        hurt = _hurt_by_death(arrays, parameters)
        return EachBrokerResult(
            brokers=tuple(
                msgspec.structs.replace(row, hurt_by_death=hurt[row.broker])
                for row in rows
                if isinstance(row, WithoutBroker)
            ),
            impossible=tuple(row for row in rows if isinstance(row, NoPlan)),
            now=figures(arrays, parameters.racks, parameters.failure_rate),
        )

    def _row(self, broker: int, arrays: Arrays, parameters: EachBrokerParameters) -> Row:
        layout = layout_in(arrays, parameters.racks)
        request = PlanRequest(
            remove=(broker,),
            reach=parameters.reach,
            by=parameters.by,
            tolerance_percent=parameters.tolerance_percent,
            capacity=parameters.capacity,
        )
        try:
            setting = setting_of(layout, request)
            after, bound = chosen(layout, setting, request, self._solve)
        except PlanError as error:
            return NoPlan(broker, str(error))
        cost, later = cost_of(layout.replicas, after, layout.size), layout.with_replicas(after)
        balance = balance_of(later, setting.staying, setting.racks, setting.rack_rule)
        return WithoutBroker(
            broker=broker,
            rack=layout.racks[broker],
            hurt_by_death=0,
            moves=cost.moves,
            moves_bound=bound.moves,
            bytes=cost.bytes,
            leader_changes=cost.leader_changes,
            replicas_spread=balance.replicas.spread,
            leaders_spread=balance.leaders.spread,
            disk_spread_percent=balance.disk_spread_percent,
            rack_violations=balance.rack_violations,
            left=int(on_any(later, [broker]).sum()),
            drills=figures(without(arrays, broker, after), parameters.racks, parameters.failure_rate),
        )


def _hurt_by_death(arrays: Arrays, parameters: EachBrokerParameters) -> dict[int, int]:
    live = int(np.count_nonzero(arrays["live"]))
    asked = DrillParameters(kind="brokers", racks=parameters.racks, listed=live, detailed=0)
    return {one.kill[0]: one.counts.hurt for one in analysis.run_here(DRILLS, arrays, asked).listed}


class _Tagged(msgspec.Struct):
    found: WithoutBroker | None = None
    none: NoPlan | None = None


def _tagged(row: Row) -> _Tagged:
    return _Tagged(none=row) if isinstance(row, NoPlan) else _Tagged(found=row)


def _read(batch: Arrays) -> list[Row]:
    tagged = msgspec.json.decode(batch["rows"].tobytes(), type=list[_Tagged])
    return [row for one in tagged if (row := one.found or one.none) is not None]


PLANS = EachBroker()
