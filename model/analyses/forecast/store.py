"""What a forecast's histories came to, as Parquet for other tools: `units.parquet` and `histories.parquet`.

| table | a row is | columns |
|---|---|---|
| `units` | a unit, topic and measure | `unit`, its `first` history and number of `histories`, `topic`, `measure`, |
| | | `sum_ms` (partition-ms), `sum_sq` (of histories), `hit` (histories above 0), `max_ms` (of the worst one) |
| `histories` | a history | `history`, partition-ms by measure, partitions by event (`cut`, `gone`, `acked1`, `tail`) |
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from model.analyses.forecast.figures import FORMAT
from model.analyses.forecast.forecast import UNIT, Tally
from model.analyses.forecast.lockstep import EVENTS, MEASURES
from model.cluster.whole_file import write_whole

_arrow: Any = pa
_parquet: Any = pq
"""Untyped: their stubs do not know all of this."""


def write_tables(folder: Path, topics: Sequence[str], tally: Tally, *, seed: int, horizon_ms: int) -> None:
    """Of the first variant, the cluster as it is; files there are replaced. Raises OSError."""
    about = {"format": FORMAT, "seed": str(seed), "horizon_ms": str(horizon_ms)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in tables(topics, tally).items():
        table = _arrow.table(columns).replace_schema_metadata(about)
        written = _arrow.BufferOutputStream()
        _parquet.write_table(table, written, compression="zstd")
        write_whole(folder / f"{name}.parquet", memoryview(written.getvalue()))


def tables(topics: Sequence[str], tally: Tally) -> dict[str, dict[str, Any]]:
    """Columns of both tables, sorted by unit, topic and measure, and by history."""
    arrays = tally.arrays()
    units, measures = len(arrays["unit"]), len(MEASURES)
    each = len(topics) * measures

    def by_cell(name: str) -> np.ndarray:
        return arrays[name][:, 0].transpose(0, 2, 1).reshape(-1)

    rows = arrays["totals"][:, 0]
    names = (*(f"{name}_ms" for name in MEASURES), *EVENTS)
    first = int(arrays["unit"][0]) * UNIT
    return {
        "units": {
            "unit": np.repeat(arrays["unit"], each),
            "first": np.repeat(arrays["unit"] * UNIT, each),
            "histories": np.repeat(arrays["histories"].astype(np.int32), each),
            "topic": _arrow.array(np.tile(np.repeat(np.array(topics, object), measures), units)).dictionary_encode(),
            "measure": _arrow.array(np.tile(np.array(MEASURES, object), units * len(topics))).dictionary_encode(),
            "sum_ms": by_cell("sum"), "sum_sq": by_cell("squares"), "hit": by_cell("hit"), "max_ms": by_cell("largest"),
        },
        "histories": {
            "history": np.arange(first, first + len(rows)),
            **{name: rows[:, column] for column, name in enumerate(names)},
        },
    }  # fmt: skip
