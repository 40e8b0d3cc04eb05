"""What is counted of the cluster, ten seconds a sample: the last ten minutes of it at any moment of the last hours.

Taken from each moment as it is told, from what was counted already. Where a timeline reaches farther back, as that of a
recording, its images are counted when somebody asks. What nobody knows is NaN, never zero. Draws nothing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from math import nan
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.cluster.change import Change
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import find
from model.cluster.findings.find import Findings
from model.consumers.ownership import group_lag
from model.sources.feed import Moment
from model.sources.timeline import Instant, Timeline

SAMPLE_MS = 10_000
RECENT = 60
"""Samples that are shown: ten minutes."""
A_MINUTE = 6
LOOKED_BACK_MS = (RECENT + A_MINUTE) * SAMPLE_MS
MOST_SAMPLES = 2_160
"""Six hours, if something is heard in every sample."""

ISR_KINDS = frozenset({"isr-shrunk", "isr-expanded"})
UNHEARD = frozenset({"connecting", "loading", "stale", "denied"})
"""Phases in which the image is not known to be true."""

Series = tuple[float, ...]
"""Oldest first, RECENT of them; NaN: not known."""


class HealthCounts(NamedTuple):
    """Partitions by what is the matter with them."""

    offline: int = 0
    under_min_isr: int = 0
    under_replicated: int = 0
    off_preferred: int = 0
    moving: int = 0


def counts_of(image: ClusterImage, findings: Findings) -> HealthCounts:
    """Of what was found; nothing is looked for."""
    partitions = findings.census.partitions
    return HealthCounts(
        offline=partitions["offline"],
        under_min_isr=partitions["under-min-isr"],
        under_replicated=partitions["under-replicated"],
        off_preferred=sum(findings.tally.off_preferred.values()),
        moving=len({*image.admin.reassignments, *_moving(image, findings)}),
    )


def _moving(image: ClusterImage, findings: Findings) -> Iterable[tuple[str, int]]:
    topics = (image.topics[name] for name in findings.moving if name in image.topics)
    return ((topic.name, number) for topic in topics for number in {*topic.adding, *topic.removing})


class Lags(msgspec.Struct, frozen=True, eq=False):
    """Records that each group is behind, as far as that is known."""

    groups: tuple[str, ...] = ()
    records: NDArray[np.float64] = np.zeros(0)

    def of(self, group: str) -> float:
        """Of one group; of all of them together where none is named."""
        if not group:
            return float(self.records.sum()) if len(self.records) else nan
        place = bisect_left(self.groups, group)
        return float(self.records[place]) if self.groups[place : place + 1] == (group,) else nan


NO_LAGS = Lags()


def lags_of(image: ClusterImage, known: Lags = NO_LAGS) -> Lags:
    """The lags of an image; names that are the same as before are not kept twice."""
    lags = {key: group_lag(group, image) for key, group in image.every_group()} if image.log_ends else {}
    told = sorted((key, lag) for key, lag in lags.items() if lag is not None)
    groups = tuple(key for key, _ in told)
    return Lags(known.groups if groups == known.groups else groups, np.array([lag for _, lag in told], np.float64))


class GaugeSample(msgspec.Struct, frozen=True, eq=False):
    """Ten seconds in which something was heard. `counts` None: from then on, the cluster is not known to be so."""

    number: int
    """SAMPLE_MS since the epoch."""
    counts: HealthCounts | None
    """At its end."""
    worst: HealthCounts | None
    """The most of each that there was, what held at its beginning among it."""
    isr_changes: int = 0
    lags: Lags = NO_LAGS


class Gauges(msgspec.Struct, frozen=True, eq=False):
    """Samples, oldest first; a value. Where there is none, what the one before says at its end still holds."""

    samples: tuple[GaugeSample, ...] = ()
    lagged: tuple[object, ...] = ()
    """What the last sample's lags were made from."""

    def then(self, moment: Moment, changes: Iterable[Change]) -> "Gauges":
        """With one moment more, and what happened on the way to it. One that is not whole adds nothing."""
        is_heard = moment.status.phase not in UNHEARD
        if not moment.image.provenance.complete or not (is_heard or self.samples):
            return self
        at_ms = moment.image.provenance.time_ms if is_heard else moment.status.since_ms
        counts = counts_of(moment.image, moment.findings) if is_heard else None
        return self.counted(at_ms, moment.image, counts, isr_changes(changes))

    def counted(self, at_ms: int, image: ClusterImage, counts: HealthCounts | None, isr: int = 0) -> "Gauges":
        """With these counts from this time on; never before the last sample. Lags are counted once a sample."""
        last = self.samples[-1] if self.samples else None
        number = at_ms // SAMPLE_MS
        if last is not None and number <= last.number:
            if counts == last.counts and not isr:
                return self
            worst = last.worst if counts is None else _worse(last.worst, counts)
            sample = msgspec.structs.replace(last, counts=counts, worst=worst, isr_changes=last.isr_changes + isr)
            return msgspec.structs.replace(self, samples=(*self.samples[:-1], sample))
        held, known = (last.counts, last.lags) if last else (None, NO_LAGS)
        lagged = (image.groups, image.classic_groups, image.log_ends)
        is_same = len(self.lagged) == len(lagged) and all(a is b for a, b in zip(lagged, self.lagged, strict=True))
        worst = held if counts is None else _worse(held, counts)
        sample = GaugeSample(number, counts, worst, isr, known if is_same else lags_of(image, known))
        return Gauges((*self.samples, sample)[-MOST_SAMPLES:], lagged)

    def preceded_by(self, earlier: "Gauges") -> "Gauges":
        """With the samples of before the first one."""
        first = self.samples[0].number if self.samples else None
        known = [each for each in earlier.samples if first is None or each.number < first]
        return Gauges((*known, *self.samples)[-MOST_SAMPLES:], self.lagged)

    def at(self, at_ms: int) -> "Recent":
        """As it was known at a time."""
        return Recent(self, at_ms)

    def between(self, first: int, last: int) -> Iterator[tuple[GaugeSample | None, bool]]:
        """For each number the sample that tells of it, and whether it is that number's own; None: nothing is known."""
        place = bisect_right(self.samples, first, key=_number) - 1
        for number in range(first, last + 1):
            while place + 1 < len(self.samples) and self.samples[place + 1].number <= number:
                place += 1
            sample = self.samples[place] if place >= 0 else None
            is_own = sample is not None and sample.number == number
            known = sample is not None and (sample.worst if is_own else sample.counts) is not None
            yield (sample if known else None), is_own


