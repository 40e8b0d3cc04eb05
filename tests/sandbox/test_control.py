"""The control process and its client: what goes wrong before a sandbox serves, and after."""

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest

from model.hosts import child_process
from model.hosts.child_process import QuestionAnswered, QuestionAsked, frame, raw, read_message
from model.sandbox import faults
from model.sandbox.control.client import CONTROL, SandboxClient
from model.sandbox.messages import ControlNews, SandboxEvent, SandboxReady
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError


async def fails(client: SandboxClient) -> str:
    with pytest.raises(SandboxError) as failure:
        await client.open(lambda _: None, lambda _: None)
    await client.close()
    return str(failure.value)


async def test_a_sandbox_that_cannot_be_is_refused_in_one_line(tmp_path: Path):
    (tmp_path / "thesis.tex").touch()
    reason = await fails(SandboxClient(SandboxOptions(folder=str(tmp_path))))
    assert reason == f"{tmp_path} is not empty. Give --keep to go on with the sandbox in it."


async def test_options_out_of_bounds():
    assert await fails(SandboxClient(SandboxOptions(brokers=0))) == "--brokers 0: 1 to 100 are possible"


async def test_a_process_that_ends_says_why():
    command = (sys.executable, "-c", "import sys; sys.stdin.buffer.read(1); sys.exit('out of luck')")
    assert await fails(SandboxClient(SandboxOptions(), command)) == "the sandbox's process ended (out of luck)"


async def test_a_process_that_talks_nonsense():
    program = "import sys; sys.stdin.buffer.read(1); print('hello', flush=True); input()"
    command = (sys.executable, "-c", program)
    assert (await fails(SandboxClient(SandboxOptions(), command))).startswith(
        "the sandbox's process sent a message of "
    )


async def test_orders_before_it_serves_and_after_it_is_gone():
    ready = frame(
        child_process.NewsMessage(raw(ControlNews(ready=SandboxReady(zookeeper="z", bootstrap="b", pids={}, dir="d"))))
    )
    program = f"import sys; sys.stdin.buffer.read(1); sys.stdout.buffer.write({ready!r}); sys.stdout.flush()"
    client = SandboxClient(SandboxOptions(), (sys.executable, "-c", program))
    with pytest.raises(SandboxError, match="the sandbox is not open"):
        await client.do(faults.Kill(1))
    events: list[SandboxEvent] = []
    assert (await client.open(events.append, lambda _: None)).bootstrap == "b"
    async with asyncio.timeout(60):
        while not events:
            await asyncio.sleep(0.01)
    assert events[-1].text == "the sandbox's process ended (exit code 0)"
    with pytest.raises(SandboxError, match="ended"):
        await client.do(faults.Kill(1))
    await client.close()


async def answers(said: bytes) -> list[QuestionAnswered]:
    reader, decoder = asyncio.StreamReader(), msgspec.msgpack.Decoder(QuestionAnswered | child_process.NewsMessage)
    reader.feed_data(said)
    reader.feed_eof()
    found: list[QuestionAnswered] = []
    while (message := await read_message(reader, decoder)) is not None:
        if isinstance(message, QuestionAnswered):
            found.append(message)
    return found


async def test_orders_of_no_use_are_refused():
    orders = [{"do": {"do": "explode"}}, {"do": {"do": "undo"}}, "nonsense"]
    frames = [
        frame({"brokers": 0}),
        *(frame(QuestionAsked(number, raw(each))) for number, each in enumerate(orders, 7)),
    ]
    process = await asyncio.create_subprocess_exec(
        *CONTROL, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(process.communicate(b"".join(frames)), 60)
    refused = {each.id: each.failure for each in await answers(said)}
    assert refused[7].startswith("this is no order: Invalid value 'explode'")
    assert refused[8] == "the sandbox does not serve yet"
    assert refused[9].startswith("this is no order: ")
    assert process.returncode == 0
