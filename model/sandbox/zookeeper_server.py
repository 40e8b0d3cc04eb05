"""A real ZooKeeper server on loopback, in a Java process of its own that dies with this one.

It starts, stops and maltreats the server; it does not write into it, and does not say what a client should do.
"""

import os
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from model.sandbox.errors import SandboxError, ServerDiedError
from model.sandbox.four_letter import server_status
from model.sandbox.guarded_process import GuardedProcess
from model.sandbox.java import Java, find_java, java_environment
from model.sandbox.ports import LOOPBACK, free_port, listening_ports
from model.sandbox.server_folder import ServerFolder
from model.sandbox.zookeeper_jars import zookeeper_jars
from model.sandbox.zookeeper_options import ServerOptions

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
    ) -> None:
        """Touches nothing yet.

        folder: for configuration, log and data; a temporary one if None.
        port: 0 lets the system choose; the choice is kept for later starts.
        java: the Java to run; the first suitable one if None.
        jars: the class path of another ZooKeeper (3.4 or newer) than PySpark's.
        java_flags: more flags for Java.
        """
        self.port = port
        self._options = options or ServerOptions()
        self._given_folder = folder
        self._folder: ServerFolder | None = None
        self._java = java
        self._jars = jars
        self._java_flags = java_flags
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
        """SIGCONT."""
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
