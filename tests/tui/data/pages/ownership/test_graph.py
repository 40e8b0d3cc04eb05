"""The ownership graph: what stands where, what is tied to what, what is strong, what moved."""

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Rebalance
from tests.tui.data.pages.ownership.groups import drawn, graph, group_image
from tests.tui.data.small_cluster import keys_of
from tui.engine.queries import LAST_FRAME, STILL, nearest_neighbour

SMALL = group_image({"c1": (0, 1), "c2": (2,), "c3": ()}, 4)


def test_orphans_and_the_idle_come_first_and_the_first_owner_is_the_focus():
    assert drawn(graph(SMALL)) == [
        "! c3        0                 X t0 3  no owner",
        "  c1        2 ─┬────────────    t0 0",
        "               └────────────    t0 1",
        "  c2        1 ──────────────    t0 2",
    ]


def test_the_focus_has_its_edges_strong_and_all_else_dim():
    shown = graph(SMALL, key="c1")
    assert shown.cursor == 1
    assert [row.cells[3] for row in shown.rows] == [
        (),
        (("━┳━━━━━━━━━━━━", "key"),),
        ((" ", ""), ("┗━━━━━━━━━━━━", "key")),
        (("──────────────", "dim"),),
    ]
    names = [row.cells[0][0][1] for row in shown.rows if row.cells[0]]
    assert names == ["warn", "hue0", "hue1"], "who it is never steps back"
    assert [row.cells[4][1][1] for row in shown.rows] == ["error", "hue0", "hue0", "dim"]


def test_a_hop_leads_from_an_owner_to_its_first_partition_and_back():
    among = graph(SMALL, key=nearest_neighbour("c1"))
    assert keys_of(among) == ["\tt0-3", "\tt0-0", "\tt0-1", "\tt0-2"]
    assert keys_of(among)[among.cursor] == "\tt0-0"
    second = graph(SMALL, key="\tt0-1")
    assert drawn(second)[1:3] == ["  c1        2 ━━┓───────────    t0 0", "                ┗━━━━━━━━━━━    t0 1"]
    back = graph(SMALL, key=nearest_neighbour("\tt0-1"))
    assert keys_of(back)[back.cursor] == "c1"


def test_a_hop_along_no_edge_leads_nowhere():
    idle, orphan = graph(SMALL, key=nearest_neighbour("c3")), graph(SMALL, key=nearest_neighbour("\tt0-3"))
    assert keys_of(idle)[idle.cursor] == "c3"
    assert keys_of(orphan)[orphan.cursor] == "\tt0-3"
    assert graph(SMALL, key="c9").cursor == -1


def test_rows_in_which_the_cursors_layer_has_nothing_are_blank_and_keys_are_of_one_kind():
    assert keys_of(graph(SMALL)) == ["c3", "c1", "\r2", "c2"]


def test_what_does_not_fit_is_collapsed_to_ranges_then_to_topics():
    wide = group_image({f"c{n}": tuple(range(n * 10, n * 10 + 10)) for n in range(3)}, 30)
    assert [line.split("  ")[-1].strip() for line in drawn(graph(wide))] == ["t0 0-9", "t0 10-19", "t0 20-29"]
    many = group_image({f"c{n}": (n, n + 8) for n in range(8)}, 16, topics=4)
    shown = graph(many, key="c2")
    assert [column.title for column in shown.columns][4] == "topics"
    assert [line.split("  ")[-1].strip() for line in drawn(shown) if " t" in line] == [
        f"t{topic} 2/16 2,10" for topic in range(4)
    ]
    assert [column.title for column in graph(many, view="graph-partitions").columns][4] == "partitions"


def test_a_partition_leads_to_its_owner_however_it_is_collapsed():
    many = group_image({f"c{n}": tuple(range(n * 50, n * 50 + 50)) for n in range(40)}, 2_000)
    shown = graph(many, key="\tt0-1234")
    assert shown.rows[shown.cursor - shown.first].key == "\tt0-1200"
    one_by_one = graph(many, key=nearest_neighbour("c24"), view="graph-partitions")
    assert one_by_one.rows[one_by_one.cursor - one_by_one.first].key == "\tt0-1200", "rows round it, wherever it is"
    back = graph(many, key=nearest_neighbour("\tt0-1234"))
    assert back.rows[back.cursor - back.first].key == "c24"


def test_beside_a_long_layer_stands_what_the_focus_leads_to():
    many = group_image({f"c{n:02}": (n * 2, n * 2 + 1) for n in range(45)}, 90)
    shown = graph(many, key="c40", offset=25, first=5, view="graph-partitions")
    beside = [text for line in drawn(shown) if (text := line[30:].strip())]
    assert len(beside) == 20 and "t0 80" in beside and "t0 81" in beside
    strong = [line for line in drawn(shown) if "━" in line]
    assert len(strong) == 3, "its own row and two partitions"


def test_more_partitions_than_rows_are_counted():
    shown = graph(group_image({"c1": tuple(range(90)), "c2": ()}, 90), key="c1", view="graph-partitions")
    assert drawn(shown)[19].strip() == "and 71 more"


def test_a_filter_leaves_who_matches_and_what_is_theirs():
    assert drawn(graph(SMALL, filter="t0-2")) == ["  c2        1 ━━━━━━━━━━━━━━    t0 2"]
    assert drawn(graph(SMALL, filter="state:idle")) == ["! c3        0"]
    assert graph(SMALL, filter="nothing-like-this").note == "nothing matches the filter"


def test_a_group_that_owns_nothing_says_so():
    assert graph(group_image({}, 0)).note == "the group has no members and owns nothing"


# What moved: c9 left, its partition 2 went to c2


def moved():
    past = Rebalance(
        1_700_000_000_000, ("c9 left",), 400, 4, {"c2": (TopicPartition("t0", 2),)}, {"c9": (TopicPartition("t0", 2),)}
    )
    return group_image({"c1": (0, 1), "c2": (2, 3)}, 4, past)


def test_the_last_rebalance_is_drawn_from_and_to():
    shown = graph(moved(), frame=STILL, key="c1")
    assert drawn(shown) == [
        "- c9        0 ┄┐┏━━━━━━━━━━━    t0 0",
        "  c1        2 ━━┻━━━━━━━━━━━    t0 1",
        "  c2        2 ═════════════>  ~ t0 2  was c9",
        "                 └──────────    t0 3",
    ], "who is gone stands there again"
    assert shown.columns[4].title == "1 moved 22:13:20: c9 left"
    assert shown.turn == 1_700_000_000_000


def test_a_replay_goes_from_before_to_after():
    pictures = ["\n".join(drawn(graph(moved(), frame=frame, key="c1"))) for frame in range(LAST_FRAME + 1)]
    assert "x  ~ t0 2" in pictures[0] and ">" not in pictures[0]
    assert "┄" in pictures[2] and ">" in pictures[2]
    assert "┄" not in pictures[-1] and ">" in pictures[-1]
    rows = [next(at for at, line in enumerate(picture.split("\n")) if "t0 2" in line) for picture in pictures]
    assert rows == sorted(rows) and rows[0] < rows[-1], "it goes down, from c9 to c2"


def test_without_a_rebalance_or_a_frame_nothing_has_moved():
    assert "was" not in "\n".join(drawn(graph(moved(), key="c1")))
    assert "c9" not in "\n".join(drawn(graph(moved(), key="c1")))
    assert graph(SMALL, frame=STILL).turn == 0
    assert graph(SMALL, frame=STILL).columns[4].title == "partitions"
