"""A node's metadata log → the recording that `kdrill record` would have written, had it followed from the beginning on.

What tells of months reads recordings. Days begin with a whole image there, so that they can be read side by side.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.recordings.folder import RecordingError
from model.recordings.recorder import Recorder, Rolling
from model.sources.metadata_log.log_files import MetadataLog, Until
from model.sources.metadata_log.snapshots import MetadataLogError

_WHOLE: Final = Rolling(absent_ms=1 << 60)
"""A log says all that changed: what lies long between two changes is no gap."""
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
                recording.at_ms = max(recording.at_ms, step.at.time_ms)
                if step.facts:
                    provenance = Provenance(str(path), step.at.offset, recording.at_ms, complete=True)
                    image = delta.replay_all(step.facts).apply(provenance)
                    recorder.take(image, recording.at_ms)
                    delta = ClusterDelta(image)
        for remark in log.remarks:
            note(f"{path}: {remark}")
    except MetadataLogError as error:
        raise RecordingError(str(error)) from None
    return recorder.path


class _Recording:
    """Ends at the time of the last record: until then what was recorded last is known to have been so."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.at_ms = 0

    def close(self) -> None:
        self._recorder.close(self.at_ms)
