"""The TCP ports of this machine's loopback: which are free, and which a process listens on. It opens no connection."""

import errno
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from model.sandbox.errors import SandboxError

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
