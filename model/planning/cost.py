"""What a plan costs, in replicas copied, bytes and leaders. It does not say whether it is worth it."""

import msgspec
import numpy as np

from model.cluster.topic_image import NOBODY, Flags, Ints, Longs, widened


class Cost(msgspec.Struct, frozen=True):
    """`moves`: replicas on brokers that had none; `bytes` that are copied for it, None: no size is known."""

    moves: int
    bytes: int | None
    leader_changes: int
    """Partitions whose preferred leader changes."""
    touched: int
    """Partitions that change at all."""
    reorders: int
    """Of those, the ones that only change the order of their replicas: nothing is copied."""


def cost_of(before: Ints, after: Ints, size: Longs | None) -> Cost:
    """What it costs to come from one set of replicas to another; rows are partitions, padded with -1."""
    width = max(before.shape[1], after.shape[1])
    before, after = widened(before, width), widened(after, width)
    added = newcomers(before, after).sum(axis=1)
    touched = (before != after).any(axis=1)
    same = (np.sort(before, axis=1) == np.sort(after, axis=1)).all(axis=1)
    return Cost(
        moves=int(added.sum()),
        bytes=None if size is None else int((added * size).sum()),
        leader_changes=int((before[:, 0] != after[:, 0]).sum()),
        touched=int(touched.sum()),
        reorders=int((touched & same).sum()),
    )


def newcomers(before: Ints, after: Ints) -> Flags:
    """bool like `after`: whether that broker had no replica of the partition."""
    return (after != NOBODY) & ~(after[:, :, None] == before[:, None, :]).any(axis=2)
