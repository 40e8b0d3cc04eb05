"""What `kafka-topics --describe` of each release printed is read as it was meant, and what is damaged is refused."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import NO_LEADER
from model.interchange.tool_files import TextError
from model.interchange.topics_text import (
    BrokerText,
    ClusterText,
    PartitionText,
    TopicText,
    is_topics_text,
    partition_line,
    read_topics_text,
    records_of_text,
)
from tests.model.cluster.build import image
from tests.model.interchange.printed import printed

MOVING = printed("describe-3.9.1-moving")
TOPIC = "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
PARTITION = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"


def topic_of(text: ClusterText, name: str) -> TopicText:
    return next(topic for topic in text.topics if topic.name == name)


@pytest.mark.parametrize(
    ("name", "generation", "notes"),
    [
        ("describe-0.8.2.2-healthy", "0.9-1.x", PartitionText(0, 3, (3,), (3,))),
        ("describe-0.8.2.2-killed", "0.9-1.x", PartitionText(0, NO_LEADER, (3,), ())),
        ("describe-1.1.1-killed", "0.9-1.x", PartitionText(0, NO_LEADER, (3,), (3,))),
        ("describe-3.9.1-healthy", "3.x", PartitionText(0, 3, (3,), (3,))),
        ("describe-3.9.1-moving-killed", "3.x", PartitionText(0, NO_LEADER, (4,), (4,))),
    ],
)
def test_each_release(name: str, generation: str, notes: PartitionText) -> None:
    text = read_topics_text(printed(name))
    assert (text.generation, text.brokers) == (generation, ())
    assert topic_of(text, "notes").partitions == (notes,)
    assert topic_of(text, "notes").deleting == (name == "describe-1.1.1-killed")


def test_settings_with_commas_and_a_topic_id() -> None:
    orders = topic_of(read_topics_text(printed("describe-3.9.1-killed")), "orders")
    assert orders.topic_id == "WmMjG4j7QqGyx5DLBi7JPw"
    assert orders.config == {
        "min.insync.replicas": "2",
        "cleanup.policy": "compact,delete",
        "file.delete.delay.ms": "500",
    }
    assert orders.partitions[1] == PartitionText(1, 2, (2, 3, 1), (2, 1))


def test_a_running_reassignment_and_its_throttles() -> None:
    clicks = topic_of(read_topics_text(MOVING), "clicks")
    assert clicks.partitions[0] == PartitionText(0, 1, (3, 2, 1), (1, 2), adding=(3,), removing=(1,))
    assert clicks.config["leader.replication.throttled.replicas"] == "0:1,0:2"


@pytest.mark.parametrize(
    "changed",
    [
        MOVING.replace(b"\t", b"   "),
        MOVING.replace(b"\n", b"\r\n"),
        MOVING.decode().encode("utf-16"),
        b"[2026-11-22 11:29:18,867] WARN Connection could not be established.\n\n" + MOVING,
        MOVING.replace(b"\tElr: N/A\tLastKnownElr: N/A", b""),
        MOVING.replace(b"\tElr: N/A\tLastKnownElr: N/A", b"\tElr: N/A\tLastKnownElr: N/A\tOffline: 3"),
    ],
    ids=["spaces", "carriage returns", "UTF-16", "a log line", "before 3.7", "other fields"],
)
def test_copies_say_the_same(changed: bytes) -> None:
    assert is_topics_text(changed)
    assert read_topics_text(changed) == read_topics_text(MOVING)


ELR = (
    "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 4,5\tIsr: \tElr: 5,4\tLastKnownElr: 4\n"
    "\tTopic: t\tPartition: 1\tLeader: 4\tReplicas: 4,5\tIsr: 4,5\tAdding Replicas: 5\tRemoving Replicas: "
    "\tElr: \tLastKnownElr: \n"
)
"""As 4.x prints it."""


@pytest.mark.parametrize("tab", ["\t", "   "])
def test_eligible_leader_replicas(tab: str) -> None:
    text = read_topics_text(ELR.replace("\t", tab).encode())
    assert topic_of(text, "t").partitions == (
        PartitionText(0, NO_LEADER, (4, 5), (), elr=(5, 4), last_known_elr=(4,)),
        PartitionText(1, 4, (4, 5), (4, 5), adding=(5,), elr=(), last_known_elr=()),
    )
    read = image(*records_of_text(text))
    assert [partition_line(read.topics["t"], row) for row in range(2)] == ELR.splitlines()[1:]


def test_brokers_and_racks_from_another_tool_in_the_same_text() -> None:
    text = read_topics_text(MOVING + printed("api-versions-3.9.1"))
    assert {broker.id: broker.rack for broker in text.brokers} == {1: "r1", 2: "r2", 3: "r3", 4: "r4"}
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+", broker.address) for broker in text.brokers)
    lines = b"h:9092 (id: 7 rack: null isFenced: false) -> (\n- (id: 8 rack: A 1)\n"
    assert read_topics_text(MOVING + lines).brokers == (BrokerText(7, "h:9092"), BrokerText(8, "-", "A 1"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: no topic is described here"),
        ("Error while executing topic command : no access\n", "line 1: Kafka's tool failed: no access"),
        ("\nError while executing topic command null\n", "line 2: Kafka's tool failed: null"),
        (TOPIC, "line 1: topic t has 1 partitions, and 0 follow: give all that kafka-topics --describe prints"),
        (PARTITION, "line 1: a partition of t without the line of its topic: give all that"),
        (TOPIC + PARTITION + PARTITION, "line 3: partition 0 of t is described twice"),
        ((TOPIC + PARTITION) * 2, "line 3: topic t is described twice"),
        (TOPIC + PARTITION[:-1], "line 2: the text ends within this line"),
        (TOPIC + PARTITION.replace("Isr: 1", "Is"), "line 2: no partition's line"),
        (TOPIC + PARTITION.replace("Replicas: 1", "Replicas: "), "line 2: no partition's line"),
        (TOPIC + PARTITION.replace("Replicas: 1", "Replicas: 1,1"), "line 2: 1,1 names a broker twice"),
        (TOPIC + PARTITION.replace("Leader: 1", "Leader: x"), "line 2: no partition's line"),
        (TOPIC + PARTITION.replace("Leader: 1", "Leader: 2147483648"), "line 2: 2147483648 is too large"),
        (TOPIC + PARTITION.replace("Isr: 1", "Isr: " + "9" * 5000), "line 2: 99999999999999999999 is too large"),
        (TOPIC + PARTITION.replace("Leader: 1", "Leader: \u0661"), "line 2: no partition's line"),
        (TOPIC.replace("Count: 1", "Count: " + "1" * 5000), "line 1: no topic's line"),
        (
            TOPIC + PARTITION.replace("Isr: 1", "Isr: 1\tAdding Replicas: ,\tRemoving Replicas: "),
            "line 2: no partition's line",
        ),
        (TOPIC.replace("Configs: ", "Configs: x"), "line 1: 'x' are no settings"),
        (TOPIC.replace("PartitionCount: 1\t", ""), "line 1: no topic's line"),
        (TOPIC.replace(": t", ": t\u202e"), "line 1: Topic name is invalid"),
        (TOPIC + PARTITION + "h:1 (id: 1 rack: a) -> (\n" * 2, "line 4: broker 1 is listed twice"),
    ],
)
def test_what_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(TextError, match=f"^{re.escape(complaint)}"):
        read_topics_text(text.encode())


def test_a_filtered_text_is_refused() -> None:
    with pytest.raises(TextError, match=r"^line 1: a partition of orders .* without --under-replicated-partitions"):
        read_topics_text(printed("describe-1.1.1-under"))


@given(st.sampled_from(["0.8.2.2-killed", "1.1.1-killed", "3.9.1-moving"]), st.data())
def test_a_text_cut_anywhere_is_refused_or_says_nothing_else(name: str, data: st.DataObject) -> None:
    whole = printed(f"describe-{name}")
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    topics = read_topics_text(whole).topics
    try:
        found = read_topics_text(cut).topics
    except TextError:
        return
    assert found == topics[: len(found)]


@given(st.binary(max_size=80) | st.text(alphabet="Topic: Partin\t\n0123,(id)rack", max_size=120).map(str.encode))
def test_whatever_comes_it_is_read_or_refused(noise: bytes) -> None:
    for data in (noise, MOVING + noise, MOVING[:300] + noise + MOVING[300:]):
        with contextlib.suppress(TextError):
            assert read_topics_text(data).topics


@pytest.mark.parametrize("tail", [" A:" * 60, " A: B" * 60 + " !", "\t" * 20_000 + "!"])
def test_a_line_that_could_be_read_in_many_ways_is_refused_at_once(tail: str) -> None:
    line = f"\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1{tail} !\n"
    with pytest.raises(TextError):
        read_topics_text(f"Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n{line}".encode())


def test_a_long_blank_within_settings_takes_no_time() -> None:
    text = f"Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: {' ' * 100_000}x\n"
    with pytest.raises(TextError):
        read_topics_text(text.encode())
