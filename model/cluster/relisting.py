"""What a full listing makes of an image: what it does not mention is gone. Start-up and resynchronisation are one way.

A listing is replayed on what it says nothing of, in as many deltas as it comes; then it replaces what was known.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.group_image import GroupImage

K = TypeVar("K")
V = TypeVar("V")


LISTED = ("controller", "brokers", "fenced", "topics", "groups", "configs", "admin", "unreadable")
"""What a listing tells all of. Everything else stays until something else is said of it."""


def unlisted(image: ClusterImage) -> ClusterImage:
    """What is left of an image before a listing says anything: a listing is replayed on this."""
    return msgspec.structs.replace(image, **{name: getattr(EMPTY, name) for name in LISTED})


def relisted(before: ClusterImage, listed: ClusterImage) -> ClusterImage:
    """`listed`, with parts that are equal as the very objects they were in `before`. Groups keep their past."""
    groups = {name: _with_past(before.groups.get(name), group) for name, group in listed.groups.items()}
    return msgspec.structs.replace(
        listed,
        controller=before.controller if before.controller == listed.controller else listed.controller,
        brokers=_same(before.brokers, listed.brokers),
        fenced=_same(before.fenced, listed.fenced),
        topics=_same(before.topics, listed.topics),
        groups=_same(before.groups, groups),
        configs=_same(before.configs, listed.configs),
        admin=before.admin if before.admin == listed.admin else listed.admin,
        unreadable=_same(before.unreadable, listed.unreadable),
    )


def _with_past(before: GroupImage | None, group: GroupImage) -> GroupImage:
    if before is None or group.rebalances or not before.rebalances:
        return group
    return msgspec.structs.replace(group, rebalances=before.rebalances)


def _same(before: Mapping[K, V], after: Mapping[K, V]) -> Mapping[K, V]:
    """`after` with every value that is equal as the object it was; `before` itself where all are."""
    if not before:
        return after or before
    merged = {key: old if (old := before.get(key)) is new or old == new else new for key, new in after.items()}
    is_same = len(merged) == len(before) and all(before.get(key) is value for key, value in merged.items())
    return before if is_same else merged  # pyright: ignore[reportReturnType]  # old is a V wherever it equals one
