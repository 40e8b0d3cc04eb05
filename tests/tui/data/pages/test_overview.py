"""The overview's tiles: what is out of order, now and in the last ten minutes, in any size; a cluster that loads."""

from __future__ import annotations

from math import nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, records_of
from model.cluster.findings import find
from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.records import GenerationRecognised, QuorumDescribed
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, small_image, text_of
from tui.engine.cluster.findings import Alerts, findings_window
from tui.engine.cluster.gauges import NOTHING_RECENT, RECENT, SAMPLE_MS, Gauges, HealthCounts, Recent
from tui.engine.cluster.overview import GAP, abbreviated, header_facts, overview_picture
from tui.engine.cluster.queries import FindingList, OverviewPicture
from tui.engine.glyphs import condensed
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.text import cells

MOMENT = moment_of(small_image())


def tiles(moment: Moment = MOMENT, width: int = 150, height: int = 4, recent: Recent = NOTHING_RECENT) -> TextAnswer:
    return overview_picture(moment, OverviewPicture(width=width, height=height), NOW_MS, AnswerMemo(), recent)


def lines_of(answer: TextAnswer) -> list[str]:
    return [text_of(each) for each in answer.lines]


def recently(*offline: int) -> Recent:
    """So many were offline in each of the last samples."""
    gauges = Gauges()
    for place, count in enumerate(offline, 1 - len(offline)):
        gauges = gauges.counted(NOW_MS + place * SAMPLE_MS, MOMENT.image, HealthCounts(offline=count))
    return gauges.at(NOW_MS)


def test_there_is_a_tile_for_each_number_that_matters() -> None:
    there, names, *_ = lines_of(tiles())
    assert there == "5 brokers up  1 DOWN   3 racks   2 topics   6 partitions"
    assert names.split("  ")[0] == "2 offline"
    assert [name.strip() for name in names.split("  ") if name.strip()] == [
        "2 offline", "0 under min ISR", "2 under-replicated", "1 off-preferred", "1 moving",
        "- lag", "- ISR changes/min",
    ]  # fmt: skip
    assert tiles().plain.splitlines() == [there, *(name.strip() for name in names.split("  ") if name.strip())]


def test_a_number_has_its_severity_and_zero_is_quiet() -> None:
    styles = {text.strip(): style for text, style in tiles().lines[1] if text.strip().isdigit()}
    assert [style for text, style in tiles().lines[1] if text in ("2", "1")] == ["error", "warn", "changed", "adding"]
    assert styles["0"] == "dim"


def test_what_was_is_beside_what_is_and_what_nobody_knows_is_blank() -> None:
    answer = tiles(width=7 * RECENT + 6 * GAP, height=3, recent=recently(0, 0, 4, 2, 2))
    assert lines_of(answer)[-1][:RECENT] == "▁▁██▄".rjust(RECENT), "there were still four within the last but one"
    assert [style for _, style in answer.lines[-1][RECENT - 4 : RECENT]] == ["rule", "error", "error", "error"]
    assert not "".join(lines_of(tiles(height=3))[2:]).strip()


@given(st.integers(1, 220), st.integers(1, 8))
def test_tiles_fit_any_size_and_the_worst_stays_longest(width: int, height: int) -> None:
    _, names, *drawn = lines_of(tiles(width=width, height=height, recent=recently(1, 2)))
    assert len(drawn) == max(height - 2, 1)
    assert all(cells(line) <= max(width, len("2 offline")) for line in (names, *drawn))
    assert names.startswith("2 offline")
    assert "moving" not in names or "under-repl" in names
    assert GAP >= 2, "names have blanks in them"


@given(st.lists(st.floats(0, 1e9) | st.just(nan), min_size=1, max_size=90), st.integers(1, 100))
def test_no_value_is_lost_when_many_share_a_cell(values: list[float], width: int) -> None:
    shown = condensed(values, width)
    known = [value for value in values if value == value]
    assert len(shown) == width
    assert {value for value in shown if value == value} <= set(known)
    assert max((value for value in shown if value == value), default=None) == max(known, default=None)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (12_409, "12,409"), (99_999, "99,999"), (123_456, "123k"), (1_234_567, "1.2M")]
)
def test_large_numbers_are_abbreviated(number: int, text: str) -> None:
    assert abbreviated(number) == text


def test_without_a_majority_of_voters_only_brokers_that_answer_are_up() -> None:
    voters = tuple(map(QuorumReplica, (1, 2, 3)))
    lost = Quorum(-1, 7, 90, voters, silent=(2, 3), unconfirmed=(2, 3))
    moment = moment_of(small_image(GenerationRecognised(generation="kraft"), QuorumDescribed(quorum=lost)))
    facts = header_facts(moment)
    assert facts.quorum == "1 of 3 voters answers"
    assert (facts.brokers_up, facts.brokers_unconfirmed, facts.brokers_down) == (3, 2, 1)
    assert lines_of(tiles(moment))[0].startswith("3 brokers up  1 DOWN  2 unconfirmed")
    led = msgspec.structs.replace(lost, leader=1, silent=(), unconfirmed=())
    assert header_facts(moment_of(small_image(QuorumDescribed(quorum=led)))).quorum == ""


def test_nothing_is_counted_before_anything_was_read() -> None:
    assert tiles(moment_of(ClusterImage())).plain == "nothing was read yet"


def test_while_a_cluster_loads_nothing_is_judged() -> None:
    """Record after record: no state of a load shows a finding, a number that is out of order, or an alert."""
    provenance = msgspec.structs.replace(MOMENT.image.provenance, complete=False)
    image, alerts, seen = EMPTY, Alerts(), 0
    for record in records_of(MOMENT.image):
        image = ClusterDelta(image).replay_all([record]).apply(provenance)
        moment = Moment(1, image, find(image), (), SourceStatus("loading", done=1, total=2))
        alerts.take(moment)
        shown = findings_window(moment, FindingList(), NOW_MS, AnswerMemo())
        assert (keys_of(shown), shown.note) == ([], "still loading: findings come once everything was read")
        facts, lines = header_facts(moment), lines_of(tiles(moment))
        assert (facts.errors, facts.warnings, facts.offline, facts.under_replicated) == (0, 0, 0, 0)
        assert "DOWN" not in lines[0]
        if len(lines) > 1:
            seen += 1
            assert lines[1:] == ["loading 1 of 2 znodes; findings come once everything was read"]
    assert seen > 5 and not alerts.raised
