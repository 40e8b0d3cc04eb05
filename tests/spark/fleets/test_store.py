"""A fleet in a folder: what is there is played once, whoever was killed, and the folder is as a fresh run makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analyses.analysis import run_here
from model.analyses.fleets.fleet import FLEET, FleetRow, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from model.analyses.fleets.store import FleetStore, Manifest, StoreError, hash_of, missing
from tests.model.drills.clusters import cluster, topic

IMAGE = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *topic((3,), (3,), 3, name="lonely"))
ASKED = FleetParameters(generators=("single", "random"), count=6)
ARRAYS = fleet_arrays(IMAGE)
WANTED = Manifest(image=hash_of(ARRAYS), asked=ASKED, scenarios=18)
_parquet: Any = pq


@pytest.fixture(scope="module")
def rows() -> tuple[FleetRow, ...]:
    return run_here(FLEET, ARRAYS, ASKED).rows


def read(folder: Path) -> list[dict[str, Any]]:
    """Everything, as any reader of Parquet finds it."""
    found = [row for path in sorted(folder.rglob("*.parquet")) for row in _parquet.read_table(path).to_pylist()]
    return sorted(found, key=lambda row: row["id"])


def test_every_row_is_there_once_by_generator(tmp_path: Path, rows: tuple[FleetRow, ...]) -> None:
    store = FleetStore(tmp_path / "new" / "folder", WANTED)
    store.keep(rows[:7])
    store.keep(rows[7:])
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


def test_what_was_written_and_not_told_of_does_not_count(tmp_path: Path, rows: tuple[FleetRow, ...]) -> None:
    """As after a death between the two."""
    store = FleetStore(tmp_path, WANTED)
    store.keep(rows[:5])
    manifest = (tmp_path / "manifest.json").read_bytes()
    store.keep(rows[5:9])
    (tmp_path / "manifest.json").write_bytes(manifest)
    (tmp_path / "generator=single" / "part-1.part").write_bytes(b"half")
    again = FleetStore(tmp_path, WANTED)
    assert (again.stored, missing(again.manifest.done, range(18))) == (5, [range(5, 18)])
    again.keep(rows[5:18])
    assert [row["id"] for row in read(tmp_path)] == [*range(18)]
    assert not list(tmp_path.rglob("*.part"))


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


@given(st.sets(st.integers(0, 30)), st.integers(0, 30))
def test_what_is_missing_is_what_is_not_done(done: set[int], last: int) -> None:
    spans = [(number, number + 1) for number in sorted(done)]
    left = [number for part in missing(spans, range(last)) for number in part]
    assert left == [number for number in range(last) if number not in done]
