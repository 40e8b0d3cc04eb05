"""The server of `--serve`: textual-serve's, as it may run without a password; for this machine's browsers only.

Each tab is a session: a process of its own, `kdrill … --served`, with the server's own command line otherwise, and no
secrets that the server happens to have in its environment. When the server ends, however that happens, its sessions
and its sandbox end, too.

A page of another site can send requests to a loopback address, and with a host name of its own that leads there (DNS
rebinding) even read the answers. Its requests tell on it: a browser names the site in `Host` and `Origin`.
"""

import asyncio
import contextlib
import logging
import re
import secrets
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from importlib.resources import files
from string import Template

import click
import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from model.sandbox.processes import SandboxError
from tui.cli.address import OPTION, NotServed, ServeAddress
from tui.cli.output import tell
from tui.engine.messages import Opening, ServedSource, served_source

_NEEDED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LANGUAGE|COLUMNS|ROWS|NO_COLOR|COLORTERM|VIRTUAL_ENV"
    r"|(LC|XDG|KDRILL|PYTHON|TEXTUAL|TERM|JAVA|KRB5|SSL|OPENSSL|LD|DYLD|SPARK|PYSPARK|HADOOP)[A-Z0-9_]*"
)
"""Of the system, Python, Java and the libraries below: what is found where, and how it is shown."""


def needed(environment: Mapping[str, str], login: Collection[str]) -> dict[str, str]:
    """The environment without the server's secrets, but with the variables in `login`, which the session logs in by."""
    return {name: value for name, value in environment.items() if name in login or _NEEDED.fullmatch(name)}


HEADERS = (
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)
"""With every answer."""


def refusal(host: str, origin: str | None, names: frozenset[str], *, is_socket: bool) -> str:
    """Why a request is refused, one line; empty for one that is not.

    `host` and `origin` are its headers; `names` is what the server may be called. A session opens for its own page
    only: browsers name the origin of every WebSocket.
    """
    if host not in names:
        return f"refused: this server answers only as {' or '.join(sorted(names))}"
    if (is_socket or origin is not None) and origin != f"http://{host}":
        return "refused: this request does not come from this server's own page"
    return ""


def content_policy(host: str, nonce: str) -> str:
    """What the page may load, and from where: nothing but what this server has, and the script with the nonce."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; font-src 'self';"
        f" img-src 'self' data:; connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


MOST_SESSIONS = 4
"""Each takes two processes, and a connection to the cluster."""
PATIENCE_S = 10.0
"""How long a session waits for another's end, and has to end itself."""


class ServedTab(AppService):
    """One tab's process. When it has ended the tab is told, and when the tab is closed it ends."""

    login: Collection[str] = ()
    """Names of environment variables with what it logs in by."""

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return needed(super()._build_environment(width, height), self.login)

    async def run(self) -> None:
        await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        try:
            await asyncio.wait_for(super().stop(), PATIENCE_S)
        finally:
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await self._process.wait()


class DashboardServer(Server):
    """Answers with 503 until `command` says how a session is started."""

    def __init__(
        self, address: ServeAddress, *, most_sessions: int = MOST_SESSIONS, patience_s: float = PATIENCE_S
    ) -> None:
        super().__init__("", address.host, address.port, title="kdrill")
        self._address = address
        self._most_sessions = most_sessions
        self.patience_s = patience_s
        """How long a tab waits for a place."""
        self.login: Collection[str] = ()
        """As a session's."""
        self._places = asyncio.Semaphore(most_sessions)
        self._sessions: set[asyncio.Task[object]] = set()
        self._page = Template(files("tui.cli").joinpath("page.html").read_text("utf-8"))

    async def application(self) -> web.Application:
        application = await super()._make_app()
        application.middlewares.append(self._guard)
        return application

    async def on_startup(self, app: web.Application) -> None:
        """Prints nothing; `serve` does."""

    async def on_shutdown(self, app: web.Application) -> None:
        for session in self._sessions:
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions, timeout=2 * PATIENCE_S)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        transport = request.transport
        names = self._address.names(transport.get_extra_info("sockname")[1] if transport else self.port)
        reason = refusal(request.host, request.headers.get("Origin"), names, is_socket=request.path == "/ws")
        if reason:
            raise web.HTTPForbidden(text=reason)
        if not self.command:
            raise web.HTTPServiceUnavailable(text="kdrill is starting: reload in a few seconds")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    async def handle_index(self, request: web.Request) -> web.Response:
        nonce = secrets.token_urlsafe(16)
        page = self._page.substitute(host=request.host, nonce=nonce, most=self._most_sessions)
        policy = {"Content-Security-Policy": content_policy(request.host, nonce), "Cache-Control": "no-store"}
        return web.Response(text=page, content_type="text/html", headers=policy)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Runs one session. A reloaded tab may have to wait until its old session has ended."""
        try:
            await asyncio.wait_for(self._places.acquire(), self.patience_s)
        except TimeoutError:
            raise web.HTTPServiceUnavailable(text=f"{self._most_sessions} sessions are open: close a tab") from None
        task = asyncio.current_task()
        assert task is not None
        self._sessions.add(task)
        try:
            return await self._session(request)
        finally:
            self._sessions.discard(task)
            self._places.release()

    async def _session(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=15, timeout=2.0)
        await websocket.prepare(request)
        session = ServedTab(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=lambda: _close(websocket),
            download_manager=self.download_manager,
        )
        session.login = self.login
        try:
            await session.start(to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24))
            await self._process_messages(websocket, session)
        finally:
            await session.stop()
            await websocket.close()
        return websocket


async def _close(websocket: web.WebSocketResponse) -> None:
    await websocket.close()


ENDS_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KDRILL = (sys.executable, "-P", "-c", "from tui.cli import main; main()")
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
        server.command = command_of(arguments, await served_source(opening, ends, tell))
        click.echo(url)
        tell("read-only, for browsers on this machine; ctrl+c stops it")
        with contextlib.redirect_stdout(sys.stderr):  # textual-serve prints what a session's process complained of
            await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def _listening(server: DashboardServer, address: ServeAddress) -> AsyncIterator[str]:
    """Runs the server; yields its page's URL."""
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


def command_of(arguments: Sequence[str], stands: ServedSource) -> str:
    """The shell command that starts a session."""
    rest = [argument for argument in arguments if not argument.startswith(f"{OPTION}=")]
    known = msgspec.json.encode(stands).decode()
    return "exec " + shlex.join([*KDRILL, rest[0], f"--served={known}", *rest[1:]])
