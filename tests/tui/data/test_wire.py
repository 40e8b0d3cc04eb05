"""Messages on pipes: they arrive whole however they are cut, and what is no message is refused as such."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts import child_process as link
from tui.engine.cluster.queries import BrokerList
from tui.engine.messages import HeaderFacts, Pulse

ASKED = msgspec.msgpack.Decoder(link.QuestionAsked)
TOLD = msgspec.msgpack.Decoder(link.QuestionAnswered | link.NewsMessage)

queries = st.builds(BrokerList, filter=st.text(), key=st.text())
asked = st.builds(link.QuestionAsked, st.integers(0, 2**31), queries.map(link.raw))
PULSE = link.NewsMessage(link.raw(Pulse(7, HeaderFacts(cluster="prod"))))


async def heard(chunks: list[bytes], decoder: msgspec.msgpack.Decoder[Any]) -> list[object]:
    reader = asyncio.StreamReader()
    for chunk in chunks:
        reader.feed_data(chunk)
    reader.feed_eof()
    messages: list[object] = []
    while (message := await link.read_message(reader, decoder)) is not None:
        messages.append(message)
    return messages


@given(st.lists(asked, max_size=5), st.lists(st.integers(1, 50), min_size=1))
def test_messages_arrive_whole_however_they_are_cut(messages: list[link.QuestionAsked], sizes: list[int]) -> None:
    stream = b"".join(map(link.frame, messages))
    chunks: list[bytes] = []
    while stream:
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[:size])
        stream = stream[size:]
    assert asyncio.run(heard(chunks, ASKED)) == messages


@given(st.binary(max_size=200).map(lambda data: len(data).to_bytes(link.LENGTH_BYTES, "big") + data))
def test_what_is_no_message_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(link.Garbled, match=r"^no message: [^\n]*$"):
        asyncio.run(heard([data], TOLD))


async def test_a_message_cut_off_anywhere_is_the_end() -> None:
    whole = link.frame(PULSE)
    for length in range(len(whole)):
        assert await heard([whole[:length]], TOLD) == []


async def test_a_message_longer_than_any_is_refused_before_it_is_read() -> None:
    with pytest.raises(link.Garbled, match="a message of 67,108,865 bytes"):
        await heard([(link.MAX_BYTES + 1).to_bytes(4, "big")], TOLD)


async def test_pipes_carry_messages() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as read_end, os.fdopen(writing, "wb") as write_end:
        reader, writer = await link.reader_of(read_end), await link.writer_of(write_end)
        writer.write(link.frame(PULSE))
        assert await link.read_message(reader, TOLD) == PULSE
        writer.close()
        assert await link.read_message(reader, TOLD) is None
