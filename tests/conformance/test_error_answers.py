"""Clients of a broker that fails at a request are told what Kafka's own classes of 3.9.1 tell them, but for texts.

Every version of every API that a broker of ours serves is compared, by random requests.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from model.hosts.wire.error_responses import error_response
from model.hosts.wire.messages import decode_request, decode_response, encode_request, encode_response, request_start
from model.hosts.wire.names import ApiKey
from tests.conformance.java.answers import answers
from tests.conformance.random_requests import Requests, differences
from tests.harness.host_processes import BrokerProcess
from tests.harness.ours_beside_kafka import connected

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]

EACH = 20
"""Requests of each version."""
NONE = "none"
FAILED = "failed"
"""Kafka's own classes, at a request that nobody sends: a list of users that is null, an unknown security protocol."""


async def served(zookeeper: str, folder: Path) -> list[tuple[int, int]]:
    """APIs and versions of a broker of ours."""
    broker = BrokerProcess(folder, zookeeper, 1)
    try:
        broker.start()
        broker.ready()
        async with connected(broker.address) as (connection,):
            ranges = connection.versions.items()
            return [(key, version) for key, (low, high) in ranges for version in range(low, high + 1)]
    finally:
        broker.kill()


def drawn(pairs: Sequence[tuple[int, int]]) -> Iterator[Any]:
    requests = Requests(random.Random(7), lambda _: b"")
    for key, version in pairs:
        yield from (requests.draw(key, version) for _ in range(EACH))
    for version in (0, 3, 11):
        yield dataclasses.replace(requests.draw(ApiKey.PRODUCE, version), acks=0)


def ours(frame: bytes) -> Any:
    start, answer = request_start(frame), error_response(request_start(frame), decode_request(frame))
    return answer and decode_response(b"".join(encode_response(answer, 7)), start.api_key, start.version)[1]


async def test_error_responses_are_kafkas(zookeeper: str, tmp_path: Path) -> None:
    pairs = await served(zookeeper, tmp_path)
    frames = [b"".join(encode_request(request, 7, "test")) for request in drawn(pairs)]
    compared: Counter[tuple[int, int]] = Counter()
    for frame, told in zip(frames, answers("ErrorAnswers", "3.9.1", map(bytes.hex, frames)), strict=True):
        start = request_start(frame)
        if told == FAILED:
            continue
        compared[start.api_key, start.version] += 1
        if told == NONE:
            assert ours(frame) is None
            continue
        theirs = decode_response(bytes.fromhex(told), start.api_key, start.version)[1]
        unlike = [each for each in differences(theirs, ours(frame)) if not each[0].endswith(".error_message")]
        assert not unlike, (start, decode_request(frame), unlike)
    assert compared.keys() == {*pairs}
