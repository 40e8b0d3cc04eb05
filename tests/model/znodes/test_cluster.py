"""The cluster's own znodes."""

import pytest

from model.znodes.cluster import ClusterId, FinalizedFeatures, KraftMigration, ProducerIdBlock
from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable


def test_the_cluster_id_has_a_version_that_is_text():
    golden = b'{"version":"1","id":"fHdbX6H7T8eJpY7O8HlBTQ"}'
    assert decode("/cluster/id", golden) == ClusterId(cluster_id="fHdbX6H7T8eJpY7O8HlBTQ")
    assert encode(ClusterId(cluster_id="fHdbX6H7T8eJpY7O8HlBTQ")) == golden


def test_features_v1_have_a_range_of_levels():
    golden = b'{"features":{"f":{"max_version_level":3,"min_version_level":1}},"version":1,"status":1}'
    features = decode("/feature", golden)
    assert isinstance(features, FinalizedFeatures)
    assert (features.features["f"].min_version_level, features.features["f"].max_version_level) == (1, 3)
    assert encode(features) == golden


def test_features_v2_have_the_upper_level_only():
    golden = b'{"features":{"f":{"max_version_level":3}},"version":2,"status":1}'
    features = decode("/feature", golden)
    assert isinstance(features, FinalizedFeatures)
    assert features.features["f"].min_version_level is None
    assert encode(features) == golden


def test_the_producer_id_block_has_its_ends_as_text():
    golden = b'{"version":1,"broker":1,"block_start":"1000","block_end":"1999"}'
    block = decode("/latest_producer_id_block", golden)
    assert isinstance(block, ProducerIdBlock)
    assert (block.first_id, block.last_id) == (1000, 1999)
    assert encode(block) == golden


def test_the_migration_state_is_all_minus_one_when_there_is_none():
    golden = (
        b'{"version":0,"kraft_metadata_offset":-1,"kraft_controller_id":-1,'
        b'"kraft_metadata_epoch":-1,"kraft_controller_epoch":-1}'
    )
    assert decode("/migration", golden) == KraftMigration()
    assert encode(KraftMigration()) == golden


@pytest.mark.parametrize(
    ("path", "data", "why"),
    [
        ("/cluster/id", b'{"version":"1"}', "id is missing"),
        ("/cluster/id", b'{"version":"1","id":""}', "id is empty"),
        ("/feature", b'{"version":2,"status":2,"features":{}}', "status is above 1"),
        ("/feature", b'{"version":2,"features":{}}', "status is missing"),
        (
            "/feature",
            b'{"version":1,"status":1,"features":{"f":{"min_version_level":4,"max_version_level":3}}}',
            "a feature's min_version_level is not between 1 and its max_version_level",
        ),
        (
            "/latest_producer_id_block",
            b'{"version":1,"broker":1,"block_start":"x","block_end":"1"}',
            "block_start is not a producer id",
        ),
        (
            "/latest_producer_id_block",
            b'{"version":1,"broker":1,"block_start":0,"block_end":"1"}',
            "block_start is a whole number, expected text",
        ),
    ],
)
def test_an_unusable_payload_says_why(path: str, data: bytes, why: str):
    payload = decode(path, data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why
