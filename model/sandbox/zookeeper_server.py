"""A real ZooKeeper server on loopback, in a Java process of its own that dies with this one.

Its options and how they are written in zoo.cfg, its folder (configuration, log, data), and what it says of itself by
four-letter words over a plain socket (kazoo's `command` cuts answers at 8 KB and needs a session). It starts, stops
and disturbs the server; it does not write into it, and does not say what a client should do.
"""

import json
import os
import re
import signal
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from model.hosts.memory_zookeeper.state import ServerState, snapshot_bytes, snapshot_name
from model.sandbox.java import Java, find_java, java_environment, zookeeper_jars
from model.sandbox.processes import (
    LOOPBACK,
    GuardedProcess,
    SandboxError,
    ServerDiedError,
    free_port,
    listening_ports,
    temporary_folder,
)

# `mntr` and `conf` are a few KB; `cons` grows with the clients, and nobody needs more of it than this.
_LONGEST_ANSWER_BYTES = 1 << 20
_SRVR = tuple(
    re.compile(pattern, re.MULTILINE | re.ASCII)
    for pattern in (
        r"^Zookeeper version: (\d{1,9}(?:\.\d{1,9})*)",
        r"^Mode: (\S+)",
        r"^Zxid: 0x([0-9a-f]{1,16})",
        r"^Node count: (\d{1,18})",
    )
)


@dataclass(frozen=True)
class ServerStatus:
    """What `srvr` says (org.apache.zookeeper.server.command.StatCommand, 3.4 to 3.9)."""

    version: tuple[int, ...]
    """(3, 9, 5)"""
    mode: str
    """standalone, leader, follower, observer or read-only."""
    zxid: int
    node_count: int


def ask_four_letters(address: tuple[str, int], word: str, timeout_s: float = 1.0) -> str:
    """The server's answer to a four-letter word.

    Raises OSError (TimeoutError among them) when nothing answers within `timeout_s`. A word outside the server's
    4lw.commands.whitelist is answered by a sentence, or by nothing.
    """
    deadline = time.monotonic() + timeout_s
    answer = bytearray()
    with socket.create_connection(address, timeout_s) as connection:
        connection.sendall(word.encode("ascii"))
        while len(answer) < _LONGEST_ANSWER_BYTES:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (part := connection.recv(65536)):
                break
            answer += part
    return answer.decode("utf-8", errors="replace")


def server_status(address: tuple[str, int], timeout_s: float = 1.0) -> ServerStatus | None:
    """What `srvr` says, or None while the server does not serve: only with a Mode is it ready (`ruok` lies)."""
    try:
        return parse_srvr(ask_four_letters(address, "srvr", timeout_s))
    except OSError:
        return None


def parse_srvr(answer: str) -> ServerStatus | None:
    """None without a Mode line: the server is loading, has no quorum, or refuses the word."""
    version, mode, zxid, node_count = (pattern.search(answer) for pattern in _SRVR)
    if mode is None:
        return None
    return ServerStatus(
        version=tuple(int(part) for part in version[1].split(".")) if version else (),
        mode=mode[1],
        zxid=int(zxid[1], 16) if zxid else 0,
        node_count=int(node_count[1]) if node_count else 0,
    )


LONGEST_LINE = 200
# Printed at every start, by slf4j without a binding and by Java about its archives.
NOISE = ("SLF4J", "[", "OpenJDK 64-Bit Server VM warning")


class ServerFolder:
    """A given folder, which stays, or a temporary one, which goes with `remove`, this object or this process."""

    def __init__(self, given: Path | None = None) -> None:
        """Makes the folder. Raises SandboxError when it can't be made."""
        try:
            if given is None:
                own = temporary_folder("kdrill-zookeeper-")
                self.path, self._remove = own.path, weakref.finalize(self, own.remove)
            else:
                self.path, self._remove = given.absolute(), _stay
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_writable(error) from error

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def configuration(self) -> Path:
        return self.path / "zoo.cfg"

    @property
    def log(self) -> Path:
        return self.path / "zookeeper.log"

    def write_configuration(self, text: str) -> None:
        """Raises SandboxError when the folder is not writable."""
        try:
            self.configuration.write_text(text, encoding="ascii")
            self.log.open("ab").close()
        except OSError as error:
            raise _not_writable(error) from error

    def write_first_snapshot(self, state: ServerState | None) -> None:
        """What a server is to begin with; not where one has written there already. Raises SandboxError."""
        folder = self.data / "version-2"
        try:
            if state is not None and not folder.exists():
                folder.mkdir()
                (folder / snapshot_name(state)).write_bytes(snapshot_bytes(state))
        except OSError as error:
            raise _not_writable(error) from error

    def last_log_line(self) -> str:
        """What the server said last, without control characters; empty when it said nothing of its own."""
        lines = self.log.read_text(errors="replace").splitlines()
        told = [line.strip() for line in lines if line.strip() and not line.startswith(NOISE)]
        return "".join(filter(str.isprintable, told[-1]))[:LONGEST_LINE] if told else ""

    def remove(self) -> None:
        """Deletes a temporary folder; a given one stays."""
        self._remove()


