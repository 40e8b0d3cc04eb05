"""What a process and a ZooKeeper server hold at one moment, as the system and the server say it. Linux only."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ask_four_letters

HAS_PROC = Path("/proc/self/stat").exists()
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
WATCHES = re.compile(r"Total watches:(\d+)")
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Sample:
    """At `at_s` since the soak began. Memory in MiB."""

    at_s: float
    rss_mib: float
    timeline_mib: float
    threads: int
    files: int
    sockets: int
    cpu_s: float
    server_rss_mib: float
    watches: int
    connections: int
    """To the server, the churn's own sessions too."""


@dataclass(frozen=True)
class Held:
    """By one process. `files` are open file descriptors that are no sockets."""

    rss_mib: float
    threads: int
    files: int
    sockets: int
    cpu_s: float


def held_by(pid: int) -> Held:
    """Raises OSError when the process is gone."""
    place = Path(f"/proc/{pid}")
    kinds = list[str]()
    for link in (place / "fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            kinds.append(str(link.readlink()))
    sockets = sum(kind.startswith("socket:") for kind in kinds)
    fields = (place / "stat").read_text(errors="replace").rpartition(") ")[2].split()
    return Held(
        rss_mib=int((place / "statm").read_text().split()[1]) * PAGE / MIB,
        threads=int(fields[17]),
        files=len(kinds) - sockets,
        sockets=sockets,
        cpu_s=(int(fields[11]) + int(fields[12])) / TICKS,
    )


def watches(server: EmbeddedZooKeeper) -> int:
    """How many all sessions together hold. Raises OSError."""
    found = WATCHES.search(_say(server, "wchs"))
    return int(found[1]) if found else 0


def connections(server: EmbeddedZooKeeper) -> int:
    """How many there are, but for the one that asks. Raises OSError."""
    found = re.search(r"^Connections: (\d+)", _say(server, "srvr"), re.MULTILINE)
    return int(found[1]) - 1 if found else 0


def _say(server: EmbeddedZooKeeper, word: str) -> str:
    return ask_four_letters(("127.0.0.1", server.port), word, PATIENCE_S)
