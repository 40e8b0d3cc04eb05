"""Small variants of clusters for tests of forecasts: their classes, what fails, and how long it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from model.analyses.forecast.sampling import HOUR_MS, Component, Times

YEAR_MS = 8_760 * HOUR_MS
MINUTE_MS = 60_000


def crashes(brokers: int, mtbf_h: float = 2_190.0, mttr_min: float = 15.0) -> tuple[Component, ...]:
    return tuple(
        Component(
            name=f"broker {broker}", kind="broker", brokers=(broker,),
            up_ms=mtbf_h * HOUR_MS, down_ms=mttr_min * MINUTE_MS,
        )
        for broker in range(brokers)
    )  # fmt: skip


def times(components: tuple[Component, ...], brokers: int, **changes: Any) -> Times:
    usual = Times(
        components=components, detect_ms=9_000, lag_ms=30_000, elect_ms=(100,) * brokers, rejoin_ppm=100_000,
        rejoin_ms=60_000, refill_ms=(36_000_000,) * brokers,
    )  # fmt: skip
    return Times(**{name: changes.get(name, getattr(usual, name)) for name in usual.__struct_fields__})


def one_partition(replicas: tuple[int, ...], min_isr: int, *, unclean: bool = False, elr: bool = False) -> Any:
    return classes([(replicas, min_isr, unclean, elr, {0: 1})])


def classes(rows: list[tuple[tuple[int, ...], int, bool, bool, dict[int, int]]]) -> dict[str, np.ndarray[Any, Any]]:
    width = max(len(row[0]) for row in rows)
    entries = [(number, topic, count) for number, row in enumerate(rows) for topic, count in sorted(row[4].items())]
    return {
        "0.replicas": np.array([(*row[0], *[-1] * (width - len(row[0]))) for row in rows], np.int32),
        "0.min_isr": np.array([row[1] for row in rows], np.int32),
        "0.unclean": np.array([row[2] for row in rows]),
        "0.elr": np.array([row[3] for row in rows]),
        "0.class": np.array([entry[0] for entry in entries], np.int32),
        "0.topic": np.array([entry[1] for entry in entries], np.int32),
        "0.count": np.array([entry[2] for entry in entries], np.int32),
    }
