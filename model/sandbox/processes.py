"""Child processes and folders that cannot outlive this process, whatever ends it; and which loopback ports are used.

A small shell stands between: it holds the reading end of a pipe whose writing end only this process holds. When this
process ends, even by SIGKILL, the kernel closes the pipe, and the shell kills its child, or removes its folder,
within milliseconds. (PR_SET_PDEATHSIG is no way: it fires when the *thread* that started the child ends.) A child
made by `os.fork` without exec shares the writing end: start such children before, or with spawn.

The state of a process is read in /proc on Linux and by `ps` elsewhere. SandboxError is one line that a user can act
on.
"""

import errno
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path


class SandboxError(Exception):
    """The sandbox can't start or go on; the message is one line that names the cause and the way out."""


class ServerDiedError(SandboxError):
    """A server's process ended while it was starting."""


GONE = ""
STOPPED = "T"


def process_state(pid: int) -> str:
    """The letter `ps` shows for it: R, S, D, T, Z …, or GONE."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-o", "stat=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, check=False, text=True).stdout.strip()[:1]
    try:
        # "123 (any name) S 1 …": a name may hold spaces and brackets.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
    except OSError:
        return GONE


# $1 log file, then the command.
# The reader is a shell of its own, so that the child dies even if the first shell was killed; once it acts, the first
# shell must not end it before it is through.
PROCESS_GUARD = """
log=$1; shift
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
child=$!
(
    read -r _ <&3
    trap '' TERM
    kill -9 $child
) >/dev/null 2>&1 &
reader=$!
trap 'kill -9 $child' HUP INT TERM
echo $child
wait $child
code=$?
kill $reader
exit $code
"""


class GuardedProcess:
    """A running child process and the shell that guards it. One thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start `command` in `folder`; what it prints is appended to `log`.

        Raises SandboxError when there is no shell or the log can't be written.
        """
        try:
            with log.open("ab") as errors:
                self._guard = subprocess.Popen(
                    ["/bin/sh", "-c", PROCESS_GUARD, "sh", str(log), *command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=folder,
                    env=environment,
                    # The terminal's Ctrl+C is for the dashboard only.
                    start_new_session=True,
                )
        except OSError as error:
            raise SandboxError(f"can't start {command[0]}: {error.strerror}: {error.filename}") from error
        assert self._guard.stdout is not None
        with self._guard.stdout as said:
            pid = said.readline()
        self.pid = int(pid or 0)
        """The child's own process id, not the shell's."""

    def exit_code(self) -> int | None:
        """None while the child runs; then its code, or 128 + the signal's number as shells say it.

        A shell that was killed takes the child with it.
        """
        code = self._guard.poll()
        if code is not None:
            self._let_go()
        return code

    def wait(self, timeout_s: float) -> bool:
        """Whether the child ended in time."""
        with suppress(subprocess.TimeoutExpired):
            self._guard.wait(timeout_s)
        return self.exit_code() is not None

    def send(self, number: signal.Signals) -> None:
        """Send the child a signal; nothing happens when it has ended."""
        if self.pid and self.exit_code() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def pause(self) -> None:
        """SIGSTOP, and wait until it has worked: the child may run on for a moment after the signal was sent."""
        self.send(signal.SIGSTOP)
        while self.exit_code() is None and process_state(self.pid) != STOPPED:
            time.sleep(0.001)

    def close(self) -> None:
        """Kill the child if it still runs, and let go of the shell."""
        self.send(signal.SIGKILL)
        self._guard.wait()
        self._let_go()

    def _let_go(self) -> None:
        assert self._guard.stdin is not None
        self._guard.stdin.close()


# $1 the folder. Whoever else uses it is ended by a guard of its own at the same moment, or ends by itself soon.
FOLDER_GUARD = """
trap '' HUP INT TERM
read -r _
tries=0
while [ $tries -lt 100 ]; do
    sleep 0.3
    rm -rf "$1" && exit
    tries=$((tries + 1))
done
"""


class GuardedFolder:
    """Guarded as soon as there is the object; made by its user. One thread at a time."""

    def __init__(self, path: Path, pass_fds: Sequence[int] = ()) -> None:
        """`pass_fds` are held by the shell as well, so that a lock lasts until the folder is gone. Raises OSError."""
        self.path = path
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", FOLDER_GUARD, "sh", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=pass_fds,
            start_new_session=True,  # the terminal's Ctrl+C is for the dashboard only
        )

    @property
    def pipe(self) -> int:
        """For a child that would make the folder again: while it holds this, too, the folder is not yet removed."""
        assert self._guard.stdin is not None
        return self._guard.stdin.fileno()

    def remove(self) -> None:
        """Remove the folder, and let go of the shell, which goes on where this did not work. Once more does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if not self.path.exists():
            self._guard.kill()
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        if not self.path.exists():
            self._guard.wait()


def temporary_folder(prefix: str) -> GuardedFolder:
    """A new one of our own, where the system keeps what is temporary. Raises OSError."""
    folder = GuardedFolder(Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(6)}")
    folder.path.mkdir(mode=0o700)
    return folder


LOOPBACK = "127.0.0.1"
_LISTEN = "0A"
"""Linux's TCP_LISTEN in /proc/net/tcp."""


def listening_ports(pid: int) -> frozenset[int]:
    """The ports process `pid` listens on now, which a server that let the system choose does not tell.

    Linux says it in /proc, other systems through `lsof`. Empty when the process is gone or may not be looked at.
    """
    process = Path(f"/proc/{pid}")
    try:
        return frozenset(_from_proc(process) if Path("/proc/self/fd").exists() else _from_lsof(pid))
    except (OSError, subprocess.SubprocessError):
        return frozenset()


def free_port(port: int) -> int:
    """`port`, or any one for 0, if nobody listens on it at this moment. Raises SandboxError when it is taken."""
    try:
        with socket.socket() as probe:
            # As servers do: a connection that ended a minute ago does not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((LOOPBACK, port))
            return int(probe.getsockname()[1])
    except (OSError, OverflowError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = "is taken by another program" if taken else f"can't be used: {error}"
        raise SandboxError(f"port {port} {why}. Choose another one, or 0 for any.") from error


def _from_proc(process: Path) -> Iterator[int]:
    sockets = {os.readlink(descriptor.path) for descriptor in os.scandir(process / "fd")}
    for table in ("tcp", "tcp6"):
        for line in (process / "net" / table).read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == _LISTEN and f"socket:[{columns[9]}]" in sockets:
                yield int(columns[1].rpartition(":")[2], 16)


def _from_lsof(pid: int) -> Iterator[int]:
    command = ["lsof", "-nP", "-a", "-p", str(pid), "-iTCP", "-sTCP:LISTEN", "-Fn"]
    answer = subprocess.run(command, capture_output=True, check=False, text=True, timeout=10)
    for port in re.findall(r"^n.*:(\d+)$", answer.stdout, re.MULTILINE):
        yield int(port)
