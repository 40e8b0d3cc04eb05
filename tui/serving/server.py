"""textual-serve's server as it may run without a password: for this machine's browsers, and its own page in them.

Every session is a process of its own that runs the dashboard. What a session may do is not decided here.
"""

import asyncio
import secrets
from collections.abc import Collection
from importlib.resources import files
from string import Template

from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from tui.serving.address import ServeAddress
from tui.serving.environment import needed
from tui.serving.guard import HEADERS, content_policy, refusal

MOST_SESSIONS = 4
"""Each takes two processes, and a connection to the cluster."""
PATIENCE_S = 10.0
"""How long a session waits for another's end, and has to end itself."""


class Session(AppService):
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
        self._page = Template(files("tui.serving").joinpath("page.html").read_text("utf-8"))

    async def application(self) -> web.Application:
        """What answers requests."""
        application = await super()._make_app()
        application.middlewares.append(self._guard)
        return application

    async def on_startup(self, app: web.Application) -> None:
        """Says nothing: whoever runs the server does."""

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
        """One session. A tab that is loaded anew finds its place still taken for a moment."""
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
        session = Session(
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
