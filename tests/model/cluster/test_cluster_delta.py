"""Replaying records: however they are cut into deltas, and whatever was known before a full listing."""

import copy
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.cluster.cluster_delta import ClusterDelta, relisted, unlisted
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance, records_of
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    ClusterRecord,
    GroupRemoved,
    MemberJoined,
    MemberLeft,
    OffsetCommitted,
    OffsetRemoved,
    TopicAssigned,
)
from tests.model.cluster.build import brokers, image, state, topic, without_past, written
from tests.model.cluster.strategies import RECORDS, histories, images

SEEN = Provenance("test", 1, 1, complete=True)
READ = TopicPartition("orders", 0)


def listed(records: list[ClusterRecord], base: ClusterImage) -> ClusterImage:
    return relisted(base, ClusterDelta(unlisted(base)).replay_all(records).apply(SEEN))


def test_every_record_type_is_known_here_and_in_the_union() -> None:
    assert set(RECORDS) == set(ClusterRecord.__subclasses__())


@pytest.mark.parametrize("kind", ClusterRecord.__subclasses__(), ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(data=st.data(), base=images)
def test_every_record_type_can_be_replayed(kind: type[ClusterRecord], data: st.DataObject, base: ClusterImage) -> None:
    record = data.draw(RECORDS[kind])

    once = image(record, base=base)

    assert image(record, base=once) == once


@example(
    [MemberJoined(group="g", member="c", subscription={}), MemberLeft(group="g", member="c")], [1]
)  # fmt: skip
@example([OffsetCommitted("g", READ, 0), GroupRemoved("g"), OffsetRemoved("g", READ)], [2])
@given(histories, st.lists(st.integers(0, 30), max_size=5))
def test_any_split_into_deltas_gives_an_equal_image(records: list[ClusterRecord], cuts: list[int]) -> None:
    edges = sorted({0, len(records), *(cut for cut in cuts if cut < len(records))})
    pieces = image()
    for start, end in pairwise(edges):
        pieces = image(*records[start:end], base=pieces)

    assert pieces == image(*records)


@given(histories, images)
def test_a_full_listing_does_not_depend_on_what_was_known_before(
    records: list[ClusterRecord], before: ClusterImage
) -> None:
    after = listed(records, before)
    fresh = listed(records, EMPTY)

    lasting = {"cluster_id", "generation", "groups", "classic_groups", "log_ends"}
    lasting |= {"quorum", "metadata", "log_dirs", "offline_replicas", "differences"}
    assert {name: getattr(after, name) for name in after.__struct_fields__ if name not in lasting} == {
        name: getattr(fresh, name) for name in fresh.__struct_fields__ if name not in lasting
    }
    assert without_past(after) == without_past(fresh)
    if fresh.cluster_id is not None:
        assert after.cluster_id == fresh.cluster_id


@given(images, histories)
def test_replaying_never_changes_the_base(base: ClusterImage, records: list[ClusterRecord]) -> None:
    kept = copy.deepcopy(base)

    ClusterDelta(base).replay_all(records).apply(SEEN)
    listed(records, base)

    assert base == kept


@given(images)
def test_an_image_told_as_records_is_the_image(told: ClusterImage) -> None:
    again = image(*records_of(told))

    assert again == told


@given(images)
def test_replaying_what_is_known_keeps_the_very_same_parts(known: ClusterImage) -> None:
    again = listed(list(records_of(known)), known)

    assert all(again.topics[name] is known.topics[name] for name in known.topics)
    assert all(again.groups[name] is known.groups[name] for name in known.groups)
    assert again.topics is known.topics
    assert again.groups is known.groups
    assert again.classic_groups is known.classic_groups
    assert again.log_ends is known.log_ends


@given(images)
def test_a_listing_of_zookeeper_says_nothing_of_what_brokers_coordinate(known: ClusterImage) -> None:
    after = listed([], known)

    assert after.groups == {}
    assert after.classic_groups is known.classic_groups
    assert after.log_ends is known.log_ends


def test_only_the_written_topic_is_another_object() -> None:
    before = image(*brokers(1, 2), *topic("orders", (1, 2)), *topic("payments", (2, 1)))

    after = image(written("orders", state(0, 2, (2,), epoch=1)), base=before)

    assert after.topics["payments"] is before.topics["payments"]
    assert after.topics["orders"] is not before.topics["orders"]
    assert list(after.topics["orders"].rows()) == [(0, (1, 2), 2, (2,))]


def test_a_state_without_an_assignment_is_an_orphan_until_it_is_assigned() -> None:
    orphan = image(written("orders", state(3, 1, (1,))))
    assigned = image(TopicAssigned(topic="orders", replicas={3: (1, 2)}), base=orphan)

    assert orphan.topics["orders"].orphaned.tolist() == [True]
    assert list(assigned.topics["orders"].rows()) == [(3, (1, 2), 1, (1,))]
