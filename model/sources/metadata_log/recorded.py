"""A node's metadata log → the recording that `kdrill record` would have written, had it followed from the beginning on.

What tells of months reads recordings. Days begin with a whole image there, so that they can be read side by side.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.metadata_log.topics import Place
from model.recordings.folder import DAY_MS, RecordingError, said
from model.recordings.recorder import Recorder, Rolling
from model.sources.metadata_log.log_files import MetadataLog, Until
from model.sources.metadata_log.snapshots import MetadataLogError

_WHOLE: Final = Rolling(absent_ms=1 << 60)
"""A log says all that changed: what lies long between two changes is no gap."""
EARLIEST_MS: Final = 1_293_840_000_000
LATEST_MS: Final = 4_102_444_800_000
"""2011, when Kafka came, and 2100: other times mean nothing, such as 0 in snapshots that no record led to."""
MOST_MS: Final = 20 * 365 * DAY_MS
"""Each day begins with a whole image: a time that is made up must not make a million of them."""
_SESSION: Final = "0" * 8


def record_log(path: Path, folder: Path, note: Callable[[str], object]) -> Path:
    """Records all of a log's past into `folder`; where its cluster's recording is. Raises RecordingError.

    `note` hears what of it could not be used, such as what follows damage, a line each. However long the log is, memory
    holds one image and some changes.
    """
    try:
        log = MetadataLog(path)
        recorder = Recorder(folder, log.cluster_id or path.resolve().parent.name, _SESSION, _WHOLE)
        with closing(_Recording(recorder)) as recording:
            delta = ClusterDelta(EMPTY)
            for step in log.steps(Until()):
                delta.replay_all(step.facts)
                recording.go_on(step.at)
                if step.facts and recording.at_ms:
                    provenance = Provenance(str(path), step.at.offset, recording.at_ms, complete=True)
                    image = delta.apply(provenance)
                    recorder.take(image, recording.at_ms)
                    delta = ClusterDelta(image)
        for remark in log.remarks:
            note(f"{path}: {remark}")
        if not recording.at_ms:
            raise RecordingError("no record has a time")
    except MetadataLogError as error:
        raise RecordingError(str(error)) from None
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from None
    return recorder.path


class _Recording:
    """Ends at the time of the last record: until then what was recorded last is known to have been so."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._first_ms = 0
        self.at_ms = 0
        """When it is, never earlier than before: leaders' clocks differ. 0: not known yet."""

    def go_on(self, at: Place) -> None:
        """Raises RecordingError for a time that is too far from the first one."""
        if not EARLIEST_MS <= at.time_ms < LATEST_MS:
            return
        self._first_ms = self._first_ms or at.time_ms
        if at.time_ms - self._first_ms > MOST_MS:
            years = MOST_MS // (365 * DAY_MS)
            raise RecordingError(f"offset {at.offset} is of {said(at.time_ms)}, {years} years and more after the first")
        self.at_ms = max(self.at_ms, at.time_ms)

    def close(self) -> None:
        self._recorder.close(self.at_ms)
