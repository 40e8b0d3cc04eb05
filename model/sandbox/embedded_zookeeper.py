"""The sandbox's own ZooKeeper: one server, or three that need two of them, started as fast as this machine can.

A class archive is built for the next start. A server belongs to the caller, who closes it. The session that writes into
it is never pointed at a cluster that is not the sandbox's; it reads nothing back and retries nothing.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, RolledBackError, RuntimeInconsistency
from kazoo.handlers.threading import KazooTimeoutError
from platformdirs import user_cache_path

from model.hosts.memory_zookeeper.state import ServerState
from model.sandbox.java import ClassArchive, Java, find_java, zookeeper_jars
from model.sandbox.messages import ProcessStatus, ProcessView
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError, ServerDiedError, free_port
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.server_process import all_or_first_error, started
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.zookeeper import Create, Delete, SetData, Write

# pyright: reportMissingTypeStubs=false


SESSION_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 10.0
# A request must stay under the server's jute.maxbuffer of 1 MB.
WRITES_AT_ONCE = 500
# Without max_tries kazoo gives up for ever after one attempt; without max_delay it may sleep for an hour.
RECONNECT = {"max_tries": -1, "delay": 0.1, "backoff": 1.5, "max_delay": 2.0}


class ZnodeSession:
    """An open session. Its ephemeral znodes live until `close`, or until the server misses it for 10 s."""

    def __init__(self, address: str, root: str = "", own: tuple[int, bytes] | None = None) -> None:
        """Connect to `host:port`; every path is taken under `root` (`/kafka`). Raises SandboxError.

        `own`: the id and password of a session that the server has already; None: a new one.
        """
        self._root = root
        # Its own logger: kazoo would print warnings over the terminal.
        logger = logging.Logger("kdrill.sandbox")
        logger.addHandler(logging.NullHandler())
        self._client = cast(
            _Kazoo,
            KazooClient(address, SESSION_TIMEOUT_S, client_id=own, connection_retry=RECONNECT, logger=logger),
        )
        try:
            self._client.start(ANSWER_TIMEOUT_S)
        except KazooTimeoutError as error:
            self._client.close()
            raise SandboxError(f"no ZooKeeper session on {address} within {ANSWER_TIMEOUT_S:.0f} s") from error

    def make_path(self, path: str = "") -> None:
        """Create the root, and `path` under it, with all parents where absent."""
        self._client.ensure_path(self._root + path)

    def apply(self, writes: Sequence[Write]) -> None:
        """Carry the writes out in order, up to 500 in one transaction. Raises SandboxError: one was refused."""
        for first in range(0, len(writes), WRITES_AT_ONCE):
            self._commit(writes[first : first + WRITES_AT_ONCE])

    def close(self) -> None:
        """End the session: its ephemeral znodes vanish at once, if the server still answers."""
        self._client.stop()
        self._client.close()

    def _commit(self, writes: Sequence[Write]) -> None:
        # Otherwise kazoo keeps the request, and carries it out long after the caller gave up.
        if not self._client.connected:
            raise SandboxError("the sandbox's ZooKeeper did not take a write: not connected")
        transaction = self._client.transaction()
        for write in writes:
            path = self._root + write.path
            match write:
                case Create():
                    transaction.create(path, write.data, ephemeral=write.ephemeral, sequence=write.sequential)
                case SetData():
                    transaction.set_data(path, write.data)
                case Delete():
                    transaction.delete(path)
        try:
            results = transaction.commit_async().get(timeout=ANSWER_TIMEOUT_S)
        except (KazooException, KazooTimeoutError) as error:
            raise SandboxError(f"the sandbox's ZooKeeper did not take a write: {type(error).__name__}") from error
        # A transaction that failed is a result, not an exception; only one of its errors is the cause.
        for write, result in zip(writes, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, RolledBackError | RuntimeInconsistency):
                raise SandboxError(f"the sandbox's ZooKeeper refused {write}: {type(result).__name__}")


class _Answer(Protocol):
    def get(self, *, timeout: float) -> list[Any]: ...


class _Transaction(Protocol):
    def create(self, path: str, value: bytes, *, ephemeral: bool, sequence: bool) -> None: ...
    def set_data(self, path: str, value: bytes) -> None: ...
    def delete(self, path: str) -> None: ...
    def commit_async(self) -> _Answer: ...


class _Kazoo(Protocol):
    """What is used of KazooClient, which has no annotations."""

    @property
    def connected(self) -> bool: ...
    def start(self, timeout: float) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...
    def ensure_path(self, path: str) -> object: ...
    def transaction(self) -> _Transaction: ...


# Building takes a second of CPU, which the program's own start needs more.
BUILD_AFTER_S = 5.0


def start_zookeeper(
    folder: Path | None = None,
    *,
    port: int = 0,
    options: ServerOptions | None = None,
    archives: Path | None = None,
    build_after_s: float = BUILD_AFTER_S,
    begins_with: ServerState | None = None,
) -> EmbeddedZooKeeper:
    """A started server, as EmbeddedZooKeeper takes its arguments; class archives are kept in `archives`.

    Raises SandboxError as EmbeddedZooKeeper.start does; never because of an archive.
    """
    java, jars = find_java(), zookeeper_jars()
    archive = ClassArchive.of(java, jars, archives or user_cache_path("kdrill"))
    server = partial(
        EmbeddedZooKeeper, folder, port=port, options=options, java=java, jars=jars, begins_with=begins_with
    )
    if archive.is_built():
        try:
            return server(java_flags=archive.flags()).start()
        except ServerDiedError:
            archive.discard()
    started = server().start()
    build = threading.Timer(build_after_s, archive.build, [partial(train, java, jars)])
    build.daemon = True
    build.start()
    return started


def train(java: Java, jars: Sequence[Path], archive: Path) -> None:
    """Run a server once, use it as clients do, and let Java write the classes it loaded to `archive`.

    Raises SandboxError when that did not work.
    """
    flags = [f"-XX:ArchiveClassesAtExit={archive}"]
    with EmbeddedZooKeeper(java=java, jars=jars, java_flags=flags) as server:
        session = ZnodeSession(server.address)
        session.apply([Create("/warm"), SetData("/warm", b"up"), Delete("/warm")])
        session.close()
        if not server.stop():
            raise SandboxError("Java did not write the class archive in time.")


BUILD_ARCHIVE_AFTER_S = 30.0


class EnsembleMember:
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
        self.members = [EnsembleMember(number) for number in range(1, options.zookeepers + 1)]

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

    def notice_ends(self) -> Iterator[EnsembleMember]:
        """Servers that have ended, and nobody had asked for it."""
        for member in self.members:
            if member.status == "running" and member.server is not None and not member.server.is_running:
                member.enter("crashed")
                yield member

    async def close(self) -> None:
        for member in self.members:
            if member.server is not None:
                await asyncio.to_thread(member.server.close)

    async def _start(self, member: EnsembleMember, options: ServerOptions) -> None:
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

    def _member(self, number: int) -> EnsembleMember:
        if not 1 <= number <= len(self.members):
            raise SandboxError(f"there is no ZooKeeper {number}: they are 1 to {len(self.members)}")
        return self.members[number - 1]
