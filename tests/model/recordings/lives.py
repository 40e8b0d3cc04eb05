"""A cluster's life as images at times, and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from hypothesis import strategies as st

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.texts import redacted
from model.recordings.folder import DAY_MS, ClusterFolder, clusters_in
from model.recordings.recorder import ROLLING, Recorder, Rolling
from tests.model.cluster.build import image
from tests.model.cluster.strategies import histories

START_MS = 20_000 * DAY_MS + 3_600_000
SECOND = 1_000

Life = list[ClusterImage]

steps = st.lists(st.tuples(st.integers(10, 40_000_000) | st.integers(10, 2_000), histories), min_size=1, max_size=5)
"""How long after the last one, and what happens."""


def life(told: Sequence[tuple[int, list[object]]], start_ms: int = START_MS) -> Life:
    """Images at growing times."""
    images: Life = []
    at_ms, last = start_ms, EMPTY
    for zxid, (later_ms, records) in enumerate(told):
        at_ms += later_ms
        last = without_secrets(image(*records, base=last, zxid=zxid, time_ms=at_ms))  # pyright: ignore[reportArgumentType]
        images.append(last)
    return images


lives = st.builds(life, steps)


def record(
    folder: Path,
    images: Life,
    *,
    cluster: str = "c",
    session: str = "1a",
    rolling: Rolling = ROLLING,
    closes: bool = True,
) -> ClusterFolder:
    """Records a life, a tick 1 ms before each image and one at the end; a second after that it is closed."""
    recorder = Recorder(folder, cluster, session, msgspec.structs.replace(rolling, absent_ms=10 * DAY_MS))
    for each in images:
        recorder.tick(each.provenance.time_ms - 1)
        recorder.take(each, each.provenance.time_ms)
    end_ms = images[-1].provenance.time_ms + SECOND
    recorder.tick(end_ms)
    if closes:
        recorder.close(end_ms)
    return next(each for each in clusters_in(folder) if each.name == cluster)


def without_secrets(image: ClusterImage) -> ClusterImage:
    """As a recording has it."""
    configs = {entity: redacted(entity, config) for entity, config in image.configs.items()}
    return msgspec.structs.replace(image, configs=configs)
