"""What changed between two images, replayed on the first, gives the second."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import assume, given

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ConfigChanged, PartitionStatesWritten
from model.cluster.texts import HIDDEN, redacted
from model.recordings.recorder import can_follow, records_between
from tests.model.cluster.build import brokers, image, state, topic, written
from tests.model.cluster.strategies import histories, images


def without_secrets(image: ClusterImage) -> ClusterImage:
    configs = {entity: redacted(entity, config) for entity, config in image.configs.items()}
    return msgspec.structs.replace(image, configs=configs)


@given(images, images)
def test_replayed_on_the_first_they_give_the_second(before: ClusterImage, after: ClusterImage) -> None:
    assume(can_follow(before, after))
    before, after = without_secrets(before), without_secrets(after)
    assert ClusterDelta(before).replay_all(records_between(before, after)).apply(after.provenance) == after


@given(images, histories)
def test_what_came_of_records_is_told(before: ClusterImage, history: list[Any]) -> None:
    before = without_secrets(before)
    after = without_secrets(image(*history, base=before))
    assume(can_follow(before, after))
    assert ClusterDelta(before).replay_all(records_between(before, after)).apply(after.provenance) == after


@given(images)
def test_nothing_is_told_of_what_did_not_change(image: ClusterImage) -> None:
    assert not list(records_between(image, image))


def test_only_what_changed_is_told() -> None:
    before = image(*brokers(1, 2), *topic("orders", (1, 2), 100))
    changed = written("orders", state(7, 2, (2,), epoch=1))
    after = image(changed, base=before)
    (told,) = records_between(before, after)
    assert isinstance(told, PartitionStatesWritten)
    assert [each.partition for each in told.states] == [7]


def test_secrets_are_hidden() -> None:
    secret = ConfigChanged(entity="topics/orders", config={"sasl.jaas.config": "x", "retention.ms": "1"})
    (told,) = records_between(image(), image(secret))
    assert told == ConfigChanged(entity="topics/orders", config={"sasl.jaas.config": HIDDEN, "retention.ms": "1"})
