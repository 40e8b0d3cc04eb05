"""What comes of one unit of a scan, as the bytes in which it travels back from where it was made."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.scans.findings import Found
from spark_tasks.scans.tally import Tally


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of a segment, or of a partition folder apart from its segments. -1 where nothing tells."""

    found: tuple[Found, ...] = ()
    counts: dict[str, int] = {}
    """Kind → how often it was found, in all."""
    tally: Tally = msgspec.field(default_factory=Tally)
    was_read: bool = True
    """False for a file that is gone, or can't be opened."""
    first_offset: int = -1
    last_offset: int = -1
    first_epoch: int = -1
    last_epoch: int = -1
    topic_id: str = ""


def encode(units: Sequence[int], reports: Sequence[Report]) -> Arrays:
    """Reports one after another, with the unit of each."""
    encoded = [msgspec.msgpack.encode(report) for report in reports]
    return {
        "unit": np.array(units, np.int64),
        "end": np.cumsum([len(each) for each in encoded], dtype=np.int64),
        "report": np.frombuffer(b"".join(encoded), np.uint8),
    }


def decode(batch: Arrays) -> Iterator[tuple[int, Report]]:
    """Units and their reports."""
    decoder = msgspec.msgpack.Decoder(Report)
    data, start = batch["report"].tobytes(), 0
    for unit, end in zip(batch["unit"].tolist(), batch["end"].tolist(), strict=True):
        yield unit, decoder.decode(data[start:end])
        start = end
