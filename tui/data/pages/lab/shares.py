"""What each consumer of a group on the bench has now, and gets by the strategy in use and by the one that is tried."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.group import NOBODY, Ints
from tui.data.pages.lab.bench import Tried

JOINS = "~"
"""Begins the name of who joins: `spark_tasks.previews.names.newcomers`."""


class Share(NamedTuple):
    """Of each consumer: its partitions, and records that it lags on those whose lag is known."""

    partitions: Ints
    lag: Ints


class Shares(NamedTuple):
    """Consumers in the order of the list: those that join come last."""

    consumers: tuple[str, ...]
    has: Share
    left: Share
    """By the strategy in use."""
    right: Share
    """By the one that is tried."""
    unknown: int
    """Partitions whose lag is not known."""
    is_lag_known: bool
    """Whether that of any is."""


def apart(consumers: Sequence[str]) -> list[str]:
    """Names from the first letter on in which those of the present consumers differ."""
    there = [name for name in consumers if not name.startswith(JOINS)]
    same = next((place for place, letters in enumerate(zip(*there, strict=False)) if len(set(letters)) > 1), 0)
    return [name.removeprefix(JOINS) if name.startswith(JOINS) else name[same:] or name for name in consumers]


def shares_of(one: Tried) -> Shares | None:
    """None where the strategy refuses the group."""
    if one.comparison is None or one.consumer_of is None:
        return None
    compared, names = one.comparison, one.names
    joined = compared.members[len(names.members) :]
    consumers = (*names.consumers, *joined)
    of_member = np.concatenate((one.consumer_of, len(names.consumers) + np.arange(len(joined))))
    lag = np.maximum(compared.lag, 0)

    def share(owner: Ints) -> Share:
        owned = owner != NOBODY
        whose = of_member[owner[owned]]
        partitions, lags = (np.bincount(whose, what[owned], len(consumers)) for what in (np.ones_like(lag), lag))
        return Share(partitions.astype(np.int64), lags.astype(np.int64))

    has, left, right = map(share, (compared.before, compared.left, compared.right))
    return Shares(consumers, has, left, right, int((compared.lag < 0).sum()), bool((compared.lag >= 0).any()))
