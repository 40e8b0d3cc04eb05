"""Partition states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable
from model.znodes.topics import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state

PATH = "/brokers/topics/t/partitions/0/state"
GOLDEN = b'{"controller_epoch":1,"leader":3,"version":1,"leader_epoch":0,"isr":[3,0,1]}'


def state(data: bytes) -> LeaderIsrAndControllerEpoch:
    payload = decode(PATH, data)
    assert isinstance(payload, LeaderIsrAndControllerEpoch), payload
    return payload


def test_a_state_is_read_and_written_as_kafka_does():
    expected = LeaderIsrAndControllerEpoch(controller_epoch=1, leader=3, leader_epoch=0, isr=(3, 0, 1))
    assert state(GOLDEN) == expected
    assert encode(expected) == GOLDEN


def test_the_recovery_state_is_written_only_while_recovering():
    golden = b'{"controller_epoch":1,"leader":2,"version":1,"leader_recovery_state":1,"leader_epoch":3,"isr":[2]}'
    assert state(golden).leader_recovery_state == RECOVERING
    assert encode(state(golden)) == golden


@pytest.mark.parametrize("leader", [-1, -2])
def test_a_partition_may_have_no_leader_and_no_isr(leader: int):
    none = state(b'{"controller_epoch":1,"leader":%d,"version":1,"leader_epoch":5,"isr":[]}' % leader)
    assert (none.leader, none.isr) == (leader, ())


def test_a_doubtful_state_is_read_as_it_stands():
    doubtful = state(b'{"controller_epoch":0,"leader":9,"version":7,"leader_epoch":-1,"isr":[1,1]}')
    assert (doubtful.leader, doubtful.isr, doubtful.version) == (9, (1, 1), 7)


def test_unknown_keys_are_kept_whatever_they_are_called():
    data = GOLDEN[:-1] + b',"z":{"q":[1,null]},"(keys that Kafka does not define)":{"leader":4}}'
    assert state(data).leader == 3
    assert encode(state(data)) == data


ODD = (b'{"leader":-3}', GOLDEN[:-1] + b',"z":1}', GOLDEN + b",", b"1},{", b"", b"null", GOLDEN.replace(b"3", b"4"))


@given(st.lists(st.sampled_from((GOLDEN, *ODD)) | st.binary()))
def test_many_are_read_as_each(every: list[bytes]):
    each = [decode(PATH, data) for data in every]
    usable = [payload if isinstance(payload, LeaderIsrAndControllerEpoch) else None for payload in each]
    assert decode_partition_state.many(every) == usable


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"leader":3', b'"leader":-3', "leader is below -2"),
        (b'"leader":3', b'"leader":"3"', "leader is text, expected a whole number"),
        (b'"leader":3', b'"leader":3.5', "leader is a fraction, expected a whole number"),
        (b'"leader":3', b'"leader":4294967296', "leader is above 2147483647"),
        (b'"leader":3', b'"leader":1e999', "a number is out of range"),
        (b'"leader":3,', b"", "leader is missing"),
        (b"[3,0,1]", b"null", "isr is null, expected a list"),
        (b"[3,0,1]", b"[3,-1]", "isr[1] is below 0"),
        (b"[3,0,1]", b"[3,true]", "isr[1] is true or false, expected a whole number"),
    ],
)
def test_an_unusable_state_says_why(old: bytes, new: bytes, why: str):
    payload = decode(PATH, GOLDEN.replace(old, new))
    assert isinstance(payload, Unreadable)
    assert payload.reason == why
