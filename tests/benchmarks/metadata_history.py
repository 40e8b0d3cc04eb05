"""The history of a KRaft node's metadata log of 200 MB: in stretches by processes of this machine, and by Spark.

20,000 partitions of six brokers; a batch of fifty changes every ten seconds, for weeks. Memory is what the process that
cuts the log has at most, and the largest of those that read stretches.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from model.analyses import analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.log_history import LOG_HISTORY, cut, log_history_of
from model.analyses.history.results import FOREVER_MS, HistoryResult, parameters_of
from model.log.records import Record, encode_batch
from model.sources.metadata_log.recorded import record_log
from tests.benchmarks.figure import Figure
from tests.model.metadata_log.writing import START_MS, topic_id, written
from tests.spark.running_spark import RunningSpark

LOG_BYTES, SEGMENT_BYTES = 200_000_000, 32_000_000
TOPICS, PARTITIONS, BROKERS = 200, 100, 6
BATCH, EVERY_MS = 50, 10_000
MASTER = "local[2]"


def measure(folder: Path) -> Iterator[Figure]:
    """Spark is started and warm."""
    log = folder / "__cluster_metadata-0"
    changes = write_log(log, LOG_BYTES)
    what = f"{LOG_BYTES / 1e6:,.0f} MB of metadata log, {changes / 1e6:.1f} million changes"
    here_s, ours = _in_processes(log, folder / "recorded")
    note = _memory()
    spark_s, theirs = _on_spark(log, folder)
    assert _unplaced(theirs) == _unplaced(ours)
    yield Figure(what, here_s, f"Spark {MASTER}", spark_s, note=note)


def write_log(folder: Path, size: int) -> int:
    """So many bytes at least; how many changes of partitions they have."""
    folder.mkdir()
    changes = _changes()
    count = offset = written_bytes = 0
    file = None
    with contextlib.ExitStack() as open_files:
        for number, values in enumerate(_batches(changes)):
            if file is None or file.tell() >= SEGMENT_BYTES:
                file = open_files.enter_context((folder / f"{offset:020}.log").open("wb"))
            at_ms = START_MS + number * EVERY_MS
            records = [Record(offset + place, at_ms, value=value) for place, value in enumerate(values)]
            written_bytes += file.write(encode_batch(records, leader_epoch=1))
            offset += len(values)
            count += BATCH if number > TOPICS else 0
            if written_bytes >= size:
                return count
    raise AssertionError("changes never end")


def _batches(changes: Iterator[bytes]) -> Iterator[list[bytes]]:
    brokers = range(1, BROKERS + 1)
    yield [written("RegisterBroker", brokerId=each, brokerEpoch=each, fenced=False) for each in brokers]
    for topic in range(1, TOPICS + 1):
        replicas = [[1 + (topic + number + step) % BROKERS for step in range(3)] for number in range(PARTITIONS)]
        yield [
            written("Topic", name=f"topic-{topic}", topicId=topic_id(topic)),
            *(
                written("Partition", topicId=topic_id(topic), partitionId=number, replicas=own, isr=own, leader=own[0])
                for number, own in enumerate(replicas)
            ),
        ]
    while True:
        yield [*islice(changes, BATCH)]


def _changes() -> Iterator[bytes]:
    """Each partition's leader leaves its ISR and comes back, one partition after the other, without an end."""
    values: list[bytes] = []
    for leaves in (True, False):
        for topic in range(1, TOPICS + 1):
            for number in range(PARTITIONS):
                own = [1 + (topic + number + step) % BROKERS for step in range(3)]
                isr = own[1:] if leaves else own
                values.append(
                    written("PartitionChange", topicId=topic_id(topic), partitionId=number, isr=isr, leader=isr[0])
                )
    while True:
        yield from values


def _in_processes(log: Path, recorded: Path) -> tuple[float, HistoryResult]:
    began_s = time.perf_counter()
    parameters = msgspec.structs.replace(parameters_of([record_log(log, recorded, print)]), drills=False)
    result = history_of(analysis.run_here(HISTORY, {}, parameters), parameters)
    return time.perf_counter() - began_s, result


def _on_spark(log: Path, folder: Path) -> tuple[float, HistoryResult]:
    kept = folder / "kept"
    kept.mkdir()
    with RunningSpark(MASTER) as spark:
        spark.wait_for(spark.client.start())
        began_s = time.perf_counter()
        found = cut(log, kept, 0, FOREVER_MS)
        tables = spark.begin(LOG_HISTORY, found.arrays, found.parameters, "log").result()
        result = log_history_of(tables, found.arrays, found.parameters, drills=False)
        return time.perf_counter() - began_s, result


def _unplaced(result: HistoryResult) -> object:
    """All but where the worst moments can be looked at."""
    (cluster,) = result.clusters
    moments = [(each.at_ms, each.offline, each.under_replicated) for each in cluster.moments_by_hour]
    return moments, msgspec.structs.replace(cluster, worst=None, moments_by_hour=())


def _memory() -> str:
    cutting, reading = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return f"at most {cutting:,.0f} MB resident, {reading:,.0f} MB in a process for a stretch"
