"""A plan under review, and its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model.cluster.snapshot_file import read_snapshot
from tests.model.planning.clusters import cluster
from tests.tui.data.pages.analyses import Pages
from tests.tui.data.small_cluster import rows_of
from tui.engine.analysis_work import known_sizes
from tui.engine.questions import PlanQuestion

IMAGE = cluster(
    {"orders": [(1, 2)] * 60, "audit": [(2, 1)] * 20, "other": [(1, 2)] * 2}, {1: "a", 2: "b", 3: "a", 4: "b"}
)
SKEWED = Path(__file__).parents[3] / "data/plans/skewed-12-brokers-3000-partitions.json"


async def planned(**wish: Any) -> Pages:
    """A plan that takes more than one batch."""
    pages = Pages(IMAGE, PlanQuestion(asked=True, **wish))
    await pages.rows("plan-batches")
    return pages


def partitions(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["partitions"]


async def test_batches_add_up_to_the_plan() -> None:
    pages = await planned()
    rows = [row.split(" | ") for row in rows_of(await pages.rows("plan-batches"))]
    assert len(rows) > 2 and rows[0][1] == "all"
    assert sum(int(row[3]) for row in rows[1:]) == int(rows[0][3])
    assert sum(int(row[4]) for row in rows[1:]) == int(rows[0][4])
    changes = await pages.rows("plan-changes")
    assert changes.unfiltered_total == int(rows[0][3])


async def test_a_batch_tells_what_it_changes_from_what_to_what() -> None:
    pages = await planned()
    said = (await pages.text("plan-review", "1")).plain.splitlines()
    assert said[0].startswith("batch 1 of ") and "copies" in said[0]
    assert said[1].startswith(f"{sum('leader b' in line for line in said)} preferred leader")
    copied = [line for line in said[2:] if "copy to b3" in line or "copy to b4" in line]
    assert copied and all(" > " in line for line in copied)


async def test_the_verdict_has_drills_preferred_leaders_and_kafkas_own_commands() -> None:
    said = (await (await planned()).text("plan-review", "all", view="verdict", width=200)).plain
    assert "offline) by " in said and "  >  " in said
    assert [line.split()[1:] for line in said.splitlines() if line.startswith("b1 ")] == [["62", ">", "21"]]
    assert "kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --reassignment-json-file P-1.json" in said
    assert "kafka-leader-election.sh" in said and "the last batch first" in said


async def test_old_releases_are_run_by_zookeeper() -> None:
    pages = Pages(msgspec.structs.replace(IMAGE, generation="0.9-1.x"), PlanQuestion(asked=True))
    await pages.rows("plan-batches")
    said = (await pages.text("plan-review", "all", view="verdict", width=200)).plain
    assert "--zookeeper HOST:2181/CHROOT" in said and "kafka-preferred-replica-election.sh" in said
    assert "--bootstrap-server" not in said


async def test_files_are_shown_to_be_copied_and_the_way_back_undoes_the_last_first() -> None:
    pages = await planned()
    forward, back = [
        json.loads((await pages.text("plan-review", "2", view=form)).plain)["partitions"]
        for form in ("forward", "rollback")
    ]
    assert [(row["replicas"], row["current"]) for row in forward] == [
        (row["current"], row["replicas"]) for row in reversed(back)
    ]


async def test_a_batch_that_is_left_out_is_in_no_file_and_the_verdict_says_so(tmp_path: Path) -> None:
    pages = await planned()
    whole = len(json.loads((await pages.text("plan-review", "all", view="forward")).plain)["partitions"])
    first = len(json.loads((await pages.text("plan-review", "1", view="forward")).plain)["partitions"])
    pages.question = msgspec.structs.replace(pages.question, left_out=(1,))
    rows = rows_of(await pages.rows("plan-batches"))
    assert rows[1].startswith("- | 1 | out") and f"| {whole - first} |" in rows[0]
    assert "without batches 1" in (await pages.text("plan-review", "all", view="verdict")).plain
    assert (await pages.write(str(tmp_path / "p.json"))).endswith("the way back; 1 batch left out")
    assert len(partitions(tmp_path / "p.json")) == whole - first
    assert "left out  1" in (await pages.text("plan")).plain


async def test_what_is_all_left_out_is_not_written(tmp_path: Path) -> None:
    pages = await planned()
    pages.question = msgspec.structs.replace(pages.question, left_out=tuple(range(1, 100)))
    assert await pages.write(str(tmp_path / "p.json")) == "every batch is left out"
    assert not list(tmp_path.iterdir())


async def test_each_batch_becomes_a_file_with_a_way_back_and_together_they_are_the_plan(tmp_path: Path) -> None:
    pages = await planned()
    await pages.write(str(tmp_path / "p.json"))
    said = await pages.write(str(tmp_path / "b.json"), by_batch=True)
    batches = sorted(tmp_path.glob("b-[0-9].json"))
    assert f"{len(batches)} batches" in said and len(batches) == len(list(tmp_path.glob("b-rollback-[0-9].json"))) > 1
    assert [row for path in batches for row in partitions(path)] == partitions(tmp_path / "p.json")


@pytest.mark.parametrize("taken", ["p.json", "p-rollback.json"])
async def test_no_file_is_replaced_and_none_is_written_beside_it(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    said = await (await planned()).write(str(tmp_path / "p.json"))
    assert said == f"{tmp_path / taken} is there already: give another name"
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(("name", "why"), [("p.txt", "ends in .json"), ("no/such/p.json", "cannot be written")])
async def test_a_file_that_cannot_be_is_a_line(tmp_path: Path, name: str, why: str) -> None:
    said = await (await planned()).write(str(tmp_path / name))
    assert why in said and str(tmp_path) in said and "\n" not in said


async def test_a_plan_can_be_about_the_topics_of_a_group_that_is_there() -> None:
    pages = Pages(IMAGE, PlanQuestion(asked=True, topics_of="nobody"))
    assert "the group nobody reads no topic" in (await pages.rows("plan-changes")).note
    about = await planned(topics=("oth*",))
    assert all(row.key.startswith("other-") for row in (await about.rows("plan-changes")).rows)


async def test_a_review_of_a_cluster_that_has_changed_says_so() -> None:
    pages = await planned()
    assert "has changed" not in (await pages.text("plan-review", "1")).plain
    pages.image = msgspec.structs.replace(IMAGE, brokers=dict(IMAGE.brokers))
    assert "has changed" in (await pages.text("plan-review", "1")).plain


def test_a_snapshots_sizes_are_known() -> None:
    image = read_snapshot(SKEWED)
    sizes = known_sizes(str(SKEWED))
    assert sizes is not None and len(sizes.bytes) == image.partition_count
    assert known_sizes("zk://there") is None and known_sizes("no-such-file.json") is None
