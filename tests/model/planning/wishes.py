"""Random small clusters and wishes of every kind, and what a wish leaves open: every way that each partition has.

Written from what the options of `kdrill plan` say, beside `model.planning.request` and without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.planning.layout import Sizes
from model.planning.optimum.measures import BrokerBounds, leader_band, replica_band
from model.planning.request import Batching, By, NewBroker, PlanRequest, Reach
from tests.model.planning.clusters import Racks, Replicas, cluster
from tests.model.planning.every_plan import ORDER, Case, Limits, Row

DEAD = (8, 9)


class Wished(NamedTuple):
    """A cluster and what is wanted of it."""

    topics: Replicas
    racks: Racks
    request: PlanRequest
    sizes: Sizes | None

    @property
    def image(self) -> ClusterImage:
        return cluster(self.topics, self.racks)


def wished(mode: str, dice: Random, most_brokers: int, most_partitions: int) -> Wished:
    """Any cluster of this size and a wish of this mode; others of its options are drawn as well."""
    live = sorted(dice.sample(range(1, 8 + max(most_brokers - 7, 0) * 2), dice.randint(2, most_brokers)))
    live = [broker + 10 if broker in DEAD else broker for broker in live]
    racks = {broker: dice.choice("abc") for broker in live} if dice.random() < 0.8 else dict.fromkeys(live)
    held = [*live, *DEAD[: dice.choice([0, 0, 1, 2])]]
    widest = dice.randint(1, 3)
    rows = [dice.sample(held, min(len(held), dice.randint(1, widest))) for _ in range(dice.randint(1, most_partitions))]
    if dice.random() < 0.4:
        rows = [list(dice.choice(rows[:2])) for _ in rows]
    topics: dict[str, list[list[int]]] = {}
    for row in rows:
        topics.setdefault(dice.choice("pqr"), []).append(row)
    names = [TopicPartition(topic, number) for topic in topics for number in range(len(topics[topic]))]
    most = dice.choice([2, 100, 10**12])
    sizes = Sizes({name: dice.randint(0, most) for name in names}, "a file")
    return Wished(
        topics, racks, _MODES[mode](dice, racks, topics), sizes if mode in SIZED or dice.random() < 0.5 else None
    )


def _request(
    dice: Random,
    topics: Replicas,
    *,
    remove: tuple[int, ...] = (),
    add: tuple[NewBroker, ...] = (),
    replace: tuple[tuple[int, int], ...] = (),
    factor: int | None = None,
    reach: Reach = "balance",
    by: By = "count",
    tolerance: float = 0.0,
    capacity: int | None = None,
) -> PlanRequest:
    return PlanRequest(
        remove=remove,
        add=add,
        replace=replace,
        replication_factor=factor,
        reach=reach,
        by=by,
        tolerance_percent=tolerance,
        capacity=capacity,
        topics=dice.choice([(), (), (), ("*",), (min(topics),)]),
        batching=Batching(dice.randint(1, 3)),
    )


def _some(dice: Random, racks: Racks) -> tuple[int, ...]:
    there = [*racks, 8]
    return tuple(dice.sample(there, dice.randint(1, min(2, len(there) - 1))))


def _new(dice: Random, racks: Racks) -> tuple[NewBroker, ...]:
    named = None not in racks.values()
    return tuple(NewBroker(20 + number, dice.choice("abc") if named else None) for number in range(dice.randint(1, 2)))


def _swaps(dice: Random, racks: Racks) -> tuple[tuple[int, int], ...]:
    return tuple((old, 30 + old) for old in dice.sample(list(racks), dice.randint(1, min(2, len(racks)))))


def _replaced_and_more(dice: Random, racks: Racks, topics: Replicas) -> PlanRequest:
    swaps = _swaps(dice, racks)
    left = [broker for broker in racks if broker not in dict(swaps)]
    remove = tuple(dice.sample(left, 1)) if left and dice.random() < 0.6 else ()
    factor = None if remove and dice.random() < 0.5 else dice.randint(1, 3)
    return _request(dice, topics, replace=swaps, remove=remove, factor=factor, reach="forced")


_MODES = {
    "rebalance": lambda d, r, t: _request(d, t),
    "remove": lambda d, r, t: _request(d, t, remove=_some(d, r)),
    "add": lambda d, r, t: _request(d, t, add=_new(d, r)),
    "both": lambda d, r, t: _request(d, t, remove=_some(d, r), add=_new(d, r)),
    "replace": lambda d, r, t: _request(d, t, replace=_swaps(d, r), reach="forced"),
    "replace and more": _replaced_and_more,
    "replace, balanced": lambda d, r, t: _request(d, t, replace=_swaps(d, r)),
    "drain": lambda d, r, t: _request(d, t, remove=_some(d, r), reach="forced"),
    "racks": lambda d, r, t: _request(d, t, reach="racks"),
    "racks and more": lambda d, r, t: _request(d, t, remove=_some(d, r), add=_new(d, r), reach="racks"),
    "leaders": lambda d, r, t: _request(d, t, reach="leaders", tolerance=d.choice([0.0, 30.0])),
    "bytes": lambda d, r, t: _request(d, t, by="bytes", remove=d.choice([(), _some(d, r)])),
    "bytes, drained": lambda d, r, t: _request(d, t, by="bytes", remove=_some(d, r), reach="forced"),
    "factor": lambda d, r, t: _request(d, t, factor=d.randint(1, 3), reach="forced"),
    "factor, balanced": lambda d, r, t: _request(d, t, factor=d.randint(1, 3)),
    "tolerance": lambda d, r, t: _request(
        d, t, tolerance=d.choice([10.0, 30.0, 60.0]), remove=d.choice([(), _some(d, r)])
    ),
    "capacity": lambda d, r, t: _request(d, t, capacity=d.choice([200, 10**12, 10**13])),
}
MODES = tuple(_MODES)
SIZED = ("bytes", "bytes, drained", "capacity")


class _Partition(NamedTuple):
    row: Row
    start: Row
    """With newcomers in the places of those that they replace."""
    factor: int
    stays: bool


def case_of(wish: Wished) -> tuple[Case, list[int], list[TopicPartition]]:
    """What the wish leaves open; brokers by id, and partitions, in the order of the case."""
    request, live = wish.request, set(wish.racks)
    leaving = {*request.remove, *(old for old, _ in request.replace)}
    racks = {**wish.racks, **{new.id: new.rack for new in request.add}}
    for old, new in request.replace:
        racks.setdefault(new, racks.get(old))
    staying = {broker for broker in racks if broker not in leaving}
    names = [
        TopicPartition(topic, number) for topic in sorted(wish.topics) for number in range(len(wish.topics[topic]))
    ]
    rows = [tuple(wish.topics[name.topic][name.partition]) for name in names]
    brokers = sorted({*staying, *racks, *(broker for row in rows for broker in row)})
    at = {broker: place for place, broker in enumerate(brokers)}
    any_led = any(live & {*row} for row in rows)
    found = [_partition(wish, name, row, leaving, staying, any_led) for name, row in zip(names, rows, strict=True)]
    numbers = sorted({racks[broker] or "" for broker in staying})
    rack = [numbers.index(racks[b] or "") if b in staying else -1 for b in brokers]
    ways = [
        list(_ways(each, wish.request, staying, dict(zip(brokers, rack, strict=True)), len(numbers))) for each in found
    ]
    case = Case(
        before=[tuple(at[b] for b in row) for row in rows],
        ways=[[tuple(at[b] for b in way) for way in each] for each in ways],
        rack=rack,
        racks=len(numbers),
        sizes=[wish.sizes.bytes[name] for name in names] if wish.sizes and request.by == "bytes" else None,
        replicas=_limits(_band_of_replicas(found, request, staying, brokers, rack), staying, brokers),
        leaders=_limits(_band_of_leaders(found, request, staying, brokers), staying, brokers),
        order=("moves", "changes") if _only_swaps(request) else ORDER[request.reach],
    )
    return case, brokers, names


def _only_swaps(request: PlanRequest) -> bool:
    more = request.remove or request.replication_factor is not None
    return bool(request.replace) and request.reach == "forced" and not more


def _partition(
    wish: Wished, name: TopicPartition, row: Row, leaving: set[int], staying: set[int], any_led: bool
) -> _Partition:
    request, live = wish.request, set(wish.racks)
    chosen = request.chooses(name.topic)
    stranded = any_led and not live & {*row}
    asked = request.replication_factor
    factor = len(row) if asked is None or not chosen or stranded else asked
    dead = {*row} - live - leaving - staying
    stays = not chosen or stranded or (bool(dead) and not leaving & {*row} and factor == len(row))
    swaps = dict(request.replace) if request.reach == "forced" and not stays and factor >= len(row) else {}
    return _Partition(row, tuple(swaps.get(broker, broker) for broker in row), factor, stays)


def _ways(each: _Partition, request: PlanRequest, staying: set[int], rack: dict[int, int], racks: int) -> Iterator[Row]:
    """Who leads comes first; the order of the others is nobody's concern."""
    if each.stays or _only_swaps(request):
        yield each.start
    elif request.reach == "leaders":
        leaders = [broker for broker in each.row if broker in staying]
        yield from ((leader, *(b for b in each.row if b != leader)) for leader in leaders or each.row[:1])
    else:
        newcomers = {*each.start} - {*each.row}
        for some in combinations(sorted(staying), each.factor):
            spread = len({rack[broker] for broker in some})
            if newcomers <= {*some} and (request.reach == "forced" or spread == min(each.factor, racks)):
                leaders = each.start[:1] if each.start[0] in newcomers else some
                yield from ((leader, *(b for b in some if b != leader)) for leader in leaders)


def _band_of_replicas(
    found: list[_Partition], request: PlanRequest, staying: set[int], brokers: list[int], rack: list[int]
) -> BrokerBounds:
    held = [len({*each.row} & staying) if each.stays or request.reach == "leaders" else each.factor for each in found]
    allowed = np.isin(brokers, list(staying))
    return replica_band(np.array(held, np.int32), allowed, np.array(rack, np.int32), request.tolerance_percent / 100)


def _band_of_leaders(
    found: list[_Partition], request: PlanRequest, staying: set[int], brokers: list[int]
) -> BrokerBounds:
    def counts(each: _Partition) -> bool:
        may = not each.stays and (request.reach != "leaders" or bool({*each.row} & staying))
        return may or each.row[0] in staying

    allowed = np.isin(brokers, list(staying))
    return leader_band(sum(map(counts, found)), allowed, request.tolerance_percent / 100)


def _limits(band: BrokerBounds, staying: set[int], brokers: list[int]) -> Limits:
    """Of brokers that do not stay, nothing is asked."""
    stays = np.isin(brokers, list(staying))
    return Limits(np.where(stays, band.least, -np.inf).tolist(), np.where(stays, band.most, np.inf).tolist())
