"""Sizes from snapshots and from files, and what is said of files that have none."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import LogDir
from model.cluster.records import LogDirsDescribed
from model.planning.layout import Sizes, layout_of, measured, sizes_of
from tests.model.planning.clusters import cluster

ORDERS = TopicPartition("orders", 0)


def test_a_snapshot_may_have_them() -> None:
    topics = {"orders": {"partitions": {"0": {"size_bytes": 5}, "1": {}}}}
    assert sizes_of({"format": "kdrill.snapshot/1", "topics": topics}, "s.json") == Sizes(
        {ORDERS: 5}, "size_bytes of s.json"
    )
    assert sizes_of({"format": "kdrill.snapshot/1"}, "s.json") is None


def test_brokers_may_tell_them_and_the_largest_replica_counts() -> None:
    folders = ((1, LogDir("/a", sizes={ORDERS: 5})), (2, LogDir("/b", sizes={ORDERS: 7})), (3, LogDir("/c")))
    told = [LogDirsDescribed(broker=broker, folders=(folder,)) for broker, folder in folders]
    image = cluster({"orders": [[1, 2]]}, {1: None, 2: None, 3: None}, *told)
    assert measured(image) == Sizes({ORDERS: 7}, "log folders as the brokers told them")
    assert measured(cluster({"orders": [[1]]}, {1: None}, told[2])) is None


def test_a_file_may_name_them() -> None:
    assert sizes_of({"orders": {"0": 5}}, "sizes.json") == Sizes({ORDERS: 5}, "sizes.json")


@pytest.mark.parametrize("document", [None, [], {"orders": {"0": -1}}, {"orders": 5}, {"orders": {"x": 1}}])
def test_a_file_without_is_refused_in_one_line(document: object) -> None:
    with pytest.raises(ValueError, match=r"^sizes\.json: [^\n]*$"):
        sizes_of(document, "sizes.json")


def test_what_is_not_known_is_as_large_as_the_others() -> None:
    image = cluster({"a": [[1], [1], [1]]}, {1: None})
    layout = layout_of(image, Sizes({TopicPartition("a", 0): 10, TopicPartition("a", 2): 30}, "a file"))
    assert layout.size is not None
    assert (layout.size.tolist(), layout.guessed) == ([10, 20, 30], 1)
    assert layout_of(image, Sizes({TopicPartition("b", 0): 10}, "a file")).size is None
