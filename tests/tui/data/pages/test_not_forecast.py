"""Forecasts on a KRaft cluster say first what they do not forecast: on screens, in texts, in documents."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.snapshot_file import write_snapshot
from model.drills.voters import LEVELS_UNKNOWN, NOT_FORECAST
from tests.harness.command import kdrill
from tests.model.drills.test_voters import kraft
from tests.model.planning.clusters import cluster
from tests.tui.data.pages.analyses import Pages
from tests.tui.data.small_cluster import small_image
from tui.engine.drill.playback import DrillAnswer
from tui.engine.drill.queries import DrillText
from tui.engine.drill.texts import drill_text
from tui.engine.proposing import drills_said
from tui.engine.questions import DrillPlan, PlanQuestion, SweepQuestion

SAID = "Not forecast on KRaft: "


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_snapshot(tmp_path / "kraft.json", kraft())
    return tmp_path / "kraft.json"


def with_skew(*replicas: int) -> ClusterImage:
    """All partitions are on these; the voters are those of `kraft`: brokers 1, 2 and 3."""
    skewed = cluster({"t": [replicas] * 20}, dict.fromkeys(range(1, 6)))
    return msgspec.structs.replace(skewed, generation="kraft", quorum=kraft().quorum)


def test_texts_of_plans_say_it_above_what_drills_say(source: Path) -> None:
    lines = kdrill("plan", source, "--each-broker").stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("worst drill: hurt"))
    assert lines[head - 1].startswith(SAID)


def test_pairs_without_which_there_is_no_majority_are_the_worst_though_no_partition_is_hurt(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "skewed.json", with_skew(4, 5))
    asked = ("drill", tmp_path / "skewed.json", "--each-pair", "--limit", "4")
    text = kdrill(*asked).stdout
    assert text.startswith(SAID)
    assert "scenarios          10, of which 4 hurt: " in text
    listed = [line for line in text.splitlines() if " on b" in line]
    assert [line.endswith("; QUORUM LOST: nothing is elected") for line in listed] == [True, True, True, False]
    document = json.loads(kdrill(*asked, "--json").stdout)
    assert [*document.items()][1] == ("not_forecast", f"{NOT_FORECAST} {LEVELS_UNKNOWN}")
    assert [(one["kill"], one["quorum_lost"]) for one in document["scenarios"]] == [
        ([1, 2], True),
        ([1, 3], True),
        ([2, 3], True),
        ([4, 5], False),
    ]


async def test_the_sweep_begins_with_it_and_names_what_costs_the_majority() -> None:
    pages = Pages(kraft(), SweepQuestion(kind="pairs"))
    first = (await pages.rows("sweep-scenarios")).rows[0]
    assert (await pages.text("sweep", width=200)).plain.startswith(SAID)
    assert first.mark == "X"
    assert "its majority is lost: nothing is elected" in (await pages.text("sweep-scenario", first.key)).plain


async def test_a_plan_says_it_where_it_speaks_of_drills() -> None:
    pages = Pages(with_skew(1, 2), PlanQuestion(asked=True))
    await pages.rows("plan-batches")
    for text in (
        (await pages.text("plan", width=200)).plain,
        (await pages.text("plan-review", "all", view="verdict", width=200)).plain,
    ):
        lines = text.splitlines()
        head = next(place for place, line in enumerate(lines) if line.startswith("Partitions affected"))
        assert lines[head + 1].startswith(SAID)


def test_the_drill_screen_begins_with_it() -> None:
    def said(image: ClusterImage) -> str:
        look = DrillAnswer(DrillPlan(take=-1), image)
        return drill_text(look, DrillText(width=200)).plain

    assert said(kraft()).startswith(SAID)
    assert SAID not in said(small_image())


def test_what_an_action_leads_to_says_it() -> None:
    assert drills_said(kraft(), kraft()).startswith(SAID)
    assert drills_said(small_image(), small_image()).startswith("drill: ")
