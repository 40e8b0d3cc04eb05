"""A share group as it is drawn: a partition with several readers is each one's, and nobody's only if none reads it."""

import msgspec
import pytest

from model.cluster.cluster_image import EMPTY
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, GroupImage, Member
from tests.tui.data.small_cluster import NOW_MS, moment_of, rows_of, small_image
from tui.engine.consumers.owners import sharing_of
from tui.engine.consumers.ownership import ownership_window
from tui.engine.listing import AnswerMemo
from tui.engine.queries import OwnershipList
from tui.engine.rows import Window

READ = TopicPartition("orders", 2), TopicPartition("orders", 3)
GROUP = GroupImage(
    "sharers",
    {"a": Member({"orders": 1}, reads=READ), "b": Member({"orders": 1}, reads=READ[1:]), "c": Member({"orders": 1})},
    kind=SHARE,
)


def test_each_reader_has_its_partitions() -> None:
    one = sharing_of(GROUP, small_image())
    names = [one.owners[owner].name if owner >= 0 else "" for owner in one.owner.tolist()]
    rows = [(one.name(place), name) for place, name in enumerate(names)]
    assert sorted(rows) == [("orders-10", ""), ("orders-2", "a"), ("orders-3", "a"), ("orders-3", "b")]
    assert {owner.name: owner.parts for owner in one.owners} == {"a": 2, "b": 1, "c": 0}


def shown(group: GroupImage, view: str) -> Window:
    image = msgspec.structs.replace(small_image(), classic_groups={group.name: group})
    return ownership_window(moment_of(image), OwnershipList(scope=group.name, view=view), NOW_MS, AnswerMemo())


def test_the_table_says_reads_where_nobody_owns() -> None:
    table = shown(GROUP, "table")
    assert (table.columns[-1].title, rows_of(table)[1].rpartition(" | ")[2]) == ("reads", "idle: reads nothing")


@pytest.mark.parametrize("view", ["table", "graph"])
def test_of_a_group_that_is_only_listed_nothing_is_claimed(view: str) -> None:
    told = shown(GroupImage("apps", kind="streams", state="Stable"), view)
    assert told.note == "who owns what is not known: kdrill lists streams groups and cannot describe them"
    assert told.rows == ()


def test_what_the_cluster_does_not_have_is_read_all_the_same() -> None:
    assert {owner.name: owner.parts for owner in sharing_of(GROUP, EMPTY).owners} == {"a": 2, "b": 1, "c": 0}
