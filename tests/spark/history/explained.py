"""The history, but for its answer: how Spark plans to read each scan, and what each task was handed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.history.history import FILE, HistoryAnalysis, HistoryTask
from model.analyses.history.results import HistoryParameters
from model.analyses.history.tables import HistoryTables


class Explained(HistoryAnalysis):
    """`names` of its tables are plans, then a text for each scan: kinds, files and columns of the rows handed over."""

    name = "tests.spark.history.explained:EXPLAINED"

    def kernel_of_rows(self, scan: HistoryTask, batches: Iterable[Any], parameters: HistoryParameters) -> Arrays:
        kinds: set[str] = set()
        files: set[str] = set()
        columns: list[str] = []
        for batch in batches:
            kinds |= set(batch.column("kind").to_pylist())
            files |= set(batch.column(FILE).to_pylist())
            columns = batch.schema.names
        told = f"{sorted(kinds)} {sorted(files)} {columns}"
        return {"told": np.frombuffer(told.encode(), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: HistoryParameters) -> HistoryTables:
        """Runs in Spark's process."""
        from pyspark import SparkContext  # noqa: PLC0415 - only there

        from spark_tasks.session.parquet_jobs import frame_of, session_of  # noqa: PLC0415

        session = session_of(SparkContext._active_spark_context)  # pyright: ignore[reportPrivateUsage]
        session.conf.set("spark.sql.maxMetadataStringLength", "10000")
        frames: list[Any] = [frame_of(session, scan) for scan in self.scans(parameters)]
        plans = [frame._jdf.queryExecution().toString() for frame in frames]
        return HistoryTables((*plans, *(batch["told"].tobytes().decode() for batch in batches)))


EXPLAINED = Explained()
