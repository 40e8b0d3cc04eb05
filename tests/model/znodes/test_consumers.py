"""Members, owners and offsets of ZooKeeper consumer groups."""

import pytest

from model.znodes.codec import decode, encode
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.payload import Unreadable

MEMBER = "/consumers/g/ids/g_vm-1-d0956747"
OFFSET = "/consumers/g/offsets/t/0"


def test_a_member_subscribes_with_threads_per_topic():
    golden = b'{"version":1,"subscription":{"topic2":1},"pattern":"white_list","timestamp":"1525747915336"}'
    member = decode(MEMBER, golden)
    assert isinstance(member, ConsumerRegistration)
    assert (member.subscription, member.pattern, member.registered_ms) == ({"topic2": 1}, "white_list", 1525747915336)
    assert encode(member) == golden


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":1,"pattern":"static"}', "subscription is missing"),
        (b'{"subscription":["t"]}', "subscription is a list, expected an object"),
        (b'{"subscription":{"t":-1}}', "subscription[…] is below 0"),
    ],
)
def test_an_unusable_member_says_why(data: bytes, why: str):
    payload = decode(MEMBER, data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why


@pytest.mark.parametrize(
    ("text", "consumer_id", "thread"),
    [
        ("g1_vm-1795244234648-d0956747-0", "g1_vm-1795244234648-d0956747", 0),
        ("c-12", "c", 12),
        ("anything", "anything", None),
        ("c-²", "c-²", None),
        ("-3", "-3", None),
    ],
)
def test_an_owner_is_a_consumer_and_a_thread(text: str, consumer_id: str, thread: int | None):
    owner = decode("/consumers/g/owners/t/0", text.encode())
    assert isinstance(owner, PartitionOwner)
    assert (owner.consumer_id, owner.thread) == (consumer_id, thread)
    assert encode(owner) == text.encode()


@pytest.mark.parametrize("data", [b" ", b"\xff"])
def test_an_unusable_owner(data: bytes):
    assert isinstance(decode("/consumers/g/owners/t/0", data), Unreadable)


def test_an_offset_is_a_64_bit_number_as_text():
    assert decode(OFFSET, b"9223372036854775807") == ConsumerOffset(2**63 - 1)
    assert decode(OFFSET, b"-1") == ConsumerOffset(-1)
    assert isinstance(decode(OFFSET, b"9223372036854775808"), Unreadable)
    assert encode(ConsumerOffset(42)) == b"42"
