"""The control process and its client: what goes wrong before a sandbox serves, and after."""

import asyncio
import sys
from pathlib import Path

import pytest

from model.sandbox.control.client import CONTROL, SandboxClient
from model.sandbox.control.messages import SandboxEvent, SandboxOptions
from model.sandbox.faults import faults
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
    command = (sys.executable, "-c", "import sys; sys.stdin.readline(); sys.exit('out of luck')")
    assert await fails(SandboxClient(SandboxOptions(), command)) == "the sandbox's process ended (out of luck)"


async def test_a_process_that_talks_nonsense():
    command = (sys.executable, "-c", "import sys; sys.stdin.readline(); print('hello', flush=True); input()")
    assert (await fails(SandboxClient(SandboxOptions(), command))).startswith("the sandbox's process sent what is no")


async def test_orders_before_it_serves_and_after_it_is_gone():
    command = (sys.executable, "-c", "import sys; sys.stdin.readline(); print('{\"ready\":' + READY + '}', flush=True)")
    ready = '{"zookeeper":"z","bootstrap":"b","pids":{},"dir":"d"}'
    client = SandboxClient(SandboxOptions(), (*command[:2], command[2].replace("READY", repr(ready))))
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


async def test_orders_of_no_use_are_refused():
    lines = [b'{"brokers":0}', b'{"id":7,"do":{"do":"explode"}}', b'{"id":8,"do":{"do":"undo"}}', b"nonsense"]
    process = await asyncio.create_subprocess_exec(
        *CONTROL, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(process.communicate(b"\n".join(lines) + b"\n"), 60)
    assert b'"id":7,"refused":"this is no order: Invalid value \'explode\'' in said
    assert b'"id":8,"refused":"the sandbox does not serve yet"' in said
    assert b'{"refused":"this is no order: ' in said
    assert process.returncode == 0
