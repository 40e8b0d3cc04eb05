"""kdrill.recording/1: the columns of a recording's files and what each file says of itself. Touches no file.

A recording is a folder: `cluster=NAME/day=YYYY-MM-DD/*.parquet`, days in UTC. Its files form sets within a day; a set's
first file begins with a whole image, and what follows in the set is what changed. One row is one fact, or one
partition's part of a fact; rows of one fact stand together and share `record`. Each moment begins with a row of kind
`Moment`.
"""

from typing import Final

import msgspec
import pyarrow as pa

FORMAT: Final = "kdrill.recording/1"
FAMILY: Final = "kdrill.recording/"
METADATA: Final = b"kdrill"
"""Key of a file's own description in its Parquet metadata, which is JSON."""

MOMENT: Final = "Moment"
REBALANCED: Final = "GroupRebalanced"
"""What is new of a group's rebalances; the record that it stands for, GroupRebalancesSeen, has them all."""

_INTS = pa.list_(pa.int32())

SCHEMA: Final = pa.schema([
    ("record", pa.int64()),  # numbers facts within the file
    ("at_ms", pa.int64()),  # when the recorder saw it: the time that moments and days go by, never going back
    ("kind", pa.dictionary(pa.int32(), pa.string())),  # Moment, or the name of a record
    ("zxid", pa.int64()),  # of the fact, -1 unknown; of a Moment: the highest that was known
    ("time_ms", pa.int64()),  # of the fact by the server's clock, 0 unknown
    ("topic", pa.dictionary(pa.int32(), pa.string())),
    ("partition", pa.int32()),
    ("leader", pa.int32()),  # -1 none
    ("leader_epoch", pa.int32()),
    ("controller_epoch", pa.int32()),
    ("version", pa.int32()),  # of the state znode
    ("recovering", pa.bool_()),
    ("isr", _INTS),
    ("replicas", _INTS),
    ("adding", _INTS),
    ("removing", _INTS),
    ("broker", pa.int32()),
    ("group", pa.dictionary(pa.int32(), pa.string())),
    ("payload", pa.string()),  # whatever else there is, as JSON
])  # fmt: skip


class PartHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself. It holds from `from_ms` to `until_ms`, whether anything happened or not."""

    format: str
    cluster: str
    source: str
    session: str
    """The recorder's run."""
    image_set: int
    """Numbers sets within the session."""
    part: int
    """Numbers files within the set; number 0 begins with a whole image."""
    from_ms: int
    until_ms: int
