"""How many bytes it takes to go back from an image to the one before it. Counts, and keeps nothing."""

import sys
from collections.abc import Callable, Mapping, Sized
from typing import Any

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.group_image import GroupImage
from model.cluster.topic_image import TopicImage
from model.sources.timeline.sharing import WayBack

OBJECT_BYTES = 500
"""A broker, a group's or a topic's frame, a setting: what has no columns."""

MOMENT_BYTES = 3_000
"""An instant itself, with its frame and the way back."""

ENTRY_BYTES = 32
"""A number that a mapping holds."""

CHANGE_BYTES = 600
"""A change in the feed: five texts and numbers. A constant, as texts are short."""

_COLUMNS = (
    "partitions", "replicas", "leader", "isr", "leader_epoch", "controller_epoch", "version", "recovering", "zxid",
    "time_ms", "in_isr", "preferred", "isr_count", "replica_count", "orphaned",
)  # fmt: skip
_GROUP_PARTS = ("members", "owners", "offsets", "rebalances")


def bytes_of(way: WayBack, later: ClusterImage) -> int:
    """Bytes that are kept to go back from `later`, about: columns exactly, mappings shallowly, the rest by count."""
    size = MOMENT_BYTES
    for name, old in way.items():
        beside, cost = getattr(later, name), _COSTS.get(name, _object)
        size += sys.getsizeof(old) + sum(
            cost(value, beside.get(key)) for key, value in old.items() if value is not None
        )
    return size


def _object(one: object, other: object) -> int:
    return OBJECT_BYTES


def _number(one: int, other: int | None) -> int:
    return ENTRY_BYTES


def _topic(one: TopicImage, other: TopicImage | None) -> int:
    had, has = vars(one), {} if other is None else vars(other)
    columns = (had[name] for name in _COLUMNS if name in had and had[name] is not has.get(name))
    size = OBJECT_BYTES + sum(column.nbytes for column in columns if isinstance(column, np.ndarray))
    rows = had.get("row_of")
    return size if rows is None or rows is has.get("row_of") else size + sys.getsizeof(rows) + ENTRY_BYTES * len(one)


def _group(one: GroupImage, other: GroupImage | None) -> int:
    size = OBJECT_BYTES
    for name in _GROUP_PARTS:
        part: Sized = getattr(one, name)
        if part is not getattr(other, name, None):
            size += sys.getsizeof(part) + ENTRY_BYTES * len(part)
    return size


_COSTS: Mapping[str, Callable[[Any, Any], int]] = {
    "topics": _topic,
    "groups": _group,
    "classic_groups": _group,
    "log_ends": _number,
}
"""Part of an image → what one of its values costs beside a later one."""
