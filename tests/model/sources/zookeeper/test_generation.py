"""Which Kafka could have written a payload, by its version and by how it was written."""

from __future__ import annotations

import pytest

from model.sources.zookeeper.translate import generation_shown_by
from model.znodes.codec import decode
from tests.model.sources.zookeeper.znode_values import znode

BROKER = b'{"version":%d,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"]}'
TOPIC = b'{"version":%d,"partitions":{"0":[1]}}'


@pytest.mark.parametrize(
    ("path", "data", "version", "expected"),
    [
        ("/brokers/ids/1", BROKER % 1, 0, "0.8"),
        ("/brokers/ids/1", BROKER % 2, 0, "0.9-1.x"),
        ("/brokers/ids/1", BROKER % 3, 0, "0.9-1.x"),
        ("/brokers/ids/1", BROKER % 4, 0, "0.9-1.x"),
        ("/brokers/ids/1", BROKER % 4, 1, "2.x"),
        ("/brokers/ids/1", BROKER % 5, 1, "2.x"),
        ("/brokers/topics/t", TOPIC % 1, 0, "unknown"),
        ("/brokers/topics/t", TOPIC % 2, 0, "2.x"),
        ("/brokers/topics/t", TOPIC % 3, 0, "2.x"),
        ("/controller", b'{"version":1,"brokerid":1}', 0, "unknown"),
        ("/controller", b'{"version":2,"brokerid":1,"kraftControllerEpoch":-1}', 0, "3.x"),
        ("/feature", b'{"features":{},"version":1,"status":1}', 0, "2.x"),
        ("/feature", b'{"features":{},"version":2,"status":1}', 0, "3.x"),
        ("/controller_epoch", b"1", 0, "unknown"),
    ],
)
def test_the_oldest_generation_that_writes_this(path: str, data: bytes, version: int, expected: str) -> None:
    assert generation_shown_by(decode(path, data), znode(path, data, version=version).stat) == expected


def test_a_znode_without_a_payload_shows_nothing() -> None:
    assert generation_shown_by(None, znode("/consumers/g").stat) == "unknown"
