"""Frames of Kafka's protocol: requests as a broker decodes them, answers as a client does, and frames."""

from __future__ import annotations

import asyncio
import struct
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from kio.schema.index import api_key_map

from model.hosts.wire.frames import read_frame
from model.hosts.wire.messages import (
    correlation_id,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    name_of,
    request_schema,
    request_start,
    response_schema,
    versions_known,
)
from model.hosts.wire.names import DeniedError, MalformedError
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.random_entities import random_entity
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target
from tests.hostile_input.targets.log_files import written_logs

_LIMIT = 1 << 20


@cache
def blobs() -> tuple[bytes, ...]:
    """What stands where a message has bytes: batches, sound and broken, and what consumers send each other."""
    random = Random(1)
    logs = written_logs()
    metadata = b"\0\0\0\0\0\1\0\6orders\0\0\0\0"
    return (b"", *logs, *(broken(random, log, logs) for log in logs), metadata, broken(random, metadata))


def request(random: Random, key: int, version: int) -> bytes:
    """A sound one, within the values of its schema."""
    body = random_entity(random, request_schema(key, version), blobs())
    try:
        return b"".join(encode_request(body, random.randrange(2**31), random.choice(("kdrill", "", None, "\x1b[2J"))))
    except (ValueError, TypeError, struct.error, OverflowError):  # values that no schema takes together
        return struct.pack(">hhih", key, version, 1, -1)


def random_api(random: Random) -> tuple[int, int]:
    """Any key and version that can be written down."""
    key = random.choice(list(api_key_map))
    return key, random.randint(*versions_known(key))


def _make_request(random: Random) -> bytes:
    """A frame's content."""
    data = request(random, *random_api(random))
    return data if random.random() < 0.1 else broken(random, data, (data, request(random, *random_api(random))))


def _judge_request(case: bytes, _folder: Path) -> None:
    for read in (request_start, decode_request):
        try:
            read(case)
        except MalformedError as error:
            check_error(error)


def _make_answer(random: Random) -> bytes:
    """Key and version of what was asked, then the answer."""
    key, version = random_api(random)
    body = random_entity(random, response_schema(key, version), blobs())
    try:
        data = b"".join(encode_response(body, random.randrange(2**31)))
    except (ValueError, TypeError, struct.error, OverflowError):
        data = bytes(8)
    return struct.pack(">hh", key, version) + (data if random.random() < 0.1 else broken(random, data))


def _judge_answer(case: bytes, _folder: Path) -> None:
    key, version = struct.unpack_from(">hh", case)
    name_of(key)
    for read in (lambda: correlation_id(case[4:]), lambda: decode_response(case[4:], key, version)):
        try:
            read()
        except MalformedError as error:
            check_error(error)


def _make_frames(random: Random) -> bytes:
    """Some frames one after the other, as they come over a connection."""
    contents = [request(random, *random_api(random)) for _ in range(random.randrange(4))]
    data = b"".join(struct.pack(">i", len(each)) + each for each in contents)
    return broken(random, data)


def _judge_frames(case: bytes, _folder: Path) -> None:
    async def read_all() -> None:
        reader: Any = asyncio.StreamReader()
        reader.feed_data(case)
        reader.feed_eof()
        try:
            while (frame := await read_frame(reader, _LIMIT)) is not None:
                assert len(frame) <= len(case)
        except (MalformedError, DeniedError) as error:
            check_error(error)

    asyncio.run(read_all())


REQUESTS = Target("wire-requests", _make_request, _judge_request)
ANSWERS = Target("wire-answers", _make_answer, _judge_answer)
FRAMES = Target("wire-frames", _make_frames, _judge_frames)
