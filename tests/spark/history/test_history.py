"""What is said of a recording whose story is known: times, counts, who, and that midnight is no border."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from model.analyses import AnalysisError, analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.log_history import LOG_HISTORY, CutLog, cut, log_history_of
from model.analyses.history.results import (
    FOREVER_MS,
    BrokerHour,
    ClusterHistory,
    ControllerChange,
    GroupRebalances,
    HistoryParameters,
    HistoryResult,
    Outage,
    PartitionFlaps,
    Storm,
    TopicFlaps,
    WorstDrill,
    parameters_of,
)
from model.cluster.records import BrokerFenced, BrokerRegistered
from model.recordings.folder import RecordingError
from model.sources.metadata_log.recorded import record_log
from tests.model.cluster.build import brokers, topic
from tests.model.metadata_log.kept import QUORUM
from tests.model.recordings.lives import SECOND, life, record
from tests.spark.history.months import BUSY, EVENING_MS, HOUR_MS, MIDNIGHT_MS, MINUTE_MS, recorded
from tests.spark.running_spark import RunningSpark

DEATH_MS = EVENING_MS + 10 * MINUTE_MS
BACK_MS = BUSY[5].provenance.time_ms


def told(parameters: HistoryParameters) -> HistoryResult:
    return history_of(analysis.run_here(HISTORY, {}, parameters), parameters)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recordings"))


@pytest.fixture(scope="module")
def busy(folder: Path) -> ClusterHistory:
    return told(parameters_of([folder])).clusters[0]


def test_time_without_a_leader_goes_on_over_midnight(busy: ClusterHistory) -> None:
    lost = busy.leaderless
    # Led by the dead broker: three partitions of orders and one of old, which is deleted ten minutes later.
    assert Outage("orders", 2, DEATH_MS, BACK_MS) in lost.longest
    assert DEATH_MS < MIDNIGHT_MS < BACK_MS
    short = [one for one in lost.longest if one.topic == "orders" and one.partition < 2]
    assert [(one.from_ms, one.to_ms) for one in short] == [(DEATH_MS, DEATH_MS + SECOND)] * 2
    assert (lost.outages, lost.still) == (4, 0)
    assert lost.total_ms == sum(one.to_ms - one.from_ms for one in lost.longest)
    assert lost.mean_ms == lost.total_ms / 4


def test_leader_changes_are_counted_by_topic_and_partition(busy: ClusterHistory) -> None:
    assert busy.leader_changes == 5
    assert busy.topics == (TopicFlaps("orders", 5, 3),)
    assert busy.partitions == (
        PartitionFlaps("orders", 0, 3),
        PartitionFlaps("orders", 1, 1),
        PartitionFlaps("orders", 2, 1),
    )


def test_isr_churn_is_by_broker_and_hour(busy: ClusterHistory) -> None:
    night_ms = MIDNIGHT_MS
    assert set(busy.hours) == {
        BrokerHour(1, EVENING_MS, 2, 0, lost=3),
        BrokerHour(2, EVENING_MS, 1, 0, lost=0),
        BrokerHour(3, EVENING_MS, 1, 0, lost=0),
        BrokerHour(1, night_ms, 0, 2, lost=0),
        BrokerHour(2, night_ms, 0, 1, lost=0),
        BrokerHour(3, night_ms, 0, 1, lost=0),
        BrokerHour(2, night_ms + HOUR_MS, 0, 0, lost=1),
        BrokerHour(1, night_ms + HOUR_MS, 0, 0, lost=1),
    }


def test_controllers_and_what_is_known(busy: ClusterHistory) -> None:
    assert busy.controllers == (ControllerChange(DEATH_MS, 1, 2),)
    assert (busy.from_ms, busy.to_ms) == (EVENING_MS, BUSY[-1].provenance.time_ms + SECOND)
    assert (busy.observed_ms, busy.gaps, busy.moments) == (busy.to_ms - busy.from_ms, 0, 8)


def test_the_worst_moment_and_what_a_drill_says_of_it(busy: ClusterHistory, folder: Path) -> None:
    worst = busy.worst
    assert worst is not None
    assert (worst.at_ms, worst.offline, worst.under_replicated) == (DEATH_MS, 4, 0)
    assert worst.source == f"{folder}/cluster=busy@2024-10-03T23:10:00Z"
    # What the dead broker leads is offline already; frail-0 is what broker 3 alone has.
    assert worst.drill == WorstDrill(scenarios=2, hurting=1, kill=3, newly_offline=1)


def test_who_is_fenced_leads_nothing(tmp_path: Path) -> None:
    fenced, back = BrokerFenced(broker=1), BrokerRegistered(broker=1, fenced=False)
    steps = [(0, [*brokers(1, 2), *topic("orders", (1, 2))]), (MINUTE_MS, [fenced]), (MINUTE_MS, [back])]
    record(tmp_path, life(steps, EVENING_MS))
    (kraft,) = told(parameters_of([tmp_path])).clusters
    assert kraft.leaderless.longest == (Outage("orders", 0, EVENING_MS + MINUTE_MS, EVENING_MS + 2 * MINUTE_MS),)


def test_storms_of_rebalances(folder: Path) -> None:
    stormy = told(parameters_of([folder], ["stormy"])).clusters[0]
    from_ms, to_ms = MIDNIGHT_MS - 3 * MINUTE_MS, MIDNIGHT_MS + 3 * MINUTE_MS
    assert stormy.groups == (GroupRebalances("g", 7, 0, 3_500, 1),)
    assert stormy.storms == (Storm("g", from_ms, to_ms, 7),)
    assert stormy.worst is None


def test_only_a_part_of_the_time(folder: Path) -> None:
    from_ms, to_ms = MIDNIGHT_MS, MIDNIGHT_MS + HOUR_MS
    parameters = parameters_of([folder], ["busy"], from_ms, to_ms)
    assert [day.day for day in parameters.days] == ["2024-10-04"]
    (night,) = told(parameters).clusters
    assert (night.from_ms, night.to_ms, night.observed_ms) == (from_ms, to_ms, HOUR_MS)
    assert night.leaderless.longest == (Outage("orders", 2, from_ms, BACK_MS),)
    assert night.leader_changes == 1
    assert night.worst is not None
    assert (night.worst.at_ms, night.worst.offline) == (from_ms, 1)


def test_spark_says_the_same(folder: Path, spark: RunningSpark) -> None:
    parameters = parameters_of([folder])
    assert history_of(spark.run(HISTORY, {}, parameters), parameters) == told(parameters)


def test_spark_says_the_same_of_a_metadata_log(tmp_path: Path, spark: RunningSpark) -> None:
    remarks: list[str] = []
    parameters = parameters_of([record_log(QUORUM, tmp_path, remarks.append)])
    found = history_of(spark.run(HISTORY, {}, parameters), parameters)
    assert found == told(parameters)
    assert found.clusters[0].leader_changes == 9
    assert not remarks


@pytest.fixture(scope="module")
def quorum_cut(tmp_path_factory: pytest.TempPathFactory) -> CutLog:
    """A real log in several stretches."""
    found = cut(QUORUM, tmp_path_factory.mktemp("kept"), 0, FOREVER_MS, stretch_bytes=2_000)
    assert len(found.parameters.stretches) > 3
    assert not found.remarks
    return found


def test_spark_reads_a_metadata_log_stretch_by_stretch(quorum_cut: CutLog, tmp_path: Path, spark: RunningSpark) -> None:
    parameters, arrays = quorum_cut.parameters, quorum_cut.arrays
    tables = spark.run(LOG_HISTORY, arrays, parameters)
    assert tables == analysis.run_here(LOG_HISTORY, arrays, parameters)
    recording = record_log(QUORUM, tmp_path, print)
    (whole,) = told(parameters_of([recording])).clusters
    assert whole.worst is not None and whole.worst.drill is not None
    named = msgspec.json.encode(whole).replace(str(recording).encode(), str(QUORUM.absolute()).encode())
    assert log_history_of(tables, arrays, parameters, drills=True).clusters == (
        msgspec.json.decode(named, type=ClusterHistory),
    )


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    parameters = parameters_of([recorded(tmp_path)])
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(AnalysisError, match=f"^{path}: damaged or cut off") as refused:
        analysis.run_here(HISTORY, {}, parameters)
    assert "\n" not in str(refused.value)


def test_what_was_not_recorded(folder: Path) -> None:
    with pytest.raises(RecordingError, match="no recording of cluster 'other'; there are: busy, stormy"):
        parameters_of([folder], ["other"])
    with pytest.raises(RecordingError, match="nothing is recorded of that time"):
        parameters_of([folder], [], MIDNIGHT_MS + 90 * 86_400_000)
