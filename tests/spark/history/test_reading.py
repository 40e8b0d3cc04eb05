"""Spark reads a recording's Parquet itself: no other day, column or kind of row than those that are asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.analyses import analysis
from model.analyses.history.facts import KINDS
from model.analyses.history.history import HISTORY, history_of, scans_of
from model.analyses.history.results import HistoryParameters, HistoryResult, parameters_of
from model.recordings.part_file import COLUMNS
from spark_tasks.messages import JobFailed
from tests.benchmarks import recorded_changes
from tests.benchmarks.recorded_changes import FIRST_MS, Size, write
from tests.spark.history.explained import EXPLAINED
from tests.spark.history.months import MIDNIGHT_MS, recorded
from tests.spark.running_spark import RunningSpark

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def here(parameters: HistoryParameters) -> HistoryResult:
    return history_of(analysis.run_here(HISTORY, {}, parameters), parameters)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its name is none that Spark may take for a pattern."""
    return recorded(tmp_path_factory.mktemp("recordings [of] {months}, 100%"))


def test_the_plan_says_what_is_left_out(folder: Path, local_spark: RunningSpark) -> None:
    parameters = parameters_of([folder], ["busy"], MIDNIGHT_MS, MIDNIGHT_MS + HOUR_MS)
    stray = folder / "cluster=busy" / "day=2024-10-04" / "notes.txt"
    stray.write_text("no Parquet")
    try:
        plan, told = local_spark.run(EXPLAINED, {}, parameters).names
    finally:
        stray.unlink()
    scan = plan[plan.index("FileScan parquet") :]
    partitions, pushed, read = (
        re.search(rf"{name}: (.*?)(?:, [A-Z][a-zA-Z]+: |\n)", scan)[1]  # type: ignore[index]
        for name in ("PartitionFilters", "PushedFilters", "ReadSchema")
    )
    assert "cluster" in partitions and "= busy" in partitions
    assert "day" in partitions and "2024-10-04" in partitions and "2024-10-03" not in partitions
    assert f"LessThan(at_ms,{MIDNIGHT_MS + HOUR_MS})" in pushed
    assert "In(kind, [" in pushed and all(kind in pushed for kind in KINDS)
    assert re.findall(r"[<,](\w+):", read) == [
        "record", "at_ms", "kind", "topic", "partition", "leader", "isr", "replicas", "adding", "broker", "group",
        "payload",
    ]  # fmt: skip
    assert "Exchange" not in plan
    assert "GroupSeen" not in told and "2024" not in told
    assert told.endswith(f"{[*COLUMNS, 'file_name']}")


def test_days_that_nobody_asks_for_are_no_scans(folder: Path) -> None:
    (scan,) = scans_of(parameters_of([folder], ["busy"], MIDNIGHT_MS))
    assert scan.days == ("2024-10-04",)
    (both,) = scans_of(parameters_of([folder], ["busy"]))
    assert both.days == ("2024-10-03", "2024-10-04")


def test_many_changes_come_to_the_same_on_spark(
    tmp_path: Path, local_spark: RunningSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several files a set, several sets a day, several scans."""
    monkeypatch.setattr(recorded_changes, "PART_ROWS", 2_000)
    monkeypatch.setattr(recorded_changes, "SET_ROWS", 6_000)
    changes = write(tmp_path, Size(10_000, days=2, clusters=2, topics=10, partitions=20))
    assert len(list(tmp_path.rglob("*.parquet"))) > 16
    parameters = parameters_of([tmp_path])
    assert history_of(local_spark.run(HISTORY, {}, parameters), parameters) == here(parameters)
    (first, _) = here(parameters).clusters
    assert first.observed_ms == 2 * DAY_MS and first.gaps == 0
    assert sum(hour.left + hour.joined for hour in first.hours) > changes / 4
    late = parameters_of([tmp_path], ["c1"], FIRST_MS + 5 * HOUR_MS, FIRST_MS + DAY_MS + 7 * HOUR_MS)
    assert history_of(local_spark.run(HISTORY, {}, late), late) == here(late)


def test_a_large_day_is_several_units_that_come_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_changes, "SET_ROWS", 2_000)
    write(tmp_path, Size(10_000, topics=10, partitions=20))
    whole = parameters_of([tmp_path])
    monkeypatch.setattr("model.analyses.history.results.PART_BYTES", 20_000)
    parts = parameters_of([tmp_path])
    assert len(parts.days) > 3 and len(whole.days) == 1
    assert sum(part.size_bytes for part in parts.days) == whole.days[0].size_bytes
    assert here(parts) == here(whole)


def test_a_damaged_file_is_named_by_spark_too(tmp_path: Path, local_spark: RunningSpark) -> None:
    parameters = parameters_of([recorded(tmp_path)])
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(JobFailed, match=f"^{path}: damaged or cut off"):
        local_spark.run(HISTORY, {}, parameters)
