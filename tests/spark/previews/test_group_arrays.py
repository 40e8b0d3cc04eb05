"""What is read out of an image, and what is assumed where the image does not say."""

from __future__ import annotations

import msgspec
import numpy as np

from model.analyses.previews.changed_group import GroupChange
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.lab import Lab
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, GroupImage, Member
from model.cluster.topic_image import blank_topic
from tests.spark.previews.groups import cluster


def owned(group: GroupImage, **counts: int) -> list[tuple[str, list[str]]]:
    """Member → what it owns, as staged."""
    lab = Lab(stage(cluster(counts, [group])))
    outcome = lab.outcome("range")
    lists = outcome.named.lists(outcome.assignment.before.owner)
    return [(name, [f"{topic}-{number}" for topic, number in of]) for name, of in lists.items()]


def test_threads_are_members_and_consumers_die_with_all_of_theirs() -> None:
    group = GroupImage("g", {"a": Member({"t": 2}), "a-1": Member({"t": 1, "u": 1})})
    group = msgspec.structs.replace(
        group, owners={TopicPartition("t", 0): "a-0", TopicPartition("t", 1): "a-1", TopicPartition("u", 0): "a-1-0"}
    )
    (names,) = stage(cluster({"t": 2, "u": 1}, [group])).groups
    assert (names.members, names.consumers) == (("a-0", "a-1", "a-1-0"), ("a", "a-1"))
    assert owned(group, t=2, u=1) == [("a-0", ["t-0"]), ("a-1", ["t-1"]), ("a-1-0", ["u-0"])]
    lab = Lab(stage(cluster({"t": 2, "u": 1}, [group])))
    assert lab.outcome("zk-range", GroupChange(leaves=0)).lists() == {"a-1-0": [("t", 0), ("t", 1), ("u", 0)]}


def test_owners_that_are_gone_own_nothing() -> None:
    owners = {TopicPartition("t", 0): "x-0", TopicPartition("t", 1): "gone-0", TopicPartition("t", 9): "x-0"}
    assert owned(GroupImage("g", {"x": Member({"t": 1})}, owners), t=2) == [("x-0", ["t-0"])]


def test_what_is_assumed_is_said() -> None:
    read = TopicPartition("t", 0)
    groups = [
        GroupImage("empty", offsets={read: 1}, kind=CLASSIC, state="Empty"),
        GroupImage("moving", {"m": Member({"t": 1})}, {read: "m"}, kind=CLASSIC, state="PreparingRebalance"),
        GroupImage("pattern", {"m": Member({"t|other": 2}, "white_list")}, {read: "m-0"}),
        GroupImage("sound", {"m": Member({"t": 1})}, {read: "m"}, kind=CLASSIC, state="Stable", protocol="sticky"),
        GroupImage("workers", {"m": Member({})}, kind=CLASSIC, state="Stable", protocol_type="connect"),
    ]
    staged = stage(cluster({"t": 3}, groups))
    notes = {names.key: " ".join(names.notes) for names in staged.groups}
    assert "nobody is in it" in notes["empty"]
    assert "it is in PreparingRebalance, so who owns what is not known" in notes["moving"]
    assert "patterns are not evaluated" in notes["pattern"]
    assert notes["sound"] == ""
    assert "its members speak connect" in notes["workers"]
    assert [names.uses for names in staged.groups] == [None, None, None, "sticky", None]
    places = {names.key: place for place, names in enumerate(staged.groups)}
    assert Lab(staged, places["moving"]).outcome("sticky").assignment.moves == 0
    assert staged.groups[places["pattern"]].topics == ("other", "t")


def test_partitions_keep_the_numbers_that_the_cluster_gave_them() -> None:
    odd = blank_topic("t", np.array([2, 3, 10], dtype=np.int32), np.ones((3, 1), dtype=np.int32))
    group = GroupImage("g", {"a": Member({"t": 1}), "b": Member({"t": 1})}, {TopicPartition("t", 10): "b-0"})
    image = msgspec.structs.replace(cluster({"t": 1}, [group]), topics={"t": odd})
    found = Lab(stage(image)).compare("zk-range", "sticky", GroupChange(joins=1))
    assert found.partition.tolist() == [2, 3, 10]
    assert [found.members[owner] if owner >= 0 else "" for owner in found.before.tolist()] == ["", "", "b-0"]


def test_two_strategies_side_by_side() -> None:
    owners = {TopicPartition("t", number): "bbaa"[number] for number in range(4)}
    group = GroupImage("g", {name: Member({"t": 1}) for name in "abc"}, owners, kind=CLASSIC, state="Stable")
    lab = Lab(stage(cluster({"t": 4}, [group], {TopicPartition("t", 0): 5})))
    found = lab.compare("range", "sticky", GroupChange(leaves=2, joins=1))
    names = np.array(found.members)
    assert found.members == ("a", "b", "c", "~new-1")
    assert names[found.before].tolist() == ["b", "b", "a", "a"]
    assert names[found.left].tolist() == ["a", "a", "b", "~new-1"]
    assert sorted(names[found.right].tolist()) in (["a", "a", "b", "~new-1"], ["a", "b", "b", "~new-1"])
    assert int((found.left != found.before).sum()) == 4
    assert len(found.moves_right) == 1
    assert set(found.differs.tolist()) == {n for n in range(4) if found.left[n] != found.right[n]}
    assert lab.compare("range", "range").differs.tolist() == []
    alone = lab.compare("range", "sticky", GroupChange(leaves=0))
    assert names[alone.left].tolist() == ["b", "b", "c", "c"]
