"""Sixty days of three clusters with 10,000 partitions each, in this process and on Spark.

Beside it, on one of the clusters, what others would write: a window function of Spark SQL over the same files, which
answers one of the questions.

Each day is the same but for its date: ten brokers die, one after the other, and come back. Recorded once, then moved.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.analyses import analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.results import HistoryParameters, HistoryResult, parameters_of
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance, state_of
from model.cluster.records import BrokerLost, BrokerRegistered, ClusterRecord, PartitionState, PartitionStatesWritten
from model.recordings.folder import DAY_MS, part_path
from model.recordings.format import FORMAT, PartHeader
from model.recordings.part_file import write_part
from model.recordings.playback import Encoder
from model.recordings.recorder import records_between
from tests.benchmarks.drill import cluster
from tests.benchmarks.figure import Figure
from tests.spark.running_spark import RunningSpark

DAYS, CLUSTERS, TOPICS, DEATHS = 60, 3, 100, 10
FIRST_MS = 20_000 * DAY_MS
MASTER = "local[2]"


def measure(folder: Path) -> Iterator[Figure]:
    """Spark is started and warm. The drill of the worst moments is left out: it is the same work either way."""
    rows = record(folder)
    parameters = msgspec.structs.replace(parameters_of([folder]), drills=False)
    megabytes = sum(day.size_bytes for day in parameters.days) / 1e6
    size = f"{DAYS} days x {CLUSTERS} clusters, {rows / 1e6:.1f} million rows"
    ours_s, cpu_s, ours = _timed(parameters)
    with RunningSpark(MASTER) as spark:
        spark.run(HISTORY, {}, _first_days(parameters))
        began_s = time.perf_counter()
        theirs = history_of(spark.run(HISTORY, {}, parameters), parameters)
        spark_s = time.perf_counter() - began_s
    assert theirs == ours
    note = f"{cpu_s:.1f} s of CPU; {megabytes:.0f} MB of Parquet"
    yield Figure(f"all questions: {size}", ours_s, f"the same on Spark {MASTER}", spark_s, note=note)
    one_s, _, one = _timed(msgspec.structs.replace(parameters_of([folder], ["c0"]), drills=False))
    sql_s, changes = _sql(folder / "cluster=c0")
    assert changes == one.clusters[0].leader_changes
    what = f"leader changes only, {DAYS} days of one cluster"
    yield Figure(what, one_s, f"Spark SQL, lag(), {MASTER}", sql_s, note="ours answers all questions")


def _first_days(parameters: HistoryParameters) -> HistoryParameters:
    return msgspec.structs.replace(parameters, days=parameters.days[:2])


def _timed(parameters: HistoryParameters) -> tuple[float, float, HistoryResult]:
    began_s, cpu_began_s = time.perf_counter(), _cpu_s()
    result = history_of(analysis.run_here(HISTORY, {}, parameters), parameters)
    return time.perf_counter() - began_s, _cpu_s() - cpu_began_s, result


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def record(folder: Path) -> int:
    """Rows written."""
    encoder = Encoder()
    for number, (before, image) in enumerate(_day()):
        encoder.moment(number * 60_000, image.provenance, records_between(before, image))
    table = encoder.table()
    for name in range(CLUSTERS):
        for day in range(DAYS):
            from_ms = FIRST_MS + day * DAY_MS
            header = PartHeader(
                format=FORMAT, cluster=f"c{name}", source="synthetic", session="1a", image_set=day, part=0,
                from_ms=from_ms, until_ms=from_ms + DAY_MS,
            )  # fmt: skip
            moved = pc.add(table.column("at_ms"), pa.scalar(from_ms))
            place = table.schema.get_field_index("at_ms")
            path = part_path(folder, f"c{name}", "1a", day, 0, from_ms)
            write_part(path, table.set_column(place, "at_ms", moved), header)
    return len(table) * DAYS * CLUSTERS


def _day() -> Iterator[tuple[ClusterImage, ClusterImage]]:
    """(image before, image) of each moment."""
    whole = cluster()
    image = msgspec.structs.replace(whole, topics=dict(list(whole.topics.items())[:TOPICS]))
    yield EMPTY, image
    for broker in range(1, DEATHS + 1):
        registered = image.brokers[broker]
        back = BrokerRegistered(broker=broker, endpoints=registered.endpoints, rack=registered.rack)
        states = {topic: _states(image, topic, broker) for topic in image.topics}
        for records in (
            [BrokerLost(broker=broker)],
            [PartitionStatesWritten(topic=topic, states=told[0]) for topic, told in states.items()],
            [back, *(PartitionStatesWritten(topic=topic, states=told[1]) for topic, told in states.items())],
        ):
            before, image = image, _after(image, records)
            yield before, image


def _states(image: ClusterImage, name: str, broker: int) -> tuple[tuple[PartitionState, ...], ...]:
    """What is written of a topic when a broker dies, and when it is back."""
    topic = image.topics[name]
    held = [state_of(topic, row) for row in np.flatnonzero((topic.isr == broker).any(axis=1)).tolist()]
    gone = tuple(
        msgspec.structs.replace(
            state,
            isr=tuple(member for member in state.isr if member != broker),
            leader=next(member for member in state.isr if member != broker) if state.leader == broker else state.leader,
            leader_epoch=state.leader_epoch + 1,
        )
        for state in held
    )
    return gone, tuple(msgspec.structs.replace(state, isr=(*state.isr, broker)) for state in gone)


def _after(image: ClusterImage, records: Sequence[ClusterRecord]) -> ClusterImage:
    seen = Provenance("synthetic", image.provenance.zxid + 1, image.provenance.time_ms, complete=True)
    return ClusterDelta(image).replay_all(records).apply(seen)


def _sql(folder: Path) -> tuple[float, int]:
    """Seconds, and the changes found, of days of their own: what happens at midnight is not seen."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - others measure without it

    spark = (
        SparkSession.builder.master(MASTER)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    try:
        spark.range(10).count()
        began_s = time.perf_counter()
        spark.read.parquet(str(folder)).createOrReplaceTempView("recording")
        (row,) = spark.sql(
            "SELECT count(*) FROM (SELECT leader, lag(leader) OVER (PARTITION BY day, topic, partition"
            " ORDER BY at_ms) AS before FROM recording WHERE kind = 'PartitionStatesWritten')"
            " WHERE before IS NOT NULL AND leader <> before AND leader >= 0"
        ).collect()
        return time.perf_counter() - began_s, row[0]
    finally:
        spark.stop()
