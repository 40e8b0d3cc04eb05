"""A network in which there is nothing but this machine's loopback, and what programs in it tried beyond.

`python -m tests.trust.isolated COMMAND…` runs a command in it; the kernel counts every packet that found no way out,
whichever process sent it. Needs Linux, and the right to make a network namespace.
"""

from __future__ import annotations

import fcntl
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

UNSHARE = ("unshare", "--map-root-user", "--net")
_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x1 | 0x40
LEFT = "packets for elsewhere: "


@cache
def can_isolate() -> bool:
    """Whether this machine lets us."""
    try:
        made = subprocess.run([*_command("true")], capture_output=True, check=False, text=True, timeout=60)
    except OSError:
        return False
    return made.returncode == 0


def run_isolated(command: Sequence[str], timeout_s: float = 60) -> tuple[subprocess.CompletedProcess[str], int]:
    """The command, ended, and how many packets it and its children had for other machines."""
    done = subprocess.run(_command(*command), capture_output=True, check=False, text=True, timeout=timeout_s)
    said, _, count = done.stderr.rpartition(LEFT)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, said), int(count)


def packets_for_elsewhere() -> int:
    """Of this network, since it was made."""
    rows = [line.split() for line in Path("/proc/net/snmp").read_text().splitlines()]
    names, values = (row for row in rows if row[0] == "Ip:")
    newer = dict(line.split() for line in Path("/proc/net/snmp6").read_text().splitlines())
    return int(values[names.index("OutNoRoutes")]) + int(newer["Ip6OutNoRoutes"])


def main() -> int:
    """Runs the command; the last line on standard error is the count."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as loopback:
        fcntl.ioctl(loopback, _SET_FLAGS, struct.pack("16sh", b"lo", _UP_AND_RUNNING))
    code = subprocess.run(sys.argv[1:], check=False).returncode
    print(f"{LEFT}{packets_for_elsewhere()}", file=sys.stderr)
    return code


def _command(*command: str) -> list[str]:
    return [*UNSHARE, sys.executable, "-m", "tests.trust.isolated", *command]


if __name__ == "__main__":
    sys.exit(main())
