"""A cluster's history worked out from whole images, one after the other: slow and plain; the kernels must equal it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.topic_image import unpadded
from model.recordings.recorder import can_follow

HOUR_MS = 3_600_000
Partition = tuple[str, int]
State = tuple[int, tuple[int, ...]]


def unwell(image: ClusterImage) -> tuple[frozenset[Partition], frozenset[Partition]]:
    """Offline and under-replicated partitions, as findings have them."""
    found = health(image, image.topics, surroundings(image))
    columns = found.columns

    def named(flags: Any) -> frozenset[Partition]:
        rows = np.flatnonzero(flags).tolist()
        return frozenset((columns.topics[columns.topic[row]].name, int(columns.partitions[row])) for row in rows)

    return named(found.offline), named(found.under_replicated)


def states(image: ClusterImage) -> dict[Partition, State]:
    """Leader and ISR of partitions that have a state."""
    return {
        (topic.name, int(topic.partitions[row])): (int(topic.leader[row]), unpadded(topic.isr[row]))
        for topic in image.topics.values()
        for row in np.flatnonzero(topic.has_state).tolist()
    }


class OnePass:
    """Of images, each so until the next, the last until `end_ms`; within [from_ms, to_ms)."""

    def __init__(self, images: list[ClusterImage], end_ms: int, from_ms: int = 0, to_ms: int = 2**62) -> None:
        self._images, self._from_ms, self._to_ms = images, from_ms, to_ms
        times = [image.provenance.time_ms for image in images]
        self._spans = list(zip(images, times, [*times[1:], end_ms], strict=True))
        steps = list(zip(pairwise(images), times[1:], strict=True))
        self._news = [
            (before, after, at_ms)
            for (before, after), at_ms in steps
            if from_ms <= at_ms < to_ms and can_follow(before, after)
        ]

    def outages(self) -> list[tuple[str, int, int, int]]:
        """(topic, partition, from, to)."""
        ended: list[tuple[str, int, int, int]] = []
        since: dict[Partition, int] = {}
        last_ms = 0
        for image, from_ms, until_ms in self._clipped():
            offline = unwell(image)[0]
            ended.extend((*gone, since.pop(gone), from_ms) for gone in since.keys() - offline)
            for new in offline - since.keys():
                since[new] = from_ms
            last_ms = until_ms
        return sorted([*ended, *((*one, from_ms, last_ms) for one, from_ms in since.items())])

    def leader_changes(self) -> Counter[Partition]:
        changes: Counter[Partition] = Counter()
        for before, after, _ in self._news:
            was = states(before)
            changes.update(
                one for one, (leader, _) in states(after).items() if one in was and was[one][0] != leader != -1
            )
        return changes

    def hours(self) -> set[tuple[int, int, int, int, int]]:
        """(broker, hour, left, joined, leaderships lost)."""
        left: Counter[tuple[int, int]] = Counter()
        joined: Counter[tuple[int, int]] = Counter()
        lost: Counter[tuple[int, int]] = Counter()
        for before, after, at_ms in self._news:
            was, hour_ms = states(before), at_ms // HOUR_MS * HOUR_MS
            for one, (leader, isr) in states(after).items():
                if one in was:
                    if was[one][0] not in (-1, leader):
                        lost[was[one][0], hour_ms] += 1
                    left.update((broker, hour_ms) for broker in {*was[one][1]} - {*isr})
                    joined.update((broker, hour_ms) for broker in {*isr} - {*was[one][1]})
        return {(*key, left[key], joined[key], lost[key]) for key in {*left, *joined, *lost}}

    def controllers(self) -> list[tuple[int, int | None, int | None]]:
        """(at, before, after)."""
        return [
            (at_ms, before.controller.broker, after.controller.broker)
            for before, after, at_ms in self._news
            if before.controller.broker != after.controller.broker
        ]

    def rebalances(self) -> dict[tuple[str, bool], dict[int, tuple[int, int, int]]]:
        """(group, is classic) → at → (took or -1, moved, generations)."""
        found: dict[tuple[str, bool], dict[int, tuple[int, int, int]]] = {}
        for image in self._images:
            groups = (
                (name, kind, group)
                for kind, named in enumerate((image.groups, image.classic_groups))
                for name, group in named.items()
            )
            for name, kind, group in groups:
                for one in group.rebalances:
                    if self._from_ms <= one.at_ms < self._to_ms:
                        told = found.setdefault((name, bool(kind)), {})
                        figures = (-1 if one.took_ms is None else one.took_ms, one.moved, one.generations)
                        told[one.at_ms] = max(told.get(one.at_ms, (-2, 0, 0)), figures)
        return found

    def worst(self) -> tuple[int, int, int] | None:
        """(at, offline, under-replicated)."""
        told = [(from_ms, *map(len, unwell(image))) for image, from_ms, _ in self._clipped()]
        some = [one for one in told if one[1:] != (0, 0)]
        return min(some, key=lambda one: (-one[1], -one[2], one[0]), default=None)  # pyright: ignore[reportReturnType]

    def moments(self) -> list[tuple[int, int, int]]:
        """(at, offline, under-replicated): of each hour the worst moment at which it got worse, the worst first."""
        by_hour: dict[int, list[tuple[int, int, int]]] = {}
        was = (0, 0)
        for image, from_ms, _ in self._clipped():
            offline, missing = map(len, unwell(image))
            if (offline, missing) > was:
                by_hour.setdefault(from_ms // HOUR_MS, []).append((from_ms, offline, missing))
            was = (offline, missing)

        def badness(one: tuple[int, int, int]) -> tuple[int, int, int]:
            return -one[1], -one[2], one[0]

        return sorted((min(of, key=badness) for of in by_hour.values()), key=badness)

    def topics(self) -> dict[str, tuple[int, int, int]]:
        """topic → (outages, ms in all, ms of the longest)."""
        found: dict[str, list[int]] = {}
        for topic, _, from_ms, to_ms in self.outages():
            found.setdefault(topic, []).append(to_ms - from_ms)
        return {topic: (len(took), sum(took), max(took)) for topic, took in found.items()}

    def observed_ms(self) -> int:
        return sum(to_ms - from_ms for _, from_ms, to_ms in self._clipped())

    def _clipped(self) -> Iterator[tuple[ClusterImage, int, int]]:
        for image, from_ms, until_ms in self._spans:
            start_ms, end_ms = max(from_ms, self._from_ms), min(until_ms, self._to_ms)
            if start_ms < end_ms:
                yield image, start_ms, end_ms
