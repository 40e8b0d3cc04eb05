"""A text of `kafka-topics` as an image: what it tells, what it cannot know, and the way back to a text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings import find
from model.cluster.records import UNTOLD
from model.interchange.tool_files import lines_of
from model.interchange.topics_text import (
    ClusterText,
    PartitionText,
    TopicText,
    partition_line,
    read_topics_text,
    records_of_text,
    topic_line,
)
from tests.model.interchange.printed import printed

SEEN = Provenance("described.txt", -1, 1_700_000_000_000, complete=True)


def image_of(text: ClusterText) -> ClusterImage:
    return ClusterDelta(EMPTY).replay_all(list(records_of_text(text))).apply(SEEN)


def described(image: ClusterImage) -> bytes:
    lines: list[str] = []
    for topic in image.topics.values():
        deleting = topic.name in image.admin.delete_topics
        lines.append(topic_line(topic, image.topic_config(topic.name), deleting=deleting))
        lines += [partition_line(topic, row, deleting=deleting) for row in range(len(topic))]
    return "".join(f"{line}\n" for line in lines).encode()


ids = st.integers(0, 5)
lists = st.lists(ids, min_size=1, max_size=3, unique=True).map(tuple)
few = st.lists(ids, max_size=2, unique=True).map(tuple)
settings = st.dictionaries(
    st.sampled_from(["cleanup.policy", "min.insync.replicas", "retention.ms"]),
    st.sampled_from(["2", "compact,delete", "0:1,0:2", "", "a b"]),
)


@st.composite
def topics(draw: st.DrawFn, name: str) -> TopicText:
    partitions = tuple(
        PartitionText(number, draw(st.integers(-1, 5)), draw(lists), draw(few), *draw(st.just(((), ())) | moves))
        for number in range(draw(st.integers(1, 3)))
    )
    topic_id = draw(st.none() | st.just("WmMjG4j7QqGyx5DLBi7JPw"))
    return TopicText(name, partitions, topic_id, draw(settings), draw(st.booleans()))


moves = st.tuples(lists, few)
texts = st.lists(st.sampled_from(["orders", "a.b_c-D"]), min_size=1, unique=True).flatmap(
    lambda names: st.tuples(*(topics(name) for name in names))
)


@given(texts)
def test_there_and_back(described_topics: tuple[TopicText, ...]) -> None:
    image = image_of(ClusterText(described_topics, (), "3.x"))
    assert {topic.name: topic for topic in read_topics_text(described(image)).topics} == {
        topic.name: topic for topic in described_topics
    }


@pytest.mark.parametrize("name", ["3.9.1-healthy", "3.9.1-killed", "3.9.1-moving", "3.9.1-moving-killed"])
def test_lines_are_written_as_kafka_prints_them(name: str) -> None:
    theirs = printed(f"describe-{name}")
    assert described(image_of(read_topics_text(theirs))) == theirs


def test_brokers_that_lead_or_are_in_sync_with_a_leader_live() -> None:
    image = image_of(read_topics_text(printed("describe-3.9.1-moving-killed")))
    assert sorted(image.brokers) == [1, 2, 3]  # 4 is in an ISR that nobody leads
    assert not any(broker.rack or broker.endpoints for broker in image.brokers.values())
    assert (image.controller.broker, image.controller.epoch) == (None, None)
    (state,) = {(int(topic.leader_epoch[0]), int(topic.controller_epoch[0])) for topic in image.topics.values()}
    assert state == (0, 0)
    assert all(np.all(topic.has_state) for topic in image.topics.values())


def test_brokers_that_another_tool_listed_live_and_no_others() -> None:
    both = printed("describe-3.9.1-moving-killed") + printed("api-versions-3.9.1")
    image = image_of(read_topics_text(both))
    assert {number: broker.rack for number, broker in image.brokers.items()} == {n: f"r{n}" for n in (1, 2, 3, 4)}
    assert image.brokers[1].endpoints[0].startswith("PLAINTEXT://127.0.0.1:")
    assert "/brokers/ids/*" not in image.unreadable


def test_what_it_cannot_know_is_one_finding_and_not_many() -> None:
    image = image_of(read_topics_text(printed("describe-1.1.1-killed")))
    assert set(image.unreadable.values()) == {UNTOLD}
    found = {one.kind: one for one in find(image).found}
    assert found.keys() == {"at-min-isr", "dead-broker", "deletion-stuck", "under-replicated", "untold"}
    assert found["untold"].what == (
        "it does not tell which brokers live and their racks (those that are in sync nowhere are taken for dead), "
        "leader epochs (0 here), consumer groups, who controls, the controller epoch"
    )


def test_lines_are_numbered_as_editors_number_them() -> None:
    assert list(lines_of("a\x85b\u2028c\r\n\xfcd".encode())) == [(1, "a\x85b\u2028c"), (2, "\xfcd")]
    assert [line for _, line in lines_of(b"\xff")] == ["\ufffd"]
