"""Work asked of the controller."""

import pytest

from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable
from model.znodes.topics import PartitionReassignment, PreferredReplicaElection

REASSIGN = "/admin/reassign_partitions"
ELECT = "/admin/preferred_replica_election"


def test_a_reassignment():
    golden = b'{"version":1,"partitions":[{"topic":"Foo","partition":1,"replicas":[0,1,3]}]}'
    payload = decode(REASSIGN, golden)
    assert isinstance(payload, PartitionReassignment)
    assert [(entry.topic, entry.partition, entry.replicas) for entry in payload.partitions] == [("Foo", 1, (0, 1, 3))]
    assert encode(payload) == golden


def test_unknown_keys_of_an_entry_are_kept():
    data = b'{"version":1,"partitions":[{"topic":"Foo","partition":1,"replicas":[0],"log_dirs":["any"]}],"by":"tool"}'
    payload = decode(REASSIGN, data)
    assert isinstance(payload, PartitionReassignment)
    assert payload.partitions[0].extra == {"log_dirs": ["any"]}
    assert payload.extra == {"by": "tool"}
    assert encode(payload) == data


def test_a_preferred_replica_election():
    golden = b'{"version":1,"partitions":[{"topic":"Foo","partition":1},{"topic":"Bar","partition":0}]}'
    payload = decode(ELECT, golden)
    assert isinstance(payload, PreferredReplicaElection)
    assert [(entry.topic, entry.partition) for entry in payload.partitions] == [("Foo", 1), ("Bar", 0)]
    assert encode(payload) == golden


@pytest.mark.parametrize(
    ("path", "entry", "why"),
    [
        (REASSIGN, b'{"topic":"t","partition":0,"replicas":[]}', "partitions[0] has no replicas"),
        (
            REASSIGN,
            b'{"topic":"t","partition":0,"replicas":[1,1]}',
            "partitions[0] has broker 1 twice among its replicas",
        ),
        (REASSIGN, b'{"topic":"t","replicas":[1]}', "partition is missing in partitions[0]"),
        (ELECT, b'{"topic":"","partition":0}', "partitions[0].topic is empty"),
        (ELECT, b'{"topic":"t","partition":-1}', "partitions[0].partition is below 0"),
        (ELECT, b'"t-0"', "partitions[0] is text, expected an object"),
    ],
)
def test_an_unusable_entry_says_why(path: str, entry: bytes, why: str):
    payload = decode(path, b'{"version":1,"partitions":[%s]}' % entry)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why


def test_partitions_must_be_a_list():
    payload = decode(ELECT, b'{"version":1,"partitions":{}}')
    assert isinstance(payload, Unreadable)
    assert payload.reason == "partitions is an object, expected a list"


def test_a_topic_to_delete_is_a_marker_without_payload():
    assert decode("/admin/delete_topics/t", None) is None
