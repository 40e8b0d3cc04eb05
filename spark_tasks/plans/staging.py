"""A cluster as arrays for plans and drills alike, and a layout read back from them. Topics are numbers there."""

from collections.abc import Mapping

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import NOBODY, Column, Ints
from model.planning.layout import Layout
from model.planning.sizes import Sizes
from spark_tasks.analysis import Arrays
from spark_tasks.image_arrays import arrays_of, topics_of

Columns = Mapping[str, Column]
"""Arrays, for arithmetic."""


def plan_arrays(image: ClusterImage, sizes: Sizes | None) -> Arrays:
    """`image_arrays` and `size` int64[N], empty where no size is known; and who has none, as -1."""
    arrays = arrays_of(image)
    size = np.empty(0, np.int64)
    if sizes is not None:
        topics = topics_of(image)
        rows = zip(arrays["topic"].tolist(), arrays["partition"].tolist(), strict=True)
        names = [TopicPartition(topics[topic], number) for topic, number in rows]
        size = np.array([sizes.bytes.get(name, -1) for name in names], np.int64)
    return {**arrays, "size": size}


def layout_in(arrays: Columns, racks: tuple[str, ...]) -> Layout:
    """The layout that the arrays describe; partitions without replicas are left out of it."""
    rows = np.flatnonzero(assigned(arrays))
    brokers, topic = arrays["brokers"], arrays["topic"][rows]
    size, known = arrays["size"][rows] if len(arrays["size"]) else arrays["size"], np.zeros(0, np.bool_)
    if len(size):
        known = size >= 0
        size = np.where(known, size, round(float(size[known].mean())) if known.any() else 0)
    live: list[int] = np.flatnonzero(arrays["live"]).tolist()
    named = {int(brokers[place]): int(arrays["rack"][place]) for place in live}
    return Layout(
        topics=tuple(map(str, range(int(topic.max(initial=-1)) + 1))),
        topic=topic.astype(np.int32),
        partition=arrays["partition"][rows].astype(np.int32),
        replicas=_ids(brokers, arrays["replicas"][rows]),
        leader=_ids(brokers, arrays["leader"][rows]),
        size=size.astype(np.int64) if known.any() else None,
        guessed=int((~known).sum()),
        busy=(arrays["adding"][rows] | arrays["removing"][rows]) != 0,
        racks={broker: racks[rack] if rack >= 0 else None for broker, rack in named.items()},
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
