"""Topic assignments, version by version."""

import pytest

from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable
from model.znodes.topics import TopicAssignment


def assignment(data: bytes) -> TopicAssignment:
    payload = decode("/brokers/topics/t", data)
    assert isinstance(payload, TopicAssignment), payload
    return payload


def test_v1_has_partitions_only():
    v1 = assignment(b'{"version":1,"partitions":{"2":[1,2,3],"1":[0,1,2],"0":[3,0,1]}}')
    assert v1.partitions == {0: (3, 0, 1), 1: (0, 1, 2), 2: (1, 2, 3)}
    assert (v1.topic_id, v1.adding_replicas, v1.removing_replicas) == (None, {}, {})
    assert assignment(encode(v1)) == v1
    assert b"adding" not in encode(v1)


def test_v2_has_a_reassignment_under_way_and_always_both_of_its_keys():
    v2 = assignment(b'{"version":2,"partitions":{"0":[3,0,1,2]},"adding_replicas":{"0":[0]},"removing_replicas":{}}')
    assert v2.adding_replicas == {0: (0,)}
    assert b'"removing_replicas":{}' in encode(v2)
    assert b"topic_id" not in encode(v2)


def test_v3_has_a_topic_id():
    golden = (
        b'{"partitions":{"0":[3,0,1,2]},"topic_id":"C_DJ1xNbQwKcARmeVgx0SQ","adding_replicas":{"0":[0]},'
        b'"removing_replicas":{"0":[1,2]},"version":3}'
    )
    v3 = assignment(golden)
    assert v3.topic_id == "C_DJ1xNbQwKcARmeVgx0SQ"
    assert encode(v3) == golden


def test_a_later_version_is_read_as_far_as_it_is_known():
    v4 = assignment(b'{"version":4,"partitions":{"0":[1]},"elr":{"0":[2]}}')
    assert v4.partitions == {0: (1,)}
    assert v4.extra == {"elr": {"0": [2]}}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":1}', "partitions is missing"),
        (b'{"partitions":[]}', "partitions is a list, expected an object"),
        (b'{"partitions":{"x":[1]}}', "a key of partitions is text, expected a whole number"),
        (b'{"partitions":{"-1":[1]}}', "a key of partitions is below 0"),
        (b'{"partitions":{"2147483648":[1]}}', "a key of partitions is above 2147483647"),
        (b'{"partitions":{"0":[1],"7":[]}}', "partition 7 has no replicas"),
        (b'{"partitions":{"0":[2,1,2]}}', "partition 0 has broker 2 twice among its replicas"),
        (b'{"partitions":{"0":[-1]}}', "partitions[…][0] is below 0"),
        (b'{"partitions":{"0":["1"]}}', "partitions[…][0] is text, expected a whole number"),
        (b'{"partitions":{"0":[1],}}', "is not JSON (at byte 23)"),
        (b'{"partitions":{"0":[1', "the JSON stops too early"),
        (b'{"partitions":{"0":[1]},"topic_id":"\xff"}', "is not UTF-8 text"),
        (b'{"partitions":{"0":[1]},"x":' + b"[" * 70 + b"]" * 70 + b"}", "is nested more than 64 levels deep"),
    ],
)
def test_an_unusable_assignment_says_why(data: bytes, why: str):
    assert decode("/brokers/topics/t", data) == Unreadable("/brokers/topics/t", "topic", why, data)
