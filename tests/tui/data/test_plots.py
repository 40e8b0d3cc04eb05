"""Bars of leaders and replicas per broker, at every size."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.cluster_image import EMPTY, ClusterImage
from model.cluster.records import BrokerRegistered
from tests.model.cluster.build import brokers, image, topic
from tests.tui.data.small_cluster import moment_of, small_image
from tui.engine.cluster.queries import BrokerPlot
from tui.engine.listing import AnswerMemo
from tui.engine.plots import SIGNS, grouped_bars, plot_text

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def drawn(whole: ClusterImage, width: int, height: int, view: str = "mono") -> list[str]:
    query = BrokerPlot(mono=view == "mono", width=width, height=height)
    return plot_text(moment_of(whole), query, 0, AnswerMemo()).ansi.splitlines()


def test_leaders_stand_within_replicas():
    lines = drawn(image(*brokers(1, 2), *topic("t", (1, 2), partitions=4)), 40, 8)
    assert lines[0].strip() == "# leaders  . other replicas"
    assert [line[0] for line in lines if line[0].isdigit()] == ["4", "2", "0"]
    bars = [line[2:-1] for line in lines[2:-2]]
    assert set("".join(bars)) == {"#", ".", " "}
    assert all("#" in bar and "." in bar for bar in bars), "b1 leads all four, b2 holds copies of them"
    assert lines[-1].split() == ["b1", "b2"]


def test_dead_brokers_are_marked():
    assert drawn(small_image(), 76, 12)[-1].split() == ["b1", "b2", "b3", "b4", "X5", "b6"]


def test_colour_is_only_added():
    plain, coloured = drawn(small_image(), 60, 10), drawn(small_image(), 60, 10, view="")
    assert "\x1b" not in "".join(plain)
    assert "\x1b[38;5;" in "".join(coloured)
    assert len(plain) == len(coloured)


def test_without_brokers_it_says_so():
    assert drawn(EMPTY, 80, 20) == ["no brokers"]


@pytest.mark.parametrize("count", [1, 7, 300])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (30, 6), (76, 12), (300, 40)])
@pytest.mark.parametrize("view", ["", "mono"])
def test_any_number_of_brokers_fits_any_size(count: int, width: int, height: int, view: str):
    whole = image(*(BrokerRegistered(broker=1000 + n) for n in range(count)), *topic("t", (1000,), partitions=3))
    lines = [COLOUR.sub("", line) for line in drawn(whole, width, height, view)]
    assert len(lines) <= max(height, 4)
    assert max(map(len, lines)) <= max(width, 10)
    assert any("#" in line or "█" in line for line in lines)


@given(
    names=st.integers(0, 60),
    groups=st.integers(1, 3),
    most=st.integers(0, 10**13),
    size=st.tuples(st.integers(1, 200), st.integers(1, 40)),
    colour=st.booleans(),
)
@settings(deadline=None, max_examples=50)
def test_bars_side_by_side_fit_any_size(names: int, groups: int, most: int, size: tuple[int, int], colour: bool):
    values = [[most if place % groups == group else 0 for place in range(names)] for group in range(groups)]
    drawn = grouped_bars([f"c{n}" for n in range(names)], values, size, colour=colour)
    lines = [COLOUR.sub("", line) for line in drawn.splitlines()]
    assert len(lines) <= max(size[1], 5)
    assert {len(line) for line in lines} == {max(size[0], 20)}
    used = {sign for line in lines for sign in line} & {
        getattr(sign, "coloured" if colour else "mono") for sign in SIGNS
    }
    assert len(used) <= min(names, groups) and bool(used) == bool(names and most)


def test_bars_side_by_side_are_as_high_as_what_they_stand_for_and_nothing_has_none():
    lines = grouped_bars(["a", "b"], [[4, 0], [2, 4]], (30, 12), colour=False).splitlines()
    heights = {
        sign: [
            sum(line[at] == sign for line in lines[1:-2]) for at in range(30) if any(x[at] == sign for x in lines[1:-2])
        ]
        for sign in ".="
    }
    assert set(heights["."]) == {max(heights["="])} and min(heights["="]) < max(heights["="])
    assert lines[-1].split() == ["a", "b"]
