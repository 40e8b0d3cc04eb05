"""The sandbox's ZooKeeper: one server, or three that need two of them. It writes nothing into them."""

import asyncio
import time
from collections.abc import Iterator
from functools import partial

from model.sandbox.cluster.broker_process import all_or_first_error, started
from model.sandbox.cluster.sandbox_folder import SandboxFolder
from model.sandbox.control.messages import ProcessStatus, ProcessView, SandboxOptions
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.java import find_java, zookeeper_jars
from model.sandbox.processes import SandboxError, free_port
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions

BUILD_ARCHIVE_AFTER_S = 30.0


class Member:
    """One server, and how it stands."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.status: ProcessStatus = "starting"
        self.since_ms = 0
        self.server: EmbeddedZooKeeper | None = None

    def enter(self, status: ProcessStatus) -> None:
        self.status = status
        self.since_ms = time.time_ns() // 1_000_000

    def view(self) -> ProcessView:
        server = self.server
        return ProcessView(
            name=f"zookeeper {self.number}",
            kind="zookeeper",
            status=self.status,
            pid=server.pid if server is not None and server.is_running else None,
            address=server.address if server is not None else "",
            since_ms=self.since_ms,
            log=str(server.folder / "zookeeper.log") if server is not None and server.folder else "",
        )


class Ensemble:
    """From `start` to `close`. For one event loop."""

    def __init__(self, options: SandboxOptions, folder: SandboxFolder) -> None:
        self._options = options
        self._folder = folder
        self.members = [Member(number) for number in range(1, options.zookeepers + 1)]

    @property
    def addresses(self) -> str:
        """`127.0.0.1:40001,…`, once started."""
        return ",".join(member.server.address for member in self.members if member.server is not None)

    @property
    def is_lost(self) -> bool:
        """Whether so many servers ended unasked that nobody is served."""
        return 2 * sum(member.status == "crashed" for member in self.members) >= len(self.members)

    def check(self) -> None:
        """Raises SandboxError for what is wrong before anything is started: no Java, no jars, a port is taken."""
        find_java()
        zookeeper_jars()
        for member in self.members:
            free_port(self._port(member.number))

    async def start(self) -> None:
        """Start all and wait until they serve. Raises SandboxError."""
        options = self._server_options()
        await all_or_first_error(self._start(member, own) for member, own in zip(self.members, options, strict=True))

    async def kill(self, number: int) -> None:
        """SIGKILL for one server. Raises SandboxError where it does not run."""
        member = self._member(number)
        if member.server is None or not member.server.is_running:
            raise SandboxError(f"ZooKeeper {number} does not run")
        member.enter("killed")
        await asyncio.to_thread(member.server.kill)

    async def start_again(self, number: int) -> None:
        """Bring a server back with what it had. Raises SandboxError where it runs."""
        member = self._member(number)
        if member.server is None or member.server.is_running:
            raise SandboxError(f"ZooKeeper {number} runs")
        member.enter("starting")
        try:
            await started(member.server.start, EmbeddedZooKeeper.close)
        except SandboxError:
            member.enter("crashed")
            raise
        member.enter("running")

    def notice_ends(self) -> Iterator[Member]:
        """Servers that have ended, and nobody had asked for it."""
        for member in self.members:
            if member.status == "running" and member.server is not None and not member.server.is_running:
                member.enter("crashed")
                yield member

    async def close(self) -> None:
        for member in self.members:
            if member.server is not None:
                await asyncio.to_thread(member.server.close)

    async def _start(self, member: Member, options: ServerOptions) -> None:
        folder = self._folder.zookeeper(member.number)
        port = int(options.extra.get("clientPort", 0)) or self._port(member.number)
        start = partial(start_zookeeper, folder, port=port, options=options, build_after_s=BUILD_ARCHIVE_AFTER_S)
        member.server = await started(start, EmbeddedZooKeeper.close)
        member.enter("running")

    def _server_options(self) -> list[ServerOptions]:
        if len(self.members) == 1:
            return [ServerOptions()]
        places = [f"127.0.0.1:{free_port(0)}:{free_port(0)}" for _ in self.members]
        common = {f"server.{number}": place for number, place in enumerate(places, 1)}
        for member in self.members:
            data = self._folder.zookeeper(member.number) / "data"
            data.mkdir(parents=True, exist_ok=True)
            (data / "myid").write_text(f"{member.number}\n")
        ports = [self._port(member.number) or free_port(0) for member in self.members]
        # Ticks are half seconds: followers get 10 s to join and 5 s to keep up.
        return [
            ServerOptions(extra={**common, "initLimit": "20", "syncLimit": "10", "clientPort": str(port)})
            for port in ports
        ]

    def _port(self, number: int) -> int:
        return self._options.zookeeper_port + number - 1 if self._options.zookeeper_port else 0

    def _member(self, number: int) -> Member:
        if not 1 <= number <= len(self.members):
            raise SandboxError(f"there is no ZooKeeper {number}: they are 1 to {len(self.members)}")
        return self.members[number - 1]
