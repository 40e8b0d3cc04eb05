"""What helps, and what the answer hangs on: variants of a cluster that are played beside it, by the same accidents.

Replicas are moved and added here in the roughest way that says what it would bring, class by class; `kdrill plan` finds
the moves themselves.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from model.analyses.forecast.assumptions import Assumptions
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.machine import MOST_REPLICAS
from model.analyses.forecast.sampling import Longs

HISTORIES = 2_000
"""Of each variant."""


class Action(NamedTuple):
    """Something that could be done, and what it takes."""

    name: str
    price: str
    cluster: Cluster


def actions_of(cluster: Cluster, racks: Sequence[int]) -> Iterator[Action]:
    """Those that change anything. `racks`: by place of brokers, below 0 for none."""
    times, arrays = cluster.times, cluster.arrays
    quicker = msgspec.structs.replace(times, detect_ms=times.detect_ms * 2 // 3)
    yield Action(
        "session timeout 1/3 shorter", f"{quicker.detect_ms / 1000:g} s; longer pauses look like deaths",
        Cluster(arrays=arrays, times=quicker),
    )  # fmt: skip
    rejoin = msgspec.structs.replace(
        times, rejoin_ppm=times.rejoin_ppm // 2, rejoin_ms=times.rejoin_ms // 2,
        refill_ms=tuple(ms // 2 for ms in times.refill_ms),
    )  # fmt: skip
    yield Action(
        "catching up twice as fast", "more fetchers or a higher throttle", Cluster(arrays=arrays, times=rejoin)
    )
    careful = tuple(msgspec.structs.replace(one, waits=True, polite=True) for one in times.restarts)
    if careful != times.restarts:
        changed = msgspec.structs.replace(times, restarts=careful)
        yield Action("restarts that wait for the ISR", "rolling takes longer", Cluster(arrays=arrays, times=changed))
    yield from _on_classes(cluster, np.array(racks, np.int64))


def _on_classes(cluster: Cluster, racks: Longs) -> Iterator[Action]:
    arrays, times = cluster.arrays, cluster.times
    replicas = arrays["replicas"].astype(np.int64)
    size = (replicas >= 0).sum(axis=1)
    weight = np.bincount(arrays["class"], arrays["count"], len(replicas))

    def made(**changes: np.ndarray) -> Cluster:
        return Cluster(arrays={**arrays, **changes}, times=times)

    spread, moved = _spread(replicas, racks, weight)
    if moved:
        yield Action(
            "replicas spread over racks", f"{moved:,} replicas to move", made(replicas=spread.astype(np.int32))
        )
    added, number = _one_more(replicas, racks, weight)
    if number:
        yield Action("one replica more", f"{number:,} replicas to add", made(replicas=added.astype(np.int32)))
    least = arrays["min_isr"]
    if ((least > 1) & (least <= size)).any():
        fewer = np.maximum(1, np.where(least <= size, least - 1, least)).astype(np.int32)
        yield Action("min ISR one lower", "acknowledged records on fewer copies", made(min_isr=fewer))
    if (least < size).any():
        more = np.minimum(size, least + 1).astype(np.int32)
        yield Action("min ISR one higher", "acknowledged records on more copies", made(min_isr=more))
    if not arrays["unclean"].all():
        yield Action("unclean elections", "loses acknowledged records", made(unclean=np.ones(len(replicas), np.bool_)))


def _spread(replicas: Longs, racks: Longs, weight: np.ndarray) -> tuple[Longs, int]:
    """The last replica in a rack that another one has goes to a rack without one, if there is one."""
    after, moved = replicas.copy(), 0
    if not len(racks) or (racks < 0).any():
        return after, 0
    load = np.bincount(replicas[replicas >= 0], minlength=len(racks)).astype(np.float64)
    for row in range(len(after)):
        own = after[row][after[row] >= 0]
        for position in range(len(own) - 1, 0, -1):
            taken = set(racks[np.delete(own, position)].tolist())
            free = [place for place in range(len(racks)) if int(racks[place]) not in taken]
            if int(racks[own[position]]) in taken and free:
                own[position] = min(free, key=lambda place: (load[place], place))
                load[own[position]] += 1
                moved += int(weight[row])
        after[row, : len(own)] = own
    return after, moved


def _one_more(replicas: Longs, racks: Longs, weight: np.ndarray) -> tuple[Longs, int]:
    """In a rack without one if there is one; on the broker with fewest."""
    after = np.pad(replicas, ((0, 0), (0, 1)), constant_values=-1)
    load = np.bincount(replicas[replicas >= 0], minlength=len(racks)).astype(np.float64)
    added = 0
    for row in range(len(after)):
        own = replicas[row][replicas[row] >= 0]
        free = sorted(set(range(len(racks))) - set(own.tolist()))
        if not free or len(own) >= MOST_REPLICAS:
            continue
        taken = set(racks[own].tolist())
        best = min(free, key=lambda place: (int(racks[place]) in taken, load[place], place))
        after[row, len(own)] = best
        load[best] += 1
        added += int(weight[row])
    return after, added


def swings(assumed: Assumptions) -> Iterator[tuple[str, Assumptions, Assumptions]]:
    """Rates one at a time, at the low and at the high end of what is known of them."""
    for key, rate in assumed.rates.items():
        if rate.low < rate.high and not (key == "power.lost_share" or key.startswith(("zone.", "power.", "host."))):
            yield key, assumed.with_rate(key, rate.low), assumed.with_rate(key, rate.high)