def _stay() -> None:
    """A given folder is not removed."""


def _not_writable(error: OSError) -> SandboxError:
    return SandboxError(f"can't write to {error.filename}: {error.strerror}. Choose a folder you may write to.")


@dataclass(frozen=True)
class ServerOptions:
    """What may differ between servers. The defaults suit a sandbox of one machine."""

    tick_time_ms: int = 500
    """Sessions expire on whole ticks, so a shorter tick means a more exact expiry."""
    min_session_timeout_ms: int = 1_000
    max_session_timeout_ms: int = 60_000
    four_letter_words: str = "*"
    """The 4lw.commands.whitelist; without `srvr` in it the server is never seen to be ready."""
    jute_maxbuffer_bytes: int | None = None
    """The largest request the server takes; None leaves ZooKeeper's 1 MB."""
    max_client_connections: int = 0
    """Per client address; 0 means any number."""
    heap_mb: int = 512
    """A limit, not a reservation: 100,000 partitions need 128 MB, 1,000,000 need 4 GB."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further lines of zoo.cfg, which win over the ones above."""

    def configuration(self, data: Path, port: int) -> str:
        """The text of zoo.cfg. Listens on loopback only: a sandbox has no password."""
        settings = {
            "dataDir": str(data),
            "clientPort": str(port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "tickTime": str(self.tick_time_ms),
            "minSessionTimeout": str(self.min_session_timeout_ms),
            "maxSessionTimeout": str(self.max_session_timeout_ms),
            "4lw.commands.whitelist": self.four_letter_words,
            "maxClientCnxns": str(self.max_client_connections),
            **self.extra,
        }
        return "".join(f"{name}={_escape(value)}\n" for name, value in settings.items())

    def java_flags(self) -> list[str]:
        """Flags for the Java that runs the server: the fastest start that was measured."""
        flags = [
            "-XX:+IgnoreUnrecognizedVMOptions",  # not every Java is HotSpot
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",  # its file in the temporary folder would outlive a SIGKILL
            "-XX:+ExitOnOutOfMemoryError",
            f"-Xmx{self.heap_mb}m",
            # The tree must survive the death of a process, not of the machine: skip fsync.
            "-Dzookeeper.forceSync=no",
        ]
        if self.jute_maxbuffer_bytes is not None:
            flags.append(f"-Djute.maxbuffer={self.jute_maxbuffer_bytes}")
        return flags


def _escape(value: str) -> str:
    """JSON's escapes are those of java.util.Properties: \\\\ and \\uXXXX."""
    return json.dumps(value)[1:-1]


MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
POLL_S = 0.02  # a look costs a millisecond or two of what the server needs for its start
# A connection accepted before the data is loaded can stay unanswered for ever.
READY_TIMEOUT_S = 0.2
# org.apache.zookeeper.server.ExitCode (3.6+), and what shells say. The server itself logs nothing without slf4j.
EXIT_CODES = {
    2: "it refuses its settings",
    3: "it can't use its data folder",
    126: "Java can't be run",
    127: "Java can't be run",
    137: "it was killed",
}


class EmbeddedZooKeeper:
    """One standalone server. Not started by the constructor; for one thread at a time.

    `kill` and `stop` leave the data and the port, so that `start` brings the same server back, sessions and all.
    `close` ends the server and removes its folder, if that was a temporary one.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        port: int = 0,
        options: ServerOptions | None = None,
        java: Java | None = None,
        jars: Sequence[Path] | None = None,
        java_flags: Sequence[str] = (),
        begins_with: ServerState | None = None,
    ) -> None:
        """Touches nothing yet.

        folder: for configuration, log and data; a temporary one if None.
        port: 0 lets the system choose; the choice is kept for later starts.
        java: the Java to run; the first suitable one if None.
        jars: the class path of another ZooKeeper (3.4 or newer) than PySpark's.
        java_flags: more flags for Java.
        begins_with: the znodes and sessions that it has at its first start; None for an empty server.
        """
        self.port = port
        self._options = options or ServerOptions()
        self._given_folder = folder
        self._folder: ServerFolder | None = None
        self._java = java
        self._jars = jars
        self._java_flags = java_flags
        self._begins_with = begins_with
        self._process: GuardedProcess | None = None

    @property
    def address(self) -> str:
        """`127.0.0.1:PORT`, once started."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int:
        """Java's process id. Raises SandboxError when the server does not run."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether its process is there: also true while it is paused."""
        return self._process is not None and self._process.exit_code() is None

    @property
    def folder(self) -> Path | None:
        """Where its files are; None before the first start and after `close`."""
        return self._folder.path if self._folder else None

    def start(self) -> Self:
        """Start, or start again, and wait until it serves. Does nothing while it runs.

        Raises SandboxError: no suitable Java, no jars, port taken, folder not writable; ServerDiedError if it ended.
        """
        if self.is_running:
            return self
        java = self._java or find_java()
        jars = self._jars or zookeeper_jars()
        if self.port or not _takes_port_zero(jars):
            self.port = free_port(self.port)
        self._folder = folder = self._folder or ServerFolder(self._given_folder)
        folder.write_configuration(self._options.configuration(folder.data, self.port))
        self._end()
        folder.write_first_snapshot(self._begins_with)
        self._process = GuardedProcess(
            self._command(java, jars, folder),
            folder=folder.path,
            log=folder.log,
            environment=java_environment(),
        )
        try:
            self.port = self._await_service(self._process, folder)
        except BaseException:
            self._end()
            raise
        return self

    def stop(self) -> bool:
        """SIGTERM, then SIGKILL for a server that does not end; the data stays. Whether it ended by itself."""
        if self._process is None:
            return True
        self._process.send(signal.SIGTERM)
        self._process.send(signal.SIGCONT)
        ended = self._process.wait(STOP_TIMEOUT_S)
        self._end()
        return ended

    def kill(self) -> None:
        """SIGKILL; what clients were told is written stays written."""
        self._end()

    def pause(self) -> None:
        """SIGSTOP: it keeps its connections and answers nothing, as in a long garbage collection, until `resume`."""
        self._running().pause()

    def resume(self) -> None:
        self._running().send(signal.SIGCONT)

    def close(self) -> None:
        """End the server at once, and remove its folder if it is a temporary one."""
        self._end()
        if self._folder:
            self._folder.remove()
            self._folder = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _running(self) -> GuardedProcess:
        if self._process is None or not self.is_running:
            raise SandboxError("the ZooKeeper server is not running; start it first.")
        return self._process

    def _end(self) -> None:
        if self._process:
            self._process.close()
            self._process = None

    def _command(self, java: Java, jars: Sequence[Path], folder: ServerFolder) -> list[str]:
        class_path = os.pathsep.join(str(jar.absolute()) for jar in jars)
        flags = [*self._options.java_flags(), *self._java_flags, "-cp", class_path]
        return [str(java.program.absolute()), *flags, MAIN_CLASS, str(folder.configuration)]

    def _await_service(self, process: GuardedProcess, folder: ServerFolder) -> int:
        """The port it serves on, found by its process id: another server's port can't be mistaken for it."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if (code := process.exit_code()) is not None:
                raise ServerDiedError(f"ZooKeeper ended as it started: {_why(code, folder.last_log_line())}.")
            for port in listening_ports(process.pid):
                if server_status((LOOPBACK, port), READY_TIMEOUT_S):
                    return port
            time.sleep(POLL_S)
        raise SandboxError(f"ZooKeeper did not serve within {START_TIMEOUT_S:.0f} s. Is the machine overloaded?")


def _why(code: int, last_log_line: str) -> str:
    said = EXIT_CODES.get(code, "no reason given")
    return f"{said} (exit code {code})" + (f"; its log ends with: {last_log_line}" if last_log_line else "")


def _takes_port_zero(jars: Sequence[Path]) -> bool:
    """Whether the server can choose its own free port, without a race: since 3.9 (QuorumPeerConfig)."""
    versions = (re.match(r"zookeeper-(\d+)\.(\d+)", jar.name) for jar in jars)
    return any(version and (int(version[1]), int(version[2])) >= (3, 9) for version in versions)
