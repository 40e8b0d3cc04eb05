"""The lab's matrix and its flow, over small groups: nothing is left out, counted twice, or given another's hue."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from model.consumers.assignors.group import NOBODY, Ints
from tests.tui.data.pages.analyses import Pages
from tests.tui.data.pages.test_lab import IMAGE, made_up
from tui.engine.consumers.names import Short, naming
from tui.engine.lab.flow import Flows, flows, folded, painted, strands
from tui.engine.lab.matrix import balance_line, matrix_line, played, ruler, slots, topic_title
from tui.engine.questions import PLAYED, LabTrial, PreviewQuestion
from tui.engine.rows import Line
from tui.engine.text import cells


class Case(NamedTuple):
    """A group: topic and number of each partition, who has it now, who gets it."""

    topic: Ints
    number: Ints
    before: Ints
    gets: Ints
    named: list[Short]

    @property
    def moved(self) -> Ints:
        return np.flatnonzero(self.before != self.gets)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    counts = draw(st.lists(st.integers(1, 40), min_size=1, max_size=5))
    consumers = draw(st.integers(1, 14))
    owner = st.integers(NOBODY, consumers - 1)
    size = sum(counts)
    before, gets = (np.array(draw(st.lists(owner, min_size=size, max_size=size)), np.int64) for _ in range(2))
    topic = np.repeat(np.arange(len(counts)), counts)
    number = np.concatenate([np.arange(count) for count in counts])
    names = naming(f"consumer-{place:02}" for place in range(consumers)).consumers
    return Case(topic, number, before, gets, list(names.values()))


rooms = st.integers(1, 220)
widths = st.sampled_from([(3, 2), (2, 1), ()])


@given(cases(), rooms, widths)
def test_every_partition_is_in_one_cell_and_no_cell_has_two_topics_where_there_is_room(
    one: Case, room: int, wide: tuple[int, ...]
) -> None:
    grid = slots(one.topic, room, 2, wide)
    assert [place for each in grid.ranges for place in each] == list(range(len(one.topic)))
    assert all(each for each in grid.ranges)
    topics = one.topic[-1] + 1
    if room >= topics * 4:
        assert grid.size <= room
        assert all(one.topic[each.start] == one.topic[each.stop - 1] for each in grid.ranges)
        assert len(grid.begins) == topics - 1


@given(cases(), rooms)
def test_titles_and_rows_are_as_wide_as_their_cells(one: Case, room: int) -> None:
    grid = slots(one.topic, room, 2)
    drawn = matrix_line(grid, one.gets, one.moved, one.named)
    assert sum(cells(text) for text, _ in drawn) == grid.size
    assert len(ruler(grid, one.number)) == grid.size
    assert len(topic_title(grid, one.topic, ["a", "bb", "ccc", "dddd", "eeeee"])) <= grid.size


def told(drawn: Line) -> list[str]:
    """The numbers of the owners in a row, as they are read without any colour."""
    return re.findall(r"\d+|-", "".join(text for text, _ in drawn))


@given(cases())
def test_a_cell_tells_its_owner_by_number_and_hue_in_every_row_and_moves_by_a_sign(one: Case) -> None:
    grid = slots(one.topic, 10_000, 2)
    for owner, moved in ((one.before, None), (one.gets, one.moved)):
        drawn = matrix_line(grid, owner, moved, one.named)
        numbers = ["-" if each == NOBODY else one.named[each].number for each in owner.tolist()]
        assert told(drawn) == numbers
        pieces = [piece for piece in drawn if piece != (" ", "")]
        for (text, style), number in zip(pieces, owner.tolist(), strict=True):
            assert style == "error" or re.sub(r"\D", "", style) == f"{one.named[number].place % 12}"
            assert (style == "error") == (number == NOBODY)
            assert ("[" in text) == style.startswith("moved") or number == NOBODY
        signs = "".join(text for text, _ in drawn).count("[")
        assert signs == (0 if moved is None else len(moved))


@given(cases(), st.integers(30, 60))
def test_a_cell_of_several_is_whose_most_of_them_are(one: Case, room: int) -> None:
    grid = slots(one.topic, room, 2, ())
    numbers = told(matrix_line(grid, one.gets, one.moved, one.named))
    assert len(numbers) == len(grid.ranges)
    for number, each in zip(numbers, grid.ranges, strict=True):
        owners = [("-" if o == NOBODY else one.named[o].number) for o in one.gets[each.start : each.stop].tolist()]
        assert owners.count(number) == max(map(owners.count, owners))


@given(cases())
def test_a_replay_begins_with_now_and_ends_with_then(one: Case) -> None:
    so_far = [played(one.before, one.gets, one.moved, step) for step in range(PLAYED + 1)]
    assert (so_far[0][0] == one.before).all() and (so_far[PLAYED][0] == one.gets).all()
    moved = [len(done) for _, done in so_far]
    assert moved == sorted(moved) and moved[-1] == len(one.moved)
    for owner, done in so_far:
        assert np.flatnonzero(owner != one.before).tolist() == done.tolist()


@given(cases(), st.integers(1, 20))
def test_members_without_partitions_are_told_from_those_who_are_not_there(one: Case, width: int) -> None:
    there = np.arange(len(one.named)) % 2 == 0
    drawn = balance_line(one.gets, there, one.named, width)
    assert len(drawn) == min(width, len(one.named))
    if width >= len(one.named):
        counts = np.bincount(one.gets[one.gets != NOBODY], minlength=len(one.named)).tolist()
        for (sign, _), count, is_there in zip(drawn, counts, there.tolist(), strict=True):
            assert (sign in " 0") == (count == 0)
            assert count or (sign == "0") == is_there


def flow_of(one: Case) -> Flows:
    return flows(one.before, one.gets, one.moved, len(one.named))


@given(cases(), st.integers(2, 20))
@example(Case(np.zeros(1, int), np.zeros(1, int), np.array([0]), np.array([NOBODY]), [Short("c1", 0)]), 2)
def test_bands_add_up_to_what_moves_and_nodes_to_what_each_has(one: Case, most: int) -> None:
    whole = flow_of(one)
    some, kept = folded(whole, most)
    for each in (whole, some):
        assert sum(flow.partitions for flow in each.moves) == len(one.moved)
        for node, (has, gets, stays) in enumerate(zip(each.has, each.gets, each.stays, strict=True)):
            assert has == stays + sum(flow.partitions for flow in each.moves if flow.giver == node)
            assert gets == stays + sum(flow.partitions for flow in each.moves if flow.taker == node)
        assert sum(each.has) == sum(each.gets) == len(one.topic)
    assert len(some.has) <= most and len(kept) <= len(some.has)


@given(cases(), st.integers(2, 30), st.integers(12, 80), st.integers(0, PLAYED))
def test_bands_stay_within_the_picture_and_moves_are_in_it_when_played(
    one: Case, lines: int, width: int, step: int
) -> None:
    some, _ = folded(flow_of(one), lines)
    found, left, right = strands(some, lines)
    assert all(0 <= begin < lines for begin in (*left, *right))
    drawn = painted(found, width, lines, step / PLAYED)
    assert drawn.shape == (2 * lines, width)
    whose = set((drawn[drawn % 2 == 1] // 2 - 1).tolist())
    assert whose <= {node for flow in some.moves for node in flow[:2]}
    assert bool(whose) == (step > 0 and len(one.moved) > 0)


async def test_the_flow_says_in_letters_who_hands_to_whom() -> None:
    pages = Pages(IMAGE, PreviewQuestion())
    await pages.rows("lab-groups")
    size = {"width": 60, "height": 6, "is_filled": False, "is_ascii": True}
    answer = await pages.text("lab-flow", "g", trial=LabTrial(leaves="g_a"), **size)
    head, *lines = answer.plain.splitlines()
    assert head == "zk-range: 3 of 4 partitions move"
    assert lines[0].split()[:2] == ["c1", "3"] and lines[0].endswith("c1 0 -3")
    assert any(line.endswith("c2 4 +3") for line in lines)
    band = [line[9:-16].strip() for line in lines]
    assert any("1" in each for each in band) and any("2" in each for each in band), "the giver's, then the taker's"
    assert any("·" in each for each in band), "one stays with c2"


async def test_a_strategy_that_refuses_the_group_says_why_in_place_of_a_flow() -> None:
    pages = made_up("orders*")
    await pages.rows("lab-groups")
    nothing = await pages.text("lab-flow", "no such group", width=60, height=6)
    assert nothing.plain == "choose a group"


async def test_the_strategy_tried_is_shown_as_far_as_it_is_played() -> None:
    pages = Pages(IMAGE, PreviewQuestion())
    await pages.rows("lab-groups")
    trial = LabTrial(strategy="zk-roundrobin", leaves="g_a")

    async def row(step: int, key: str) -> str:
        window = await pages.rows("lab-strategies", "lab-groups", scope="g", trial=trial, played=step)
        return next("".join(text for text, _ in row.cells[1]) for row in window.rows if row.key == key)

    assert await row(0, "zk-roundrobin") == " 1  1  1  2 "
    assert await row(PLAYED // 2, "zk-roundrobin") == "[2] 1  1  2 "
    assert await row(PLAYED, "zk-roundrobin") == "[2][2][2] 2 "
    assert await row(0, "zk-range") == "[2][2][2] 2 ", "only what is tried is played"
