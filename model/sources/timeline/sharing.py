"""Images one after the other, so kept that each costs only what changed: a moment is told as a way back from the one
after it. Counts no bytes; `memory` does.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.descent import differing_keys

PARTS = ("brokers", "topics", "groups", "classic_groups", "log_ends", "configs", "unreadable")
"""The image's mappings: with thousands of topics, a copy of one weighs more than what changed in it."""

WayBack = Mapping[str, Mapping[Any, Any]]
"""Part → key → what stood there in the earlier image; None: nothing. Parts and keys that are the same are left out."""


def frame_of(image: ClusterImage) -> ClusterImage:
    """The image without its mappings."""
    return msgspec.structs.replace(image, **{name: {} for name in PARTS})


def way_back(earlier: ClusterImage, later: ClusterImage) -> WayBack:
    """What makes the earlier image of the later one, beside its frame. Compares objects, not what is in them."""
    ways = ((name, _differing(getattr(earlier, name), getattr(later, name))) for name in PARTS)
    return {name: way for name, way in ways if way}


def gone_back(newest: ClusterImage, frame: ClusterImage, ways: Iterable[WayBack]) -> ClusterImage:
    """The image that lies behind these ways, the first of them from the newest image. A part that none of them names is
    the newest image's own object."""
    parts: dict[str, dict[Any, Any]] = {}
    for way in ways:
        for name, old in way.items():
            if name not in parts:
                parts[name] = dict(getattr(newest, name))
            parts[name].update(old)
    known = {name: {key: value for key, value in part.items() if value is not None} for name, part in parts.items()}
    return msgspec.structs.replace(frame, **{name: known.get(name, getattr(newest, name)) for name in PARTS})


def _differing(earlier: Mapping[Any, Any], later: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return {key: earlier.get(key) for key in differing_keys(earlier, later)}
