"""A cluster and its variants as they are played beside each other, by whoever plays them: the command, the screen.

What is played is a range of histories of some variants (`parameters`); what comes of it is a Tally, which is told here
as figures, as what helps, and as what the answer hangs on.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from model.analyses.errors import AnalysisError
from model.analyses.forecast.assumptions import Assumptions
from model.analyses.forecast.clusters import Cluster, broker_ids, cluster_of
from model.analyses.forecast.figures import (
    YEAR_MS,
    Action,
    Figures,
    Pair,
    actions_of,
    figures_of,
    pair_of,
    swings,
)
from model.analyses.forecast.forecast import ForecastParameters, Tally
from model.analyses.image_arrays import racks_of, topics_of
from model.cluster.cluster_image import ClusterImage
from model.planning.layout import Sizes


class Swing(msgspec.Struct, frozen=True):
    """Minutes under min ISR a year, at both ends of what is known of a rate."""

    key: str
    low: float
    high: float
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        return abs(self.at_high - self.at_low)


class Help(msgspec.Struct, frozen=True):
    """Something that could be done, what it takes, and what it saves; see `Action`."""

    name: str
    price: str
    pair: Pair


class Playing:
    """All that plays of one question share. The first image is the cluster as it is."""

    def __init__(
        self,
        images: Sequence[ClusterImage],
        assumed: Assumptions,
        horizon_ms: int,
        sizes: Sizes | None = None,
        seed: int | None = None,
    ) -> None:
        """Without a seed it is the cluster's own. Raises AnalysisError where there is nothing to forecast."""
        self.images, self.assumed, self.sizes, self.horizon_ms = images, assumed, sizes, horizon_ms
        self.brokers = broker_ids(images)
        self.topics = topics_of(images[0])
        if not self.brokers or not images[0].partition_count:
            raise AnalysisError("there is nothing to forecast: the cluster has no partitions")
        self.seed = _seed(self.cluster(images[0], assumed)) if seed is None else seed

    def cluster(self, image: ClusterImage, assumed: Assumptions) -> Cluster:
        """As it is played. Raises AnalysisError."""
        return cluster_of(image, assumed, self.brokers, self.topics, self.sizes)

    def parameters(self, variants: Sequence[Cluster], first: int, histories: int) -> ForecastParameters:
        """Of so many histories from the first one on."""
        return ForecastParameters(
            seed=self.seed, first=first, histories=histories, horizon_ms=self.horizon_ms, brokers=len(self.brokers),
            topics=len(self.topics), variants=tuple(one.times for one in variants),
        )  # fmt: skip

    def figures(self, tally: Tally, variants: Sequence[Cluster], number: int = 0) -> Figures:
        """Of the variant with the number, which is that of its image."""
        topics = self.images[number].topics
        partitions = [len(topics[name]) if name in topics else 0 for name in self.topics]
        return figures_of(tally, number, self.topics, partitions, [one.times for one in variants], self.horizon_ms)

    def actions(self, base: Cluster) -> list[Action]:
        """What could be done about the cluster as it is."""
        racks = {name: number for number, name in enumerate(racks_of(self.images[0]))}
        known = self.images[0].brokers
        by_place = [racks.get(known[broker].rack or "", -1) if broker in known else -1 for broker in self.brokers]
        return list(actions_of(base, by_place))

    def helping(self, tally: Tally, found: Sequence[Action]) -> tuple[Help, ...]:
        """Each beside the cluster as it is, which was played first; by what it certainly saves under min ISR."""
        helps = [
            Help(one.name, one.price, pair_of(tally, 0, number, self.horizon_ms))
            for number, one in enumerate(found, start=1)
        ]
        return tuple(sorted(helps, key=lambda one: -max(_gains(one.pair))))

    @property
    def swings_count(self) -> int:
        """How many variants `swung` has."""
        return 2 * sum(1 for _ in swings(self.assumed))

    def swung(self) -> list[Cluster]:
        """The cluster at the low and at the high end of each rate, one at a time."""
        return [self.cluster(self.images[0], each) for _, low, high in swings(self.assumed) for each in (low, high)]

    def swings(self, tally: Tally) -> tuple[Swing, ...]:
        """What came of `swung`, the widest first."""
        totals = tally.arrays()["totals"][:, :, 1].mean(axis=0) / 60_000 * YEAR_MS / self.horizon_ms
        found = [
            Swing(key, low[key], high[key], float(totals[2 * row]), float(totals[2 * row + 1]))
            for row, (key, low, high) in enumerate(swings(self.assumed))
        ]
        return tuple(sorted(found, key=lambda swing: -swing.width))


def _gains(pair: Pair) -> tuple[float, float]:
    return pair.difference["under_min_isr"].low, pair.difference["leaderless"].low


def _seed(cluster: Cluster) -> int:
    """Of the cluster and what is assumed, so that the same question has the same answer."""
    told = sha256(msgspec.json.encode(cluster.times))
    for name in sorted(cluster.arrays):
        told.update(cluster.arrays[name].tobytes())
    return int.from_bytes(told.digest()[:6])
