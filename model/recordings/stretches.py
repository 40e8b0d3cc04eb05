"""Stretches of a recording: how far to play it so that only so many moments are held. Reads times, and nothing else."""

from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from model.recordings.errors import RecordingError
from model.recordings.folder import ClusterFolder, PartSet
from model.recordings.part_file import read_part

Times = npt.NDArray[np.int64]
"""ms since epoch, ascending, each once."""


class Stretch(msgspec.Struct, frozen=True):
    """Moments one after the other, from one time to another (ms, both included)."""

    from_ms: int
    to_ms: int
    count: int
    """Times at which something was recorded."""
    is_first: bool
    """Nothing was recorded before it."""
    is_last: bool
    """Nor anything after it."""


def stretch_around(folder: ClusterFolder, at_ms: int, most: int) -> Stretch:
    """Half of `most` times before the last one until `at_ms`, and half from it on; more of these where those are few.

    Reads no more days than it takes. Raises RecordingError.
    """
    sets = list(folder.sets())
    if not sets:
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    first = last = max((place for place, whole in enumerate(sets) if whole.from_ms <= at_ms), default=0)
    times = _times(sets[first])
    while first > 0 and np.searchsorted(times, at_ms) < most:
        first -= 1
        times = np.union1d(_times(sets[first]), times)
    while last < len(sets) - 1 and len(times) - np.searchsorted(times, at_ms) < most:
        last += 1
        times = np.union1d(times, _times(sets[last]))
    if not len(times):
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    middle = max(int(np.searchsorted(times, at_ms, side="right")) - 1, 0)
    start = max(min(middle - most // 2, len(times) - most), 0)
    end = min(start + most, len(times))
    is_first, is_last = first == start == 0, last == len(sets) - 1 and end == len(times)
    return Stretch(int(times[start]), int(times[end - 1]), end - start, is_first, is_last)


def _times(whole: PartSet) -> Times:
    parts = [read_part(Path(file.path), ("at_ms",))[1].column("at_ms").to_numpy() for file in whole.parts]
    return np.unique(np.concatenate(parts))
