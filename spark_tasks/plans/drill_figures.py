"""What the worst failure would do to a cluster, in few figures: to be held beside those after a plan."""

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.drills.voters import NOT_FORECAST, VOTERS_UNKNOWN
from spark_tasks import here
from spark_tasks.analysis import Arrays
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.results import DEFAULT_RATE, Kind, Parameters, Result
from spark_tasks.errors import AnalysisError
from spark_tasks.image_arrays import MANY, arrays_of, racks_of

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


def _drilled(arrays: Arrays, racks: tuple[str, ...], kind: Kind, rate: float) -> Result | None:
    """None where there is no scenario of the kind that anybody outlives."""
    try:
        return here.run(DRILLS, arrays, Parameters(kind=kind, racks=racks, listed=1, detailed=0, failure_rate=rate))
    except AnalysisError:
        return None


def _worst(result: Result | None) -> Worst | None:
    if result is None:
        return None
    first = next(iter(result.listed), None)
    found = first if first is not None and first.quorum_lost else result.worst.get("hurt")
    if found is None:
        return Worst((), None, 0, 0)
    return Worst(found.kill, found.rack, found.counts.hurt, found.counts.newly_offline, found.quorum_lost)
