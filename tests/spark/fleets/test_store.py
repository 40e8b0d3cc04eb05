"""A fleet in a folder: what is there is played once, whoever was killed, and the folder is as a fresh run makes it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analyses import AnalysisError
from model.analyses.analysis import Wave, run_here
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters, FleetRow
from model.analyses.fleets.store import (
    STORED_FLEET,
    CountedRows,
    FleetStore,
    Manifest,
    StoredParameters,
    StoreError,
    hash_of,
    missing,
    stored_parts,
)
from tests.harness.waiting import eventually
from tests.model.drills.clusters import cluster, topic
from tests.spark.running_spark import DEADLINE_S, RunningSpark
from tests.spark.standalone_cluster import StandaloneCluster

IMAGE = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *topic((3,), (3,), 3, name="lonely"))
ASKED = FleetParameters(generators=("single", "random"), count=6)
ARRAYS = fleet_arrays(IMAGE)
WANTED = Manifest(image=hash_of(ARRAYS), asked=ASKED, scenarios=18)
_parquet: Any = pq


@pytest.fixture(scope="module")
def rows() -> tuple[FleetRow, ...]:
    return run_here(FLEET, ARRAYS, ASKED).rows


def stored(first: int, end: int, folder: Path, *, tells: bool = False) -> CountedRows:
    """Played and written."""
    wave = Wave(msgspec.structs.replace(ASKED, first=first, end=end), 1.0, 0.0)
    return run_here(STORED_FLEET, ARRAYS, stored_parts(wave, folder, tells=tells).parameters)


def read(folder: Path) -> list[dict[str, Any]]:
    """Everything, as any reader of Parquet finds it."""
    found = [row for path in sorted(folder.rglob("*.parquet")) for row in _parquet.read_table(path).to_pylist()]
    return sorted(found, key=lambda row: row["id"])


def test_every_row_is_there_once_by_generator(tmp_path: Path, rows: tuple[FleetRow, ...]) -> None:
    store = FleetStore(tmp_path / "new" / "folder", WANTED)
    for first, end in ((0, 7), (7, 18)):
        store.count(stored(first, end, store.folder))
    found = read(tmp_path)
    assert [row["id"] for row in found] == [*range(18)]
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} == {"generator=single", "generator=random"}
    for row, told in zip(rows, found, strict=True):
        assert told["leaderless_ms"] == pytest.approx(row.leaderless_s * 1000)
        assert (told["lost_partitions"], told["offline_after"], told["moved"]) == (
            row.lost,
            row.offline_after,
            row.moved,
        )
        assert [kill["broker"] for kill in told["kills"]] == [down.broker for down in row.down]
        assert (told["scenario"], told["error"]) == (row.scenario, None)
    assert store.manifest.done == ((0, 18),)
    assert store.manifest.hurting == sum(row.hurts for row in rows)
    assert store.manifest.worst[0] == max(rows, key=lambda row: (row.badness, -row.number))


def test_what_was_written_and_not_told_of_does_not_count(tmp_path: Path) -> None:
    """As after a death between the two."""
    store = FleetStore(tmp_path, WANTED)
    store.count(stored(0, 5, tmp_path))
    stored(5, 9, tmp_path)
    (tmp_path / "generator=single" / "part-1.0123456789abcdef").write_bytes(b"half")
    again = FleetStore(tmp_path, WANTED)
    assert (again.stored, missing(again.manifest.done, range(18))) == (5, [range(5, 18)])
    assert [row["id"] for row in read(tmp_path)] == [*range(5)]
    again.count(stored(5, 18, tmp_path))
    assert [row["id"] for row in read(tmp_path)] == [*range(18)]
    assert all(path.suffix == ".parquet" for path in tmp_path.glob("*/*"))


def test_no_more_comes_back_than_the_rows_come_to(tmp_path: Path, rows: tuple[FleetRow, ...]) -> None:
    parameters = StoredParameters(asked=ASKED, folder=str(tmp_path), scenarios_a_part=4, worst=2)
    found = run_here(STORED_FLEET, ARRAYS, parameters)
    assert (found.done, found.hurting, found.rows) == (((0, 18),), sum(row.hurts for row in rows), ())
    assert found.worst == tuple(sorted(rows, key=lambda row: (*(-each for each in row.badness), row.number)))[:2]
    assert run_here(STORED_FLEET, ARRAYS, parameters) == found  # played again, parts are replaced
    assert [row["id"] for row in read(tmp_path)] == [*range(18)]
    (tmp_path / "other").mkdir()
    assert stored(0, 18, tmp_path / "other", tells=True).rows == rows


def test_parts_that_are_written_where_nobody_finds_them_do_not_count(tmp_path: Path) -> None:
    """As by executors elsewhere, whose folder of this name is another one."""
    store = FleetStore(tmp_path / "here", WANTED)
    (tmp_path / "there").mkdir()
    with pytest.raises(StoreError, match="was written elsewhere: name a folder that all executors share"):
        store.count(stored(0, 5, tmp_path / "there"))
    assert store.manifest.done == ()
    with pytest.raises(AnalysisError, match=r"--store: .*nowhere: No such file or directory, where it is played"):
        stored(0, 5, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"image": "other"}, "a fleet of another cluster"),
        ({"asked": msgspec.structs.replace(ASKED, seed=2)}, "a fleet of another question"),
        ({"rules": "3.9"}, "a fleet of another release"),
    ],
)
def test_a_folder_of_something_else_is_refused_by_its_name(tmp_path: Path, other: dict[str, Any], said: str) -> None:
    FleetStore(tmp_path, WANTED)
    with pytest.raises(StoreError, match=said):
        FleetStore(tmp_path, msgspec.structs.replace(WANTED, **other))


def test_no_other_folder_is_written_into(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="holds other files"):
        FleetStore(tmp_path, WANTED)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="no manifest of a fleet"):
        FleetStore(tmp_path, WANTED)


@pytest.mark.thorough  # on a master and two workers
def test_an_executor_that_is_killed_costs_its_own_task_only(
    cluster_spark: RunningSpark, spark_cluster: StandaloneCluster, tmp_path: Path
) -> None:
    asked = FleetParameters(generators=("random",), count=480)
    parameters = StoredParameters(asked=asked, folder=str(tmp_path / "hurt"), scenarios_a_part=60)

    def parts() -> dict[Path, int]:
        return {path: path.stat().st_ino for path in tmp_path.glob("hurt/*/*.parquet")}

    (tmp_path / "hurt").mkdir()
    working = cluster_spark.begin(STORED_FLEET, ARRAYS, parameters, "hurt")
    eventually(lambda: len(parts()) > 3, patience_s=DEADLINE_S)
    os.kill(executor_of(spark_cluster.folder / "work-0"), signal.SIGKILL)
    before = parts()
    found = working.result(DEADLINE_S)
    (tmp_path / "well").mkdir()
    assert found == run_here(STORED_FLEET, ARRAYS, msgspec.structs.replace(parameters, folder=str(tmp_path / "well")))
    assert [row["id"] for row in read(tmp_path / "hurt")] == [*range(480)]
    again = [path for path, inode in before.items() if parts()[path] != inode]
    assert len(before) < 8 and len(again) < 2  # a task has one of the eight, which may have been written


def executor_of(folder: Path) -> int:
    """The one whose folder lies there."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (
                b"ExecutorBackend" in (process / "cmdline").read_bytes()
                and folder in (process / "cwd").readlink().parents
            ):
                return int(process.name)
    raise AssertionError(folder)


@given(st.sets(st.integers(0, 30)), st.integers(0, 30))
def test_what_is_missing_is_what_is_not_done(done: set[int], last: int) -> None:
    spans = [(number, number + 1) for number in sorted(done)]
    left = [number for part in missing(spans, range(last)) for number in part]
    assert left == [number for number in range(last) if number not in done]
