"""What the forecast's pages say: as the command, in its order, with intervals that narrow."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.snapshot_file import write_snapshot
from tests.harness.command import kdrill
from tests.harness.waiting import eventually_async
from tests.model.planning.clusters import cluster
from tests.tui.data.asked import ENTRIES, list_query, text_query
from tests.tui.data.small_cluster import NOW_MS
from tui.engine.analysis_service import AnalysisService
from tui.engine.forecast import ForecastSoFar, Scale
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, loaded, shown
from tui.engine.messages import STOPPABLE, TextAnswer
from tui.engine.palette import drawn, heat
from tui.engine.questions import ForecastQuestion
from tui.engine.rows import Row, Window

IMAGE = cluster({"orders": [(1, 2, 3), (2, 3, 4), (3, 4, 1)], "audit": [(1,), (2,)]}, {1: "a", 2: "b", 3: "c", 4: "a"})


@pytest.fixture(scope="module")
def look() -> AnalysisAnswer:
    """Everything is played."""
    return asyncio.run(played(IMAGE))


async def played(image: ClusterImage, histories: int = 1_000, **changes: Any) -> AnalysisAnswer:
    question, desk = ForecastQuestion(histories=histories, **changes), AnalysisService(lambda: image, lambda: None)
    try:
        await eventually_async(lambda: STOPPABLE not in desk.look(question).note)
        return desk.look(question)
    finally:
        await desk.close()


def listed(look: AnalysisAnswer, name: str, **fields: Any) -> Window:
    query = list_query(name, question=look.question, **{"width": 200, "count": 500, **fields})
    answer = shown(loaded(ENTRIES[type(query)].page), look, query, NOW_MS, AnswerMemo())
    assert isinstance(answer, Window)
    return answer


def told(look: AnalysisAnswer, key: str = "") -> str:
    query = text_query("forecast", key=key, question=look.question, width=120)
    answer = shown(loaded(ENTRIES[type(query)].page), look, query, NOW_MS, AnswerMemo())
    assert isinstance(answer, TextAnswer)
    return " ".join(answer.plain.split())


def words(row: Row) -> list[str]:
    return ["".join(piece for piece, _ in cell).strip() for cell in row.cells]


def test_the_topic_that_is_certainly_worst_comes_first(look: AnalysisAnswer) -> None:
    answer = listed(look, "forecast-topics")
    assert [row.key for row in answer.rows] == ["audit", "orders"]
    so_far: ForecastSoFar = look.result
    worst = so_far.topics[0].each("under_min_isr")
    assert worst.low <= float(words(answer.rows[0])[4].replace(",", "")) <= (worst.high or 0)
    assert worst.low > (so_far.topics[1].each("under_min_isr").high or 0)
    bars = [len(words(row)[6]) for row in answer.rows]
    assert bars[0] > bars[1] > 0


def test_worst_moments_say_who_failed_when_and_why(look: AnalysisAnswer) -> None:
    answer = listed(look, "forecast-moments", scope="audit")
    year, day, unled, under, who, why, _ = words(answer.rows[0])
    assert int(year.replace(",", "")) < 1_000 and day.startswith("day ")
    assert float(unled.replace(",", "")) <= float(under.replace(",", ""))
    assert who.startswith("b") and why
    lost = [float(words(row)[3].replace(",", "")) for row in answer.rows]
    assert len(lost) > 2 and lost == sorted(lost, reverse=True)
    assert all(row.key.startswith(("K", "D")) for row in answer.rows)
    assert not listed(look, "forecast-moments").rows


def test_a_change_is_beside_each_topic_with_its_verdict() -> None:
    both = asyncio.run(played(IMAGE, 400, settings=(("audit", "rf", "3"),), add=((5, "c"),)))
    answer = listed(both, "forecast-topics")
    heads = [column.title for column in answer.columns]
    audit = next(row for row in answer.rows if row.key == "audit")
    before, after, fewer = (
        float(words(audit)[heads.index(head)].replace(",", "")) for head in ("under min", "changed", "fewer")
    )
    assert fewer > 0 and before - after == pytest.approx(fewer, rel=0.1)
    assert audit.cells[heads.index("fewer")][0][1] == "ok"
    assert listed(both, "forecast-topics", sort="fewer").rows[-1].key == "audit"
    assert "changed" in [column.title for column in listed(both, "forecast-causes").columns]
    assert "With broker 5 added and audit:rf=3: " in told(both)
    assert "with broker 5 added and audit:rf=3, minutes fewer" in told(both, "audit")


def test_what_cannot_be_changed_is_said() -> None:
    none = asyncio.run(played(IMAGE, 100, settings=(("nothing", "rf", "3"),)))
    assert none.note == "nothing:rf=3: no topic is called nothing" and none.result is None


def test_sorting_puts_the_least_first(look: AnalysisAnswer) -> None:
    answer = listed(look, "forecast-topics", sort="under_min_isr")
    assert [row.key for row in answer.rows] == ["orders", "audit"]


def test_causes_add_up_to_the_whole(look: AnalysisAnswer) -> None:
    so_far: ForecastSoFar = look.result
    answer = listed(look, "forecast-causes")
    shown = sum(float(words(row)[2].replace(",", "")) for row in answer.rows)
    assert shown == pytest.approx(so_far.figures.measures["under_min_isr"].mean, rel=2e-3)


def test_what_helps_says_whether_it_does(look: AnalysisAnswer) -> None:
    answer = listed(look, "forecast-actions")
    by_name = {row.key: row for row in answer.rows}
    assert by_name["one replica more"].cells[1][0][1] == "ok"
    text = told(look, "one replica more")
    assert "price" in text and "(95 %:" in text


def test_the_figures_are_those_of_the_command(look: AnalysisAnswer, tmp_path: Path) -> None:
    so_far: ForecastSoFar = look.result
    path = tmp_path / "cluster.json"
    write_snapshot(path, IMAGE)
    printed = json.loads(
        kdrill("forecast", path, "--quick", "--histories", "1000", "--json", "--engine", "here").stdout
    )
    assert printed["seed"] == so_far.seed
    mean = so_far.figures.measures["leaderless"].mean
    assert printed["cluster"]["leaderless"]["mean"] == pytest.approx(mean)


def test_what_is_assumed_is_marked(look: AnalysisAnswer) -> None:
    text = told(look)
    assert "21 of 21 rates are defaults, not yours" in text
    assert "broker.mtbf_h 2190 assumed, 730 to 8760" in text
    assert "Not modelled" not in text and "software defects" in text
    assert "1,000 of 1,000 years, seed" in text


def test_more_years_narrow_the_interval(look: AnalysisAnswer) -> None:
    of_a_few = asyncio.run(played(IMAGE, 60))
    few, many = (each.result.figures.measures["leaderless"] for each in (of_a_few, look))
    assert many.high - many.low < (few.high - few.low) / 2


def test_a_cluster_without_partitions_says_so() -> None:
    answer = listed(asyncio.run(played(cluster({}, {1: "a"}))), "forecast-topics")
    assert answer.note == "there is nothing to forecast: the cluster has no partitions"


def test_a_scale_is_logarithmic_where_values_are_far_apart() -> None:
    assert not Scale([5.0, 10.0], 20.0).is_log and Scale([5.0, 10.0], 20.0).part(10.0) == 0.5
    wide = Scale([0.0, 1.0, 500.0], 500.0)
    assert wide.is_log and wide.part(500.0) == 1.0 and wide.part(0.0) == 0.0 and wide.part(1.0) > 0.1


def test_bars_are_drawn_in_colours_that_others_fill_cells_with(look: AnalysisAnswer) -> None:
    for name, column in (("forecast-topics", 6), ("forecast-causes", 3)):
        styles = [row.cells[column][0][1] for row in listed(look, name).rows]
        assert styles and all(style == drawn(style.partition("/")[0]) != heat(0) for style in styles), name
