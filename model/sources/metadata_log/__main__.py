"""A stretch of a metadata log, recorded: `python -m model.sources.metadata_log`, which reads its order from its input.

The order is pickled by the process that started this one (`recorded.py`), and comes from nowhere else.
"""

import pickle
import sys

from model.hosts.process import tell_no_values
from model.recordings.folder import RecordingError
from model.sources.metadata_log.recorded import record_stretch
from model.sources.metadata_log.snapshots import MetadataLogError


def main() -> int:
    """Prints whether anything has a time; what went wrong is one line on standard error."""
    tell_no_values()
    try:
        print(record_stretch(pickle.load(sys.stdin.buffer)))
    except (RecordingError, MetadataLogError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
