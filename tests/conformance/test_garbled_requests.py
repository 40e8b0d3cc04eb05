"""What is no request, or ends early, gets from a broker of ours what it gets from a real one of 3.9.1."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from model.hosts.wire.connection import Connection
from tests.conformance.test_answers_compared import LEFT_OUT
from tests.conformance.test_old_answers import places  # noqa: F401 - the fixture
from tests.harness.ours_beside_kafka import connected

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]

PATIENCE_S = 10.0
CLOSED = b"closed"
AT_ONCE = 20
API_VERSIONS, METADATA, FETCH, PRODUCE, JOIN, COMMIT = 18, 3, 1, 0, 11, 8


def frame(key: int, version: int, body: bytes, header: bytes = b"\0\4test") -> bytes:
    content = struct.pack(">hhi", key, version, 7) + header + body
    return struct.pack(">i", len(content)) + content


def cut(key: int, version: int, body: bytes, header: bytes = b"\0\4test") -> Iterator[bytes]:
    """The request, ending early after each of its bytes; whole, and with something behind it."""
    whole = frame(key, version, body + b"\1\2\3", header)[4:]
    for size in range(len(whole) + 1):
        yield struct.pack(">i", size) + whole[:size]


TOPIC = b"\0\5plain"
ODD = {
    "unknown keys": [frame(999, 0, b""), frame(-1, 0, b""), frame(32767, 32767, b"")],
    "versions of ApiVersions": [
        frame(API_VERSIONS, version, b"", b"\0\4test" + tags)
        for version in (-1, 0, 2, 5, 99, 32767)
        for tags in (b"", b"\0", b"\1\7\1x")
    ],
    "clients' names": [
        frame(API_VERSIONS, 3, name + release + b"\0", b"\0\4test\0")
        for name in (b"\7kdrill", b"\4a b", b"\1", b"\3-x", b"\0")
        for release in (b"\0021", b"\3 1", b"\0021")
    ],
    "sizes": [struct.pack(">i", size) + b"\0" * 40 for size in (0, 1, 7, -1, -(2**31), 104857601, 2**31 - 1)],
    "client ids": [
        frame(METADATA, 1, b"\0\0\0\0", header)
        for header in (b"\xff\xff", b"\0\0", b"\xff\xfe", b"\x7f\xff", b"\0\2\xff\xfe")
    ],
    "arrays' lengths": [
        frame(METADATA, version, struct.pack(">i", size) + TOPIC)
        for version in (0, 1)
        for size in (-1, -2, -(2**31), 2, 3, 2**31 - 1, 10**6)
    ],
    "compact arrays' lengths": [
        frame(METADATA, 9, size + b"\0\0\0\0", b"\0\4test\0")
        for size in (b"\0", b"\1", b"\2", b"\xff\xff\xff\xff\x0f", b"\xff" * 6)
    ],
    "strings' lengths": [
        frame(METADATA, 1, b"\0\0\0\1" + size + b"plain")
        for size in (b"\0\5", b"\xff\xff", b"\xff\xfe", b"\0\6", b"\x7f\xff")
    ],
    "strings of other bytes": [frame(METADATA, 1, b"\0\0\0\1\0\2" + name) for name in (b"\xff\xfe", b"\xc3(", b"\0\0")],
    "unknown tags": [
        frame(METADATA, 9, b"\1\0\0\0" + tags, b"\0\4test" + header)
        for tags, header in ((b"\1\7\1x", b"\0"), (b"\0", b"\1\7\1x"), (b"\2\7\1x\7\1x", b"\0"), (b"\1\7\x09x", b"\0"))
    ],
    "metadata": [*cut(METADATA, 1, b"\0\0\0\1" + TOPIC)],
    "produce": [*cut(PRODUCE, 2, b"\xff\xff\0\0\0\0" + b"\0\0\0\1" + TOPIC + b"\0\0\0\1\0\0\0\0\0\0\0\0")],
    "commit": [*cut(COMMIT, 0, b"\0\1g\0\0\0\1" + TOPIC + b"\0\0\0\1\0\0\0\0" + b"\0" * 8 + b"\0\0")],
    "fetch": [*cut(FETCH, 0, b"\xff\xff\xff\xff" + b"\0" * 8 + b"\0\0\0\1" + TOPIC + b"\0\0\0\1" + b"\0" * 16)],
}


async def told(address: str, sent: bytes) -> bytes:
    """The answer; `closed` where there is none."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(sent)
        async with asyncio.timeout(PATIENCE_S):
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            return await reader.readexactly(size)
    except (asyncio.IncompleteReadError, ConnectionError):
        return CLOSED
    except TimeoutError:
        return b"nothing"
    finally:
        writer.close()


async def all_told(address: str, frames: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    for start in range(0, len(frames), AT_ONCE):
        found += await asyncio.gather(*(told(address, each) for each in frames[start : start + AT_ONCE]))
    return found


EXACT = ("versions of ApiVersions", "clients' names")
"""Of the others it is compared whether they are answered: test_answers_compared looks at answers."""


def alike(kind: str, theirs: bytes, ours: bytes) -> bool:
    has_error = theirs[4:6] != b"\0\0"
    if kind in EXACT and has_error:
        return theirs == ours
    return (theirs in (CLOSED, b"nothing")) == (ours in (CLOSED, b"nothing")) and (theirs == CLOSED) == (ours == CLOSED)


@pytest.mark.parametrize("kind", list(ODD))
async def test_what_is_odd(places: tuple[str, str], kind: str) -> None:  # noqa: F811
    theirs, ours = await asyncio.gather(*(all_told(address, ODD[kind]) for address in places))
    pairs = zip(ODD[kind], theirs, ours, strict=True)
    unlike = [(sent[:60].hex(" "), one[:80], other[:80]) for sent, one, other in pairs if not alike(kind, one, other)]
    assert not unlike, "\n".join(map(str, unlike))


async def test_versions_out_of_range(places: tuple[str, str]) -> None:  # noqa: F811
    """Of every API that both serve, but of ApiVersions."""
    async with connected(*places) as connections:
        ranges = [ranges_of(each) for each in connections]
    common = sorted((ranges[0].keys() & ranges[1].keys()) - LEFT_OUT - {API_VERSIONS})
    frames = [
        frame(key, version, b"\0" * 60)
        for key in common
        for version in (-1, ranges[0][key][0] - 1, ranges[0][key][1] + 1, 99)
    ]
    for address in places:
        assert set(await all_told(address, frames)) == {CLOSED}


def ranges_of(connection: Connection) -> dict[int, Any]:
    return dict(connection.versions)
