"""Numbers, ranges and lists as findings and changes write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import KafkaGeneration
from model.cluster.texts import brokers, counted, kept_in, listed, ranges, replicas, written_at


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([4], "4"),
        ([0, 1, 2, 3, 7], "0-3,7"),
        ([0, 2, 4, 6, 8, 10, 12, 14, 15], "0,2,4,6,8,10,12,14-15"),
        ([0, 2, 4, 6, 8, 10, 12, 14, 16, 17], "0,2,4,6,8,10,12,14 +2 more"),
    ],
)
def test_ranges(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


@given(st.sets(st.integers(0, 60)).map(sorted))
def test_ranges_leave_nothing_out(numbers: list[int]) -> None:
    spans = [span.split("-") for span in ranges(numbers, most=100).split(",") if span]

    assert [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)] == numbers


def test_counts_and_lists() -> None:
    assert counted(1, "partition") == "1 partition"
    assert counted(1603, "partition") == "1,603 partitions"
    assert listed("abcdefghij") == "a, b, c, d, e, f, g, h +2 more"
    assert (brokers([]), brokers([5, 5]), brokers([6, 5])) == ("no broker", "broker 5", "brokers 5, 6")
    assert (replicas(()), replicas((3, 1))) == ("none", "3,1")


@pytest.mark.parametrize(
    ("generation", "number", "told"),
    [
        ("3.x", 0x2A, ("zxid", "0x2a")),
        ("3.x", 0, ("zxid", "0x0")),
        ("3.x", -1, ("zxid", "unknown")),
        ("kraft", 1_234, ("offset", "1,234")),
        ("kraft", 0, ("offset", "0")),
        ("kraft", -1, ("offset", "unknown")),
    ],
)
def test_what_tells_a_write_apart(generation: KafkaGeneration, number: int, told: tuple[str, str]) -> None:
    assert written_at(generation, number) == told


@pytest.mark.parametrize(
    ("znode", "place"),
    [
        ("/brokers/ids/7", "/brokers/7/registration"),
        ("/brokers/topics/orders", "/topics/orders"),
        ("/brokers/topics/orders/partitions", "/topics/orders"),
        ("/brokers/topics/orders/partitions/3", "/topics/orders/3/data"),
        ("/brokers/topics/orders/partitions/3/state", "/topics/orders/3/data"),
        ("/admin/delete_topics/orders", "/topics/orders"),
        ("/admin/reassign_partitions", "/topics"),
        ("/admin/preferred_replica_election", "/topics"),
        ("/config/topics/orders", "/configs/topics/orders"),
        ("/controller", "/metadataQuorum/leader"),
        ("/controller_epoch", "/metadataQuorum/leader"),
        ("/cluster/id", "/clusterId"),
        ("broker b1", "broker b1"),
    ],
)
def test_where_kraft_has_what_zookeeper_has_in_a_znode(znode: str, place: str) -> None:
    assert kept_in("3.x", znode) == ("znode", znode)
    assert kept_in("kraft", znode) == ("metadata", place)
