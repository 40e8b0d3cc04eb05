"""Parquet that Spark reads, as jobs: a data frame for each scan of an analysis, whose rows one task hands to a kernel.

Of the files Spark leaves out the folders of other days and clusters (partition pruning), the columns that nobody asks
for, and row groups and rows that do not match (predicate push-down): the plan says so. There is no shuffle: a task has
whole files, and comes back as one row. Scans are jobs of their own, as many at a time as there are cores, so that the
first figures do not wait for the last ones.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os.path import dirname
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from model.analyses.history.history import FILE, HistoryTask
from model.recordings.format import SCHEMA
from spark_tasks import arrow_arrays
from spark_tasks.registry import Batch, failure, find

_arrow: Any = pa  # whose stubs leave the types of values open
LARGEST = str(2**31 - 1)
SETTINGS = {
    # A file is not split: its rows stay in order.
    "spark.sql.files.maxPartitionBytes": LARGEST,
    "spark.sql.files.openCostInBytes": LARGEST,
    # Spark 4.3 counts the bytes of a batch at every row, which takes all of a list column each time.
    "spark.sql.execution.arrow.maxBytesPerBatch": LARGEST,
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.adaptive.enabled": "false",
}
TYPES = {"int64": "bigint", "int32": "int", "bool": "boolean", "list<item: int32>": "array<int>"}
"""Of Arrow → of Spark; all others are texts."""


def schema() -> str:
    """The columns of a recording, with those that its folders are named by."""
    recorded: Any = SCHEMA
    columns = [(field.name, TYPES.get(str(field.type), "string")) for field in recorded]
    return ", ".join(f"`{name}` {kind}" for name, kind in (*columns, ("cluster", "string"), ("day", "string")))


def session_of(context: Any) -> SparkSession:
    """The SQL session of a context, which takes a second to begin."""
    session = SparkSession(context)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def frame_of(session: SparkSession, scan: HistoryTask) -> DataFrame:
    """The rows that a scan is about, in one partition."""
    days = [f"file:{scan.path}/day={day}" for day in scan.days]
    reader = session.read.schema(schema()).option("basePath", f"file:{dirname(scan.path)}")
    rows = reader.option("__globPaths__", "false").parquet(*days)
    in_time = f.col("at_ms") < scan.before_ms
    wanted = f.col("kind").isin(*scan.kinds)
    if scan.is_limited:
        wanted &= in_time | (f.col("kind") == scan.whenever)
    chosen = rows.where(
        (f.col("cluster") == scan.cluster)
        & f.col("day").isin(*scan.days)
        & f.col(f"_metadata.{FILE}").isin(*scan.files)
        & wanted
    )
    return chosen.select(*scan.columns, f.col(f"_metadata.{FILE}").alias(FILE)).coalesce(1)


@dataclass(frozen=True)
class RowsTask:
    """Called by Spark with the rows of a scan, some at a time."""

    analysis: str
    parameters: bytes
    scan: HistoryTask

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        began_s = time.process_time()
        try:
            analysis: Any = find(self.analysis)
            parameters = msgspec.json.decode(self.parameters, type=analysis.parameters_type)
            arrays = arrow_arrays.encode(analysis.kernel_of_rows(self.scan, batches, parameters))
            told: Batch = (True, arrays, time.process_time() - began_s)
        except Exception as error:
            told = (False, failure(error).encode(), 0.0)
        columns = [pa.array([told[0]]), pa.array([told[1]], pa.binary()), pa.array([told[2]])]
        yield _arrow.RecordBatch.from_arrays(columns, ["well", "told", "cpu_s"])


def _collected(frame: DataFrame, task: RowsTask) -> list[Batch]:
    """`DataFrame.mapInArrow` asks for pandas, of which it makes no use."""
    function: Any = UserDefinedFunction(
        task, returnType="well boolean, told binary, cpu_s double", evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    )
    column = function(*[frame[name] for name in frame.columns])
    rows: Any = frame
    mapped = DataFrame(rows._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)
    return [(row.well, bytes(row.told), row.cpu_s) for row in mapped.collect()]


class ParquetJobs:
    """The scans of one job. For the thread that runs the job; `ended` is asked before each scan."""

    def __init__(self, context: Any, begin: Callable[[], None], ended: Callable[[], bool]) -> None:
        """`begin` is called in each thread that submits, and names the job to Spark."""
        self._context, self._begin, self._ended = context, begin, ended
        self._count = threading.Lock()
        self.done = self.every = 0

    def run(self, analysis: str, parameters: bytes, scans: Sequence[HistoryTask]) -> list[Batch]:
        """What came of each. Raises AnalysisError, and what Spark raises."""
        self.every = len(scans)
        session = session_of(self._context)

        def run(scan: HistoryTask) -> list[Batch]:
            if self._ended():
                return []
            self._begin()
            found = _collected(frame_of(session, scan.check()), RowsTask(analysis, parameters, scan))
            with self._count:
                self.done += 1
            return found

        with ThreadPoolExecutor(max(self._context.defaultParallelism, 1), "scan") as threads:
            return [batch for found in threads.map(run, scans) for batch in found]
