"""Groups that are made up, and bars by consumer."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, GroupImage, Member
from model.cluster.records import MemberJoined, OffsetCommitted, PartitionClaimed
from tests.model.planning.clusters import cluster
from tests.spark.previews.groups import cluster as groups
from tests.tui.data.pages.analyses import Pages
from tests.tui.data.small_cluster import rows_of, text_of
from tui.engine.queries import BLANK
from tui.engine.questions import LabTrial, MadeUp, PreviewQuestion
from tui.engine.text import cells, plain

ENDS = {TopicPartition("orders", number): 1_000 for number in range(4)}
OWNERS = ("g_a-0", "g_a-0", "g_a-0", "g_b-0")
IMAGE = msgspec.structs.replace(
    cluster(
        {"orders": [(1, 2)] * 4, "orders-late": [(2, 1)] * 2, "audit": [(1,)], "__consumer_offsets": [(1,)] * 3},
        {1: "a", 2: "b"},
        MemberJoined(group="g", member="g_a", subscription={"orders": 1}),
        MemberJoined(group="g", member="g_b", subscription={"orders": 1}),
        *(
            PartitionClaimed(group="g", partition=TopicPartition("orders", number), owner=owner)
            for number, owner in enumerate(OWNERS)
        ),
        *(
            OffsetCommitted(group="g", partition=TopicPartition("orders", number), offset=1_000 - 100 * number)
            for number in range(4)
        ),
    ),
    log_ends=ENDS,
)
MADE_UP = MadeUp(("orders*",), 3)


def made_up(*patterns: str, consumers: int = 3) -> Pages:
    return Pages(IMAGE, PreviewQuestion(made_up=MadeUp(patterns, consumers)))


async def bars(pages: Pages, group: str, width: int = 100, trial: LabTrial | None = None) -> list[str]:
    await pages.rows("lab-groups")
    answer = await pages.text("lab-bars", group, mono=True, width=width, height=14, trial=trial or LabTrial())
    return answer.plain.splitlines()


async def test_groups_that_no_strategy_deals_to_are_named_and_left_out() -> None:
    apps = GroupImage("apps", kind="streams", state="Stable")
    for question in (PreviewQuestion(), PreviewQuestion(made_up=MADE_UP)):
        pages = Pages(msgspec.structs.replace(IMAGE, classic_groups={"apps": apps}), question)
        assert "apps" not in [row.key for row in (await pages.rows("lab-groups")).rows]
        assert "not previewed: apps (streams)" in (await pages.text("lab")).plain
    alone = Pages(msgspec.structs.replace(IMAGE, groups={}, classic_groups={"apps": apps}), PreviewQuestion())
    assert (await alone.rows("lab-groups")).note.startswith("not previewed: apps (streams)")


async def test_a_made_up_group_stands_first_of_both_kinds_and_is_marked() -> None:
    groups = await made_up("orders*").rows("lab-groups")
    assert [(row.key, row.mark) for row in groups.rows] == [
        ("made-up orders* by 3", "?"),
        ("made-up orders* by 3 (zookeeper)", "?"),
        ("g", ""),
    ]
    assert [text_of(row.cells[2]) for row in groups.rows] == ["6", "6", "4"]


async def test_it_gets_every_strategy_of_its_kind_and_has_what_range_deals() -> None:
    pages = made_up("orders*")
    await pages.rows("lab-groups")
    name, zookeeper_name = MADE_UP.keys
    classic = await pages.rows("lab-strategies", "lab-groups", scope=name)
    assert {row.key for row in classic.rows} > {"range", "roundrobin", "sticky", "uniform"}
    zookeeper = await pages.rows("lab-strategies", "lab-groups", scope=zookeeper_name)
    assert {row.key for row in zookeeper.rows if not row.key.startswith(BLANK)} == {
        "zk-range",
        "zk-roundrobin",
        "zk-roundrobin-1.0",
    }
    dies = LabTrial(leaves="consumer-1", joins=1)
    consumers = rows_of(await pages.rows("lab-consumers", "lab-groups", scope=name, trial=dies))
    assert [row.split(" | ") for row in consumers] == [
        ["X", "c1", "consumer-1", "3", "0", "", "-", "-"],
        [" ", "c2", "consumer-2", "2", "3", "█" * 8, "-", "-"],
        [" ", "c3", "consumer-3", "1", "2", "█████▍", "-", "-"],
        ["+", "c4", "new-1", "0", "1", "██▋", "-", "-"],
    ]


async def test_what_kafka_does_instead_because_of_a_bug_is_said_of_each_partition() -> None:
    members = {"a": Member({}), "b": Member({"t": 1})}
    pages = Pages(groups({"t": 4}, [GroupImage("odd", members, kind=CLASSIC, state="Stable")]), PreviewQuestion())
    await pages.rows("lab-groups")

    async def said(strategy: str) -> str:
        return (await pages.text("lab-partition", "t-1", group="odd", trial=LabTrial(strategy=strategy))).plain

    assert "Kafka 3.9.1 has a bug here and gives partitions to a" in " ".join((await said("sticky")).split())
    assert "bug" not in await said("range")


async def test_strategies_are_of_the_group_after_what_happened_to_it() -> None:
    pages = Pages(IMAGE, PreviewQuestion())
    await pages.rows("lab-groups")

    async def shown(trial: LabTrial) -> tuple[list[str], list[list[str]]]:
        window = await pages.rows("lab-strategies", "lab-groups", scope="g", trial=trial)
        titles = [column.title for column in window.columns]
        return titles, [row.split(" | ") for row in rows_of(window)[2:]]

    titles, rows = await shown(LabTrial())
    figures = ["moves", "", "at least", "idle", "balance", "each", "most lag"]
    assert titles == ["strategy", "orders", *figures, "1 leaves", "1 joins"]
    assert rows[0][1:5] == ["zk-range", "1  1 [2] 2", "1", "████████"]
    assert rows[0][5:9] == ["1", "0", "██", "2-2"]
    dead = LabTrial(leaves="g_a")
    titles, rows = await shown(dead)
    assert titles == ["strategy", "orders", *figures]
    for row in rows:
        assert row[2:] == ["[2][2][2] 2", "3", "████████", "3", "0", "█", "4-4", "600"]
    more = LabTrial(leaves="g_a", joins=3)
    _, rows = await shown(more)
    moved = (await pages.rows("lab-partitions", scope="g", trial=more)).rows
    marked = sum(row.mark == "~" for row in moved)
    assert rows[0][3] == f"{marked}" and rows[0][5:] == ["3", "0", "████", "1-1", "300"], "c2 could keep its one"
    assert rows[0][2].count("[") == marked


async def test_it_says_that_it_is_made_up_and_what_it_reads() -> None:
    pages = made_up("orders*")
    await pages.rows("lab-groups")
    said = (await pages.text("lab-group", MADE_UP.keys[0])).plain
    assert "it is not there" in said and "no lag is known" in said and "orders, orders-late" in said


async def test_a_pattern_matches_no_internal_topics_and_one_that_matches_nothing_is_said_to() -> None:
    pages = made_up("*")
    await pages.rows("lab-groups")
    said = (await pages.text("lab-group", MadeUp(("*",), 3).keys[0])).plain
    assert "audit" in said and "__consumer_offsets" not in said
    nothing = made_up("nope*")
    assert text_of((await nothing.rows("lab-groups")).rows[0].cells[2]) == "0"
    assert "none matches" in (await nothing.text("lab-group", MadeUp(("nope*",), 3).keys[0])).plain


async def test_a_real_group_of_that_name_is_not_hidden() -> None:
    name = MADE_UP.keys[0]
    taken = msgspec.structs.replace(IMAGE, classic_groups={name: IMAGE.groups["g"]})
    refused = await Pages(taken, PreviewQuestion(made_up=MADE_UP)).rows("lab-groups")
    assert refused.total == 0 and refused.note == f"there is a real group {name}: make up another one"


async def test_bars_show_partitions_and_lag_now_and_by_both_strategies() -> None:
    lines = await bars(Pages(IMAGE, PreviewQuestion()), "g", trial=LabTrial(strategy="zk-roundrobin"))
    assert lines[0].strip() == ". has  = zk-range gives  # zk-roundrobin gives"
    assert lines[1].split("  ")[0].strip() == "" and "partitions" in lines[1] and "lag, records" in lines[1]
    assert lines[-1].split() == ["c1", "c2", "c1", "c2"]
    partitions, lag = lines[3][:50], lines[3][50:]
    assert "." in partitions and not {"=", "#"} & set(partitions), "only what c1 has now are three partitions"
    assert "=" in lag and "." not in lag, "range gives c2 the two with 500 records, all others have fewer"


async def test_bars_of_a_group_without_known_lag_say_so() -> None:
    lines = await bars(made_up("orders*"), MADE_UP.keys[0])
    assert lines[1].strip() == "partitions; no lag is known"
    assert lines[-1].split() == ["c1", "c2", "c3"]


async def test_who_dies_and_who_joins_is_told_by_the_names_below_the_bars() -> None:
    lines = await bars(Pages(IMAGE, PreviewQuestion()), "g", 60, LabTrial(leaves="g_a", joins=1))
    assert lines[-1].split()[:3] == ["Xc1", "c2", "c3"]


@pytest.mark.parametrize("width", [1, 30, 39, 40, 79, 200])
async def test_bars_keep_to_their_width(width: int) -> None:
    lines = await bars(Pages(IMAGE, PreviewQuestion()), "g", width)
    assert max(map(len, lines)) <= max(width, 20)


async def test_hostile_and_wide_names_below_the_bars_do_no_harm() -> None:
    joined = (
        MemberJoined(group="h", member=name, subscription={"orders": 1})
        for name in ("\x1b[2J[/b]", "日本語日本語日本語", "e\u0301\u202e", "[red]x")
    )
    image = cluster({"orders": [(1, 2)] * 4}, {1: "a", 2: "b"}, *joined)
    lines = await bars(Pages(image, PreviewQuestion()), "h", 80)
    assert all(cells(line) <= 90 and plain(line) == line for line in lines)
