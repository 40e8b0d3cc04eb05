"""An image told as records and replayed is the same image."""

import copy

import pytest
from hypothesis import given

from model.cluster.cluster_delta import ClusterDelta, relisted, unlisted
from model.cluster.cluster_image import EMPTY, ClusterImage, records_of
from model.cluster.records import GroupDescribed
from tests.model.cluster.build import brokers, claims, consumer, topic, without_past
from tests.model.cluster.build import image as image_of
from tests.model.cluster.strategies import images


@given(images)
def test_replaying_an_image_gives_it_back(image: ClusterImage) -> None:
    assert ClusterDelta(EMPTY).replay_all(records_of(image)).apply(image.provenance) == image


@given(images, images)
def test_told_as_a_listing_it_replaces_any_other(image: ClusterImage, other: ClusterImage) -> None:
    after = relisted(other, ClusterDelta(unlisted(other)).replay_all(records_of(image)).apply(image.provenance))
    for part in ("controller", "brokers", "topics", "configs", "admin", "unreadable"):
        assert getattr(after, part) == getattr(image, part)
    assert without_past(after) == without_past(image)


@pytest.mark.parametrize("part", ["controller", "brokers", "topics", "groups", "admin", "unreadable"])
def test_what_a_listing_tells_again_is_the_same_object(part: str) -> None:
    before = image_of(
        *brokers(1, 2), *topic("t", (1, 2)), consumer("g", "c", name="t"), *claims("g", "c-0", 0, name="t")
    )
    assert getattr(relisted(before, copy.deepcopy(before)), part) is getattr(before, part)


def test_a_group_is_told_with_its_kind_and_its_protocol() -> None:
    group = GroupDescribed(group="g", kind="share", state="Stable", protocol_type="connect", protocol="range")
    described = image_of(group)
    again = ClusterDelta(EMPTY).replay_all(records_of(described)).apply(described.provenance)
    told = again.classic_groups["g"]
    assert (told.kind, told.protocol_type, told.protocol) == ("share", "connect", "range")
