"""What the worst failure would do to a cluster, in few figures: to be held beside those after a plan."""

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from spark_tasks import here
from spark_tasks.analysis import Arrays
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.results import DEFAULT_RATE, Kind, Parameters, Result
from spark_tasks.errors import AnalysisError
from spark_tasks.image_arrays import arrays_of, racks_of

PAIRS_UP_TO = 1_000
"""Live brokers of which every pair is drilled; beyond, there are too many to wait for."""


class Worst(msgspec.Struct, frozen=True):
    """The scenario of its kind that hurts most partitions; `kill` is empty where none hurts any."""

    kill: tuple[int, ...]
    rack: str | None
    hurt: int
    """Newly offline, newly under min ISR, or led uncleanly."""
    offline: int
    """Newly offline."""


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
    )


def _drilled(arrays: Arrays, racks: tuple[str, ...], kind: Kind, rate: float) -> Result | None:
    """None where there is no scenario of the kind that anybody outlives."""
    try:
        return here.run(DRILLS, arrays, Parameters(kind=kind, racks=racks, listed=1, detailed=0, failure_rate=rate))
    except AnalysisError:
        return None


def _worst(result: Result | None) -> Worst | None:
    if result is None:
        return None
    if (found := result.worst.get("hurt")) is None:
        return Worst((), None, 0, 0)
    return Worst(found.kill, found.rack, found.counts.hurt, found.counts.newly_offline)
