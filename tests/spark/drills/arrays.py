"""Clusters of thousands of partitions in any state, the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.image_arrays import MANY
from model.controller.generations import GENERATIONS


def random_arrays(
    seed: int, *, partitions: int, brokers: int, racks: int = 3, controller: bool = True, alike: bool = False
) -> Arrays:
    """One to four replicas; some brokers dead, some replicas out of sync, some partitions without leader or state.

    alike: fewer kinds of partitions, as real clusters have.
    """
    dice = np.random.default_rng(seed)
    replicas = np.argsort(dice.random((partitions, brokers)), axis=1)[:, :4].astype(np.int32)
    count = np.full(partitions, 3) if alike else dice.integers(1, 5, partitions)
    replicas[np.arange(4)[None, :] >= count[:, None]] = -1
    live = dice.random(brokers) < 0.9
    live[:4] = True
    isr = dice.integers(0, 16, partitions) & ((1 << count) - 1) | 1 << dice.integers(0, count)
    if alike:
        isr[dice.random(partitions) < 0.99] = 7
    at = np.array([dice.choice([place for place in range(4) if bits >> place & 1]) for bits in isr.tolist()])
    leader = np.where(dice.random(partitions) < 0.05, -1, replicas[np.arange(partitions), at]).astype(np.int32)
    stated = dice.random(partitions) < 0.98
    return _ruled(brokers, controller=controller) | {
        "brokers": np.arange(brokers, dtype=np.int64) * 3,
        "live": live,
        "rack": np.where(dice.random(brokers) < 0.9, np.arange(brokers) % racks, -1).astype(np.int32),
        "topic": np.zeros(partitions, np.int32),
        "partition": np.arange(partitions, dtype=np.int32),
        "replicas": replicas,
        "strangers": np.empty((partitions, 0), np.int32),
        "isr": np.where(stated, isr, 0),
        "elr": np.zeros(partitions, np.int64),
        "leader": np.where(stated, leader, -1).astype(np.int32),
        "min_isr": np.full(partitions, 2, np.int32) if alike else dice.integers(1, 4, partitions).astype(np.int32),
        "unclean": dice.random(partitions) < 0.3,
        "stated": stated,
        "adding": np.where(dice.random(partitions) < 0.1, 1, 0) & ~isr,
        "removing": np.zeros(partitions, np.int64),
    }


def _ruled(brokers: int, *, controller: bool) -> dict[str, NDArray[np.generic]]:
    """By the second broker with ZooKeeper, or by nobody."""
    return {
        "controller": np.array([1 if controller else -1], np.int32),
        "voter": np.zeros(brokers, np.bool_),
        "spare": np.array([MANY], np.int32),
        "rules": np.array([len(GENERATIONS) - 1], np.int32),
        "levels": np.empty(0, np.int32),
    }
