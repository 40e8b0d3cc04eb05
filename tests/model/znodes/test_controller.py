"""The controller and its epoch."""

import pytest

from model.znodes.cluster import BARE_NUMBER, ControllerEpoch, ControllerRegistration
from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable


def controller(data: bytes) -> ControllerRegistration:
    payload = decode("/controller", data)
    assert isinstance(payload, ControllerRegistration), payload
    return payload


def test_the_early_form_is_a_bare_broker_id():
    bare = controller(b" 3\n")
    assert (bare.broker_id, bare.version, bare.elected_ms) == (3, BARE_NUMBER, None)
    assert encode(bare) == b"3"


def test_v1():
    golden = b'{"version":1,"brokerid":1,"timestamp":"1795243676441"}'
    assert controller(golden).elected_ms == 1795243676441
    assert controller(golden).kraft_controller_epoch is None
    assert encode(controller(golden)) == golden


def test_v2_tells_the_epoch_of_a_kraft_controller():
    golden = b'{"version":2,"brokerid":3000,"timestamp":"1","kraftControllerEpoch":7}'
    assert (controller(golden).broker_id, controller(golden).kraft_controller_epoch) == (3000, 7)
    assert encode(controller(golden)) == golden


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":1}', "brokerid is missing"),
        (b'{"version":1,"brokerid":-2}', "brokerid is below -1"),
        (b"2147483648", "the broker id is out of range"),
        (b"three", "is not a whole number"),
        (b'"3"', "is not a whole number"),
        ("٣".encode(), "is not a whole number"),
        (b"1_000", "is not a whole number"),
        (b"+-1", "is not a whole number"),
    ],
)
def test_an_unusable_controller_says_why(data: bytes, why: str):
    payload = decode("/controller", data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why


def test_the_epoch_is_text():
    assert decode("/controller_epoch", b"12") == ControllerEpoch(12)
    assert encode(ControllerEpoch(12)) == b"12"


@pytest.mark.parametrize("data", [b"-1", b"2147483648", b"9" * 30, b"{}", b"1.0", b" "])
def test_an_epoch_out_of_range_is_unreadable(data: bytes):
    assert isinstance(decode("/controller_epoch", data), Unreadable)
