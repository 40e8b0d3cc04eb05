"""From samples to a verdict: is memory flat, has anything leaked, was anything lost. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import fmean, median

from tests.soak.samples import Sample

ROUGHLY_95 = 2.0
"""Standard errors on both sides."""
GROWTH_SHARE, GROWTH_MIB = 0.1, 24.0
"""Memory may have grown by so much of itself, or by so much, over the second half of a soak, however long: the history
of znodes fills its 16 MiB, and the timeline's size is told about. An hour proves more than ten minutes."""
LEAST_S = 240.0
"""A shorter half tells only leaks that are sure: what is loaded and opened for the first time looks like one."""
MORE = 2
"""So many threads or files more, at the end than in the middle, may be chance."""
MOST = 40
"""Threads, sockets or files, at any time."""
MOST_WATCHES = 8
"""One recursive watch, and what a load or a new session holds for a moment."""


@dataclass(frozen=True)
class Check:
    """One line of the verdict."""

    what: str
    passed: bool
    said: str


@dataclass(frozen=True)
class Growth:
    """Of memory over a stretch, MiB: the line through the samples, and how wrong it may be."""

    mib: float
    error_mib: float
    mean_mib: float

    @property
    def is_flat(self) -> bool:
        """Even at the upper end of what it may be, it grew by next to nothing."""
        return self.mib + self.error_mib <= self._allowed_mib

    @property
    def is_sure(self) -> bool:
        """Even at the lower end of what it may be, it grew by more than is allowed."""
        return self.mib - self.error_mib > self._allowed_mib

    @property
    def _allowed_mib(self) -> float:
        return max(GROWTH_SHARE * self.mean_mib, GROWTH_MIB)


def growth(times_s: Sequence[float], values: Sequence[float]) -> Growth:
    """Least squares. The error grows with how alike neighbouring samples are: they say the same thing twice."""
    count, mean_s, mean = len(values), fmean(times_s), fmean(values)
    spread = sum((at_s - mean_s) ** 2 for at_s in times_s)
    slope = sum((at_s - mean_s) * (value - mean) for at_s, value in zip(times_s, values, strict=True)) / spread
    left = [value - mean - slope * (at_s - mean_s) for at_s, value in zip(times_s, values, strict=True)]
    squares = sum(each * each for each in left)
    alike = sum(one * other for one, other in pairwise(left)) / squares if squares else 0.0
    alike = min(max(alike, 0.0), 0.9)
    effective = max(count * (1 - alike) / (1 + alike), 3.0)
    whole_s = times_s[-1] - times_s[0]
    return Growth(slope * whole_s, ROUGHLY_95 * sqrt(squares / (effective - 2) / spread) * whole_s, mean)


def checks(samples: Sequence[Sample], most_mib: float, timeline_mib: float) -> Iterator[Check]:
    """Of the data process and the server, while it went on. `most_mib`: what the process may take at all."""
    half = samples[len(samples) // 2 :]
    is_long = half[-1].at_s - half[0].at_s >= LEAST_S
    grown = growth([each.at_s for each in half], [each.rss_mib - each.timeline_mib for each in half])
    said = f"{grown.mib:+.1f} ± {grown.error_mib:.1f} MiB over the second half, of {grown.mean_mib:.0f} MiB"
    if is_long:
        yield Check("memory is flat, beside the timeline's", grown.is_flat, said)
    else:
        yield Check("memory does not surely grow, beside the timeline's", not grown.is_sure, said)
    highest = max(each.rss_mib for each in samples)
    yield Check("memory is bounded", highest <= most_mib, f"at most {highest:.0f} MiB of {most_mib:.0f} MiB")
    kept = max(each.timeline_mib for each in samples)
    yield Check("the timeline is bounded", kept <= timeline_mib, f"at most {kept:.0f} MiB of {timeline_mib:.0f} MiB")
    yield _no_leak("threads", [each.threads for each in samples], is_long=is_long)
    yield _no_leak("sockets", [each.sockets for each in samples], is_long=is_long)
    yield _no_leak("files", [each.files for each in samples], is_long=is_long)
    watched = max(each.watches for each in samples)
    yield Check("watches are few", watched <= MOST_WATCHES, f"at most {watched} on the server")


def _no_leak(what: str, counts: Sequence[int], *, is_long: bool) -> Check:
    """Never too many; of a long soak, the last third holds no more than the middle one."""
    third, most = len(counts) // 3, max(counts)
    if not is_long:
        return Check(f"{what} are few", most <= MOST, f"at most {most}")
    before, after = median(counts[third : 2 * third]), median(counts[-third:])
    said = f"{before:g} in the middle, {after:g} at the end, at most {most}"
    return Check(f"no {what} leak", after - before <= MORE and most <= MOST, said)
