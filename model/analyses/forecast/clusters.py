"""A cluster as a forecast plays it: partitions by class, and how often and how long its parts are out.

Histories begin with all replicas in sync and preferred leaders leading, whatever is wrong now: a broker that the
cluster knows by its replicas only takes part, too.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays
from model.analyses.forecast.assumptions import Assumptions, Calendar
from model.analyses.forecast.machine import MOST_REPLICAS
from model.analyses.forecast.sampling import HOUR_MS, Component, Longs, Restarts, Times
from model.analyses.image_arrays import arrays_of, topics_of
from model.cluster.cluster_image import ClusterImage
from model.drills.voters import is_kraft, session_timeout_ms
from model.hosts.virtual.scheduled_events import TimingAssumptions as Usual
from model.planning.layout import Sizes

YEAR_H = 8_760
_MINUTE_MS, _DAY_MS = 60_000, 24 * HOUR_MS
_OLD = ("0.8", "0.9-1.x", "2.x")
"""Generations in which min.insync.replicas counts as it stands, even where there are fewer replicas (before 3.7)."""
_SHORT_LAG_S, _LAG_S = 10.0, 30.0
_ELECT_MS, _ELECT_EACH_MS, _ELECT_KRAFT_MS = 5.0, 1.2, 100.0
"""With ZooKeeper partitions get leaders one write after another: the mean over those that a broker leads."""
MOST_CATCHING_UP = 4.0
"""Times as long as it was out, at most, does a broker take to catch up."""
MB, TB = 1_000_000, 1_000_000_000_000


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """One variant: what `kernel.layout_of` takes, without the number of the variant, and its times."""

    arrays: dict[str, np.ndarray]
    times: Times


def broker_ids(images: Sequence[ClusterImage]) -> tuple[int, ...]:
    """By place: those of the first image, then those that only others have."""
    found: dict[int, None] = {}
    for image in images:
        found |= dict.fromkeys(sorted(int(broker) for broker in arrays_of(image)["brokers"]))
    return tuple(found)


def cluster_of(
    image: ClusterImage, assumed: Assumptions, brokers: Sequence[int], topics: Sequence[str], sizes: Sizes | None = None
) -> Cluster:
    """Raises AnalysisError where a partition has too many replicas."""
    arrays = arrays_of(image)
    return Cluster(
        arrays=_classes(image, arrays, assumed, brokers, topics),
        times=times_of(image, arrays, assumed, brokers, sizes),
    )


def _classes(
    image: ClusterImage, arrays: Arrays, assumed: Assumptions, brokers: Sequence[int], topics: Sequence[str]
) -> dict[str, np.ndarray]:
    replicas = _placed(arrays, brokers)
    width = int((replicas >= 0).sum(axis=1).max(initial=1))
    if width > MOST_REPLICAS:
        raise AnalysisError(f"a partition has {width} replicas: a forecast takes {MOST_REPLICAS} at most")
    replicas = replicas[:, :width]
    assigned = replicas[:, 0] >= 0
    size = (replicas >= 0).sum(axis=1)
    told = _column(arrays, "min_isr")
    min_isr = np.minimum(told, MOST_REPLICAS + 1) if image.generation in _OLD else np.minimum(told, size)
    levels = _column(arrays, "levels")
    elr = bool(levels[-1:].any()) if assumed.elr is None else assumed.elr
    unclean = _column(arrays, "unclean")
    rows = np.concatenate([replicas, min_isr[:, None], unclean[:, None]], axis=1)[assigned]
    distinct, of = np.unique(rows, axis=0, return_inverse=True)
    numbers = {name: number for number, name in enumerate(topics)}
    known = np.array([numbers[name] for name in topics_of(image)], np.int64)
    topic = known[_column(arrays, "topic")[assigned]]
    cells, count = np.unique(of.reshape(-1) * max(1, len(topics)) + topic, return_counts=True)
    return {
        "replicas": distinct[:, :width].astype(np.int32),
        "min_isr": distinct[:, width].astype(np.int32),
        "unclean": distinct[:, width + 1].astype(np.bool_),
        "elr": np.full(len(distinct), elr and is_kraft(image)),
        "class": (cells // max(1, len(topics))).astype(np.int32),
        "topic": (cells % max(1, len(topics))).astype(np.int32),
        "count": count.astype(np.int32),
    }


def _column(arrays: Arrays, name: str) -> Longs:
    return np.asarray(arrays[name]).astype(np.int64)


def _placed(arrays: Arrays, brokers: Sequence[int]) -> Longs:
    """Replicas by place in `brokers`; gaps at the end."""
    places = {broker: place for place, broker in enumerate(brokers)}
    by_place = np.array([*(places[int(broker)] for broker in arrays["brokers"]), -1], np.int64)
    replicas = by_place[_column(arrays, "replicas")]
    order = np.argsort(replicas < 0, axis=1, kind="stable")
    return np.take_along_axis(replicas, order, axis=1)


def times_of(
    image: ClusterImage, arrays: Arrays, assumed: Assumptions, brokers: Sequence[int], sizes: Sizes | None
) -> Times:
    """How often and how long everything is out, in ms."""
    places = {broker: place for place, broker in enumerate(brokers)}
    own = [place for broker, place in places.items() if broker in set(_column(arrays, "brokers").tolist())]
    data_tb = _data_tb(image, assumed, brokers, sizes)
    fetch, ingress = assumed["rereplicate.MBps"], assumed["ingress.MBps"]
    catching_up = min(MOST_CATCHING_UP, ingress / (fetch - ingress)) if fetch > ingress else MOST_CATCHING_UP
    refill = max(fetch - ingress, fetch / 10)
    lag_s = (_SHORT_LAG_S if image.generation in _OLD[:2] else _LAG_S) if assumed.lag_s is None else assumed.lag_s
    voters = [each.id for each in image.quorum.voters] if is_kraft(image) and image.quorum else []
    detect_ms = session_timeout_ms(image, _usual(image)) if assumed.detect_s is None else assumed.detect_s * 1000
    return Times(
        components=(*_components(assumed, places, own, data_tb), *_groups(image, assumed, places)),
        restarts=tuple(_restarts(assumed)),
        detect_ms=round(detect_ms),
        lag_ms=round(lag_s * 1000),
        elect_ms=_elections(image, arrays, assumed, brokers),
        rejoin_ppm=0 if assumed.rejoin_s is not None else round(catching_up * 1_000_000),
        rejoin_ms=0 if assumed.rejoin_s is None else round(assumed.rejoin_s * 1000),
        voters=tuple(sorted(places[voter] for voter in voters if voter in places)),
        spare_voters=max(0, len(voters) - 1) // 2,
        refill_ms=tuple(round(tb * TB / (refill * MB) * 1000) for tb in data_tb),
    )


def _usual(image: ClusterImage) -> Usual:
    """zookeeper.session.timeout.ms is 6 s before 2.5."""
    return Usual(session_timeout_ms=6_000) if image.generation in _OLD[:2] else Usual()


def _data_tb(image: ClusterImage, assumed: Assumptions, brokers: Sequence[int], sizes: Sizes | None) -> list[float]:
    if sizes is None:
        return [assumed["data.tb"]] * len(brokers)
    held = dict.fromkeys(brokers, 0)
    for partition, size in sizes.bytes.items():
        topic = image.topics.get(partition.topic)
        if topic is not None and partition.partition in topic.row_of:
            for broker in topic.replicas[topic.row_of[partition.partition]].tolist():
                held[broker] = held.get(broker, 0) + size
    return [held[broker] / TB for broker in brokers]


def _elections(image: ClusterImage, arrays: Arrays, assumed: Assumptions, brokers: Sequence[int]) -> tuple[int, ...]:
    if assumed.elect_s is not None:
        return (round(assumed.elect_s * 1000),) * len(brokers)
    usual = [_ELECT_KRAFT_MS] * len(brokers) if is_kraft(image) else _one_after_another(arrays, brokers)
    return tuple(round(assumed.elect_ms.get(broker, ms)) for broker, ms in zip(brokers, usual, strict=True))


def _one_after_another(arrays: Arrays, brokers: Sequence[int]) -> list[float]:
    first = _placed(arrays, brokers)[:, 0] if len(_column(arrays, "replicas")) else np.empty(0, np.int64)
    led = np.bincount(first[first >= 0], minlength=len(brokers))
    return [_ELECT_MS + _ELECT_EACH_MS * count / 2 for count in led.tolist()]


def _components(
    assumed: Assumptions, places: Mapping[int, int], own: Sequence[int], data_tb: Sequence[float]
) -> Iterator[Component]:
    ids = {place: broker for broker, place in places.items()}
    mttr_ms = assumed["broker.mttr_min"] * _MINUTE_MS
    recovery_ms = {
        place: round((assumed["recovery.s"] + assumed["recovery.s_per_tb"] * data_tb[place]) * 1000) for place in own
    }
    for place in own:
        mtbf_h = assumed.mtbf_h.get(ids[place], assumed["broker.mtbf_h"])
        yield Component(
            name=f"broker {ids[place]}", kind="broker", brokers=(place,), up_ms=mtbf_h * HOUR_MS, down_ms=mttr_ms,
            more_ms=recovery_ms[place],
        )  # fmt: skip
    for name, down_ms in (("disk", assumed["disk.mttr_h"] * HOUR_MS), ("host", mttr_ms)):
        for place in own if assumed[f"{name}.afr"] else ():
            up_ms = YEAR_H * HOUR_MS / assumed[f"{name}.afr"]
            yield Component(
                name=f"{name} {ids[place]}", kind="disk", brokers=(place,), up_ms=up_ms, down_ms=down_ms, effect="empty"
            )
    for place in own if assumed["churn.per_broker_y"] else ():
        yield Component(
            name=f"slow {ids[place]}", kind="slow", brokers=(place,), effect="slow",
            up_ms=YEAR_H * HOUR_MS / assumed["churn.per_broker_y"], down_ms=assumed["churn.min"] * _MINUTE_MS,
        )  # fmt: skip


def _groups(image: ClusterImage, assumed: Assumptions, places: Mapping[int, int]) -> Iterator[Component]:
    """What takes several brokers with it: racks of the cluster, and groups that the user named."""
    racks: dict[str, list[int]] = {}
    for broker in sorted(image.brokers.values(), key=lambda broker: broker.id):
        if broker.rack:
            racks.setdefault(broker.rack, []).append(places[broker.id])
    for rack, members in sorted(racks.items()) if len(racks) > 1 else ():
        yield Component(
            name=f"rack {rack}", kind="group", brokers=tuple(members), up_ms=assumed["rack.mtbf_h"] * HOUR_MS,
            down_ms=assumed["rack.mttr_h"] * HOUR_MS, effect="cut off",
        )  # fmt: skip
    for group in sorted(assumed.groups, key=lambda group: group.name):
        rates = "zone" if group.kind == "zone" else "power"
        mtbf_h = assumed[f"{rates}.mtbf_h"] if group.mtbf_h is None else group.mtbf_h
        mttr_h = assumed[f"{rates}.mttr_h"] if group.mttr_h is None else group.mttr_h
        is_network = group.kind == "network"
        yield Component(
            name=f"group {group.name}", kind="group", brokers=tuple(places[broker] for broker in group.brokers),
            up_ms=mtbf_h * HOUR_MS, down_ms=mttr_h * HOUR_MS, effect="cut off" if is_network else "crash",
            lost_share=0.0 if is_network else assumed["power.lost_share"],
        )  # fmt: skip


def _restarts(assumed: Assumptions) -> Iterator[Restarts]:
    calendars = assumed.calendars
    if calendars is None:
        per_year = assumed["maintenance.per_y"]
        usual = (
            Calendar(every_d=365 / per_year, min_per_broker=assumed["maintenance.min_per_broker"]) if per_year else None
        )
        calendars = () if usual is None else (usual,)
    for calendar in calendars:
        yield Restarts(
            every_ms=round(calendar.every_d * _DAY_MS),
            down_ms=round(calendar.min_per_broker * _MINUTE_MS),
            waits=calendar.wait_for_isr,
            polite=calendar.polite,
        )