def _number(sample: GaugeSample) -> int:
    return sample.number


def _worse(one: HealthCounts | None, other: HealthCounts) -> HealthCounts:
    return other if one is None else HealthCounts(*map(max, one, other))


def isr_changes(changes: Iterable[Change]) -> int:
    """How often a replica left an ISR or joined one."""
    return sum(change.count for change in changes if change.kind in ISR_KINDS)


class Recent(NamedTuple):
    """The last ten minutes before a time, one value a sample. Made when asked for; cheap."""

    gauges: Gauges = Gauges()
    at_ms: int = 0

    @property
    def sample(self) -> int:
        """The number of the last sample."""
        return self.at_ms // SAMPLE_MS

    def _cells(self, more: int = 0) -> Iterator[tuple[GaugeSample | None, bool]]:
        return self.gauges.between(self.sample - RECENT + 1 - more, self.sample)

    def of(self, count: str) -> Series:
        """One of Counts by its name: the worst in each sample."""
        place = HealthCounts._fields.index(count)
        counts = (one and (one.worst if is_own else one.counts) for one, is_own in self._cells())
        return tuple(nan if known is None else known[place] for known in counts)

    @property
    def isr_churn(self) -> Series:
        """How often a replica left an ISR or joined one, within the minute that ends with each sample."""
        cells = self._cells(A_MINUTE - 1)
        known = np.array([nan if one is None else one.isr_changes * is_own for one, is_own in cells])
        sums = np.convolve(np.nan_to_num(known), np.ones(A_MINUTE), "valid")
        sums[np.isnan(known[A_MINUTE - 1 :])] = nan
        return tuple(sums.tolist())

    def lag(self, group: str = "") -> Series:
        """Records that a group is behind, by its key; of all groups together where none is named."""
        return tuple(nan if one is None else one.lags.of(group) for one, _ in self._cells())


NOTHING_RECENT = Recent()


def sampled(timeline: Timeline, to_ms: int) -> Gauges:
    """The timeline's own images of the last ten minutes before a time, counted: one at the end of each sample."""
    gauges, before, isr = Gauges(), None, 0
    first = max(bisect_right(timeline.instants, to_ms - LOOKED_BACK_MS, key=_time) - 1, 0)
    instants = timeline.instants[first : bisect_right(timeline.instants, to_ms, key=_time)]
    for place, instant in enumerate(instants):
        isr += isr_changes(instant.changes)
        if instant is instants[-1] or instants[place + 1].at_ms // SAMPLE_MS > instant.at_ms // SAMPLE_MS:
            image = timeline.image_of(instant)
            before = find(image, before)
            gauges = gauges.counted(instant.at_ms, image, counts_of(image, before), isr)
            isr = 0
    return gauges


def _time(instant: Instant) -> int:
    return instant.at_ms
