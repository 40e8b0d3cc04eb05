"""States decoded in bulk say what each says for itself."""

import re

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.topic_image import unpadded
from model.sources.zookeeper.states import state_payloads
from model.znodes.topics import LeaderIsrAndControllerEpoch, decode_partition_state

GOLDEN = b'{"controller_epoch":12,"leader":3,"version":1,"leader_epoch":47,"isr":[3,1,2]}'
ODD = (
    GOLDEN.replace(b"47", b"047"),
    GOLDEN.replace(b"47", b"-1"),
    GOLDEN.replace(b"47", b"-01"),
    GOLDEN.replace(b"47", b"2147483647"),
    GOLDEN.replace(b"47", b"2147483648"),
    GOLDEN.replace(b"47", b"99999999999999999999"),
    GOLDEN.replace(b"47", b"4.7"),
    GOLDEN.replace(b"47", b""),
    GOLDEN.replace(b"12", b"00"),
    GOLDEN.replace(b'"leader":3', b'"leader":-1'),
    GOLDEN.replace(b'"leader":3', b'"leader":-2'),
    GOLDEN.replace(b'"leader":3', b'"leader":-3'),
    GOLDEN.replace(b'"leader":3', b'"leader":-0'),
    GOLDEN.replace(b'"leader":', b'"leade3r":'),
    GOLDEN.replace(b'"version":1', b'"version":0'),
    GOLDEN.replace(b'"version":1', b'"version":2,"leader_recovery_state":1'),
    GOLDEN.replace(b"3,1,2", b""),
    GOLDEN.replace(b"3,1,2", b"1,"),
    GOLDEN.replace(b"3,1,2", b"1,,2"),
    GOLDEN.replace(b"3,1,2", b"7"),
    GOLDEN.replace(b"3,1,2", b"01"),
    GOLDEN.replace(b"3,1,2", b",".join(b"%d" % broker for broker in range(40))),
    GOLDEN.replace(b",", b",\n"),
    GOLDEN.replace(b",", b", "),
    GOLDEN[:-1] + b',"later":[1]}',
    GOLDEN + b",",
    b'{"isr":[1],"leader":1,"controller_epoch":2,"leader_epoch":3,"version":1}',
    b"\n",
    b"null",
    b"",
    GOLDEN.replace(b"3,1,2", b"\xff"),
)


def _changed(numbers: list[bytes]) -> bytes:
    """GOLDEN with these in place of its numbers, as many as there are."""
    left = iter(numbers)
    return re.sub(rb"\d+", lambda found: next(left, found[0]), GOLDEN)


NUMBERS = st.integers(0, 2**33).map(b"%d".__mod__) | st.from_regex(rb"-?[0-9]{1,3}", fullmatch=True)
STATES = st.sampled_from((GOLDEN, *ODD)) | st.builds(_changed, st.lists(NUMBERS, max_size=7)) | st.binary()


@given(st.lists(STATES))
def test_many_are_what_each_is(every: list[bytes]):
    _check(every)


def test_each_oddity_beside_usual_ones():
    for odd in ODD:
        _check([odd])
        _check([GOLDEN, odd, _changed([b"1", b"20"]), GOLDEN])


def _check(every: list[bytes]) -> None:
    read, each = state_payloads(every), decode_partition_state.many(every)
    assert read.usable.tolist() == [payload is not None for payload in each]
    assert [_row(read, row) for row in range(len(every)) if read.usable[row]] == [_said(one) for one in each if one]


def _row(read: object, row: int) -> tuple[object, ...]:
    return (*(int(getattr(read, name)[row]) for name in NAMES), unpadded(getattr(read, "isr")[row]))  # noqa: B009


def _said(payload: LeaderIsrAndControllerEpoch) -> tuple[object, ...]:
    return (*(getattr(payload, name) for name in NAMES), payload.isr)


NAMES = ("controller_epoch", "leader", "leader_epoch", "leader_recovery_state")
