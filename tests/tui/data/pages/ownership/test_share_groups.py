"""A share group as it is drawn: a partition with several readers is each one's, and nobody's only if none reads it."""

from model.cluster.cluster_image import EMPTY
from model.cluster.group_image import SHARE, GroupImage, Member
from model.cluster.ids import TopicPartition
from tests.tui.data.small_cluster import small_image
from tui.data.pages.ownership.sharing import sharing_of

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


def test_what_the_cluster_does_not_have_is_read_all_the_same() -> None:
    assert {owner.name: owner.parts for owner in sharing_of(GROUP, EMPTY).owners} == {"a": 2, "b": 1, "c": 0}
