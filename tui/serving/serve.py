"""`--serve`: one server until it is told to end, and one process for each tab: `kdrill … --served`, with the server's
own command line otherwise. When the server ends, however that happens, its sessions and its sandbox end, too.
"""

import asyncio
import contextlib
import logging
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Sequence

import click
import msgspec
from aiohttp import web

from model.sandbox.errors import SandboxError
from tui.data.opening import Opening
from tui.serving.address import OPTION, NotServed, ServeAddress
from tui.serving.server import DashboardServer
from tui.serving.standing import Standing, standing
from tui.text import plain

ENDS_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KDRILL = (sys.executable, "-P", "-c", "from tui.command_line import main; main()")
"""-P: whatever lies in the current folder is not ours."""
FAREWELL_S = 1.0


def serve(opening: Opening, address: ServeAddress, arguments: Sequence[str]) -> int:
    """Serves until a signal; the exit code. `arguments` are the command line's. Raises NotServed, one line."""
    logging.getLogger("textual-serve").addHandler(logging.NullHandler())  # its tracebacks are not for operators
    try:
        return asyncio.run(_serve(opening, address, arguments))
    except SandboxError as error:
        raise NotServed(str(error)) from None


async def _serve(opening: Opening, address: ServeAddress, arguments: Sequence[str]) -> int:
    told = asyncio.Event()
    for number in ENDS_BY:
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    work = asyncio.create_task(_work(opening, address, arguments))
    end = asyncio.create_task(told.wait())
    await asyncio.wait([work, end], return_when=asyncio.FIRST_COMPLETED)
    end.cancel()
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work
    return 0


async def _work(opening: Opening, address: ServeAddress, arguments: Sequence[str]) -> None:
    server = DashboardServer(address)
    server.login = opening.login.variables
    async with contextlib.AsyncExitStack() as ends, _listening(server, address) as url:
        server.command = command_of(arguments, await standing(opening, ends, _tell))
        click.echo(url)
        _tell("read-only, for browsers on this machine; ctrl+c ends it")
        with contextlib.redirect_stdout(sys.stderr):  # textual-serve prints what a session's process complained of
            await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def _listening(server: DashboardServer, address: ServeAddress) -> AsyncIterator[str]:
    """The server at work; its page's URL."""
    runner = web.AppRunner(await server.application(), access_log=None, shutdown_timeout=FAREWELL_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host, address.port)
        try:
            await site.start()
        except OSError as error:
            reason = f"cannot listen on {address.host}:{address.port} ({error.strerror})"
            raise NotServed(f"{reason}; any free port: {OPTION} 0") from None
        yield address.url(site.port)
    finally:
        await runner.cleanup()


def command_of(arguments: Sequence[str], stands: Standing) -> str:
    """How a session is started, for a shell."""
    rest = [argument for argument in arguments if not argument.startswith(f"{OPTION}=")]
    known = msgspec.json.encode(stands).decode()
    return "exec " + shlex.join([*KDRILL, rest[0], f"--served={known}", *rest[1:]])


def _tell(text: str) -> None:
    click.echo(f"kdrill: {plain(text)}", err=True)
