"""A recording played: the image at a moment, every moment after, and how far to play so that only so many are held."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.recordings.folder import ClusterFolder, PartSet, RecordingError, said
from model.recordings.part_file import read_header, read_part
from model.recordings.rows import Decoder, RecordedMoment, RowError


def image_at(folder: ClusterFolder, at_ms: int | None = None) -> ClusterImage:
    """The cluster as it was at a time (ms), by default at the end. Raises RecordingError, also where it is unknown."""
    whole = set_at(folder, at_ms)
    delta, seen = ClusterDelta(EMPTY), None
    for moment in told(whole, at_ms):
        delta.replay_all(moment.records)
        seen = moment
    if seen is None:
        raise RecordingError(f"{whole.parts[0].path}: holds no image; remove it to read the rest")
    return delta.apply(_provenance(_source_of(whole), seen))


def images(folder: ClusterFolder, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
    """When each moment from one time to another (ms, both included) was recorded, and the cluster then. What was before
    goes into the first one at once. Raises RecordingError.
    """
    sets = [whole for whole in folder.sets() if whole.from_ms <= to_ms]
    for whole, later in zip(sets, [*sets[1:], None], strict=True):
        if later is not None and later.from_ms <= from_ms:
            continue
        delta, source = ClusterDelta(EMPTY), _source_of(whole)
        for moment in told(whole, to_ms):
            delta.replay_all(moment.records)
            if moment.at_ms >= from_ms:
                image = delta.apply(_provenance(source, moment))
                yield moment.at_ms, image
                delta = ClusterDelta(image)


def told(whole: PartSet, to_ms: int | None = None) -> Iterator[RecordedMoment]:
    """The moments of a set, its image first, until a time (ms). Raises RecordingError."""
    decoder = Decoder()
    for file in whole.parts:
        if to_ms is not None and file.from_ms > to_ms:
            return
        path = Path(file.path)
        try:
            for moment in decoder.moments(read_part(path)[1]):
                if to_ms is not None and moment.at_ms > to_ms:
                    return
                yield moment
        except RowError as error:
            raise RecordingError(f"{path}: damaged ({error}); remove it to read the rest") from None


def set_at(folder: ClusterFolder, at_ms: int | None) -> PartSet:
    """The set that knows of a time, by default the last. Raises RecordingError where none does."""
    sets = list(folder.sets())
    if not sets:
        raise RecordingError(f"{folder.path}: nothing is recorded here")
    if at_ms is None:
        return sets[-1]
    begun = [each for each in sets if each.from_ms <= at_ms]
    if not begun:
        raise RecordingError(f"{folder.path}: recorded from {said(sets[0].from_ms)} on, not at {said(at_ms)}")
    last = begun[-1]
    until_ms = read_header(Path(last.parts[-1].path)).until_ms
    if at_ms > until_ms:
        later = [each.from_ms for each in sets if each.from_ms > at_ms]
        again = f", and again from {said(min(later))} on" if later else ""
        raise RecordingError(f"{folder.path}: recorded until {said(until_ms)}{again}, not at {said(at_ms)}")
    return last


def _source_of(whole: PartSet) -> str:
    return read_header(Path(whole.parts[0].path)).source


def _provenance(source: str, moment: RecordedMoment) -> Provenance:
    return Provenance(source, moment.zxid, moment.time_ms, complete=True)


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
