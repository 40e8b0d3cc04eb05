"""An image told as records and replayed is the same image."""

from hypothesis import given

from model.cluster.cluster_delta import ClusterDelta, relisted, unlisted
from model.cluster.cluster_image import EMPTY, ClusterImage, records_of
from tests.model.cluster.build import without_past
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
